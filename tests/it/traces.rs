//! What is remembered of what everybody did, and who gets to see it.

use std::time::Duration;

use serde_json::{Value, json};
use stoa::error::HubError;
use stoa::events::{Event, Outcome, PrincipalEvent};
use stoa::hub::Hub;
use stoa_db::Tx;
use stoa_model::traces::NewTrace;
use stoa_model::{PrincipalId, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::cli_support::Place;
use crate::support::{Client, DAY, Gate, Human, Proof, START_MS, TestHub, eventually, off_the_runtime, on_postgres};
use crate::walk::{Row, either};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/traces").aimed("agent={name}", 0, ""),
        either("GET /api/traces/export").aimed("agent={name}", 0, ""),
        either("GET /api/traces/stats").aimed("agent={name}", 0, ""),
    ]
}

const BATCH_WITHIN: Duration = Duration::from_millis(100);

/// A trace that no call of today leaves.
fn trace(owner: i64, principal: i64, action: &str) -> NewTrace {
    NewTrace {
        owner: PrincipalId(owner),
        principal: PrincipalId(principal),
        key: None,
        action: action.into(),
        details: json!({}),
        error: None,
        duration: Duration::from_millis(7),
        request_id: None,
        run_id: None,
    }
}

/// What somebody sees of it, once everything is written.
async fn traces(hub: &TestHub, client: &Client, query: &str) -> Vec<Value> {
    hub.settle().await;
    let page = client.get(&format!("/api/traces?limit=200&{query}")).await.ok().json();
    page["items"].as_array().unwrap().clone()
}

fn actions(traces: &[Value]) -> Vec<&str> {
    traces.iter().map(|trace| trace["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_write_leaves_a_trace_whatever_came_of_it() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.post("/api/agents", &json!({"name": "scout"})).header("x-request-id", "made-it").await.status(201);
    ada.post("/api/agents?x=y", &json!({"name": "scout"})).header("x-request-id", "taken").await.status(409);
    ada.patch("/api/agents/nobody", &json!({"display_name": "x"})).await.status(404);
    ada.post("/api/agents", &json!({"nmae": "scout"})).await.status(422);
    // Looking, and writing outside of the interface, are no writes of it.
    ada.get("/api/agents").await.ok();
    ada.put("/auth/profile", &json!({"display_name": "Ada"})).await.ok();
    ada.delete("/api/no-such-thing").await.status(404);
    ada.delete("/api/agents").await.status(405);
    // Nobody has no traces.
    hub.nobody().post("/api/agents", &json!({"name": "scout"})).await.status(401);
    ada.with(Proof::Bearer("stoa_agent_x".to_owned())).post("/api/agents", &json!({})).await.status(401);
    ada.post("/api/agents", &json!({"name": "b"})).header("sec-fetch-site", "cross-site").await.status(403);

    let seen = traces(&hub, &ada, "").await;
    assert_eq!(actions(&seen), ["create_agent", "update_agent", "create_agent", "create_agent"]);
    let errors: Vec<_> = seen.iter().map(|trace| trace["error"].clone()).collect();
    assert_eq!(errors, [json!("validation_failed"), json!("not_found"), json!("name_taken"), Value::Null]);
    let made = &seen[3];
    let fields: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["action", "agent", "created_at", "details", "duration_ms", "error", "id", "request_id", "run_id"];
    assert_eq!(fields, expected);
    assert_eq!(made["details"], json!({"method": "POST", "path": "/api/agents", "status": 201}));
    assert_eq!((&made["agent"], &made["run_id"]), (&Value::Null, &Value::Null));
    assert_eq!(made["request_id"], "made-it");
    assert_eq!(made["created_at"], "2027-01-15T08:00:00.000Z");
    assert!(made["duration_ms"].as_i64().unwrap() < 60_000 && made["id"].is_i64(), "{made}");
    assert_eq!(seen[2]["details"], json!({"method": "POST", "path": "/api/agents", "status": 409}));
    assert_eq!(seen[1]["details"]["path"], "/api/agents/nobody");
    hub.finish().await;
}

#[tokio::test]
async fn a_repeated_write_says_that_it_was_repeated() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for _ in 0..2 {
        ada.post("/api/agents", &json!({"name": "scout"})).header("idempotency-key", "one").await.status(201);
    }
    let seen = traces(&hub, &ada, "").await;
    assert_eq!((&seen[0]["details"]["replayed"], &seen[1]["details"]["replayed"]), (&json!(true), &Value::Null));
    hub.finish().await;
}

#[tokio::test]
async fn everybody_sees_what_is_theirs() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let (scout, finder) = (ada.agent("scout").await, ada.agent("finder").await);
    let other = bob.agent("other").await;
    let (_, plain) = ada.key("scout", json!(["messages:read"])).await;
    let (_, reader) = ada.key("scout", json!(["traces:read"])).await;
    let (plain, reader) = (hub.nobody().bearer(&plain), hub.nobody().bearer(&reader));
    for client in [&scout.client, &finder.client, &other.client, &plain] {
        client.post("/api/agents", &json!({"name": "more"})).await.problem(403, "forbidden");
    }
    let by = |traces: &[Value]| {
        let agents = traces.iter().map(|trace| trace["agent"].as_str().unwrap_or("-").to_owned());
        agents.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(by(&traces(&hub, &ada, "").await), "scout finder scout - - - -");
    assert_eq!(by(&traces(&hub, &bob, "").await), "other -");
    // An agent sees itself, with any of its keys that may.
    assert_eq!(by(&traces(&hub, &scout, "").await), "scout scout");
    assert_eq!(by(&traces(&hub, &reader, "").await), "scout scout");
    assert_eq!(by(&traces(&hub, &finder, "").await), "finder");
    for path in ["/api/traces", "/api/traces/stats", "/api/traces/export", "/api/traces/export?format=csv"] {
        let refused = plain.get(path).await.problem(403, "forbidden");
        assert!(refused.text().contains("traces:read"), "{refused:?}");
        hub.nobody().get(path).await.problem(401, "unauthenticated");
    }
    // Administrators look after the hub, not into what others did.
    assert_eq!(by(&traces(&hub, &hub.admin().await.client, "").await), "");

    // A name that is not one's own is as good as none.
    for (client, name) in
        [(&ada.client, "other"), (&bob.client, "scout"), (&scout.client, "finder"), (&ada.client, "ada")]
    {
        let query = format!("agent={name}");
        assert!(traces(&hub, client, &query).await.is_empty());
        let none = json!({"items": [], "total": 0, "offset": 0});
        assert_eq!(client.get(&format!("/api/traces?{query}")).await.ok().json(), none);
        assert_eq!(client.get(&format!("/api/traces?agent=no-{name}")).await.ok().json(), none);
        assert_eq!(client.get(&format!("/api/traces/export?{query}")).await.ok().json(), json!([]));
        assert_eq!(
            client.get(&format!("/api/traces/stats?{query}")).await.ok().json(),
            json!({"items": [], "total": 0})
        );
    }
    // What is gone has still been.
    ada.delete("/api/agents/scout").await.ok();
    assert_eq!(by(&traces(&hub, &ada, "agent=Scout").await), "scout scout");
    let export = ada.get("/api/traces/export").await.ok().json();
    assert_eq!(by(export.as_array().unwrap()), "- scout finder scout - - - -");
    let stats = bob.get("/api/traces/stats").await.ok().json();
    assert_eq!(stats["total"], 2);
    hub.finish().await;
}

#[tokio::test]
async fn lists_can_be_filtered_and_entered_anywhere() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    hub.settle().await;
    // One an hour: even hours by the agent, every third in vain.
    for hour in 0..10 {
        hub.advance(Duration::from_secs(3600));
        let (by, action) = if hour % 2 == 0 { (scout.id, "call_tool") } else { (ada.id, "run_step") };
        let error = (hour % 3 == 0).then(|| "no".to_owned());
        hub.inner().record_trace(NewTrace { error, run_id: Some(hour), ..trace(ada.id, by, action) });
    }
    let hours = async |query: &str| {
        let found = traces(&hub, &ada, query).await;
        found.iter().map(|trace| trace["run_id"].as_i64().unwrap_or(-1)).collect::<Vec<_>>()
    };
    assert_eq!(hours("").await, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1]);
    assert_eq!(hours("agent=scout").await, [8, 6, 4, 2, 0]);
    assert_eq!(hours("action=run_step").await, [9, 7, 5, 3, 1]);
    assert_eq!(hours("agent=scout&action=run_step").await, [0_i64; 0]);
    assert_eq!(hours("action=nothing").await, [0_i64; 0]);
    // The first moment belongs to it, the last does not.
    let at = |hour: i64| Timestamp::from_ms(START_MS + (hour + 1) * 3_600_000).to_string();
    assert_eq!(hours(&format!("since={}&until={}", at(3), at(6))).await, [5, 4, 3]);
    assert_eq!(hours(&format!("since={}&agent=scout", at(7))).await, [8]);
    assert_eq!(hours(&format!("until={}&action=call_tool", at(3))).await, [2, 0]);
    assert_eq!(hours("since=2027-01-16").await, [0_i64; 0]);
    assert_eq!(hours("until=2027-01-16").await.len(), 11);
    assert_eq!(hours(&format!("since={}&until={}", at(6), at(3))).await, [0_i64; 0]);

    let page = async |query: &str| ada.get(&format!("/api/traces?{query}")).await.ok().json();
    for (query, ids, total, offset) in [
        ("limit=4", vec![9, 8, 7, 6], 11, 0),
        ("limit=4&offset=4", vec![5, 4, 3, 2], 11, 4),
        ("limit=2&offset=1&agent=scout", vec![6, 4], 5, 1),
        ("offset=11", vec![], 11, 11),
        ("offset=1000000", vec![], 11, 1_000_000),
    ] {
        let page = page(query).await;
        let found: Vec<_> = page["items"].as_array().unwrap().iter().map(|trace| trace["run_id"].clone()).collect();
        assert_eq!(json!([found, page["total"], page["offset"]]), json!([ids, total, offset]), "{query}");
    }

    let stats = ada.get("/api/traces/stats?agent=scout").await.ok().json();
    let expected = json!({"items": [{"action": "call_tool", "count": 5, "errors": 2, "average_duration_ms": 7,
        "longest_duration_ms": 7, "last_at": at(8)}], "total": 5});
    assert_eq!(stats, expected);
    let stats = ada.get(&format!("/api/traces/stats?since={}", at(4))).await.ok().json();
    let counts: Vec<_> =
        stats["items"].as_array().unwrap().iter().map(|item| json!([item["action"], item["count"]])).collect();
    assert_eq!((json!(counts), &stats["total"]), (json!([["call_tool", 3], ["run_step", 3]]), &json!(6)));
    hub.finish().await;
}

#[tokio::test]
async fn fifty_come_unless_told_and_never_more_than_two_hundred() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for _ in 0..230 {
        hub.inner().record_trace(trace(ada.id, ada.id, "call_tool"));
    }
    hub.settle().await;
    for (query, count) in [("", 50), ("?limit=1", 1), ("?limit=200", 200), ("?limit=5000", 200)] {
        let page = ada.get(&format!("/api/traces{query}")).await.ok().json();
        assert_eq!((page["items"].as_array().unwrap().len(), &page["total"]), (count, &json!(230)), "{query}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for (query, field) in [
        ("offset=-1", "offset"),
        ("offset=1000001", "offset"),
        ("offset=99999999999999999999", "offset"),
        ("offset=one", "offset"),
        ("limit=0", "limit"),
        ("limit=-5", "limit"),
        ("limit=many", "limit"),
    ] {
        ada.get(&format!("/api/traces?{query}")).await.invalid(&[field]);
    }
    for path in ["/api/traces", "/api/traces/stats", "/api/traces/export"] {
        for (query, field) in [
            ("since=yesterday", "since"),
            ("since=", "since"),
            ("until=2027-13-01", "until"),
            ("until=1800000000", "until"),
            ("since=1969-01-01", "since"),
            ("agent=a&agent=b", "agent"),
            ("agent=a%00b", ""),
        ] {
            ada.get(&format!("{path}?{query}")).await.invalid(&[field]);
        }
    }
    for format in ["xml", "", "CSV", "json,csv"] {
        ada.get(&format!("/api/traces/export?format={format}")).await.invalid(&["format"]);
    }
    hub.finish().await;
}

/// Reads CSV as strictly as RFC 4180 is written.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => line.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted => {
                assert_eq!(characters.next(), Some('\n'));
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            '\n' | '"' if !is_quoted => panic!("{character:?} stands in the open: {text}"),
            other => cell.push(other),
        }
    }
    assert!(!is_quoted && cell.is_empty() && line.is_empty(), "{text}");
    lines
}

#[tokio::test]
async fn an_export_is_a_file_that_spreadsheets_cannot_run() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let json_reply = ada.get("/api/traces/export").await.status(200);
    assert_eq!(json_reply.json(), json!([]));
    let words = [
        "=1+1",
        "+1",
        "-1",
        "@sum",
        "\tx",
        "\rx",
        "＝1",
        "＋1",
        "－1",
        "＠x",
        "plain",
        "a,b",
        "say \"hi\"",
        "日本語\nžluť",
        "=cmd|\"/c calc\"!A0",
    ];
    for word in words {
        let details = json!({"path": word});
        hub.inner().record_trace(NewTrace { error: Some(word.to_owned()), details, ..trace(ada.id, ada.id, "x") });
    }
    hub.settle().await;
    let json_reply = ada.get("/api/traces/export?format=json").await.status(200);
    assert_eq!(json_reply.header("content-type"), Some("application/json"));
    assert_eq!(json_reply.header("content-disposition"), Some("attachment; filename=\"traces.json\""));
    let listed = ada.get("/api/traces?limit=200").await.ok().json();
    assert_eq!(json_reply.json(), listed["items"], "the same records in the same order");

    let reply = ada.get("/api/traces/export?format=csv").await.status(200);
    assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert_eq!(reply.header("content-disposition"), Some("attachment; filename=\"traces.csv\""));
    let lines = parse_csv(&reply.text());
    let columns = ["id", "created_at", "agent", "action", "error", "duration_ms", "request_id", "run_id", "details"];
    assert_eq!(lines[0], columns);
    assert_eq!(lines.len(), words.len() + 1);
    for (line, word) in lines[1..].iter().zip(words.iter().rev()) {
        let is_formula = word.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
        let expected = if is_formula { format!("'{word}") } else { (*word).to_owned() };
        assert_eq!(line[4], expected);
        assert_eq!(serde_json::from_str::<Value>(&line[8]).unwrap(), json!({"path": word}));
        for cell in line {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']), "{cell:?}");
        }
    }
    let filtered = parse_csv(&ada.get("/api/traces/export?format=csv&action=other").await.ok().text());
    assert_eq!(filtered.len(), 1);
    hub.finish().await;
}

/// So many of somebody's traces, with details of about so many bytes.
async fn fill(hub: &TestHub, owner: &Human, count: usize, bytes: usize) {
    for number in 0..count {
        let details = json!({"number": number, "filler": "x".repeat(bytes)});
        hub.inner().record_trace(NewTrace { details, ..trace(owner.id, owner.id, "call_tool") });
        if number % 1000 == 999 {
            hub.advance(Duration::from_millis(1));
            hub.settle().await;
        }
    }
    hub.settle().await;
}

#[tokio::test]
async fn an_export_of_many_pages_has_no_holes_and_no_repetitions() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for owner in [&ada, &bob] {
        fill(&hub, owner, 2300, 1).await;
    }
    let everything = ada.get("/api/traces/export").await.ok().json();
    let numbers: Vec<_> =
        everything.as_array().unwrap().iter().map(|trace| trace["details"]["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (0..2300).rev().collect::<Vec<_>>());
    let lines = parse_csv(&bob.get("/api/traces/export?format=csv").await.ok().text());
    assert_eq!(lines.len(), 2301);
    // A page that is full to the last place is not the last one for certain.
    let since = Timestamp::from_ms(START_MS + 1).to_string();
    let until = Timestamp::from_ms(START_MS + 2).to_string();
    let part = ada.get(&format!("/api/traces/export?since={since}&until={until}")).await.ok().json();
    assert_eq!(part.as_array().unwrap().len(), 1000);
    hub.finish().await;
}

#[tokio::test]
async fn an_export_that_breaks_does_not_look_complete() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (key, secret) = ada.key("scout", json!(["traces:read"])).await;
    for _ in 0..2 {
        for _ in 0..4000 {
            let details = json!({"filler": "x".repeat(3500)});
            hub.inner().record_trace(NewTrace { details, ..trace(ada.id, scout.id, "call_tool") });
        }
        hub.settle().await;
    }
    let export = async || {
        let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
        let request = format!(
            "GET /api/traces/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 1000];
        stream.read_exact(&mut head).await.unwrap();
        assert!(head.starts_with(b"HTTP/1.1 200"));
        stream
    };
    let rest = async |mut stream: tokio::net::TcpStream| {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        rest
    };
    let whole = rest(export().await).await;
    assert!(whole.ends_with(b"\n]\n\r\n0\r\n\r\n") && whole.len() > 28_000_000);
    // Whoever reads slowly does not make the hub read ahead: most of it is still to be made.
    let stream = export().await;
    ada.delete(&format!("/api/keys/{}", key["id"])).await.ok();
    let part = rest(stream).await;
    assert!(part.len() < whole.len() && !part.ends_with(b"0\r\n\r\n"), "{} of {}", part.len(), whole.len());
    hub.finish().await;
}

#[tokio::test]
async fn old_traces_go_away() {
    let hub = TestHub::setup().configure(|config| config.trace_retention = 2 * DAY).start().await;
    let ada = hub.human("ada").await;
    fill(&hub, &ada, 2500, 1).await;
    hub.advance(DAY);
    hub.inner().record_trace(trace(ada.id, ada.id, "run_step"));
    hub.settle().await;
    hub.advance(DAY - Duration::from_secs(1));
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from traces").await, 2501);
    hub.advance(Duration::from_secs(700));
    hub.settle().await;
    assert_eq!(actions(&traces(&hub, &ada.again().await.client, "").await), ["run_step"]);
    assert_eq!(hub.count("select count(*) as n from traces").await, 1);
    hub.finish().await;

    let hub = TestHub::setup().configure(|config| config.trace_retention = Duration::ZERO).start().await;
    let ada = hub.human("ada").await;
    hub.inner().record_trace(trace(ada.id, ada.id, "run_step"));
    hub.settle().await;
    hub.advance(3650 * DAY);
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from traces").await, 1);
    hub.finish().await;
}

#[tokio::test]
async fn traces_are_counted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.agent("finder").await;
    ada.delete("/api/agents/nobody").await.status(404);
    let text = hub.nobody().get("/metrics").await.text();
    for line in [
        "traces_total 3",
        r#"traces_by_action{action="create_agent"} 2"#,
        r#"traces_by_action{action="delete_agent"} 1"#,
        "stoa_traces_dropped_total 0",
        "stoa_trace_batch_size_count 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    hub.settle().await;
    let text = hub.nobody().get("/metrics").await.text();
    assert!(
        text.contains("stoa_trace_batch_size_count 1\n") && text.contains("stoa_trace_batch_size_sum 3\n"),
        "{text}"
    );
    hub.finish().await;
}

#[tokio::test]
async fn they_are_written_in_batches_and_in_time() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let stored = async || hub.count("select count(*) as n from traces").await;
    ada.agent("scout").await;
    // The one who writes may not have seen it yet, and counts from then.
    eventually("the trace is written", async || {
        hub.advance(BATCH_WITHIN);
        stored().await == 1
    })
    .await;
    for _ in 0..64 {
        hub.inner().record_trace(trace(ada.id, ada.id, "call_tool"));
    }
    eventually("a full batch is written while the clock stands still", async || stored().await == 65).await;
    for _ in 0..63 {
        hub.inner().record_trace(trace(ada.id, ada.id, "call_tool"));
    }
    for _ in 0..20 {
        assert_eq!(stored().await, 65, "a batch that is not full waits for more");
    }
    hub.settle().await;
    assert_eq!(stored().await, 128);
    assert_eq!(hub.metric("stoa_trace_batch_size_count").await, 3.0);
    hub.finish().await;
}

#[tokio::test]
async fn batches_of_every_size_are_complete() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut expected = 0;
    for size in [1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 129] {
        for number in 0..size {
            let details = json!({"number": number});
            hub.inner().record_trace(NewTrace { details, ..trace(ada.id, ada.id, "call_tool") });
        }
        expected += size;
        hub.settle().await;
        assert_eq!(hub.count("select count(*) as n from traces").await, expected);
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_does_not_fit_the_queue_is_counted_and_holds_nobody_up() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for _ in 0..20_000 {
        hub.inner().record_trace(trace(ada.id, ada.id, "call_tool"));
    }
    ada.agent("scout").await;
    hub.settle().await;
    let dropped = hub.metric("stoa_traces_dropped_total").await;
    #[expect(clippy::cast_precision_loss, reason = "there are 20001")]
    let stored = hub.count("select count(*) as n from traces").await as f64;
    assert!(dropped > 0.0 && stored >= 8192.0, "{dropped} {stored}");
    assert_eq!(dropped + stored, hub.metric("traces_total").await);
    hub.finish().await;
}

#[tokio::test]
async fn a_clean_stop_loses_none() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for number in 0..100 {
        ada.agent(&format!("scout{number}")).await;
    }
    let hub = hub.restart().await;
    let ada = hub.log_in("ada").await;
    let page = ada.get("/api/traces").await.ok().json();
    assert_eq!(page["total"], 100);
    hub.finish().await;
}

#[tokio::test]
async fn a_database_that_comes_back_gets_what_waited() {
    if !on_postgres() {
        return;
    }
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let database = hub.database();
    off_the_runtime(|| database.go_away());
    for _ in 0..64 {
        hub.inner().record_trace(trace(ada.id, ada.id, "call_tool"));
    }
    eventually("the batch is tried", async || hub.metric("stoa_trace_batch_size_count").await == 1.0).await;
    off_the_runtime(|| database.come_back());
    eventually("the database answers", async || hub.inner().db().info().await.is_ok()).await;
    hub.settle().await;
    assert_eq!(hub.count("select count(*) as n from traces").await, 64);
    assert_eq!(hub.metric("stoa_traces_dropped_total").await, 0.0);
    hub.finish().await;
}

static GATE: Gate = Gate::new();

fn wait_at_the_gate(_: &Hub, _: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    if let Event::Principal(PrincipalEvent::Created { owner: Some(_), .. }) = event {
        GATE.pass();
    }
    Ok(())
}

#[tokio::test]
async fn nobody_acts_untraced_by_hanging_up() {
    let hub = TestHub::setup().planner(wait_at_the_gate).start().await;
    let ada = hub.human("ada").await;
    let Proof::Cookie(cookie) = &ada.client.proof else { panic!("people have cookies") };
    let body = json!({"name": "scout"}).to_string();
    let request = format!(
        "POST /api/agents HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    GATE.somebody_waits().await;
    drop(stream);
    eventually("the trace is there", async || hub.metric("traces_total").await == 1.0).await;
    GATE.open();
    let seen = traces(&hub, &ada, "").await;
    assert_eq!((&seen[0]["error"], &seen[0]["details"]["status"]), (&json!("caller_gone"), &Value::Null));
    eventually("what was asked for is done", async || ada.get("/api/agents/scout").await.code() == 200).await;
    hub.finish().await;
}

#[tokio::test]
async fn too_many_writes_leave_few_traces() {
    let hub = TestHub::setup().rate_limit(3).start().await;
    let ada = hub.human("ada").await;
    for _ in 0..20 {
        ada.delete("/api/agents/nobody").await;
    }
    let seen = traces(&hub, &ada, "").await;
    let errors: Vec<_> = seen.iter().map(|trace| trace["error"].as_str().unwrap()).collect();
    assert_eq!(errors, ["rate_limited", "not_found", "not_found", "not_found"]);
    hub.finish().await;
}

#[tokio::test]
async fn no_secret_gets_into_a_trace() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, key) = ada.key("scout", json!(["*"])).await;
    let request = json!({"name": "writer", "instructions": "hush-body", "harness": {"backend": "subprocess", "command": ["hush-command"]}});
    ada.post("/api/agents?token=hush-query", &request).header("idempotency-key", "hush-idempotency").await;
    ada.delete(&format!("/api/agents/{key}")).await.status(404);
    ada.delete(&format!("/api/keys/{}?key=hush-query", scout.key)).await.status(404);
    ada.delete(&format!("/api/agents/{}", "x".repeat(5000))).await.status(404);
    hub.settle().await;
    let text = ada.get("/api/traces?limit=200").await.ok().text();
    for secret in ["hush", &key, &scout.key, ada.password.as_str()] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let seen = traces(&hub, &ada, "").await;
    assert_eq!(seen[1]["details"]["path"], "/api/keys/(key)");
    assert_eq!(seen[0]["details"]["path"].as_str().unwrap().chars().count(), 301);
    assert_eq!(seen.len(), 6);
    hub.finish().await;
}

#[tokio::test]
async fn long_details_are_not_kept() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let details = json!({"text": "é".repeat(5000)});
    let error = Some("\0".to_owned() + &"é".repeat(900));
    hub.inner().record_trace(NewTrace { details, error, ..trace(ada.id, ada.id, "call_tool") });
    let seen = traces(&hub, &ada, "").await;
    assert_eq!(seen[0]["details"], json!({"truncated": true}));
    assert!(seen[0]["error"].as_str().unwrap().chars().all(|character| character == 'é'));
    hub.finish().await;
}

#[tokio::test]
async fn the_operator_sees_everybodys() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    bob.agent("finder").await;
    scout.post("/api/agents", &json!({"name": "more"})).await.status(403);
    hub.settle().await;
    let operator = hub.operator();
    let owners = async |params: Value| {
        let page = operator.call("traces.list", params).await;
        let owners = page["items"].as_array().unwrap().iter().map(|trace| trace["owner"].as_str().unwrap().to_owned());
        owners.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(owners(json!({})).await, "ada bob ada");
    assert_eq!(owners(json!({"owner": "bob"})).await, "bob");
    assert_eq!(owners(json!({"agent": "scout"})).await, "ada");
    assert_eq!(owners(json!({"agent": "scout", "owner": "bob"})).await, "");
    assert_eq!(operator.call("traces.stats", json!({"owner": "ada"})).await["total"], 2);
    assert_eq!(operator.try_call("traces.list", &json!({"owner": "carol"})).await, Err("not_found".to_owned()));
    assert_eq!(operator.try_call("traces.list", &json!({"since": "soon"})).await, Err("validation_failed".to_owned()));
    // Pages of what there was at the first one.
    let first = operator.call("traces.export", json!({"limit": 2})).await;
    ada.agent("later").await;
    hub.settle().await;
    let second = operator.call("traces.export", json!({"limit": 2, "cursor": first["next_cursor"]})).await;
    assert_eq!((first["items"].as_array().unwrap().len(), second["items"].as_array().unwrap().len()), (2, 1));
    assert_eq!(second["next_cursor"], Value::Null);
    hub.finish().await;
}

#[test]
fn the_command_line_lists_counts_and_exports() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    let session = hub.log_in("ada", "the password of ada").unwrap();
    let headers = [("cookie", session.as_str())];
    for number in 0..250 {
        let request = json!({"name": if number == 0 { "scout" } else { "a" }});
        hub.http("POST", "/api/agents", &headers, Some(&request));
    }
    let mut total = Value::Null;
    for _ in 0..1000 {
        total = hub.json(&["traces", "list", "--limit", "1"])["total"].clone();
        if total == 250 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(total, 250, "within 100 ms they are there");

    let table = hub.admin(&["traces", "list"]).ok();
    assert!(table.starts_with("TIME") && table.lines().count() == 51 && table.contains("validation_failed"), "{table}");
    let list =
        hub.json(&["traces", "list", "--limit", "230", "--offset", "10", "--owner", "ada", "--action", "create_agent"]);
    assert_eq!(
        (list["items"].as_array().unwrap().len(), &list["total"], &list["offset"]),
        (230, &json!(250), &json!(10))
    );
    assert_eq!(hub.json(&["traces", "list", "--agent", "scout"])["total"], 0);
    assert_eq!(hub.json(&["traces", "list", "--until", "2020-01-01"])["total"], 0);
    let stats = hub.json(&["traces", "stats", "--since", "2020-01-01"]);
    assert_eq!((&stats["items"][0]["count"], &stats["items"][0]["errors"]), (&json!(250), &json!(249)));
    assert!(hub.admin(&["traces", "stats"]).ok().contains("create_agent"));

    let file = place.root().join("traces.csv");
    let export = ["traces", "export", file.to_str().unwrap(), "--format", "csv"];
    assert!(hub.admin(&export).ok().starts_with("250 traces are in "));
    let lines = parse_csv(&std::fs::read_to_string(&file).unwrap());
    assert_eq!((lines.len(), lines[0][0].as_str(), lines[1][0].as_str()), (251, "owner", "ada"));
    hub.admin(&export).fails(2, &["already exists"]);
    let file = place.root().join("traces.json");
    assert_eq!(hub.json(&["traces", "export", file.to_str().unwrap()])["traces"], 250);
    let exported: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let printed = hub.json(&["traces", "export", "-"]);
    assert_eq!((exported.len(), &json!(exported)), (250, &printed));
    let none = place.root().join("none.json");
    hub.admin(&["traces", "export", none.to_str().unwrap(), "--owner", "nobody"]).fails(4, &["No such user"]);
    assert!(!none.exists());
    hub.admin(&["traces", "list", "--since", "soon"]).fails(2, &["--since"]);
    hub.admin(&["traces", "export", "-", "--format", "xml"]).fails(2, &["xml"]);
}
