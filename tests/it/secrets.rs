//! Secrets: the operator sets them, runs get them, and nobody can read them back.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stoa::features::secrets::{RunSecrets, secrets_of_run};
use stoa_model::PrincipalId;
use stoa_model::masking::Masker;

use crate::backup::{Target, back_up, unpacked};
use crate::cli_support::{Hub, Outcome, Place, stoa};
use crate::support::{MINUTE, TestHub, each};

const CANARY: &str = "canary-Zq8+W4/tR1=yk7Lm";

async fn try_set(hub: &TestHub, scope: &str, name: &str, value: &str) -> Result<Value, String> {
    hub.operator().try_call("secrets.set", &json!({"scope": scope, "name": name, "value": value})).await
}

async fn set(hub: &TestHub, scope: &str, name: &str, value: &str) -> Value {
    try_set(hub, scope, name, value).await.unwrap_or_else(|code| panic!("{scope} {name}: {code}"))
}

async fn list(hub: &TestHub, params: Value) -> Vec<Value> {
    hub.operator().call("secrets.list", params).await["items"].as_array().unwrap().clone()
}

/// What a run of the agent would get. There are no runs yet, so this asks as they will.
async fn run_of(hub: &TestHub, agent: &str, is_foreign: bool) -> RunSecrets {
    let (inner, agent) = (hub.inner().clone(), agent.to_owned());
    let found = hub.inner().read(move |tx| {
        let sql = "select id from principals where handle = $1";
        let id = tx.query_one(sql, stoa_db::params![agent], |row| row.get("id"))?;
        secrets_of_run(&inner, tx, PrincipalId(id), is_foreign)
    });
    found.await.unwrap()
}

async fn variables_of(hub: &TestHub, agent: &str, is_foreign: bool) -> BTreeMap<String, String> {
    let variables = run_of(hub, agent, is_foreign).await.variables;
    variables.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect()
}

fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_secret_is_set_listed_replaced_and_deleted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let created = set(&hub, "user:ada", "DEPLOY_KEY", "the first value").await;
    let mut expected = json!({
        "name": "DEPLOY_KEY", "scope": "user:ada", "all_runs": false,
        "created_at": "2027-01-15T08:00:00.000Z", "updated_at": "2027-01-15T08:00:00.000Z",
    });
    assert_eq!(created, expected);
    hub.advance(MINUTE);
    let request = json!({"scope": "user:ADA", "name": "DEPLOY_KEY", "value": "the second value", "all_runs": true});
    expected["updated_at"] = json!("2027-01-15T08:01:00.000Z");
    expected["all_runs"] = json!(true);
    assert_eq!(hub.operator().call("secrets.set", request).await, expected);
    // A new value alone leaves the rest as it is.
    assert_eq!(set(&hub, "user:ada", "DEPLOY_KEY", "the third value").await, expected);
    set(&hub, "agent:scout", "DEPLOY_KEY", "of the agent").await;
    assert_eq!(list(&hub, json!({})).await.len(), 2);
    assert_eq!(list(&hub, json!({"scope": "user:ada"})).await, [expected.clone()]);
    assert_eq!(variables_of(&hub, "scout", false).await, variables(&[("DEPLOY_KEY", "of the agent")]));

    let agents = json!({"scope": "agent:scout", "name": "DEPLOY_KEY"});
    assert_eq!(hub.operator().call("secrets.delete", agents.clone()).await["scope"], "agent:scout");
    assert_eq!(hub.operator().try_call("secrets.delete", &agents).await, Err("not_found".to_owned()));
    assert_eq!(variables_of(&hub, "scout", false).await, variables(&[("DEPLOY_KEY", "the third value")]));
    assert_eq!(list(&hub, json!({})).await, [expected]);

    let audit = hub.audit().await;
    let audit: Vec<_> = audit.iter().filter(|entry| entry["target"] == "DEPLOY_KEY").collect();
    let actions: Vec<_> = audit.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    let expected = ["secret.deleted", "secret.created", "secret.updated", "secret.updated", "secret.created"];
    assert_eq!(actions, expected);
    assert_eq!(audit[0]["details"], json!({"scope": "agent:scout", "all_runs": false}));
    assert_eq!((&audit[0]["actor"], &audit[3]["details"]["all_runs"]), (&json!("operator"), &json!(true)));
    hub.finish().await;
}

#[tokio::test]
async fn bad_secrets_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let refused = |code: &str| Err(code.to_owned());
    for name in ["", "deploy_key", "_KEY", "1KEY", "KEY-1", "KEY\n", "Ä", &"K".repeat(65)] {
        assert_eq!(try_set(&hub, "user:ada", name, "good enough").await, refused("validation_failed"), "{name}");
    }
    for name in ["PATH", "HOME", "LD_PRELOAD", "LD_AUDIT_KEY", "NODE_OPTIONS", "STOA_KEY", "ANTHROPIC_BASE_URL"] {
        assert_eq!(try_set(&hub, "user:ada", name, "good enough").await, refused("reserved_variable"), "{name}");
    }
    for value in ["", "\n", "      ", "12345", "nul\0nul\0", &"x".repeat(33 * 1024), &"x".repeat(32 * 1024 + 1)] {
        let outcome = try_set(&hub, "user:ada", "KEY", value).await;
        assert_eq!(outcome, refused("validation_failed"), "{} bytes", value.len());
    }
    for scope in ["ada", "user:", "machine:ada", "User:ada", ""] {
        assert_eq!(try_set(&hub, scope, "KEY", "good enough").await, refused("validation_failed"), "{scope}");
    }
    for scope in ["user:scout", "agent:ada", "user:nobody", "agent:nobody", "user:system", "agent:system"] {
        assert_eq!(try_set(&hub, scope, "KEY", "good enough").await, refused("not_found"), "{scope}");
        let filter = json!({"scope": scope});
        assert_eq!(hub.operator().try_call("secrets.list", &filter).await, refused("not_found"), "{scope}");
    }
    for extra in [json!({"all_runs": "yes"}), json!({"value": 1}), json!({"value": null}), json!({"more": 1})] {
        let mut params = json!({"scope": "user:ada", "name": "KEY", "value": "good enough"});
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        assert_eq!(hub.operator().try_call("secrets.set", &params).await, refused("validation_failed"), "{extra}");
    }
    assert_eq!(list(&hub, json!({})).await, Vec::<Value>::new());

    // What is just good enough arrives as it was sent.
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n";
    let long = "x".repeat(32 * 1024);
    let good =
        [("A", "123456"), ("NODE_AUTH_TOKEN", "a \"b\" \\ é"), ("PEM", pem), ("LONG", &long), ("TABS", "\ta b c\td ")];
    for (name, value) in good {
        set(&hub, "agent:scout", name, value).await;
    }
    assert_eq!(variables_of(&hub, "scout", false).await, variables(&good));
    hub.finish().await;
}

#[tokio::test]
async fn a_scope_has_a_hundred_secrets_in_pages() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    for number in 0..100 {
        set(&hub, "user:ada", &format!("KEY_{number:03}"), "good enough").await;
    }
    assert_eq!(try_set(&hub, "user:ada", "KEY_100", "good enough").await, Err("too_many_secrets".to_owned()));
    set(&hub, "user:ada", "KEY_099", "another value").await;
    set(&hub, "agent:scout", "KEY_100", "good enough").await;

    let mut names = Vec::new();
    let mut params = json!({"limit": 30});
    loop {
        let page = hub.operator().call("secrets.list", params.clone()).await;
        names.extend(each(page["items"].as_array().unwrap(), "name"));
        if page["next_cursor"].is_null() {
            break;
        }
        params["cursor"] = page["next_cursor"].clone();
    }
    let expected: Vec<_> = (0..=100).map(|number| format!("KEY_{number:03}")).collect();
    assert_eq!(names, expected);
    params["scope"] = json!("user:ada");
    assert!(hub.operator().try_call("secrets.list", &params).await.is_err(), "the cursor is of another list");

    hub.operator().call("secrets.delete", json!({"scope": "user:ada", "name": "KEY_050"})).await;
    set(&hub, "user:ada", "KEY_100", "good enough").await;
    hub.finish().await;
}

#[tokio::test]
async fn secrets_that_are_set_at_once_keep_to_the_limit() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    for number in 0..95 {
        set(&hub, "user:ada", &format!("KEY_{number}"), "good enough").await;
    }
    // Five new names fit, and three commands set each of ten.
    let commands = (0..30).map(|number| {
        let operator = hub.operator();
        let params = json!({"scope": "user:ada", "name": format!("NEW_{}", number % 10), "value": "good enough"});
        tokio::spawn(async move { operator.try_call("secrets.set", &params).await })
    });
    let mut refused = 0;
    for command in commands.collect::<Vec<_>>() {
        match command.await.unwrap() {
            Ok(_) => {}
            Err(code) => {
                assert_eq!(code, "too_many_secrets");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 15);
    assert_eq!(list(&hub, json!({"limit": 200})).await.len(), 100);
    let audit = hub.audit().await;
    assert_eq!(audit.iter().filter(|entry| entry["action"] == "secret.created").count(), 100);
    hub.finish().await;
}

#[tokio::test]
async fn a_run_gets_the_secrets_of_its_owner_and_its_agent() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for name in ["scout", "finder"] {
        ada.agent(name).await;
    }
    bob.agent("errand").await;
    set(&hub, "user:ada", "ANTHROPIC_API_KEY", "of ada: model").await;
    set(&hub, "user:ada", "DEPLOY_KEY", "of ada: deploy").await;
    set(&hub, "agent:scout", "DEPLOY_KEY", "of scout: deploy").await;
    set(&hub, "agent:scout", "SEARCH_KEY", "of scout: search").await;
    set(&hub, "user:bob", "DEPLOY_KEY", "of bob: deploy").await;
    let model = ("ANTHROPIC_API_KEY", "of ada: model");
    let scouts = [model, ("DEPLOY_KEY", "of scout: deploy"), ("SEARCH_KEY", "of scout: search")];
    assert_eq!(variables_of(&hub, "scout", false).await, variables(&scouts));
    assert_eq!(variables_of(&hub, "finder", false).await, variables(&[model, ("DEPLOY_KEY", "of ada: deploy")]));
    assert_eq!(variables_of(&hub, "errand", false).await, variables(&[("DEPLOY_KEY", "of bob: deploy")]));

    // Others' runs get the key of the model, and what is marked. A mark of a value that is replaced counts for nothing.
    assert_eq!(variables_of(&hub, "scout", true).await, variables(&[model]));
    for (scope, name) in [("user:ada", "DEPLOY_KEY"), ("agent:scout", "SEARCH_KEY")] {
        let value = "marked for all runs";
        let request = json!({"scope": scope, "name": name, "value": value, "all_runs": true});
        hub.operator().call("secrets.set", request).await;
    }
    let marked = ("SEARCH_KEY", "marked for all runs");
    assert_eq!(variables_of(&hub, "scout", true).await, variables(&[model, marked]));
    let finders = variables(&[model, ("DEPLOY_KEY", "marked for all runs")]);
    assert_eq!(variables_of(&hub, "finder", true).await, finders);

    // The masker knows what the run does not get as well.
    let masker = run_of(&hub, "scout", true).await.masker();
    assert_eq!(masker.mask("a: of scout: deploy, of bob: deploy"), "a: ***, of bob: deploy");
    assert!(masker.finds_secret("of ada: model"));
    hub.finish().await;
}

#[tokio::test]
async fn a_deleted_agent_takes_its_secrets_along_and_a_disabled_user_keeps_them() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.agent("finder").await;
    set(&hub, "user:ada", "DEPLOY_KEY", "of ada: deploy").await;
    set(&hub, "agent:scout", "SEARCH_KEY", "of scout: search").await;
    set(&hub, "agent:finder", "SEARCH_KEY", "of finder: search").await;
    ada.delete("/api/agents/scout").await.status(204);
    assert_eq!(each(&list(&hub, json!({})).await, "scope"), ["user:ada", "agent:finder"]);
    assert_eq!(hub.count("select count(*) as n from secrets").await, 2);
    assert_eq!(try_set(&hub, "agent:scout", "SEARCH_KEY", "good enough").await, Err("not_found".to_owned()));

    hub.operator().call("users.disable", json!({"username": "ada"})).await;
    set(&hub, "user:ada", "OTHER_KEY", "while disabled").await;
    hub.operator().call("users.enable", json!({"username": "ada"})).await;
    let expected =
        [("DEPLOY_KEY", "of ada: deploy"), ("OTHER_KEY", "while disabled"), ("SEARCH_KEY", "of finder: search")];
    assert_eq!(variables_of(&hub, "finder", false).await, variables(&expected));
    hub.finish().await;
}

#[tokio::test]
async fn a_value_opens_only_where_it_was_stored() {
    let hub = TestHub::setup().may_fail().start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    set(&hub, "user:ada", "DEPLOY_KEY", "of ada: deploy").await;
    let moved = hub.inner().write(|tx| tx.execute("update secrets set name = 'SEARCH_KEY'", &[]));
    assert_eq!(moved.await.unwrap(), 1);
    let (inner, sql) = (hub.inner().clone(), "select id from principals where handle = 'scout'");
    let outcome = hub.inner().read(move |tx| {
        let id = tx.query_one(sql, &[], |row| row.get("id"))?;
        secrets_of_run(&inner, tx, PrincipalId(id), false)
    });
    assert_eq!(outcome.await.err().map(|error| error.code), Some("internal"));
    hub.stop().await;
}

#[tokio::test]
async fn secrets_survive_a_new_key_a_restart_and_a_backup() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    // More than are sealed again at once.
    for number in 0..60 {
        set(&hub, "user:ada", &format!("KEY_{number}"), &format!("of ada: {number}")).await;
        set(&hub, "agent:scout", &format!("KEY_1{number}"), &format!("of scout: {number}")).await;
    }
    let before = variables_of(&hub, "scout", false).await;
    let listed = list(&hub, json!({"limit": 200})).await;
    hub.operator().call("db.rotate_key", json!({})).await;
    assert_eq!(variables_of(&hub, "scout", false).await, before);
    let hub = hub.restart().await;
    assert_eq!(variables_of(&hub, "scout", false).await, before);
    assert_eq!(list(&hub, json!({"limit": 200})).await, listed, "a new key is no change of a secret");

    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    let original = hub.stop().await;
    let target = Target::new();
    target.restore(&backup).await.unwrap();
    let restored = target.setup(&original).start().await;
    assert_eq!(variables_of(&restored, "scout", false).await, before);
    restored.finish().await;
}

/// Fails if the canary is in what was said or stored, as it is or encoded.
#[track_caller]
fn refuse_canary(what: &str, bytes: &[u8]) {
    let is_there = Masker::new([CANARY]).finds_secret(&String::from_utf8_lossy(bytes));
    assert!(!is_there, "the value is in {what}");
}

#[tokio::test]
async fn a_value_is_stored_only_sealed() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let mut answers = vec![set(&hub, "user:ada", "DEPLOY_KEY", CANARY).await];
    answers.push(set(&hub, "agent:scout", "OLD_KEY", CANARY).await);
    answers.push(set(&hub, "agent:scout", "OLD_KEY", "a replaced value").await);
    hub.operator().call("db.rotate_key", json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    answers.push(hub.operator().call("secrets.delete", json!({"scope": "agent:scout", "name": "OLD_KEY"})).await);
    answers.extend(list(&hub, json!({})).await);
    answers.extend(hub.audit().await);
    answers.push(hub.operator().call("traces.list", json!({})).await);
    answers.extend(ada.list("/api/agents").await);
    refuse_canary("an answer", json!(answers).to_string().as_bytes());

    let entries = unpacked(&backup);
    for (name, content) in &entries {
        refuse_canary(&format!("{name} of the backup"), content);
    }
    let stored = hub.everything_stored();
    refuse_canary("the database", &stored);
    // The search would find it if it were there.
    let finds_name = |bytes: &[u8]| bytes.windows(10).any(|window| window == b"DEPLOY_KEY");
    assert!(finds_name(&stored) && entries.iter().any(|(_, content)| finds_name(content)));
    assert_eq!(variables_of(&hub, "scout", false).await, variables(&[("DEPLOY_KEY", CANARY)]));
    hub.finish().await;
}

/// `stoa admin secrets set` with the value on standard input.
fn set_by_command(hub: &Hub, more: &[&str], input: &str) -> Outcome {
    hub.admin_with(&[&["secrets", "set"], more].concat(), input)
}

#[test]
fn commands_set_list_and_delete_secrets_and_show_no_value() {
    let place = Place::new();
    let mut command = place.serve(&["--log-level", "trace"]);
    let hub = Hub::start(&mut command, place.data());
    hub.create_user("ada");
    hub.json(&["agents", "create", "scout", "--owner", "ada"]);
    let mut said = String::new();
    let scope = ["DEPLOY_KEY", "--scope", "user:ada"];
    let told = set_by_command(&hub, &scope, &format!("{CANARY}\n")).ok();
    assert_eq!(told, "The secret DEPLOY_KEY of user:ada was set, for own runs.\n");
    let told = set_by_command(&hub, &[&scope[..], &["--all-runs"]].concat(), CANARY).ok();
    assert_eq!(told, "The secret DEPLOY_KEY of user:ada was set, for all runs.\n");
    let set = set_by_command(&hub, &["SEARCH_KEY", "--scope", "agent:scout", "--json"], CANARY).json();
    assert_eq!((&set["scope"], &set["all_runs"]), (&json!("agent:scout"), &json!(false)));
    assert_eq!(set.as_object().unwrap().len(), 5, "{set}");
    said += &set.to_string();

    let table = hub.admin(&["secrets", "list"]).ok();
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("SCOPE") && lines[1].starts_with("user:ada"), "{table}");
    assert!(lines[2].starts_with("agent:scout") && lines[2].contains("SEARCH_KEY") && lines.len() == 3, "{table}");
    let one = hub.json(&["secrets", "list", "--scope", "agent:scout"]);
    assert_eq!(one["items"], json!([set]));
    assert_eq!(hub.json(&["secrets", "list", "--limit", "1"])["items"].as_array().unwrap().len(), 1);
    let told = set_by_command(&hub, &[&scope[..], &["--all-runs=false"]].concat(), CANARY).ok();
    assert!(told.contains("own runs"), "{told}");

    // What is refused says why, and not what was sent.
    let long = CANARY.repeat(33 * 1024 / CANARY.len() + 1);
    let nul = format!("{CANARY}\0");
    for (name, input, code, words) in [
        ("PATH", CANARY, 4, "reserved"),
        ("deploy", CANARY, 4, "must be 1 to 64"),
        ("KEY", long.as_str(), 4, "at most 32768 bytes"),
        ("KEY", nul.as_str(), 4, "NUL"),
        ("KEY", "\n", 4, "must not be empty"),
        ("KEY", "", 2, "no value"),
        ("KEY", "12345\n", 4, "at least 6"),
    ] {
        for json in [&["--json"][..], &[]] {
            let arguments = [&[name, "--scope", "user:ada"], json].concat();
            said += &set_by_command(&hub, &arguments, input).fails(code, &[words]);
        }
    }
    said += &set_by_command(&hub, &["KEY", "--scope", "ada"], CANARY).fails(2, &["user:NAME or agent:NAME"]);
    said += &set_by_command(&hub, &["KEY", CANARY, "--scope", "user:ada"], "")
        .fails(2, &["unexpected"])
        .replace(CANARY, "");
    said += &set_by_command(&hub, &["KEY", "--scope", "agent:nobody"], CANARY).fails(4, &["No such agent"]);
    hub.admin(&["secrets", "delete", "KEY", "--scope", "user:ada"]).fails(4, &["No such secret"]);
    hub.admin(&["db", "rotate-key"]).ok();
    let deleted = hub.admin(&["secrets", "delete", "SEARCH_KEY", "--scope", "agent:scout"]).ok();
    assert_eq!(deleted, "The secret SEARCH_KEY of agent:scout was deleted.\n");
    assert_eq!(hub.json(&["secrets", "delete", "DEPLOY_KEY", "--scope", "user:ada"])["name"], "DEPLOY_KEY");
    said += &hub.json(&["audit", "list"]).to_string();
    said += &hub.json(&["traces", "list"]).to_string();

    // The log has lines of each level.
    hub.http("GET", "/api/agents", &[], None);
    let ended = hub.stop();
    assert!(ended.stderr.contains("DEBUG") && said.contains("secret.created"), "{said}");
    for (what, text) in [("an answer", &said), ("the log", &ended.stderr), ("the output", &ended.stdout)] {
        refuse_canary(what, text.as_bytes());
    }
}

#[tokio::test]
async fn a_key_file_keeps_its_lines() {
    let hub = TestHub::start().await;
    hub.human("ada").await.agent("scout").await;
    let socket = hub.operator().socket;
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n";
    for (name, input) in [("PEM", pem), ("LINE", "a single line\r\n"), ("BLANKS", "  two blanks  \n")] {
        let arguments = ["admin", "--admin-socket", socket.to_str().unwrap(), "secrets", "set", name];
        let mut command = stoa(&arguments);
        Outcome::of(command.args(["--scope", "agent:scout"]), input.as_bytes()).ok();
    }
    let expected = variables(&[("BLANKS", "  two blanks  "), ("LINE", "a single line"), ("PEM", pem)]);
    assert_eq!(variables_of(&hub, "scout", false).await, expected);
    hub.finish().await;
}
