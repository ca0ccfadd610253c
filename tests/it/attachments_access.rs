//! Attachments are read by whom they are for, and by nobody else.

use serde_json::{Value, json};

use crate::support::{Client, HOUR, TestHub, assert_stored, each, items, rows, sum};
use crate::walk::{Row, ToolRow, either, either_thing, for_admins, refused, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        refused("download_attachment", json!({"sha256": "{sha256}"})),
        shows_own("upload_attachment", json!({"filename": "note.txt", "content_base64": "bm90ZQ=="})),
        for_admins("gc_attachments", json!({})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/attachments"),
        either("POST /api/attachments").uploads(),
        either_thing("GET /api/attachments/{sha256}"),
        either_thing("GET /api/attachments/{sha256}/meta"),
    ]
}

/// What an outsider can find out about a file: everything but the request's id has to be the same for one that is there.
async fn outside(client: &Client, sha256: &str) -> Vec<(u16, String)> {
    let mut answers = Vec::new();
    for path in [format!("/api/attachments/{sha256}"), format!("/api/attachments/{sha256}/meta")] {
        for call in [
            client.get(&path),
            client.call("HEAD", &path),
            client.get(&path).header("range", "bytes=0-0"),
            client.get(&path).header("if-none-match", format!("\"{sha256}\"")),
        ] {
            let reply = call.await;
            let id = reply.header("x-request-id").unwrap().to_owned();
            answers.push((reply.code(), reply.text().replace(&id, "")));
        }
    }
    let reply = client.post("/api/messages", &json!({"to": "bob", "body": "x", "attachments": [sha256]})).await;
    let id = reply.header("x-request-id").unwrap().to_owned();
    answers.push((reply.code(), reply.text().replace(&id, "").replace(sha256, "SUM")));
    answers
}

#[tokio::test]
async fn two_owners_of_one_content_do_not_learn_of_each_other() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let first = ada.upload("ada's plan.txt", b"the same").await.status(201);
    let sha256 = sum(b"the same");
    // It is there, and it is not there: nobody can tell.
    let there = outside(&eve, &sha256).await;
    assert_eq!(there, outside(&eve, &sum(b"another")).await);
    assert!(there.iter().all(|(status, _)| *status == 404), "{there:?}");
    hub.advance(HOUR);
    let second = bob.upload("bob's plan.txt", b"the same").await.status(201);
    let names: Vec<_> =
        [&first, &second].iter().map(|reply| reply.headers.keys().cloned().collect::<Vec<_>>()).collect();
    assert_eq!(names[0], names[1]);
    let (first, second) = (first.json(), second.json());
    assert_eq!(first.as_object().unwrap().len(), second.as_object().unwrap().len());
    assert_eq!((&second["filename"], &second["size"]), (&json!("bob's plan.txt"), &json!(8)));
    assert_eq!(rows(&hub).await, (1, 2));
    assert_stored(&hub, 1).await;
    for (human, name, created_at) in
        [(&ada, "ada", "2027-01-15T08:00:00.000Z"), (&bob, "bob", "2027-01-15T09:00:00.000Z")]
    {
        let meta = human.get(&format!("/api/attachments/{sha256}/meta")).await.ok().json();
        assert_eq!(
            (&meta["filename"], &meta["created_at"]),
            (&json!(format!("{name}'s plan.txt")), &json!(created_at))
        );
        let got = human.download(&sha256).await.ok();
        assert!(
            got.header("content-disposition").unwrap().contains(&format!("{name}_s plan"))
                || got.header("content-disposition").unwrap().contains(&format!("{name}'s plan")),
            "{got:?}"
        );
        assert_eq!(items(human.get("/api/attachments").await.ok()).len(), 1);
    }
    // Each sends it under their own name, and who gets both sees both.
    ada.send(json!({"to": "eve", "body": "a", "attachments": [sha256]})).await;
    let from_ada = eve.get(&format!("/api/attachments/{sha256}/meta")).await.ok().json();
    assert_eq!(from_ada["filename"], "ada's plan.txt");
    let sent = bob.send(json!({"to": "eve", "body": "b", "attachments": [sha256]})).await;
    assert_eq!(sent["attachments"][0]["filename"], "bob's plan.txt");
    hub.finish().await;
}

#[tokio::test]
async fn a_file_is_seen_through_messages_that_are_seen() {
    let hub = TestHub::start().await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    let status = async |client: &Client, sha256: &str| client.download(sha256).await.code();

    // A private channel: its members, and people whose agents are members.
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.ok();
    let secret = scout.uploaded("secret.txt", b"a secret").await;
    // Its owner answers for the agent, before it is sent too.
    assert_eq!((status(&scout, &secret).await, status(&ada, &secret).await), (200, 200));
    let said = scout.send(json!({"channel": "den", "body": "x", "attachments": [secret]})).await;
    for (client, expected) in [(&ada.client, 200), (&bob.client, 404), (&eve.client, 404), (&spy.client, 404)] {
        assert_eq!(status(client, &secret).await, expected);
    }
    ada.add_member("den", "bob").await.ok();
    assert_eq!(status(&bob, &secret).await, 200);
    // Bob hands it on, under the name that he knows it by.
    let handed = bob.send(json!({"to": "eve", "body": "x", "attachments": [secret]})).await;
    assert_eq!(handed["attachments"][0]["filename"], "secret.txt");
    assert_eq!((status(&eve, &secret).await, status(&spy, &secret).await), (200, 404));
    // What is taken back is not to be had by it any more.
    bob.take_back(&handed).await.ok();
    assert_eq!(status(&eve, &secret).await, 404);
    assert_eq!(eve.message(&handed).await["attachments"], json!([]));
    ada.call("DELETE", "/api/channels/den/members/bob").await.ok();
    assert_eq!(status(&bob, &secret).await, 404);
    // An agent does not see what its owner has uploaded.
    let own = ada.uploaded("own.txt", b"ada's own").await;
    assert_eq!((status(&ada, &own).await, status(&scout, &own).await), (200, 404));
    // A mention of somebody who cannot see the channel gives them nothing; a public channel gives it to everybody.
    let open = ada.uploaded("open.txt", b"for everybody").await;
    ada.send(json!({"channel": "general", "body": "x", "attachments": [open]})).await;
    assert_eq!((status(&spy, &open).await, status(&bob, &open).await), (200, 200));
    // A channel that is gone takes its files with it; who uploaded them still has them.
    ada.delete("/api/channels/den").await.ok();
    assert_eq!((status(&bob, &secret).await, status(&scout, &secret).await), (404, 200));
    scout.get(&format!("/api/messages/{}", said["id"])).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn keys_reach_as_far_as_they_are_allowed_to() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for channel in ["near", "far"] {
        ada.make_channel(json!({"name": channel})).await;
        ada.add_member(channel, "scout").await.ok();
    }
    let key = async |permissions: Value, channels: Value| {
        let request = json!({"name": "k", "agent": "scout", "permissions": permissions, "channels": channels});
        let made = ada.post("/api/keys", &request).await.status(201).json();
        hub.nobody().bearer(made["key"].as_str().unwrap())
    };
    let near = ada.uploaded("near.txt", b"near").await;
    let far = ada.uploaded("far.txt", b"far").await;
    let own = scout.uploaded("own.txt", b"own").await;
    let sent_far = scout.uploaded("sent.txt", b"sent far").await;
    ada.send(json!({"channel": "near", "body": "x", "attachments": [near]})).await;
    ada.send(json!({"channel": "far", "body": "x", "attachments": [far]})).await;
    scout.send(json!({"channel": "far", "body": "x", "attachments": [sent_far]})).await;
    let gone = scout.uploaded("gone.txt", b"sent far and deleted").await;
    let message = scout.send(json!({"channel": "far", "body": "x", "attachments": [gone]})).await;
    scout.delete(&format!("/api/messages/{}", message["id"])).await.ok();

    let limited = key(json!(["*"]), json!(["near"])).await;
    for (sha256, expected) in [(&near, 200), (&far, 404), (&own, 200), (&sent_far, 404), (&gone, 404)] {
        assert_eq!(limited.download(sha256).await.code(), expected);
        scout.download(sha256).await.status(200);
    }
    assert_eq!(each(&items(limited.get("/api/attachments").await.ok()), "filename"), ["own.txt"]);
    limited
        .post("/api/messages", &json!({"channel": "near", "body": "x", "attachments": [far]}))
        .await
        .problem(404, "unknown_attachment");

    let reads = key(json!(["attachments:read", "messages:write"]), json!([])).await;
    reads.download(&near).await.status(200);
    reads.upload("x.txt", b"x").await.problem(403, "forbidden");
    reads.post("/api/messages", &json!({"to": "ada", "body": "x", "attachments": [near]})).await.status(201);
    let writes = key(json!(["attachments:write", "messages:write"]), json!([])).await;
    let made = writes.uploaded("made.txt", b"made").await;
    writes.download(&made).await.problem(403, "forbidden");
    writes.get("/api/attachments").await.problem(403, "forbidden");
    writes.post("/api/messages", &json!({"to": "ada", "body": "x", "attachments": [made]})).await.status(201);
    writes
        .post("/api/messages", &json!({"to": "ada", "body": "x", "attachments": [near]}))
        .await
        .problem(404, "unknown_attachment");
    let neither = key(json!(["messages:write"]), json!([])).await;
    neither
        .post("/api/messages", &json!({"to": "ada", "body": "x", "attachments": [near]}))
        .await
        .problem(403, "forbidden");
    hub.finish().await;
}

#[tokio::test]
async fn a_send_with_an_unknown_file_stores_nothing() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (own, foreign) = (ada.uploaded("own.txt", b"own").await, eve.uploaded("foreign.txt", b"foreign").await);
    let missing = sum(b"never uploaded");
    for target in [json!({"to": "eve"}), json!({"channel": "general"})] {
        for wrong in [&foreign, &missing] {
            let mut request = json!({"body": "@eve x", "attachments": [own, wrong]});
            request.as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
            let refused = ada.post("/api/messages", &request).await.problem(404, "unknown_attachment");
            assert!(refused.json()["detail"].as_str().unwrap().contains(wrong.as_str()), "{refused:?}");
        }
    }
    ada.post("/api/messages", &json!({"to": "eve", "body": ""})).await.invalid(&["body"]);
    assert_eq!(hub.count("select count(*) as n from messages").await, 0);
    assert_eq!(hub.count("select count(*) as n from message_attachments").await, 0);
    ada.post("/api/messages", &json!({"to": "eve", "body": " ", "attachments": [own]})).await.status(201);
    hub.finish().await;
}

#[tokio::test]
async fn wrong_sums_are_not_found() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let sha256 = ada.uploaded("a.txt", b"hello").await;
    for wrong in [
        sha256.to_uppercase(),
        sha256[..63].to_owned(),
        format!("{sha256}0"),
        "x".to_owned(),
        "..%2f..%2fkey".to_owned(),
        "%00".to_owned(),
        format!("{sha256}.0000000000000000"),
    ] {
        let refused = ada.download(&wrong).await;
        assert!([404, 422].contains(&refused.code()), "{wrong}: {refused:?}");
        assert!([404, 422].contains(&ada.get(&format!("/api/attachments/{wrong}/meta")).await.code()), "{wrong}");
    }
    hub.finish().await;
}
