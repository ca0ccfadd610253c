//! The hub as a process: how it starts, tells about itself, stops and starts again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use stoa::StartError;
use stoa::error::HubError;
use stoa::events::{Event, Outcome, PrincipalEvent};
use stoa::hub::Hub;
use stoa_db::{DbError, OpenError, Tx};
use stoa_model::Secret;
use stoa_model::principals::PrincipalKind;

use crate::support::{Gate, KEY, TestHub, off_the_runtime, on_postgres};
use crate::walk::{Row, admin, public};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        public("GET /api/version", 200),
        public("GET /healthz", 200),
        public("GET /readyz", 200),
        public("GET /metrics", 200),
        admin("GET /api/admin/audit"),
        admin("GET /api/admin/system"),
    ]
}

#[tokio::test]
async fn the_hub_tells_that_it_is_well() {
    let hub = TestHub::start().await;
    let nobody = hub.nobody();
    assert_eq!(nobody.get("/healthz").await.status(200).json(), json!({"status": "ok"}));
    let details = json!({"event_lag_seconds": 0, "clock_correction_ms": 0, "warnings": []});
    let ready = nobody.get("/readyz").await.status(200).json();
    assert_eq!(ready, json!({"status": "ready", "details": details}));
    let version = json!({"name": "stoa", "version": env!("CARGO_PKG_VERSION")});
    assert_eq!(nobody.get("/api/version").await.status(200).json(), version);
    hub.finish().await;
}

/// Leaves the database no room to grow.
async fn take_room(hub: &TestHub) {
    if on_postgres() {
        let sql = "create function fail_for_space() returns trigger language plpgsql as
                   $$ begin raise 'could not extend file' using errcode = '53100'; end $$;
                   create trigger no_space before insert on messages for each row execute function fail_for_space();
                   create trigger no_space before insert or update on meta for each row execute function fail_for_space()";
        return off_the_runtime(|| hub.database().connect().batch_execute(sql).unwrap());
    }
    let pages = hub.count("select page_count as n from pragma_page_count").await;
    limit_pages(hub, pages).await;
}

async fn give_room(hub: &TestHub) {
    if on_postgres() {
        let sql = "drop trigger no_space on messages; drop trigger no_space on meta";
        return off_the_runtime(|| hub.database().connect().batch_execute(sql).unwrap());
    }
    limit_pages(hub, i64::from(u32::MAX - 1)).await;
}

async fn limit_pages(hub: &TestHub, pages: i64) {
    let limited = hub.inner().write(move |tx| tx.execute_batch(&format!("pragma max_page_count = {pages}")));
    limited.await.unwrap_or_else(|error: DbError| panic!("{error}"));
}

#[tokio::test]
async fn a_database_without_room_is_reported() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    take_room(&hub).await;
    let message = json!({"channel": "general", "body": "long ".repeat(10_000)});
    let refused = ada.post("/api/messages", &message).may_fail().await.problem(503, "storage_full");
    assert!(refused.header("retry-after").is_none());
    if on_postgres() {
        for _ in 0..2 {
            hub.nobody().get("/readyz").may_fail().await.problem(503, "storage_full");
        }
    }
    give_room(&hub).await;
    hub.nobody().get("/readyz").await.ok();
    ada.post("/api/messages", &message).await.ok();
    hub.finish().await;
}

/// What the setting says is what the connections get.
#[tokio::test]
async fn the_cache_setting_sizes_each_connection() {
    if on_postgres() {
        return;
    }
    let mut sizes = Vec::new();
    for mib in [16, 160] {
        let hub = TestHub::setup().configure(|config| config.cache_mib = mib).start().await;
        let of_connection = |tx: &mut stoa_db::Tx<'_>, of: &str| {
            tx.query_one(&format!("select -cache_size as kib from {of}"), &[], |row| row.get::<i64>("kib"))
        };
        let writer = hub.inner().write(move |tx| of_connection(tx, "pragma_cache_size")).await;
        let reader = hub.inner().read(move |tx| of_connection(tx, "pragma_cache_size")).await;
        sizes.push([writer, reader].map(|size: Result<i64, DbError>| size.unwrap()));
        hub.finish().await;
    }
    let [writer, reader] = sizes[0];
    assert_eq!(writer, 6 * 1024);
    assert!(reader > 0 && reader < writer);
    let tenfold = [sizes[1][0] / 10, sizes[1][1] / 10];
    assert_eq!(tenfold, [writer, reader]);
}

#[tokio::test]
async fn figures_are_open_unless_there_is_a_token() {
    let hub = TestHub::start().await;
    let scout = hub.human("ada").await.agent("scout").await;
    scout.get("/api/agents").await.ok();
    let reply = hub.nobody().get("/metrics").await.status(200);
    assert!(reply.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    for figure in [
        "active_agents 1",
        "errors_total 0",
        "stoa_requests_total{",
        "stoa_commit_seconds_bucket",
        "stoa_commit_commands_count",
    ] {
        assert!(reply.text().contains(figure), "{figure}");
    }
    hub.advance(std::time::Duration::from_secs(301));
    assert!(hub.nobody().get("/metrics").await.text().contains("active_agents 0"));
    hub.finish().await;

    let hub = TestHub::setup().configure(|config| config.metrics_token = Some(Secret::new("figures"))).start().await;
    let ada = hub.admin().await;
    let reply = hub.nobody().get("/metrics").await.problem(401, "unauthenticated");
    assert!(reply.header("www-authenticate").is_some());
    ada.get("/metrics").await.problem(401, "unauthenticated");
    for wrong in ["", "figure", "figuress", "FIGURES"] {
        hub.nobody().bearer(wrong).get("/metrics").await.problem(401, "unauthenticated");
    }
    hub.nobody().bearer("figures").get("/metrics").await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn messages_and_refusals_are_counted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.post("/api/messages", &json!({"channel": "general", "body": "hello"})).await.status(201);
    ada.post("/api/messages", &json!({"to": "admin", "body": "hello"})).await.status(201);
    assert_eq!((hub.metric("stoa_messages_total").await, hub.metric("errors_total").await), (2.0, 0.0));
    ada.post("/api/messages", &json!({"to": "nobody", "body": "hello"})).await.problem(404, "unknown_recipient");
    assert_eq!((hub.metric("stoa_messages_total").await, hub.metric("errors_total").await), (2.0, 1.0));
    assert_eq!(hub.metric("stoa_internal_errors_total").await, 0.0);
    assert!(hub.metric("stoa_read_seconds_count").await > 0.0);
    hub.finish().await;
}

#[tokio::test]
async fn methods_that_callers_invent_make_no_new_figures() {
    let hub = TestHub::start().await;
    for method in ["BREW", "FETCH", "X-1"] {
        hub.nobody().call(method, "/healthz").await.status(405);
    }
    let text = hub.nobody().get("/metrics").await.text();
    assert!(text.contains(r#"method="other""#) && !text.contains("BREW"), "{text}");
    hub.finish().await;
}

#[tokio::test]
async fn the_first_start_shows_a_password_once() {
    let hub = TestHub::start().await;
    let password = hub.admin_password();
    assert!(password.len() >= 20);
    let admin = hub.admin().await;
    assert_eq!(admin.get("/auth/me").await.json()["user"]["role"], "admin");
    let setup = hub.stop().await;
    let hub =
        setup.configure(|config| config.show_password = std::sync::Arc::new(|_| panic!("shown again"))).start().await;
    hub.admin().await;
    hub.finish().await;
}

#[tokio::test]
async fn administrators_see_the_state_of_the_hub() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    admin.agent("scout").await;
    let system = admin.get("/api/admin/system").await.status(200).json();
    assert_eq!(system["database"]["engine"], if on_postgres() { "postgres" } else { "sqlite" });
    assert_eq!((&system["users"], &system["agents"]), (&json!(1), &json!(1)));
    assert_eq!(system["started_at"], "2027-01-15T08:00:00.000Z");
    assert_eq!(system["base_url"], format!("http://{}", hub.address));
    assert!(system["database"]["size_bytes"].as_i64().unwrap() > 0);
    hub.operator().call("db.vacuum", json!({})).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_restart_keeps_everything() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent_with(json!({"name": "scout", "instructions": "Look."})).await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    ada.agent("gone").await;
    ada.delete("/api/agents/gone").await.ok();
    let (me, audit) = (ada.get("/auth/me").await.json(), hub.audit().await);
    let hub = hub.restart().await;
    let hub = hub.crash().await.start().await;
    // On PostgreSQL the listeners of a hub that crashed are its own until their leases end.
    hub.advance(std::time::Duration::from_secs(31));
    // The address is a new one; sessions and keys are not.
    let back = hub.nobody();
    let ada_again = back.with(ada.client.proof.clone());
    assert_eq!(ada_again.get("/auth/me").await.ok().json(), me);
    back.bearer(&scout.key).get("/api/agents/scout").await.ok();
    back.bearer(&key).get("/api/agents/scout").await.ok();
    assert_eq!(ada_again.get(&format!("/api/keys/{}", record["id"])).await.ok().json()["status"], "active");
    assert_eq!(hub.audit().await, audit);
    hub.finish().await;
}

static UNDER_WAY: Gate = Gate::new();

fn hold_new_agents(_: &Hub, _: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    if matches!(event, Event::Principal(PrincipalEvent::Created { principal_kind: PrincipalKind::Agent, .. })) {
        UNDER_WAY.pass();
    }
    Ok(())
}

#[tokio::test]
async fn a_request_under_way_is_finished_and_answered() {
    let hub = TestHub::setup().planner(hold_new_agents).start().await;
    let ada = hub.human("ada").await;
    let waiting = {
        let ada = ada.clone();
        tokio::spawn(async move { ada.post("/api/agents", &json!({"name": "scout"})).await })
    };
    UNDER_WAY.somebody_waits().await;
    let inner = hub.inner().clone();
    let stopped = tokio::spawn(hub.stop());
    inner.stopping().await;
    drop(inner);
    assert!(!stopped.is_finished());
    UNDER_WAY.open();
    waiting.await.unwrap().status(201);
    let hub = stopped.await.unwrap().start().await;
    assert_eq!(hub.log_in("ada").await.list("/api/agents").await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn a_hub_with_another_key_does_not_start() {
    let setup = TestHub::setup().key(KEY).start().await.stop().await;
    let other = "AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let refused = setup.clone().key(other).try_start().await;
    assert!(matches!(refused.err(), Some(StartError::WrongKey)));
    let garbled = setup.clone().key("garbled").try_start().await;
    assert!(matches!(garbled.err(), Some(StartError::Key(_))));
    // A new key in front of the old one is how keys are changed.
    setup.clone().key(&format!("{other},{KEY}")).start().await.finish().await;
    setup.key(KEY).start().await.finish().await;
}

#[tokio::test]
async fn a_folder_serves_one_hub() {
    let hub = TestHub::start().await;
    let mut second = hub.beside();
    second.config.data = hub.folder();
    assert!(matches!(second.try_start().await.err(), Some(StartError::Open(OpenError::Locked(_)))));
    hub.nobody().get("/readyz").await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn a_base_url_must_be_one() {
    let setup = TestHub::start().await.stop().await;
    for bad in ["", "hub.example", "ftp://hub.example", "https://", "https://hub.example/path", "https://a b"] {
        let refused = setup.clone().base_url(bad).try_start().await;
        assert!(matches!(refused.err(), Some(StartError::BaseUrl(_))), "{bad}");
    }
    setup.start().await.finish().await;
}

#[tokio::test]
async fn a_rotated_key_file_serves_on() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.agent("other").await;
    let once = ada.post("/api/agents", &json!({"name": "once"})).header("idempotency-key", "k").await.status(201);
    let before = std::fs::read(hub.folder().join("key")).unwrap();
    hub.operator().call("db.rotate_key", json!({})).await;
    assert_ne!(std::fs::read(hub.folder().join("key")).unwrap(), before);
    scout.get("/api/agents").await.ok();
    let hub = hub.restart().await;
    let ada = hub.log_in("ada").await;
    // Answers that the old key had sealed are sealed anew: nothing is done twice.
    let again = ada.post("/api/agents", &json!({"name": "once"})).header("idempotency-key", "k").await.status(201);
    assert_eq!(again.body, once.body);
    hub.finish().await;
}

#[tokio::test]
async fn two_hubs_on_one_database_are_one() {
    if !on_postgres() {
        return;
    }
    let one = TestHub::setup().key(KEY).start().await;
    let two = one.beside().start().await;
    let ada = one.human("ada").await;
    let scout = ada.agent("scout").await;
    let (record, key) = ada.key("scout", json!(["*"])).await;
    let there = |proof: &crate::support::Proof| two.nobody().with(proof.clone());
    assert_eq!(there(&ada.client.proof).list("/api/agents").await.len(), 1);
    there(&scout.client.proof).get("/api/agents").await.ok();
    let managed = two.nobody().bearer(&key);
    managed.get("/api/agents").await.ok();
    ada.delete(&format!("/api/keys/{}", record["id"])).await.ok();
    managed.get("/api/agents").await.problem(401, "invalid_credentials");
    ada.call("POST", "/auth/logout").await.ok();
    there(&ada.client.proof).get("/api/agents").await.problem(401, "session_expired");
    // Pages begun here are read on there.
    let ada = two.log_in("ada").await;
    ada.agent("second").await;
    let cursor = ada.get("/api/agents?limit=1").await.json()["next_cursor"].as_str().unwrap().to_owned();
    let page = one.log_in("ada").await.get(&format!("/api/agents?cursor={cursor}")).await.ok().json();
    assert_eq!(page["items"][0]["name"], "second");
    two.finish().await;
    one.finish().await;
}

/// All binary columns of the database, as `table.column`.
async fn binary_columns(hub: &TestHub) -> Vec<String> {
    let sql = if on_postgres() {
        "select table_name || '.' || column_name as place from information_schema.columns
         where table_schema = 'public' and data_type = 'bytea' order by 1"
    } else {
        "select m.name || '.' || c.name as place from sqlite_master m, pragma_table_info(m.name) c
         where m.type = 'table' and lower(c.type) = 'blob' order by 1"
    };
    let columns: Result<Vec<String>, DbError> =
        hub.inner().read(move |tx| tx.query(sql, &[], |row| row.get("place"))).await;
    columns.unwrap()
}

/// The keys that the values of a sealed column were sealed with, as each value names its own after a byte for its version.
async fn sealing_keys(hub: &TestHub, place: &str) -> BTreeSet<Vec<u8>> {
    let (table, column) = place.split_once('.').unwrap();
    let sql = format!("select {column} as sealed from {table}");
    let values: Result<Vec<Vec<u8>>, DbError> =
        hub.inner().read(move |tx| tx.query(&sql, &[], |row| row.get("sealed"))).await;
    values.unwrap().into_iter().map(|value| value[1..5].to_vec()).collect()
}

#[tokio::test]
async fn every_sealed_column_is_sealed_again_when_the_key_is_rotated() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let features = stoa::features::all();
    let sealed: Vec<&str> =
        features.iter().filter_map(|feature| feature.sealed).flat_map(|sealed| sealed.columns).copied().collect();
    for place in binary_columns(&hub).await {
        let is_known = place.ends_with("_hash") || sealed.contains(&&*place);
        assert!(is_known, "{place} is binary: name it ..._hash, or have its feature register it as sealed");
    }
    // A feature that seals something adds a line here that has it stored.
    ada.post("/api/agents", &json!({"name": "scout"})).header("idempotency-key", "k").await.status(201);
    let app = hub.app().await;
    app.refresh(&app.tokens(&ada, "self").await.refresh).await.tokens();
    let webhook = json!({"agent": "scout", "url": "https://hooks.example/", "events": ["wiki.changed"]});
    let webhook = ada.post("/api/webhooks", &webhook).await.status(201).json()["webhook"]["id"].to_string();
    ada.post(&format!("/api/webhooks/{webhook}/rotate-secret"), &json!({})).await.ok();
    let hook = json!({"name": "CI", "kind": "url", "target": {"channel": "general"}});
    ada.post("/api/hooks", &hook).await.status(201);
    let secret = json!({"scope": "agent:scout", "name": "DEPLOY_KEY", "value": "a value to seal"});
    hub.operator().call("secrets.set", secret).await;
    ada.post("/api/agents/scout/run-secret", &json!({})).await.status(201);
    let mut before = BTreeMap::new();
    for place in &sealed {
        let keys = sealing_keys(&hub, place).await;
        assert_eq!(keys.len(), 1, "nothing is stored in {place}, or not with the current key");
        before.insert(*place, keys);
    }
    hub.operator().call("db.rotate_key", json!({})).await;
    for (place, before) in before {
        let after = sealing_keys(&hub, place).await;
        assert!(after.len() == 1 && after.is_disjoint(&before), "{place} was not sealed again");
    }
    hub.finish().await;
}
