//! Contents of attachments are kept as long as somebody has them, and not longer.

use std::time::Duration;

use serde_json::json;

use crate::support::{
    HOUR, KEY, TestHub, assert_stored, count_stored, each, eventually, how_many, object_of, on_postgres, rows, together,
};

/// Takes away what nobody has any more, and says how many and how much that was.
async fn collect(hub: &TestHub) -> (i64, i64) {
    let collected = hub.operator().call("attachments.gc", json!({})).await;
    (collected["removed"].as_i64().unwrap(), collected["freed_bytes"].as_i64().unwrap())
}

#[tokio::test]
async fn what_nobody_has_any_more_is_taken_away() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (scout, other) = (ada.agent("scout").await, ada.agent("other").await);
    let used = scout.uploaded("used.txt", b"used").await;
    let unused = scout.uploaded("unused.txt", b"unused").await;
    let twice = scout.uploaded("twice.txt", b"twice").await;
    let sent = scout.send(json!({"channel": "general", "body": "x", "attachments": [used]})).await;
    assert_eq!(collect(&hub).await, (0, 0));
    hub.advance(23 * HOUR);
    other.uploaded("mine.txt", b"twice").await;
    // A round that ends after the clock has moved on puts the next one off.
    hub.settle().await;
    hub.advance(HOUR);
    // The hub does it by itself, too.
    eventually("what nobody has is taken away", async || count_stored(&hub).await == 2).await;
    assert_eq!(collect(&hub).await, (0, 0));
    assert_stored(&hub, 2).await;
    scout.download(&unused).await.problem(404, "not_found");
    assert_eq!(each(&scout.list("/api/attachments").await, "filename"), ["used.txt"]);
    scout.download(&twice).await.problem(404, "not_found");
    for (client, sha256) in [(&scout, &used), (&other, &twice)] {
        client.download(sha256).await.status(200);
    }
    // It can come again.
    scout.uploaded("again.txt", b"unused").await;
    scout.download(&unused).await.status(200);
    // What is taken back is gone with the next round.
    scout.take_back(&sent).await.ok();
    assert_eq!(collect(&hub).await, (1, 4));
    scout.download(&used).await.problem(404, "not_found");
    hub.settle().await;
    hub.advance(24 * HOUR);
    eventually("the rest is taken away", async || rows(&hub).await == (0, 0) && count_stored(&hub).await == 0).await;
    assert_stored(&hub, 0).await;
    let audited = hub.audit().await;
    assert_eq!(audited[0]["action"], "attachments.collected");
    hub.finish().await;
}

#[tokio::test]
async fn what_crashes_leave_is_taken_away() {
    let hub = TestHub::setup().configure(|config| config.attachments_url = None).start().await;
    let scout = hub.human("ada").await.agent("scout").await;
    scout.uploaded("a.txt", b"hello").await;
    // What crashes have left: a file that was on its way in, and a content without a row; and a young one, whose row may yet come.
    let store = hub.folder().join("attachments");
    #[expect(clippy::disallowed_methods, reason = "files have the time of the system")]
    let day_ago = std::time::SystemTime::now() - Duration::from_secs(25 * 3600);
    for (name, is_old) in [
        ("incoming/upload-left", true),
        ("incoming/upload-young", false),
        (&format!("00/{:062x}.{:016x}", 1, 1), true),
        (&format!("00/{:062x}.{:016x}", 2, 1), false),
    ] {
        let path = store.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        if is_old {
            file.set_modified(day_ago).unwrap();
        }
    }
    assert_stored(&hub, 5).await;
    hub.advance(6 * HOUR);
    hub.settle().await;
    assert_stored(&hub, 3).await;
    // The content lies in the trash for a week.
    let trashed = store.join(format!("trash/00{:062x}.{:016x}", 1, 1));
    assert!(trashed.exists());
    hub.advance(6 * HOUR);
    hub.settle().await;
    assert!(trashed.exists());
    std::fs::File::open(&trashed).unwrap().set_modified(day_ago - Duration::from_secs(6 * 24 * 3600)).unwrap();
    hub.advance(6 * HOUR);
    eventually("the trash is emptied", async || !trashed.exists()).await;
    let hub = hub.restart().await;
    assert!(!store.join("incoming/upload-young").exists());
    hub.finish().await;
}

/// A database that knows nothing of the files is more likely to be wrong than right.
#[tokio::test]
async fn an_emptied_database_takes_no_files_away() {
    let hub = TestHub::setup().configure(|config| config.attachments_url = None).start().await;
    let scout = hub.human("ada").await.agent("scout").await;
    let mut sums = Vec::new();
    for content in [b"one", b"two", b"six"] {
        sums.push(scout.uploaded("a.txt", content).await);
    }
    #[expect(clippy::disallowed_methods, reason = "files have the time of the system")]
    let day_ago = std::time::SystemTime::now() - Duration::from_secs(25 * 3600);
    for sha256 in &sums {
        let object = object_of(&hub, sha256).await;
        let path = hub.folder().join("attachments").join(&object[..2]).join(&object[2..]);
        std::fs::File::open(path).unwrap().set_modified(day_ago).unwrap();
    }
    let emptied = hub.inner().write(|tx| {
        tx.execute("delete from uploads", &[])?;
        tx.execute("delete from blobs", &[])
    });
    let emptied: Result<u64, stoa_db::DbError> = emptied.await;
    assert_eq!(emptied.unwrap(), 3);
    hub.advance(6 * HOUR);
    hub.settle().await;
    hub.advance(6 * HOUR);
    hub.settle().await;
    assert_stored(&hub, 3).await;
    let ready = hub.nobody().get("/readyz").await.ok().json();
    assert!(ready["details"]["warnings"][0].as_str().unwrap().contains("less than half"), "{ready}");
    hub.finish().await;
}

/// Uploads and sends of contents that are due to be taken away, at the same moment: who was told that it is there has it.
#[tokio::test]
async fn taking_away_never_takes_what_is_being_uploaded_or_sent() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (ant, bee, cat) = (ada.agent("ant").await, ada.agent("bee").await, ada.agent("cat").await);
    let mut sends = (0, 0);
    for round in 0..25 {
        let content = format!("the content of round {}", round % 3).into_bytes();
        let sha256 = ant.uploaded("first.txt", &content).await;
        hub.advance(25 * HOUR);
        let collecting = tokio::spawn({
            let operator = hub.operator();
            async move {
                for _ in 0..3 {
                    operator.call("attachments.gc", json!({})).await;
                }
            }
        });
        let send = json!({"channel": "general", "body": format!("{round}"), "attachments": [sha256]});
        let replies = together([
            bee.upload("second.txt", &content),
            ant.post("/api/messages", &send),
            cat.upload("third.txt", &content),
        ])
        .await;
        collecting.await.unwrap();
        assert_eq!(how_many(&replies, 201) + how_many(&replies, 404), 3, "{replies:?}");
        assert_eq!((replies[0].code(), replies[2].code()), (201, 201));
        for client in [&bee, &cat] {
            assert_eq!(client.download(&sha256).await.status(200).body, content, "round {round}");
        }
        if replies[1].code() == 201 {
            sends.0 += 1;
            ant.download(&sha256).await.status(200);
            ant.take_back(&replies[1].json()).await.ok();
        } else {
            sends.1 += 1;
        }
    }
    assert_eq!(sends.0 + sends.1, 25);
    hub.advance(25 * HOUR);
    collect(&hub).await;
    assert_eq!(rows(&hub).await, (0, 0));
    assert_stored(&hub, 0).await;
    assert_eq!(hub.count("select count(*) as n from blob_removals").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_content_that_was_cut_is_not_given_out() {
    let hub = TestHub::setup().configure(|config| config.attachments_url = None).may_fail().start().await;
    let ada = hub.human("ada").await;
    let sha256 = ada.uploaded("a.txt", b"hello").await;
    let object = object_of(&hub, &sha256).await;
    std::fs::write(hub.folder().join("attachments").join(&object[..2]).join(&object[2..]), b"hell").unwrap();
    ada.download(&sha256).may_fail().await.problem(500, "attachment_missing");
    hub.finish().await;
}

#[tokio::test]
async fn a_place_belongs_to_one_database() {
    let shared = tempfile::tempdir().unwrap();
    // In a bucket, if there is one, else in a folder.
    let url = TestHub::setup().config.attachments_url.unwrap_or(format!("file://{}", shared.path().display()));
    let here = || TestHub::setup().configure(|config| config.attachments_url = Some(url.clone()));
    let hub = here().start().await;
    let refused = here().try_start().await.err().unwrap().to_string();
    assert!(refused.contains("it has the attachments of another hub"), "{refused}");
    let hub = hub.restart().await;
    hub.finish().await;
}

/// The same on two hubs that share a database and a store.
#[tokio::test]
async fn two_hubs_share_what_is_stored() {
    if !on_postgres() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let place = shared.path().to_str().unwrap().to_owned();
    let setup = TestHub::setup().key(KEY).configure(|config| {
        config.attachments_url.get_or_insert(format!("file://{place}"));
    });
    let one = setup.start().await;
    let two = one.beside().start().await;
    let ada = one.human("ada").await;
    let (ant, bee) = (ada.agent("ant").await, ada.agent("bee").await);
    let bee = two.nobody().bearer(&bee.key);
    for round in 0..15 {
        let content = format!("round {}", round % 2).into_bytes();
        let sha256 = ant.uploaded("a.txt", &content).await;
        one.advance(25 * HOUR);
        let collecting: Vec<_> = [one.operator(), two.operator()]
            .into_iter()
            .map(|operator| tokio::spawn(async move { operator.call("attachments.gc", json!({})).await }))
            .collect();
        let replies = together([bee.upload("b.txt", &content), ant.upload("c.txt", &content)]).await;
        for collected in collecting {
            collected.await.unwrap();
        }
        assert_eq!(how_many(&replies, 201), 2, "{replies:?}");
        for client in [&ant.client, &bee] {
            assert_eq!(client.download(&sha256).await.status(200).body, content, "round {round}");
        }
    }
    two.finish().await;
    one.finish().await;
}

#[tokio::test]
async fn a_content_that_the_store_has_lost_is_told_of_and_mended() {
    let hub = TestHub::setup().may_fail().start().await;
    let ada = hub.human("ada").await;
    let sha256 = ada.uploaded("a.txt", b"hello").await;
    let kept = ada.uploaded("b.txt", b"other").await;
    hub.inner().blobs().remove(&object_of(&hub, &sha256).await).await.unwrap();
    ada.download(&sha256).may_fail().await.problem(500, "attachment_missing");
    let checked = hub.operator().call("attachments.check", json!({})).await;
    assert_eq!(checked, json!({"checked": 2, "missing": [sha256]}));
    ada.download(&kept).await.status(200);
    ada.get(&format!("/api/attachments/{sha256}/meta")).await.status(200);
    // Whoever has it can bring it back.
    ada.uploaded("a.txt", b"hello").await;
    eventually("it is there again", async || ada.download(&sha256).may_fail().await.code() == 200).await;
    assert_stored(&hub, 2).await;
    hub.finish().await;
}

/// What is left of an upload that was not sent must not tell whether somebody else has the same.
#[tokio::test]
async fn an_old_upload_goes_whoever_else_has_the_content() {
    let hub = TestHub::start().await;
    // Keys outlast a day; sessions do not.
    let scout = hub.human("ada").await.agent("scout").await;
    let spy = hub.human("eve").await.agent("spy").await;
    let secret = scout.uploaded("plan.txt", b"the plan").await;
    scout.send(json!({"to": "ada", "body": "x", "attachments": [secret]})).await;
    let guesses = [spy.uploaded("guess.txt", b"the plan").await, spy.uploaded("guess.txt", b"another plan").await];
    assert_eq!(guesses[0], secret);
    hub.advance(25 * HOUR);
    collect(&hub).await;
    for guess in &guesses {
        spy.download(guess).await.problem(404, "not_found");
    }
    scout.download(&secret).await.ok();
    hub.finish().await;
}
