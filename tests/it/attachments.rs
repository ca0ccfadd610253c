//! Attachments: uploaded, sent, read by whom they are for, and by nobody else.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{
    Client, HOUR, KEY, Reply, TestHub, each, eventually, file_form, how_many, items, on_postgres, together,
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
const PDF: &[u8] = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n";
const ELF: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\x10\x20\0\0\0\0\0\0\x40\0\0\0\0\0\0\0";
const MAX_BYTES: usize = 50 * 1024 * 1024;

fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many contents are stored or on their way in.
async fn count_stored(hub: &TestHub) -> usize {
    let blobs = hub.inner().blobs();
    let mut stored = std::fs::read_dir(blobs.incoming()).unwrap().count();
    for beginning in 0..=u8::MAX {
        stored += blobs.list_older(beginning, Duration::ZERO).await.unwrap().len();
    }
    stored
}

/// Makes sure that so many are there. What was put into a bucket for nothing is taken away after the answer.
async fn assert_stored(hub: &TestHub, expected: usize) {
    if hub.inner().blobs().is_far() {
        return eventually("as much is stored", async || count_stored(hub).await == expected).await;
    }
    assert_eq!(count_stored(hub).await, expected);
}

/// What a content is called in the store.
async fn object_of(hub: &TestHub, sha256: &str) -> String {
    let sql = format!("select object from blobs where sha256 = '{sha256}'");
    let found = hub.inner().read(move |tx| tx.query_one(&sql, &[], |row| row.get::<String>("object"))).await;
    found.unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"))
}

async fn rows(hub: &TestHub) -> (i64, i64) {
    (hub.count("select count(*) as n from blobs").await, hub.count("select count(*) as n from uploads").await)
}

#[tokio::test]
async fn a_file_is_uploaded_sent_and_read() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let answer = ada.upload("Grüße.txt", "hello, 世界".as_bytes()).await.status(201).json();
    let sha256 = sum("hello, 世界".as_bytes());
    let expected = json!({"sha256": sha256, "size": 13, "mime_type": "text/plain", "filename": "Grüße.txt"});
    assert_eq!(answer, expected);
    // Before it is sent it is its uploader's alone.
    bob.download(&sha256).await.problem(404, "not_found");
    assert_eq!(ada.download(&sha256).await.status(200).text(), "hello, 世界");
    let sent = ada.send(json!({"to": "bob", "body": "look", "attachments": [sha256]})).await;
    assert_eq!(sent["attachments"], json!([expected]));
    let got = bob.download(&sha256).await.status(200);
    assert_eq!(got.text(), "hello, 世界");
    for (name, value) in [
        ("content-type", "text/plain; charset=utf-8"),
        ("content-length", "13"),
        ("content-disposition", "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt"),
        ("content-security-policy", "default-src 'none'; sandbox"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "private, no-cache"),
        ("accept-ranges", "bytes"),
        ("etag", &format!("\"{sha256}\"")),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    let head = bob.call("HEAD", &format!("/api/attachments/{sha256}")).await.status(200);
    assert_eq!((head.header("content-length"), head.body.len()), (Some("13"), 0));
    let meta = bob.get(&format!("/api/attachments/{sha256}/meta")).await.ok().json();
    let mut with_time = expected.clone();
    with_time["created_at"] = json!("2027-01-15T08:00:00.000Z");
    assert_eq!(meta, with_time);
    assert_eq!(items(ada.get("/api/attachments").await.ok()), [with_time]);
    assert_eq!(items(bob.get("/api/attachments").await.ok()), [] as [Value; 0]);
    hub.finish().await;
}

#[tokio::test]
async fn every_place_that_shows_a_message_shows_its_files() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let (one, two) = (ada.uploaded("1.png", PNG).await, ada.uploaded("2.pdf", PDF).await);
    let files = json!([
        {"sha256": two, "size": PDF.len(), "mime_type": "application/pdf", "filename": "2.pdf"},
        {"sha256": one, "size": PNG.len(), "mime_type": "image/png", "filename": "1.png"},
    ]);
    let said = ada.send(json!({"channel": "general", "body": "@bob see", "attachments": [two, one]})).await;
    let bare = ada.say("general", "nothing").await;
    assert_eq!(said["attachments"], files);
    assert_eq!(bob.message(&said).await["attachments"], files);
    assert_eq!(bob.message(&bare).await["attachments"], json!([]));
    let listed = items(bob.get("/api/channels/general/messages").await.ok());
    assert_eq!(each(&listed, "attachments"), [files.clone(), json!([])]);
    // The DM that tells of the mention shows what the message shows.
    let told = bob.inbox().await;
    assert_eq!(each(&told, "attachments"), std::slice::from_ref(&files));
    assert_eq!(bob.claim(json!({"limit": 1})).await[0]["attachments"], files);
    let dm = items(bob.get("/api/dm/ada/messages").await.ok());
    assert_eq!(each(&dm, "attachments"), std::slice::from_ref(&files));
    let reply = ada.send(json!({"channel": "general", "body": "", "reply_to": bare["id"], "attachments": [one]})).await;
    assert_eq!(reply["body"], "");
    assert_eq!(each(&bob.replies(&bare).await, "attachments"), [json!([files[1]])]);
    ada.call("PUT", &format!("/api/channels/general/pins/{}", said["id"])).await.ok();
    let pins = items(bob.get("/api/channels/general/pins").await.ok());
    assert_eq!(each(&pins, "attachments"), std::slice::from_ref(&files));
    let shown = hub.operator().call("messages.show", json!({"id": said["id"]})).await;
    assert_eq!(shown["attachments"], files);
    // An edit changes what is said, and may leave nothing of it.
    assert_eq!(ada.edit(&said, "").await.ok().json()["attachments"], files);
    ada.edit(&bare, "").await.invalid(&["body"]);
    hub.finish().await;
}

#[tokio::test]
async fn types_are_what_the_content_is() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let polyglot = [PNG, b"<html><script>alert(1)</script></html>"].concat();
    for (filename, content, mime_type, disposition) in [
        ("a.png", PNG, "image/png", "inline"),
        ("picture.html", &polyglot[..], "image/png", "inline"),
        ("photo", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "image/jpeg", "inline"),
        ("x.gif", b"GIF89a\x01\0\x01\0\0\0\0;", "image/gif", "inline"),
        ("x.webp", b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0", "image/webp", "inline"),
        (
            "x.bmp",
            b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0",
            "image/bmp",
            "attachment",
        ),
        ("paper.txt", PDF, "application/pdf", "attachment"),
        ("evil.png", svg, "text/plain; charset=utf-8", "attachment"),
        ("page.html", b"<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8", "attachment"),
        ("empty", b"", "text/plain; charset=utf-8", "attachment"),
    ] {
        let sha256 = ada.uploaded(filename, content).await;
        let got = ada.download(&sha256).await.status(200);
        assert_eq!(got.body, content, "{filename}");
        assert_eq!(got.header("content-type"), Some(mime_type), "{filename}");
        assert!(got.header("content-disposition").unwrap().starts_with(disposition), "{filename}");
    }
    let before = rows(&hub).await;
    for (filename, content) in [
        ("notes.txt", ELF),
        ("archive.txt", b"PK\x03\x04\x14\0\0\0\x08\0"),
        ("film.png", b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41"),
        ("nul.txt", b"a text with a \0 in it"),
        ("latin.txt", b"gr\xfc\xdfe"),
        ("cut.txt", b"cut off \xe4\xb8"),
    ] {
        ada.upload(filename, content).await.problem(422, "type_not_allowed");
    }
    // Also when it turns out late.
    let late = [&vec![b'a'; 3 * 1024 * 1024][..], b"\0"].concat();
    ada.upload("late.txt", &late).await.problem(422, "type_not_allowed");
    assert_eq!(rows(&hub).await, before);
    assert_stored(&hub, 10).await;
    hub.finish().await;
}

#[tokio::test]
async fn what_is_no_upload_is_refused_and_leaves_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let form = |body: &str| {
        ada.call("POST", "/api/attachments").body("multipart/form-data; boundary=B", body.replace('\n', "\r\n"))
    };
    let part =
        |name: &str| format!("--B\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a.txt\"\n\nhello\n");
    form("--B--\n").await.invalid(&["file"]);
    form(&format!("{}--B--\n", part("file"))).await.status(201);
    form(&format!("{}--B--\n", part("other"))).await.invalid(&["other"]);
    form(&format!("{}{}--B--\n", part("file"), part("file"))).await.invalid(&["file"]);
    form(&format!("{}{}--B--\n", part("file"), part("other"))).await.invalid(&["other"]);
    form(&format!("{}{}--B--\n", part("other"), part("file"))).await.invalid(&["other"]);
    // A page whose user has chosen nothing.
    form("--B\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\n\n\n--B--\n").await.invalid(&["file"]);
    for truncated in ["", "--", "--B", "--B\n", "--B\nContent-Disposition: form-data; name=\"file\"\n", &part("file")] {
        form(truncated).await.problem(400, "malformed_request");
    }
    form(&part("file").replace("--B\n", "--Bx\n")).await.problem(400, "malformed_request");
    form(&format!("--B\n\nhello\n{}--B--\n", part("file"))).await.problem(400, "malformed_request");
    form(&format!("{}--B--\n", part("file").replace("Content-", &format!("X: {}\nContent-", "x".repeat(20_000)))))
        .await
        .problem(400, "malformed_request");
    form(&"x".repeat(100_000)).await.problem(400, "malformed_request");
    let (content_type, body) = file_form("a.txt", b"other");
    ada.call("POST", "/api/attachments")
        .body("multipart/form-data", body.clone())
        .await
        .problem(400, "malformed_request");
    ada.post("/api/attachments", &json!({"file": "x"})).await.problem(415, "unsupported_media_type");
    ada.call("POST", "/api/attachments").bare_body(body.clone()).await.problem(415, "unsupported_media_type");
    hub.nobody()
        .call("POST", "/api/attachments")
        .body(&content_type, body.clone())
        .await
        .problem(401, "unauthenticated");
    // The body breaks off.
    let head = format!(
        "POST /api/attachments HTTP/1.1\r\nhost: hub\r\ncontent-type: {content_type}\r\nauthorization: Bearer {}\r\n\
         content-length: {}\r\n\r\n",
        ada.agent("scout").await.key,
        body.len() + 10
    );
    {
        use tokio::io::AsyncWriteExt;
        let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
        stream.write_all(&[head.as_bytes(), &body[..body.len() - 30]].concat()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        let _ = tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    assert_eq!(rows(&hub).await, (1, 1));
    eventually("nothing is left", async || count_stored(&hub).await == 1).await;
    hub.finish().await;
}

#[tokio::test]
async fn names_are_cleaned() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for (sent, kept) in [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\report.txt", "report.txt"),
        ("gnp.\u{202e}exe\u{7}.txt", "gnp.exe.txt"),
        ("%22quoted%22.txt", "\"quoted\".txt"),
        ("..", "file"),
        ("", "file"),
    ] {
        assert_eq!(ada.upload(sent, b"hello").await.status(201).json()["filename"], kept, "{sent}");
    }
    let long = ada.upload(&format!("{}.txt", "x".repeat(400)), b"hello").await.status(201).json();
    assert_eq!(long["filename"].as_str().unwrap().len(), 255);
    assert!(long["filename"].as_str().unwrap().ends_with(".txt"));
    hub.finish().await;
}

#[tokio::test]
async fn the_longest_file_fits_and_one_byte_more_does_not() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let content = vec![b'a'; MAX_BYTES];
    let sha256 = ada.uploaded("long.txt", &content).await;
    assert_eq!(ada.download(&sha256).await.status(200).body.len(), MAX_BYTES);
    let longer = vec![b'b'; MAX_BYTES + 1];
    ada.upload("longer.txt", &longer).await.problem(413, "payload_too_large");
    // Without a length.
    let scout = ada.agent("scout").await;
    let (content_type, body) = file_form("longer.txt", &longer);
    let head = |length: &str| {
        format!(
            "POST /api/attachments HTTP/1.1\r\nhost: hub\r\ncontent-type: {content_type}\r\n\
             authorization: Bearer {}\r\nconnection: close\r\n{length}\r\n\r\n",
            scout.key
        )
        .into_bytes()
    };
    let mut request = head("transfer-encoding: chunked");
    for piece in body.chunks(1 << 20) {
        request.extend(format!("{:x}\r\n", piece.len()).as_bytes());
        request.extend(piece);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    let answer = hub.raw(&request).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    // What is said to be much longer is not waited for.
    let answer = hub.raw(&head("content-length: 1000000000")).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(rows(&hub).await, (1, 1));
    assert_stored(&hub, 1).await;
    hub.finish().await;
}

#[tokio::test]
async fn parts_are_read() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let sha256 = ada.uploaded("a.txt", b"0123456789").await;
    let asked = async |name: &str, value: &str| ada.download(&sha256).header(name, value).await;
    let part = |reply: &Reply| (reply.code(), reply.header("content-range").unwrap_or("").to_owned(), reply.text());
    for (range, expected) in [
        ("bytes=2-4", (206, "bytes 2-4/10", "234")),
        ("bytes=7-", (206, "bytes 7-9/10", "789")),
        ("bytes=-2", (206, "bytes 8-9/10", "89")),
        ("bytes=0-99", (206, "bytes 0-9/10", "0123456789")),
        ("bytes=0-1,3-4", (200, "", "0123456789")),
        ("chapters=1", (200, "", "0123456789")),
    ] {
        let reply = asked("range", range).await;
        let (status, content_range, body) = part(&reply);
        assert_eq!((status, content_range.as_str(), body.as_str()), expected, "{range}");
        assert_eq!(reply.header("content-length"), Some(body.len().to_string().as_str()), "{range}");
    }
    let beyond = asked("range", "bytes=10-").await.problem(416, "range_not_satisfiable");
    assert_eq!(beyond.header("content-range"), Some("bytes */10"));
    let etag = format!("\"{sha256}\"");
    let conditional = async |condition: &str| {
        let reply = ada.download(&sha256).header("range", "bytes=0-0").header("if-range", condition).await;
        reply.code()
    };
    assert_eq!(conditional(&etag).await, 206);
    assert_eq!(conditional("\"other\"").await, 200);
    for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
        let reply = asked("if-none-match", &known).await.status(304);
        assert_eq!((reply.body.len(), reply.header("etag")), (0, Some(etag.as_str())), "{known}");
    }
    asked("if-none-match", "\"x\"").await.status(200);
    let head = ada.call("HEAD", &format!("/api/attachments/{sha256}")).header("range", "bytes=2-4").await.status(206);
    assert_eq!((head.header("content-length"), head.body.len()), (Some("3"), 0));
    hub.finish().await;
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

    let limited = key(json!(["*"]), json!(["near"])).await;
    for (sha256, expected) in [(&near, 200), (&far, 404), (&own, 200), (&sent_far, 404)] {
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

#[tokio::test]
async fn an_upload_can_be_repeated() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let keyed = |name: &str, content: &[u8]| ada.upload(name, content).header("idempotency-key", "k");
    let first = keyed("a.txt", b"hello").await.status(201);
    assert!(!first.is_replay());
    hub.advance(HOUR);
    // With another boundary it is still the same file.
    let (content_type, body) = file_form("a.txt", b"hello");
    let text = String::from_utf8(body).unwrap().replace("a-boundary", "another-boundary");
    let again = ada
        .call("POST", "/api/attachments")
        .body(&content_type.replace("a-boundary", "another-boundary"), text)
        .header("idempotency-key", "k")
        .await
        .status(201);
    assert!(again.is_replay());
    assert_eq!(again.json(), first.json());
    keyed("a.txt", b"other").await.problem(422, "idempotency_key_reused");
    keyed("b.txt", b"hello").await.problem(422, "idempotency_key_reused");
    assert_eq!(rows(&hub).await, (1, 1));
    assert_stored(&hub, 1).await;
    let created = ada.list("/api/attachments").await[0]["created_at"].clone();
    assert_eq!(created, "2027-01-15T08:00:00.000Z");
    // A file that is larger than other bodies may be.
    let long = vec![b'x'; 2 * 1024 * 1024];
    for is_replay in [false, true] {
        let reply = ada.upload("long.txt", &long).header("idempotency-key", "long").await.status(201);
        assert_eq!(reply.is_replay(), is_replay);
    }
    // Many at once: one is done, the others hear of it.
    let replies = together((0..8).map(|_| ada.upload("c.txt", b"at once").header("idempotency-key", "c"))).await;
    let (done, busy) = (how_many(&replies, 201), how_many(&replies, 409));
    assert!(done >= 1 && done + busy == 8, "{replies:?}");
    hub.finish().await;
}

#[tokio::test]
async fn a_second_upload_renames_the_first() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let one = ada.uploaded("one.txt", b"hello").await;
    ada.uploaded("two.txt", b"other").await;
    let sent = ada.send(json!({"channel": "general", "body": "x", "attachments": [one]})).await;
    ada.uploaded("three.txt", b"hello").await;
    assert_eq!(each(&ada.list("/api/attachments").await, "filename"), ["three.txt", "two.txt"]);
    let first = ada.get("/api/attachments?limit=1").await.ok().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = ada.get(&format!("/api/attachments?limit=1&cursor={cursor}")).await.ok();
    assert_eq!(each(&items(second), "filename"), ["two.txt"]);
    // What was said, was said.
    assert_eq!(ada.message(&sent).await["attachments"][0]["filename"], "one.txt");
    hub.finish().await;
}

#[tokio::test]
async fn nobody_fills_the_disk() {
    let hub = TestHub::setup().configure(|config| config.upload_quota_mib = 1).start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    scout.uploaded("a.txt", &vec![b'a'; 1024 * 1024]).await;
    for client in [&ada.client, &scout.client] {
        let refused = client.upload("b.txt", b"b").await.problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some());
    }
    eve.uploaded("b.txt", b"b").await;
    hub.advance(24 * HOUR);
    scout.uploaded("b.txt", b"b").await;
    hub.finish().await;
}

#[tokio::test]
async fn nobody_uploads_too_many_files_at_once() {
    use tokio::io::AsyncWriteExt;
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    let (content_type, body) = file_form("a.txt", b"a");
    let head = format!(
        "POST /api/attachments HTTP/1.1\r\nhost: hub\r\ncontent-type: {content_type}\r\n\
         authorization: Bearer {}\r\ncontent-length: {}\r\n\r\n",
        scout.key,
        body.len()
    );
    let mut slow = Vec::new();
    for _ in 0..16 {
        let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
        stream.write_all(&[head.as_bytes(), &body[..10]].concat()).await.unwrap();
        slow.push(stream);
    }
    let incoming = hub.inner().blobs().incoming();
    eventually("all are under way", async || std::fs::read_dir(&incoming).unwrap().count() == 16).await;
    ada.upload("b.txt", b"b").await.problem(429, "rate_limited");
    eve.uploaded("b.txt", b"b").await;
    // Who hangs up leaves nothing, and makes room.
    drop(slow);
    eventually("nothing is left", async || std::fs::read_dir(&incoming).unwrap().count() == 0).await;
    ada.uploaded("b.txt", b"b").await;
    hub.finish().await;
}

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
    let hub = hub.restart().await;
    assert!(!store.join("incoming/upload-young").exists());
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

#[tokio::test]
async fn agents_upload_send_and_read_files() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (ant, bee) = (ada.agent("ant").await, ada.agent("bee").await);
    let uploaded =
        ant.tool("upload_attachment", json!({"filename": "../a.png", "content_base64": BASE64.encode(PNG)})).await;
    let sha256 = uploaded["sha256"].as_str().unwrap().to_owned();
    assert_eq!(uploaded, json!({"sha256": sum(PNG), "size": PNG.len(), "mime_type": "image/png", "filename": "a.png"}));
    bee.tool_refused("download_attachment", json!({"sha256": sha256})).await;
    // Without padding, and in lines.
    let wrapped = BASE64.encode("hello, world").replace('=', "").replace("b8", "b8\r\n");
    let text = ant.tool("upload_attachment", json!({"filename": "t.txt", "content_base64": wrapped})).await;
    let both = json!([sha256, text["sha256"]]);
    ant.tool("send_message", json!({"to": "bee", "body": "", "attachments": both})).await;
    ant.tool("send_channel_message", json!({"channel": "general", "body": "x", "attachments": [sha256]})).await;
    let link = |name: &str, kind: &str, size: usize, sha256: &Value| {
        json!({"type": "resource_link", "uri": format!("stoa://attachments/{}", sha256.as_str().unwrap()), "name": name,
            "mimeType": kind, "size": size})
    };
    let links =
        [link("a.png", "image/png", PNG.len(), &uploaded["sha256"]), link("t.txt", "text/plain", 12, &text["sha256"])];
    for tool in ["read_inbox", "wait_for_messages", "claim_messages"] {
        let result = bee.mcp("tools/call", json!({"name": tool, "arguments": {}})).await.rpc_result();
        let files = &result["structuredContent"]["items"][0]["attachments"];
        assert_eq!(each(files.as_array().unwrap(), "sha256"), *both.as_array().unwrap(), "{tool}: {result}");
        assert_eq!(result["content"].as_array().unwrap()[1..], links, "{tool}: {result}");
    }
    let result =
        bee.mcp("tools/call", json!({"name": "read_channel", "arguments": {"channel": "general"}})).await.rpc_result();
    assert_eq!(result["content"].as_array().unwrap()[1..], links[..1]);

    let call = json!({"name": "download_attachment", "arguments": {"sha256": sha256}});
    let image = bee.mcp("tools/call", call.clone()).await;
    assert_eq!(image.tool_answer()["filename"], "a.png");
    let block = image.rpc_result()["content"][1].clone();
    assert_eq!(block, json!({"type": "image", "data": BASE64.encode(PNG), "mimeType": "image/png"}));
    assert_eq!(bee.mcp_latest("tools/call", call).await.rpc_result()["content"][1], block);
    let got = bee.tool("download_attachment", json!({"sha256": text["sha256"]})).await;
    assert_eq!((&got["content"], &got["hint"]), (&json!("hello, world"), &Value::Null));
    let pdf = bee.uploaded("p.pdf", PDF).await;
    let block = bee.mcp("tools/call", json!({"name": "download_attachment", "arguments": {"sha256": pdf}})).await;
    let block = block.rpc_result()["content"][1].clone();
    assert_eq!((&block["type"], &block["resource"]["blob"]), (&json!("resource"), &json!(BASE64.encode(PDF))));
    // What is long is cut, or left to REST.
    let long = bee.uploaded("l.txt", "ä".repeat(100_000).as_bytes()).await;
    let got = bee.tool("download_attachment", json!({"sha256": long})).await;
    assert_eq!(got["content"].as_str().unwrap().chars().count(), 51_200);
    assert!(got["hint"].as_str().unwrap().contains("Range: bytes=102400-"), "{got}");
    let large = bee.uploaded("l.pdf", &[PDF, &vec![b' '; 6 << 20][..]].concat()).await;
    let (code, said) = bee.tool_refused("download_attachment", json!({"sha256": large})).await;
    assert!(code == "payload_too_large" && said.contains("GET /api/attachments/"), "{said}");
    // By their addresses they are read, too.
    let read =
        async |uri: &str| bee.mcp("resources/read", json!({"uri": uri})).await.rpc_result()["contents"][0].clone();
    let contents = read(links[1]["uri"].as_str().unwrap()).await;
    assert_eq!((&contents["text"], &contents["mimeType"]), (&json!("hello, world"), &json!("text/plain")));
    let contents = read(links[0]["uri"].as_str().unwrap()).await;
    assert_eq!((&contents["blob"], &contents["mimeType"]), (&json!(BASE64.encode(PNG)), &json!("image/png")));
    hub.finish().await;
}

#[tokio::test]
async fn agents_are_told_what_is_wrong_with_a_file() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (ant, spy) = (ada.agent("ant").await, eve.agent("spy").await);
    let secret = ant.uploaded("secret.txt", b"a secret").await;
    let upload = |content: &str| json!({"filename": "x.txt", "content_base64": content});
    for (tool, arguments, code) in [
        ("upload_attachment", upload("not base64!"), "validation_failed"),
        ("upload_attachment", upload(&BASE64.encode(ELF)), "type_not_allowed"),
        ("upload_attachment", json!({"content_base64": ""}), "validation_failed"),
        ("upload_attachment", upload(&BASE64.encode(vec![b'a'; MAX_BYTES + 1])), "payload_too_large"),
        ("download_attachment", json!({"sha256": secret}), "not_found"),
        ("download_attachment", json!({"sha256": sum(b"nothing")}), "not_found"),
        ("download_attachment", json!({"sha256": "x"}), "not_found"),
        ("send_message", json!({"to": "ant", "body": "x", "attachments": [secret]}), "unknown_attachment"),
        (
            "send_channel_message",
            json!({"channel": "general", "body": "x", "attachments": [secret]}),
            "unknown_attachment",
        ),
        ("gc_attachments", json!({}), "admin_required"),
    ] {
        assert_eq!(spy.tool_refused(tool, arguments).await.0, code, "{tool}");
    }
    spy.mcp("resources/read", json!({"uri": format!("stoa://attachments/{secret}")})).await.rpc_error(-32002);
    assert_eq!(rows(&hub).await, (1, 1));
    assert_stored(&hub, 1).await;
    // Who takes things away for everybody has to be an administrator's.
    assert!(!spy.tool_names("/mcp").await.contains(&"gc_attachments".to_owned()));
    let admin = hub.admin().await;
    let broom = admin.agent("broom").await;
    assert!(broom.tool_names("/mcp").await.contains(&"gc_attachments".to_owned()));
    assert_eq!(broom.tool("gc_attachments", json!({})).await, json!({"removed": 0, "freed_bytes": 0}));
    let (_, key) = admin.key("broom", json!(["attachments:read"])).await;
    assert_eq!(hub.nobody().bearer(&key).tool_refused("gc_attachments", json!({})).await.0, "forbidden");
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
