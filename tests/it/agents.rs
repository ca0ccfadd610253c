//! Agents: their settings, their key, and who may touch them.

use serde_json::{Value, json};

use crate::support::{Human, MINUTE, TestHub, each, together};
use crate::walk::{Row, either, either_thing, session, session_thing};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/agents"),
        session("POST /api/agents").body(json!({"name": "made-by-{visitor}"})),
        either_thing("GET /api/agents/{name}").about_the_agent(),
        session_thing("PATCH /api/agents/{name}").body(json!({"display_name": "Taken over"})),
        session_thing("DELETE /api/agents/{name}"),
        session_thing("POST /api/agents/{name}/key"),
        session_thing("POST /api/agents/{name}/pause"),
        session_thing("POST /api/agents/{name}/resume"),
        session_thing("POST /api/agents/{name}/unquarantine").also_for_admins(),
        either_thing("GET /api/agents/{name}/mcp-config").about_the_agent(),
    ]
}

#[tokio::test]
async fn a_new_agent_has_sensible_settings() {
    let hub = TestHub::start().await;
    let ada = hub.human("Ada").await;
    let created = ada.post("/api/agents", &json!({"name": "scout"})).await.status(201).json();
    let key = created["key"].as_str().unwrap();
    assert!(key.starts_with("stoa_agent_") && key.len() == "stoa_agent_".len() + 49, "{key}");
    let expected = json!({
        "id": created["agent"]["id"], "name": "scout", "display_name": "scout", "owner": "Ada", "description": "", "archetype": "custom",
        "trigger_mode": "passive", "cooldown_seconds": 30, "budget": {"runs_per_day": 100, "cost_usd_per_day": null, "others_percent": 50},
        "max_trigger_depth": 4, "trigger_from": "people", "trigger_allow": [], "foreign_reach": "conversation", "max_round_trips": 12, "k8s_image": null, "harness": null, "instructions": "", "pending_work": false,
        "paused_at": null, "pause_reason": null, "quarantined_at": null, "last_seen_at": null,
        "created_at": "2027-01-15T08:00:00.000Z",
    });
    assert_eq!(created["agent"], expected);
    assert_eq!(ada.get("/api/agents/scout").await.ok().json(), expected);
    hub.finish().await;
}

#[tokio::test]
async fn every_setting_can_be_given_at_the_start() {
    let hub = TestHub::start().await;
    let ada = hub.admin().await;
    let request = json!({
        "name": "0-scout_1", "display_name": "Späher 🛰", "archetype": "researcher", "trigger_mode": "reactive",
        "cooldown_seconds": 604_800, "budget": {"runs_per_day": 0, "cost_usd_per_day": 1.25, "others_percent": 0}, "max_trigger_depth": 16,
        "trigger_from": "everyone", "trigger_allow": ["admin"], "foreign_reach": "agent", "max_round_trips": 0,
        "k8s_image": "registry.example/scout:1", "instructions": "Look\naround.",
        "harness": {
            "backend": "subprocess", "command": ["scout", "--fast", ""], "adapter": "claude-code",
            "url": "https://example.com", "timeout_seconds": 86_400, "env": {"LEVEL_1": "höher"},
            "prompt_template": "{{message}}", "tools": "files",
        },
    });
    let agent = ada.post("/api/agents", &request).await.status(201).json()["agent"].clone();
    let stored = ada.get("/api/agents/0-scout_1").await.ok().json();
    assert_eq!(agent, stored);
    for (field, value) in request.as_object().unwrap() {
        assert_eq!(&stored[field], value, "{field}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn settings_are_changed_one_by_one() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let mut expected = ada.get("/api/agents/scout").await.ok().json();
    let changes = [
        ("display_name", json!("Scout")),
        ("archetype", json!("monitor")),
        ("trigger_mode", json!("disabled")),
        ("cooldown_seconds", json!(0)),
        ("budget", json!({"runs_per_day": 7, "cost_usd_per_day": 0.0, "others_percent": 20})),
        ("max_trigger_depth", json!(0)),
        ("k8s_image", json!("image")),
        ("harness", json!({"backend": "webhook", "url": "https://example.com/run"})),
        ("instructions", json!("Be brief.")),
        ("k8s_image", Value::Null),
        ("harness", Value::Null),
    ];
    for (field, value) in changes {
        expected[field] = value.clone();
        let changed = ada.patch("/api/agents/scout", &json!({field: value})).await.status(200).json();
        assert_eq!(changed, expected, "{field}");
        assert_eq!(ada.get("/api/agents/scout").await.ok().json(), expected, "{field}");
    }
    assert_eq!(ada.patch("/api/agents/scout", &json!({})).await.ok().json(), expected);
    hub.finish().await;
}

#[tokio::test]
async fn a_part_of_a_budget_is_completed_with_defaults() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let agent = ada.agent_with(json!({"name": "scout", "budget": {"cost_usd_per_day": 2.5}})).await;
    let shown = agent.get("/api/agents/scout").await.ok().json();
    assert_eq!(shown["budget"], json!({"runs_per_day": 100, "cost_usd_per_day": 2.5, "others_percent": 50}));
    hub.finish().await;
}

/// What is refused in a field, and the field that the refusal names.
fn bad_settings() -> Vec<(Value, &'static str)> {
    let harness = |harness: Value| json!({"harness": harness});
    let words = |words: Value| json!({"harness": {"backend": "subprocess", "command": words}});
    let webhook = |field: &str, value: Value| json!({"harness": {"backend": "webhook", "url": "https://x.example", field: value}});
    let many: serde_json::Map<_, _> = (0..65).map(|n| (format!("V{n}"), json!(""))).collect();
    vec![
        (json!({"display_name": ""}), "display_name"),
        (json!({"display_name": "x".repeat(101)}), "display_name"),
        (json!({"display_name": "a\u{200b}b"}), "display_name"),
        (json!({"display_name": 7}), "display_name"),
        (json!({"archetype": "pirate"}), "archetype"),
        (json!({"trigger_mode": "Reactive"}), "trigger_mode"),
        (json!({"cooldown_seconds": 604_801}), "cooldown_seconds"),
        (json!({"cooldown_seconds": -1}), "cooldown_seconds"),
        (json!({"cooldown_seconds": 1.5}), "cooldown_seconds"),
        (json!({"budget": {"runs_per_day": 1_000_001}}), "budget.runs_per_day"),
        (json!({"budget": {"runs_per_day": "many"}}), "budget.runs_per_day"),
        (json!({"budget": {"cost_usd_per_day": -0.01}}), "budget.cost_usd_per_day"),
        (json!({"budget": {"cost_usd_per_day": 1e10}}), "budget.cost_usd_per_day"),
        (json!({"budget": {"tokens": 1}}), "budget.tokens"),
        (json!({"max_trigger_depth": 17}), "max_trigger_depth"),
        (json!({"k8s_image": ""}), "k8s_image"),
        (json!({"k8s_image": "a b"}), "k8s_image"),
        (json!({"k8s_image": "x".repeat(513)}), "k8s_image"),
        (json!({"instructions": "x".repeat(64 * 1024 + 1)}), "instructions"),
        (harness(json!({})), "harness.backend"),
        (harness(json!({"backend": "shell"})), "harness.backend"),
        (harness(json!({"backend": "subprocess"})), "harness.command"),
        (harness(json!({"backend": "webhook"})), "harness.url"),
        (harness(json!({"backend": "kubernetes", "shell": true})), "harness.shell"),
        (words(json!([])), "harness.command"),
        (words(json!([""])), "harness.command"),
        (words(json!(vec!["x"; 65])), "harness.command"),
        (words(json!(["x".repeat(4097)])), "harness.command"),
        (webhook("url", json!("ftp://x.example")), "harness.url"),
        (webhook("timeout_seconds", json!(0)), "harness.timeout_seconds"),
        (webhook("timeout_seconds", json!(86_401)), "harness.timeout_seconds"),
        (webhook("adapter", json!("claude_code")), "harness.adapter"),
        (webhook("env", json!({"1A": "x"})), "harness.env"),
        (webhook("env", json!({"": "x"})), "harness.env"),
        (webhook("env", json!({"A": "x".repeat(4097)})), "harness.env"),
        (webhook("env", Value::Object(many)), "harness.env"),
        (webhook("prompt_template", json!("x".repeat(32 * 1024 + 1))), "harness.prompt_template"),
        (json!({"owner": "bob"}), "owner"),
        (json!({"paused_at": null}), "paused_at"),
        (json!({"id": 1}), "id"),
    ]
}

#[tokio::test]
async fn bad_settings_are_refused_by_their_field_and_change_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let before = ada.get("/api/agents/scout").await.ok().json();
    let entries = hub.audit().await.len();
    for (settings, field) in bad_settings() {
        ada.patch("/api/agents/scout", &settings).await.invalid(&[field]);
        let mut request = settings.clone();
        request["name"] = json!("another");
        ada.post("/api/agents", &request).await.invalid(&[field]);
    }
    // What a PATCH has no null for.
    for field in
        ["display_name", "archetype", "trigger_mode", "cooldown_seconds", "budget", "max_trigger_depth", "instructions"]
    {
        ada.patch("/api/agents/scout", &json!({field: null})).await.invalid(&[field]);
    }
    ada.patch("/api/agents/scout", &json!({"name": "renamed"})).await.invalid(&["name"]);
    assert_eq!(ada.get("/api/agents/scout").await.ok().json(), before);
    assert_eq!(ada.list("/api/agents").await.len(), 1);
    assert_eq!(hub.audit().await.len(), entries);
    hub.finish().await;
}

#[tokio::test]
async fn bad_names_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for name in ["", "a", "Ab", "-a", "_a", "a b", "a.b", "ä-ö", "a\u{0}b", &"x".repeat(65)] {
        let reply = ada.post("/api/agents", &json!({"name": name})).await;
        if name.contains('\0') {
            reply.invalid(&[""])
        } else {
            reply.invalid(&["name"])
        };
    }
    for name in ["ab", "0-", &"x".repeat(64)] {
        ada.agent(name).await;
    }
    // All faults at once.
    let request =
        json!({"name": "A", "display_name": "", "cooldown_seconds": 999_999, "harness": {"backend": "webhook"}});
    ada.post("/api/agents", &request).await.invalid(&["name", "display_name", "cooldown_seconds", "harness.url"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_change_may_ask_that_nothing_changed_meanwhile() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let etag = |reply: &crate::support::Reply| reply.header("etag").unwrap().to_owned();
    let first = etag(&ada.get("/api/agents/scout").await.ok());
    let change = |etag: &str, text: &str| {
        ada.patch("/api/agents/scout", &json!({"instructions": text})).header("if-match", etag)
    };
    let second = etag(&change(&first, "one").await.status(200));
    assert_ne!(first, second);
    assert_eq!(etag(&ada.get("/api/agents/scout").await), second);
    for stale in [first.as_str(), "\"0\"", "1", "\"abc\"", "W/\"2\"", ""] {
        change(stale, "two").await.problem(412, "precondition_failed");
    }
    assert_eq!(ada.get("/api/agents/scout").await.json()["instructions"], "one");
    change("*", "two").await.status(200);
    // A pause is a change too.
    let third = etag(&ada.get("/api/agents/scout").await);
    ada.call("POST", "/api/agents/scout/pause").await.status(200);
    change(&third, "three").await.problem(412, "precondition_failed");
    hub.finish().await;
}

#[tokio::test]
async fn of_changes_that_ask_for_the_same_revision_one_is_made() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let calls = (0..10)
        .map(|n| ada.patch("/api/agents/scout", &json!({"instructions": n.to_string()})).header("if-match", "\"1\""));
    let replies = together(calls).await;
    assert_eq!(crate::support::how_many(&replies, 200), 1, "{replies:?}");
    assert_eq!(crate::support::how_many(&replies, 412), 9, "{replies:?}");
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_is_paused_and_resumed() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    hub.advance(MINUTE);
    let paused = ada.call("POST", "/api/agents/scout/pause").await.status(200).json();
    assert_eq!((&paused["paused_at"], &paused["pause_reason"]), (&json!("2027-01-15T08:01:00.000Z"), &json!("manual")));
    let resumed = ada.call("POST", "/api/agents/scout/resume").await.status(200).json();
    assert!(resumed["paused_at"].is_null() && resumed["pause_reason"].is_null());
    ada.call("POST", "/api/agents/scout/resume").await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn a_quarantine_is_lifted_by_the_owner_or_an_admin() {
    let hub = TestHub::start().await;
    let (ada, bob, admin) = (hub.human("ada").await, hub.human("bob").await, hub.admin().await);
    let scout = ada.agent("scout").await;
    for by in [&ada, &admin] {
        // Nothing quarantines yet; reputation will.
        let set: Result<u64, stoa_db::DbError> =
            hub.inner().write(|tx| tx.execute("update agents set quarantined_at = 1", &[])).await;
        set.unwrap();
        scout.call("POST", "/api/agents/scout/unquarantine").await.problem(403, "forbidden");
        bob.call("POST", "/api/agents/scout/unquarantine").await.problem(404, "not_found");
        assert_eq!(ada.get("/api/agents/scout").await.json()["quarantined_at"], "1970-01-01T00:00:00.001Z");
        let freed = by.call("POST", "/api/agents/scout/unquarantine").await.status(200).json();
        assert!(freed["quarantined_at"].is_null());
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_new_key_replaces_the_old_one_at_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    scout.get("/api/agents").await.ok();
    let rotated = ada.call("POST", "/api/agents/scout/key").await.status(200).json();
    scout.get("/api/agents").await.problem(401, "invalid_credentials");
    let renewed = hub.nobody().bearer(rotated["key"].as_str().unwrap());
    assert_eq!(renewed.list("/api/agents").await[0]["name"], "scout");
    assert_eq!(rotated["agent"]["name"], "scout");
    hub.finish().await;
}

#[tokio::test]
async fn a_deleted_agent_is_gone_with_all_its_keys() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    let managed = hub.nobody().bearer(&key);
    for client in [&scout.client, &managed] {
        client.get("/api/agents").await.ok();
    }
    ada.delete("/api/agents/scout").await.status(204);
    for client in [&scout.client, &managed] {
        client.get("/api/agents").await.problem(401, "invalid_credentials");
    }
    for (method, path) in [
        ("GET", "/api/agents/scout"),
        ("DELETE", "/api/agents/scout"),
        ("POST", "/api/agents/scout/key"),
        ("POST", "/api/agents/scout/pause"),
        ("POST", "/api/agents/scout/resume"),
        ("POST", "/api/agents/scout/unquarantine"),
    ] {
        ada.call(method, path).await.problem(404, "not_found");
    }
    ada.patch("/api/agents/scout", &json!({})).await.problem(404, "not_found");
    assert!(ada.list("/api/agents").await.is_empty());
    assert!(ada.get("/auth/me").await.json()["agents"].as_array().unwrap().is_empty());
    assert!(ada.list("/api/directory").await.iter().all(|card| card["name"] != "scout"));
    let kept = ada.get(&format!("/api/keys/{}", record["id"])).await.ok().json();
    assert_eq!((&kept["status"], &kept["agent"]), (&json!("revoked"), &json!("scout")));
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"]});
    ada.post("/api/keys", &request).await.invalid(&["agent"]);
    hub.finish().await;
}

#[tokio::test]
async fn an_agent_sees_itself_and_changes_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.agent("sibling").await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    let managed = hub.nobody().bearer(&key);
    let before = ada.get("/auth/me").await.ok().json()["agents"].clone();
    for client in [&scout.client, &managed] {
        let list = client.list("/api/agents").await;
        assert_eq!(list.len(), 1);
        assert_eq!(list[0]["name"], "scout");
        client.get("/api/agents/scout").await.ok();
        client.get("/api/agents/sibling").await.problem(404, "not_found");
        for (method, path, body) in writes_for_people(record["id"].as_i64().unwrap()) {
            client.call(method, &path).json(&body).await.problem(403, "forbidden");
        }
        for path in ["/auth/me", "/auth/sessions", "/api/keys"] {
            client.get(path).await.problem(403, "forbidden");
        }
    }
    let mut after = ada.get("/auth/me").await.ok().json()["agents"].clone();
    assert_eq!(after[0]["last_seen_at"], "2027-01-15T08:00:00.000Z");
    after[0]["last_seen_at"] = Value::Null;
    assert_eq!(after, before);
    hub.finish().await;
}

fn writes_for_people(key: i64) -> Vec<(&'static str, String, Value)> {
    let at_agent = |method, end: &str, body| (method, format!("/api/agents/scout{end}"), body);
    vec![
        ("POST", "/api/agents".to_owned(), json!({"name": "child"})),
        at_agent("PATCH", "", json!({"budget": {"runs_per_day": 1_000_000}})),
        at_agent("DELETE", "", json!({})),
        at_agent("POST", "/key", json!({})),
        at_agent("POST", "/pause", json!({})),
        at_agent("POST", "/resume", json!({})),
        at_agent("POST", "/unquarantine", json!({})),
        ("POST", "/api/keys".to_owned(), json!({"name": "k", "agent": "scout", "permissions": ["*"]})),
        ("DELETE", format!("/api/keys/{key}"), json!({})),
        ("POST", "/auth/logout".to_owned(), json!({})),
        ("PUT", "/auth/profile".to_owned(), json!({"display_name": "Me"})),
        ("PUT", "/auth/password".to_owned(), json!({"current_password": "x", "new_password": "12345678"})),
        ("DELETE", "/auth/sessions".to_owned(), json!({})),
    ]
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let names: Vec<String> = (0..7).map(|n| format!("agent-{n}")).collect();
    for name in names.iter().rev() {
        ada.agent(name).await;
    }
    assert_eq!(pages(&ada, 3).await, [&names[..3], &names[3..6], &names[6..]]);
    assert_eq!(pages(&ada, 7).await, [&names[..]]);
    // A page begins after the last one seen, whatever happened to it.
    let first = ada.get("/api/agents?limit=3").await.json();
    ada.delete("/api/agents/agent-2").await.ok();
    ada.delete("/api/agents/agent-3").await.ok();
    let next = ada.get(&format!("/api/agents?limit=3&cursor={}", first["next_cursor"].as_str().unwrap())).await;
    assert_eq!(next.json()["items"][0]["name"], "agent-4");
    hub.finish().await;
}

async fn pages(human: &Human, limit: usize) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = human.get(&format!("/api/agents?limit={limit}{cursor}")).await.ok().json();
        let items = page["items"].as_array().unwrap();
        pages.push(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn the_operator_manages_everybodys_agents() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let operator = hub.operator();
    let created = operator.call("agents.create", json!({"owner": "Ada", "agent": {"name": "scout"}})).await;
    hub.nobody().bearer(created["key"].as_str().unwrap()).get("/api/agents/scout").await.ok();
    assert_eq!(ada.list("/api/agents").await[0]["owner"], "ada");
    operator.call("agents.update", json!({"name": "scout", "changes": {"instructions": "x"}})).await;
    for method in ["agents.pause", "agents.resume", "agents.unquarantine", "agents.show", "agents.rotate_key"] {
        operator.call(method, json!({"name": "scout"})).await;
    }
    hub.human("bob").await.agent("errand").await;
    assert_eq!(operator.call("agents.list", json!({})).await["items"].as_array().unwrap().len(), 2);
    operator.call("agents.delete", json!({"name": "scout"})).await;
    let missing = operator.try_call("agents.show", &json!({"name": "scout"})).await;
    assert_eq!(missing, Err("not_found".to_owned()));
    assert_eq!(hub.audit().await[0]["actor"], "operator");
    hub.finish().await;
}

#[tokio::test]
async fn how_an_agent_is_run_is_its_owners_business() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let harness = json!({"backend": "webhook", "url": "https://run.example", "env": {"TOKEN": "canary"}});
    let scout = ada.agent_with(json!({"name": "scout", "harness": harness, "instructions": "be quiet"})).await;
    assert_eq!(ada.get("/api/agents/scout").await.ok().json()["harness"], harness);
    let (_, key) = ada.key("scout", json!(["messages:read"])).await;
    let admin = hub.admin().await;
    let pardon = admin.call("POST", "/api/agents/scout/unquarantine").await.ok();
    let seen_by_others = [
        scout.get("/api/agents/scout").await.ok(),
        scout.get("/api/agents").await.ok(),
        hub.nobody().bearer(&key).get("/api/agents/scout").await.ok(),
        pardon,
    ];
    for seen in seen_by_others {
        assert!(!seen.text().contains("canary"), "{seen:?}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn variables_that_choose_code_or_addresses_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let with = |env: Value| json!({"backend": "webhook", "url": "https://run.example", "env": env});
    let keys = with(json!({"ANTHROPIC_API_KEY": "k", "GIT_TOKEN": "t", "LEVEL": "1"}));
    ada.agent_with(json!({"name": "scout", "harness": keys})).await;
    let operator = hub.operator();
    for name in
        ["LD_PRELOAD", "PATH", "NODE_OPTIONS", "STOA_KEY", "https_proxy", "ANTHROPIC_BASE_URL", "GIT_SSH_COMMAND"]
    {
        let harness = with(json!({"LEVEL": "1", name: "x"}));
        let replies = [
            ada.post("/api/agents", &json!({"name": "bee", "harness": harness})).await,
            ada.patch("/api/agents/scout", &json!({"harness": harness})).await,
        ];
        for reply in replies {
            let problem = reply.problem(422, "reserved_variable").json();
            assert_eq!(each(problem["errors"].as_array().unwrap(), "field"), [format!("harness.env.{name}")]);
            assert!(problem["detail"].as_str().unwrap().contains(name), "{problem}");
        }
        let changes = json!({"name": "scout", "changes": {"harness": harness}});
        assert_eq!(operator.try_call("agents.update", &changes).await, Err("reserved_variable".to_owned()));
    }
    assert_eq!(ada.get("/api/agents/scout").await.ok().json()["harness"], keys);
    // What was stored before is shown, and stays until somebody changes it.
    let update = r#"update agents set harness = '{"backend":"webhook","url":"https://x.example","env":{"PATH":"/x"}}'"#;
    let stored = hub.inner().write(move |tx| tx.execute(update, &[])).await;
    stored.map(|_: u64| ()).unwrap_or_else(|error: stoa_db::DbError| panic!("{error}"));
    let changed = ada.patch("/api/agents/scout", &json!({"instructions": "look"})).await.ok().json();
    assert_eq!(changed["harness"]["env"], json!({"PATH": "/x"}));
    assert_eq!(ada.list("/api/agents").await[0]["harness"]["env"], json!({"PATH": "/x"}));
    ada.patch("/api/agents/scout", &json!({"harness": changed["harness"]})).await.problem(422, "reserved_variable");
    hub.finish().await;
}

#[tokio::test]
async fn a_limit_that_is_not_named_stays_as_it_is() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent_with(json!({"name": "scout", "budget": {"runs_per_day": 3}})).await;
    let change = |budget: serde_json::Value| ada.patch("/api/agents/scout", &json!({"budget": budget}));
    let changed = change(json!({"cost_usd_per_day": 4.0})).await.ok().json();
    assert_eq!(changed["budget"], json!({"runs_per_day": 3, "cost_usd_per_day": 4.0, "others_percent": 50}));
    let cleared = change(json!({"cost_usd_per_day": null})).await.ok().json();
    assert_eq!(cleared["budget"], json!({"runs_per_day": 3, "cost_usd_per_day": null, "others_percent": 50}));
    hub.finish().await;
}

#[tokio::test]
async fn long_settings_do_not_make_endless_answers() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for n in 0..40 {
        ada.agent_with(json!({"name": format!("agent-{n:02}"), "instructions": "x".repeat(60_000)})).await;
    }
    let me = ada.get("/auth/me").await.ok();
    assert!(me.body.len() < 1_500_000, "{}", me.body.len());
    let page = ada.get("/api/agents?limit=200").await.ok();
    assert!(page.body.len() < 1_500_000 && page.json()["next_cursor"].is_string());
    assert_eq!(ada.list("/api/agents").await.len(), 40);
    let huge = json!({"name": "huge", "harness": {"backend": "subprocess", "command": vec!["x".repeat(4000); 60]}});
    ada.post("/api/agents", &huge).await.invalid(&["harness"]);
    hub.finish().await;
}
