//! Lists: limits and cursors.

use serde_json::json;

use crate::support::TestHub;

const LISTS: [&str; 6] =
    ["/api/agents", "/api/keys", "/api/directory", "/api/admin/users", "/api/admin/audit", "/auth/sessions"];

#[tokio::test]
async fn every_list_comes_in_pages_without_holes_or_repetitions() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    for n in 0..5 {
        let agent = admin.agent(&format!("agent{n}")).await;
        admin.key(&agent.name, json!(["*"])).await;
        hub.human(&format!("user{n}")).await;
        admin.again().await;
    }
    for path in LISTS {
        let whole = admin.list(path).await;
        assert!(whole.len() >= 5, "{path}");
        let mut pieces = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = admin.get(&format!("{path}?limit=2{cursor}")).await.ok().json();
            let items = page["items"].as_array().unwrap();
            assert!((1..=2).contains(&items.len()), "{path}");
            pieces.extend(items.iter().cloned());
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(pieces, whole, "{path}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_limit_is_a_number_from_one_to_two_hundred() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    for n in 0..3 {
        admin.agent(&format!("agent{n}")).await;
    }
    for path in LISTS {
        for bad in ["0", "-1", "abc", "", "1.5", "1e3", "99999999999999999999", "%201"] {
            admin.get(&format!("{path}?limit={bad}")).await.invalid(&["limit"]);
        }
        for good in ["1", "200", "201", "9223372036854775807"] {
            admin.get(&format!("{path}?limit={good}")).await.ok();
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn without_a_limit_fifty_come_and_never_more_than_two_hundred() {
    let hub = TestHub::start().await;
    let admin = hub.admin().await;
    let filled: Result<(), stoa_db::DbError> = hub
        .inner()
        .write(|tx| {
            for _ in 0..230 {
                tx.execute("insert into audit (at, action, details) values (0, 'test', '{}')", &[])?;
            }
            Ok(())
        })
        .await;
    filled.unwrap();
    let length = |page: serde_json::Value| page["items"].as_array().unwrap().len();
    assert_eq!(length(admin.get("/api/admin/audit").await.ok().json()), 50);
    assert_eq!(length(admin.get("/api/admin/audit?limit=1000").await.ok().json()), 200);
    assert_eq!(admin.list("/api/admin/audit").await.len(), 232 - 1, "the first admin's entry and 230 more");
    hub.finish().await;
}

#[tokio::test]
async fn a_cursor_is_good_for_its_own_list_and_caller() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for human in [&ada, &bob] {
        for n in 0..3 {
            let agent = human.agent(&format!("{}-{n}", human.name)).await;
            human.key(&agent.name, json!(["*"])).await;
        }
    }
    let cursor_of = |page: serde_json::Value| page["next_cursor"].as_str().unwrap().to_owned();
    let agents = cursor_of(ada.get("/api/agents?limit=1").await.ok().json());
    let keys = cursor_of(ada.get("/api/keys?limit=1").await.ok().json());
    let directory = cursor_of(ada.get("/api/directory?q=a&limit=1").await.ok().json());
    let get = |client: &crate::support::Client, path: &str, cursor: &str| {
        let separator = if path.contains('?') { '&' } else { '?' };
        client.get(&format!("{path}{separator}cursor={cursor}"))
    };
    get(&ada, "/api/agents", &agents).await.ok();
    get(&ada.again().await.client, "/api/agents?limit=2", &agents).await.ok();
    get(&bob, "/api/agents", &agents).await.problem(400, "invalid_cursor");
    get(&ada, "/api/keys", &agents).await.problem(400, "invalid_cursor");
    get(&ada, "/api/agents", &keys).await.problem(400, "invalid_cursor");
    get(&ada, "/api/directory?q=a", &directory).await.ok();
    get(&ada, "/api/directory?q=b", &directory).await.problem(400, "invalid_cursor");
    get(&ada, "/api/directory", &directory).await.problem(400, "invalid_cursor");
    let changed = format!("{}A", &agents[..agents.len() - 1]);
    let longer = "A".repeat(5000);
    for garbage in ["", "x", "....", "%C3%A4", "null", &agents[1..], &changed, &longer] {
        get(&ada, "/api/agents", garbage).await.problem(400, "invalid_cursor");
    }
    let hub = hub.restart().await;
    get(&hub.log_in("ada").await.client, "/api/agents", &agents).await.ok();
    hub.finish().await;
}

#[tokio::test]
async fn the_audit_log_can_be_filtered() {
    let hub = TestHub::start().await;
    let (admin, ada) = (hub.admin().await, hub.human("ada").await);
    ada.agent("scout").await;
    ada.agent("other").await;
    let actions = |page: serde_json::Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    };
    let by_ada = actions(admin.get("/api/admin/audit?actor=ada").await.ok().json());
    assert_eq!(by_ada, ["agent.created", "agent.created"]);
    let created = actions(admin.get("/api/admin/audit?action=user.created").await.ok().json());
    assert_eq!(created, ["user.created", "user.created"]);
    let first = admin.get("/api/admin/audit?actor=ada&limit=1").await.ok().json();
    let cursor = first["next_cursor"].as_str().unwrap();
    admin.get(&format!("/api/admin/audit?actor=ada&cursor={cursor}")).await.ok();
    admin.get(&format!("/api/admin/audit?actor=bob&cursor={cursor}")).await.problem(400, "invalid_cursor");
    assert_eq!(first["items"][0]["remote_ip"], "127.0.0.1");
    hub.finish().await;
}
