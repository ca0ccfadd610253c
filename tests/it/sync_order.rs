//! The answer to a send leaves the hub only after the message is on disk.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::cli_support::{Hub, Place, skip};
use crate::support::on_postgres;
use crate::sync_log;

const MESSAGES: usize = 40;
const CLIENTS: usize = 4;

#[test]
fn every_201_follows_the_sync_of_its_message() {
    if on_postgres() {
        return;
    }
    let place = Place::new();
    let log = place.root().join("strace.log");
    let mut wrapper = vec!["strace", "-f", "-y", "-xx", "-s", "8192", "-o", log.to_str().unwrap()];
    wrapper.extend(["-e", "trace=write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync"]);
    let can_trace =
        Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").output().is_ok_and(|output| output.status.success());
    if !can_trace {
        return skip("this needs strace, and to be allowed to trace a child");
    }
    let serve = place.serve(&["--rate-limit", "0"]);
    let mut traced = Command::new(wrapper[0]);
    traced.args(&wrapper[1..]).arg(serve.get_program()).args(serve.get_args()).env_clear();
    traced.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let hub = Hub::start(&mut traced, place.data());
    let key = hub.json(&["agents", "create", "ant", "--owner", "admin"])["key"].as_str().unwrap().to_owned();
    let authorization = format!("Bearer {key}");
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (hub, authorization) = (&hub, &authorization);
            scope.spawn(move || {
                for number in (client..MESSAGES).step_by(CLIENTS) {
                    let message = json!({"channel": "general", "body": sync_log::marker(number)});
                    let headers = [("authorization", authorization.as_str())];
                    assert_eq!(hub.http("POST", "/api/messages", &headers, Some(&message)).status, 201);
                }
            });
        }
    });
    // The tracer does not pass signals on, so the hub itself is asked to stop.
    let children = format!("/proc/{0}/task/{0}/children", hub.pid());
    let traced = fs::read_to_string(children).unwrap().trim().to_owned();
    assert!(Command::new("kill").args(["-TERM", &traced]).status().unwrap().success());
    hub.ended();

    let calls = sync_log::parse(&fs::read_to_string(log).unwrap()).unwrap();
    assert_eq!(sync_log::check(&calls).unwrap(), MESSAGES);
    // Without its syncs the same log is found wanting.
    let without: Vec<_> = calls.iter().filter(|call| !call.is_wal_sync()).cloned().collect();
    assert!(sync_log::check(&without).is_err());
}
