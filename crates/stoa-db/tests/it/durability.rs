//! What was committed is there after a kill, and what was acknowledged was on disk before.

use std::fs;
use std::process::Command;

use stoa_db::{Engine, Options};

use crate::child::{ACKNOWLEDGED_EACH, ACKNOWLEDGING_CLIENTS, Helper, Role};
use crate::support::{NOTES, Place, bodies, insert, runs_on, skip};
use crate::sync_order;

#[tokio::test]
async fn a_kill_between_commit_and_answer_keeps_the_row_once() {
    let place = Place::new();
    let mut child = Helper::start(Role::StopAfterCommit, &place);
    child.expect("committed");
    let said = child.kill();
    assert!(said.is_empty(), "nobody was answered, but it said {said:?}");
    let db = place.open(NOTES).unwrap();
    assert_eq!(bodies(&db).await, ["once"]);
    // The caller that comes back for its answer finds that it was first.
    let again = db.write(insert("once")).await;
    assert!(again.is_err_and(|error| error.is_unique_violation()));
    db.close().await;
}

#[test]
fn every_acknowledgement_follows_the_sync_of_its_commit_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("strace.log");
    let mut wrapper = vec!["strace", "-f", "-y", "-xx", "-s", "8192", "-o", log.to_str().unwrap()];
    wrapper.extend(["-e", "trace=write,pwrite64,fsync,fdatasync"]);
    let can_trace =
        Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").output().is_ok_and(|output| output.status.success());
    if !can_trace {
        return skip("this needs strace, and to be allowed to trace a child");
    }
    let said = Helper::start_under(&wrapper, Role::Acknowledge, &place.folder(), None).finish();
    let expected = ACKNOWLEDGING_CLIENTS * ACKNOWLEDGED_EACH;
    assert_eq!(said.len(), expected);

    let log = fs::read_to_string(log).unwrap();
    let calls = sync_order::parse(&log).unwrap();
    assert_eq!(sync_order::check(&calls).unwrap(), expected);

    // That was worth something only if the same log without its syncs, or with its acknowledgements
    // one call earlier, is found wanting.
    let without: Vec<_> = calls.iter().filter(|call| !call.is_wal_sync()).cloned().collect();
    assert!(sync_order::check(&without).is_err());
    let last_sync = calls.iter().rposition(|call| call.is_wal_sync() && call.begin < last_acknowledgement(&calls));
    let mut late = calls.clone();
    late[last_sync.unwrap()].end = Some(usize::MAX);
    assert!(sync_order::check(&late).is_err());

    // And what was acknowledged is there.
    let db = stoa_db::Database::open(Options::new(place.folder()), NOTES).unwrap();
    let stored = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(bodies(&db));
    let mut acknowledged: Vec<_> = said.iter().map(|line| line.strip_prefix("ack ").unwrap().to_owned()).collect();
    acknowledged.sort();
    assert_eq!(stored, acknowledged);
}

fn last_acknowledgement(calls: &[sync_order::Call]) -> usize {
    calls.iter().filter(|call| call.acknowledges().is_some()).map(|call| call.begin).max().unwrap()
}
