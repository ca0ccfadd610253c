//! Attachments: uploaded, sent and read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::support::{
    ELF, HOUR, MAX_BYTES, PDF, PNG, Reply, TestHub, assert_stored, count_stored, each, eventually, file_form, how_many,
    items, rows, sum, together,
};

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

/// 48 KB of such a picture would take 2 GB to draw.
#[tokio::test]
async fn the_size_of_a_picture_is_read_from_its_header() {
    const LARGE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x4e\x20\0\0\x61\xa8\x08\x06\0\0\0, and so on";
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let uploaded = ada.upload("large.png", LARGE).await.status(201).json();
    assert_eq!((&uploaded["width"], &uploaded["height"]), (&json!(20_000), &json!(25_000)), "{uploaded}");
    let sha256 = sum(LARGE);
    let sent = ada.send(json!({"to": "bob", "body": "look", "attachments": [sha256]})).await;
    assert_eq!(sent["attachments"], json!([uploaded]));
    let meta = async || bob.get(&format!("/api/attachments/{sha256}/meta")).await.ok().json();
    let found = meta().await;
    assert_eq!((&found["width"], &found["height"]), (&json!(20_000), &json!(25_000)), "{found}");
    assert_eq!(items(ada.get("/api/attachments").await.ok())[0]["width"], 20_000);
    // Nothing that opens it draws it unasked.
    let file = bob.download(&sha256).await.status(200);
    assert!(file.header("content-disposition").unwrap().starts_with("attachment;"));
    let small = ada.uploaded("small.png", PNG).await;
    assert!(ada.download(&small).await.header("content-disposition").unwrap().starts_with("inline;"));
    // A file of an earlier version has no size, until somebody uploads it again.
    let forget = "update blobs set width = null, height = null";
    hub.inner()
        .write(move |tx| tx.execute(forget, &[]).map(drop))
        .await
        .map_err(|error: stoa_db::DbError| error)
        .unwrap();
    let found = meta().await;
    assert!(found.get("width").is_none() && found.get("height").is_none(), "{found}");
    bob.uploaded("again.png", LARGE).await;
    assert_eq!(meta().await["width"], 20_000);
    hub.finish().await;
}

#[tokio::test]
async fn every_place_that_shows_a_message_shows_its_files() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let (one, two) = (ada.uploaded("1.png", PNG).await, ada.uploaded("2.pdf", PDF).await);
    let files = json!([
        {"sha256": two, "size": PDF.len(), "mime_type": "application/pdf", "filename": "2.pdf"},
        {"sha256": one, "size": PNG.len(), "mime_type": "image/png", "filename": "1.png", "width": 1, "height": 1},
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
        "POST /api/attachments HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\nauthorization: Bearer {}\r\n\
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
            "POST /api/attachments HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\n\
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
        "POST /api/attachments HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\n\
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
    // Clients of the first revision know no links, and send no header that says which one they speak.
    let unlinked = bee.mcp("tools/call", json!({"name": "read_inbox", "arguments": {}})).await.rpc_result();
    assert_eq!(unlinked["content"].as_array().unwrap().len(), 1, "{unlinked}");
    let call = |tool: &str, arguments: Value, revision: &str| {
        bee.mcp("tools/call", json!({"name": tool, "arguments": arguments})).header("mcp-protocol-version", revision)
    };
    assert_eq!(call("read_inbox", json!({}), "2025-03-26").await.rpc_result(), unlinked);
    for tool in ["read_inbox", "wait_for_messages", "claim_messages"] {
        let result = call(tool, json!({}), "2025-06-18").await.rpc_result();
        let files = &result["structuredContent"]["items"][0]["attachments"];
        assert_eq!(each(files.as_array().unwrap(), "sha256"), *both.as_array().unwrap(), "{tool}: {result}");
        assert_eq!(result["content"].as_array().unwrap()[1..], links, "{tool}: {result}");
    }
    let result = call("read_channel", json!({"channel": "general"}), "2025-06-18").await.rpc_result();
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
        // An end in the middle, where it is decoded in pieces.
        ("upload_attachment", upload(&format!("{}YQ==YQ==", "YWFh".repeat(256 * 1024 / 4 - 1))), "validation_failed"),
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
