//! Requests that are wrong in every way a request can be wrong: told so, and nothing stored.

use serde_json::json;

use crate::support::{Human, RegistryFile, TestHub};

/// Counts all that a request could have stored.
async fn stored(hub: &TestHub) -> i64 {
    hub.count(
        "select (select count(*) from principals) + (select count(*) from audit) + (select count(*) from outbox)
              + (select count(*) from idempotency) + (select count(*) from api_keys) as n",
    )
    .await
}

#[tokio::test]
async fn what_is_not_json_is_malformed() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = stored(&hub).await;
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep_inside = format!(r#"{{"name":"scout","harness":{}}}"#, r#"{"a":"#.repeat(50_000));
    let bodies: [&[u8]; 14] = [
        b"",
        b" ",
        b"{",
        b"{}x",
        b"name=scout",
        b"\xef\xbb\xbf{\"name\":\"scout\"}",
        b"{\"name\":\"sc\xffout\"}",
        b"{\"name\":\"\xed\xa0\x80\"}",
        br#"{"name":"\ud800"}"#,
        b"{\"name\":\"sc\0out\"}",
        b"{'name':'scout'}",
        br#"{"name":"scout",}"#,
        deep.as_bytes(),
        deep_inside.as_bytes(),
    ];
    for body in bodies {
        let call = ada.call("POST", "/api/agents").body("application/json", body.to_vec());
        call.await.problem(400, "malformed_request");
    }
    assert_eq!(stored(&hub).await, before);
    hub.finish().await;
}

#[tokio::test]
async fn json_of_the_wrong_shape_names_the_field() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = stored(&hub).await;
    for (body, field) in [
        ("null", ""),
        ("[]", ""),
        ("7", ""),
        ("\"scout\"", ""),
        ("{}", "name"),
        (r#"{"name":null}"#, "name"),
        (r#"{"name":7}"#, "name"),
        (r#"{"name":["scout"]}"#, "name"),
        (r#"{"name":{"a":1}}"#, "name"),
        (r#"{"name":"scout","Name":"x"}"#, "Name"),
        (r#"{"name":"scout","name":"scout"}"#, "name"),
        (r#"{"name":"scout","budget":7}"#, "budget"),
        (r#"{"name":"scout","budget":{"runs_per_day":1,"runs_per_day":2}}"#, "budget.runs_per_day"),
        (r#"{"name":"scout","harness":{"backend":7}}"#, "harness.backend"),
        (
            r#"{"name":"scout","harness":{"backend":"webhook","url":"https://x.example","env":{"A":1}}}"#,
            "harness.env.A",
        ),
        (r#"{"name":"scout","cooldown_seconds":99999999999999999999}"#, "cooldown_seconds"),
        (r#"{"name":"scout","cooldown_seconds":"30"}"#, "cooldown_seconds"),
        (r#"{"name":"scout","instructions":"a\u0000b"}"#, ""),
        (r#"{"name":"scout","a\u0000b":1}"#, ""),
    ] {
        let call = ada.call("POST", "/api/agents").body("application/json", body);
        call.await.invalid(&[field]);
    }
    assert_eq!(stored(&hub).await, before);
    hub.finish().await;
}

#[tokio::test]
async fn the_content_type_must_be_json() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = stored(&hub).await;
    let body = json!({"name": "scout"}).to_string();
    for wrong in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
        "application/jsonx",
    ] {
        let call = ada.call("POST", "/api/agents").body(wrong, body.clone());
        call.await.problem(415, "unsupported_media_type");
    }
    ada.call("POST", "/api/agents").bare_body(body.clone()).await.problem(415, "unsupported_media_type");
    ada.call("POST", "/api/agents").await.problem(415, "unsupported_media_type");
    assert_eq!(stored(&hub).await, before);
    for (n, right) in
        ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"].iter().enumerate()
    {
        let body = json!({"name": format!("scout{n}")}).to_string();
        ada.call("POST", "/api/agents").body(right, body).await.status(201);
    }
    hub.finish().await;
}

const MEBIBYTE: usize = 1024 * 1024;

/// A request for an agent whose body has exactly this length.
fn body_of(length: usize) -> String {
    let frame = r#"{"name":"scout"}"#;
    format!("{frame}{}", " ".repeat(length - frame.len()))
}

#[tokio::test]
async fn a_body_may_have_a_mebibyte() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = stored(&hub).await;
    let post = |body: String| ada.call("POST", "/api/agents").body("application/json", body);
    post(body_of(MEBIBYTE + 1)).await.problem(413, "payload_too_large");
    post(body_of(MEBIBYTE + 1)).header("idempotency-key", "k").await.problem(413, "payload_too_large");
    let chunked = chunked(&hub, &ada, &body_of(MEBIBYTE + 1)).await;
    assert!(chunked.starts_with("HTTP/1.1 413"), "{chunked:.200}");
    assert!(chunked.contains("payload_too_large"), "{chunked}");
    assert_eq!(stored(&hub).await, before);
    post(body_of(MEBIBYTE)).await.status(201);
    ada.delete("/api/agents/scout").await.ok();
    let body = body_of(MEBIBYTE).replace("scout", "other");
    let answer = self::chunked(&hub, &ada, &body).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer:.200}");
    hub.finish().await;
}

#[tokio::test]
async fn a_refusal_is_heard_even_while_the_body_is_being_sent() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for _ in 0..5 {
        let body = || body_of(4 * MEBIBYTE);
        let post =
            |client: &crate::support::Client, path: &str| client.call("POST", path).body("application/json", body());
        post(&ada, "/api/agents").await.problem(413, "payload_too_large");
        post(&hub.nobody(), "/api/agents").await.problem(401, "unauthenticated");
        post(&ada, "/api/nothing").await.problem(404, "not_found");
        post(&ada, "/api/version").await.problem(405, "method_not_allowed");
        post(&ada, "/api/agents").header("sec-fetch-site", "cross-site").await.problem(403, "csrf_failed");
        let answer = chunked(&hub, &ada, &body()).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer:.200}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn who_asks_before_sending_is_refused_before_sending() {
    let hub = TestHub::start().await;
    let request = format!(
        "POST /api/agents HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        4 * MEBIBYTE
    );
    let answer = hub.raw(request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer:.200}");
    hub.finish().await;
}

/// Sends a body in pieces, without saying how long it is.
async fn chunked(hub: &TestHub, human: &Human, body: &str) -> String {
    let crate::support::Proof::Cookie(cookie) = &human.client.proof else { panic!("a person has a cookie") };
    let mut request = format!(
        "POST /api/agents HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    for piece in body.as_bytes().chunks(60_000) {
        request += &format!("{:x}\r\n{}\r\n", piece.len(), str::from_utf8(piece).unwrap());
    }
    request += "0\r\n\r\n";
    hub.raw(request.as_bytes()).await
}

#[tokio::test]
async fn a_body_that_breaks_off_stores_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let before = stored(&hub).await;
    let crate::support::Proof::Cookie(cookie) = &ada.client.proof else { panic!("a person has a cookie") };
    let request = format!(
        "POST /api/agents HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{\"name\":\"scout\"}}"
    );
    {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    assert_eq!(stored(&hub).await, before);
    hub.finish().await;
}

#[tokio::test]
async fn nul_and_broken_text_are_refused_in_paths_and_queries() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.get("/api/agents/sc%00out").await.invalid(&[""]);
    ada.delete("/api/agents/%00").await.invalid(&[""]);
    ada.get("/api/agents/%ff").await.problem(400, "malformed_request");
    ada.get("/api/directory?q=%00").await.invalid(&[""]);
    ada.get("/api/directory?q=%ff").await.problem(400, "malformed_request");
    ada.get("/api/agents?cursor=%00").await.invalid(&[""]);
    ada.get("/api/agents?limit=1&limit=2").await.invalid(&["limit"]);
    for name in ["%2e%2e", "a%2Fb", "a%20b", "%F0%9F%9B%B0", "'%3B--", &"x".repeat(5000)] {
        ada.get(&format!("/api/agents/{name}")).await.problem(404, "not_found");
    }
    for id in ["0", "-1", "abc", "1.5", "99999999999999999999", "%31x", "9223372036854775807"] {
        ada.get(&format!("/api/keys/{id}")).await.problem(404, "not_found");
        ada.delete(&format!("/auth/sessions/{id}")).await.problem(404, "not_found");
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_a_call_does_not_take_is_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for path in ["/api/agents/scout/pause", "/api/agents/scout/key"] {
        ada.post(path, &json!({"junk": 1})).await.invalid(&["junk"]);
        ada.call("POST", path).body("application/json", r#"{"junk":"#).await.problem(400, "malformed_request");
    }
    scout.get("/api/agents").await.ok();
    ada.post("/api/agents/scout/pause", &json!({})).await.ok();
    ada.call("POST", "/api/agents/scout/resume").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn faults_are_told_in_plain_words() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    for (change, words) in [
        (json!({"cooldown_seconds": "x"}), "must be a whole number of at least 0 within range"),
        (json!({"cooldown_seconds": -1}), "must be a whole number of at least 0 within range"),
        (json!({"display_name": 1}), "must be a string"),
        (json!({"trigger_mode": "sometimes"}), "must be one of passive, reactive, disabled"),
        (json!({"budget": 1}), "must be an object"),
        (json!({"budget": [3, 4.0]}), "must be an object"),
        (json!({"harness": ["subprocess", ["run"]]}), "must be an object"),
    ] {
        let problem = ada.patch("/api/agents/scout", &change).await.problem(422, "validation_failed").json();
        assert_eq!(problem["errors"][0]["message"], words, "{change}");
    }
    ada.post("/api/agents", &json!(["list"])).await.problem(422, "validation_failed");
    hub.finish().await;
}

/// Nobody needs a long body to log in, and nobody has proved who they are before.
#[tokio::test]
async fn bodies_of_strangers_are_short() {
    let hub = TestHub::start().await;
    let nobody = hub.nobody();
    const LIMIT: usize = 64 * 1024;
    let filled = |length: usize| {
        let frame = json!({"username": "ada", "password": ""}).to_string();
        json!({"username": "ada", "password": "x".repeat(length - frame.len())}).to_string()
    };
    for path in ["/auth/login", "/auth/register", "/oauth/register"] {
        let post = |body: String| nobody.call("POST", path).body("application/json", body);
        post(filled(LIMIT + 1)).await.problem(413, "payload_too_large");
        post(filled(LIMIT + 1)).header("idempotency-key", "k").await.problem(413, "payload_too_large");
        assert_ne!(post(filled(LIMIT)).await.code(), 413);
    }
    for path in ["/login", "/oauth/token", "/oauth/revoke", "/token"] {
        let form = "application/x-www-form-urlencoded";
        let reply = nobody.call("POST", path).body(form, format!("a={}", "x".repeat(LIMIT))).await;
        assert_eq!(reply.code(), 413, "{path}: {reply:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_credential_is_asked_for_before_the_body() {
    let registry = RegistryFile::new();
    let hub = TestHub::setup().registry(&registry).start().await;
    for path in ["/api/messages", "/machine/events"] {
        for more in ["", "idempotency-key: k\r\n"] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{more}content-length: 1000\r\n\r\n"
            );
            let answer = hub.raw_status(request.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        }
    }
    hub.finish().await;
}
