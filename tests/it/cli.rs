//! `stoa admin`: each command, for people and for programs, and what it changes in the hub.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_support::{Hub, Outcome, Place, password_of, secret_after, skip, stoa, with_scout};
use crate::support::on_postgres;

#[test]
fn users_are_made_listed_and_changed() {
    let place = Place::new();
    let hub = place.start();
    let create = ["users", "create", "ada", "--display-name", "Ada Lovelace"];
    assert_eq!(hub.admin_with(&create, &password_of("ada")).ok(), "The member ada was created.\n");
    let bob = hub.admin_with(&["users", "create", "bob", "--role", "admin", "--json"], "correct horse\n").json();
    assert_eq!((&bob["username"], &bob["role"], &bob["display_name"]), (&json!("bob"), &json!("admin"), &json!("bob")));

    let table = hub.admin(&["users", "list"]).ok();
    let lines: Vec<_> = table.lines().collect();
    assert!(lines[0].starts_with("USERNAME  DISPLAY NAME") && lines.len() == 4, "{table}");
    assert!(
        lines.iter().any(|line| line.starts_with("ada ") && line.contains("Ada Lovelace   member  active")),
        "{table}"
    );
    let list = hub.json(&["users", "list"]);
    assert_eq!(list["items"].as_array().unwrap().len(), 3);
    assert_eq!(list.as_object().unwrap().len(), 1, "a complete list has no cursor: {list}");
    assert_eq!(hub.json(&["users", "list", "--limit", "1"])["items"].as_array().unwrap().len(), 1);

    assert_eq!(hub.admin(&["users", "role", "ada", "admin"]).ok(), "ada is now an active admin.\n");
    assert_eq!(hub.json(&["users", "role", "ada", "member"])["role"], "member");
    assert_eq!(hub.admin(&["users", "disable", "ada"]).ok(), "ada is now a disabled member.\n");
    assert_eq!(hub.json(&["users", "enable", "ADA"])["disabled_at"], Value::Null);

    let invitation = hub.admin(&["users", "invite"]).ok();
    let link = invitation.lines().last().unwrap();
    assert!(invitation.contains("shown only once") && link.contains("/join/stoa_inv_"), "{invitation}");
    let invitation = hub.json(&["users", "invite", "--role", "admin"]);
    let register = json!({"invite": invitation["invite"], "username": "carol", "password": "correct horse"});
    let registered = hub.http("POST", "/auth/register", &[], Some(&register));
    assert_eq!((registered.status, &registered.body["user"]["role"]), (201, &json!("admin")));
}

#[test]
fn sessions_end_by_command_and_by_a_new_password() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    let first = hub.log_in("ada", &password_of("ada")).unwrap();
    let second = hub.log_in("Ada", &password_of("ada")).unwrap();
    assert_eq!(hub.status_with_cookie(&first), 200);
    assert_eq!(hub.admin(&["users", "end-sessions", "ada"]).ok(), "Sessions ended: 2.\n");
    assert_eq!((hub.status_with_cookie(&first), hub.status_with_cookie(&second)), (401, 401));
    assert_eq!(hub.json(&["users", "end-sessions", "ada"]), json!({"ended": 0}));

    let session = hub.log_in("ada", &password_of("ada")).unwrap();
    let changed = hub.admin_with(&["users", "passwd", "ada"], "another horse\n").ok();
    assert_eq!(changed, "Password of ada changed and all sessions ended.\n");
    assert_eq!(hub.status_with_cookie(&session), 401);
    assert!(hub.log_in("ada", &password_of("ada")).is_none());
    assert!(hub.log_in("ada", "another horse").is_some());
}

#[test]
fn a_disabled_user_is_out_until_enabled() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let session = hub.log_in("ada", &password_of("ada")).unwrap();
    assert_eq!((hub.status_with_cookie(&session), hub.status_with_key(&key)), (200, 200));
    hub.admin(&["users", "disable", "ada"]).ok();
    assert_eq!((hub.status_with_cookie(&session), hub.status_with_key(&key)), (401, 401));
    assert!(hub.log_in("ada", &password_of("ada")).is_none());
    hub.admin(&["users", "enable", "ada"]).ok();
    assert_eq!(hub.status_with_key(&key), 200);
    assert!(hub.log_in("ada", &password_of("ada")).is_some());
    assert_eq!(hub.status_with_cookie(&session), 401, "ended sessions stay ended");
}

#[test]
fn the_last_administrator_stays() {
    let place = Place::new();
    let hub = place.start();
    hub.admin(&["users", "disable", "admin"]).fails(4, &["stoa: This is the last admin.", "hint: Give another"]);
    hub.admin(&["users", "role", "admin", "member"]).fails(4, &["last admin"]);
}

#[test]
fn passwords_come_from_standard_input() {
    let place = Place::new();
    let hub = place.start();
    for (name, input, password) in [
        ("unix", "correct horse\n", "correct horse"),
        ("dos", "correct horse\r\n", "correct horse"),
        ("bare", "correct horse", "correct horse"),
        ("blank", " correct horse \n", " correct horse "),
        ("unicode", "pässwörd 日本語\n", "pässwörd 日本語"),
    ] {
        hub.admin_with(&["users", "create", name], input).ok();
        assert!(hub.log_in(name, password).is_some(), "{name}");
    }
    let create = |input: &[u8]| Outcome::of(&mut hub.admin_command(&["users", "create", "zoe"]), input);
    create(b"").fails(2, &["no password on standard input"]);
    create(b"correct horse\n\n").fails(2, &["single line"]);
    create(b"correct\nhorse\n").fails(2, &["single line"]);
    create(&[0xff; 10]).fails(2, &["not UTF-8"]);
    create(&[b'x'; 100_000]).fails(2, &["too long for a password"]);
    create(b"\n").fails(4, &["password must be 8 to 72 bytes long"]);
    create(&[b'x'; 73]).fails(4, &["password must be 8 to 72 bytes long"]);
    create(b"correct\0horse").fails(4, &["must not contain NUL"]);
    assert!(hub.log_in("zoe", "correct horse").is_none());
}

/// Types a line at each question of a command in a terminal of 60 columns. Whether it was done, and
/// what was shown.
fn at_a_terminal(hub: &Hub, arguments: &str, lines: &[&str]) -> (bool, String) {
    let command = hub.admin_command(&[]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let line = format!("stty rows 24 cols 60; {} {arguments}", words.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env("container", "tests");
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    let mut lines = lines.iter();
    let mut buffer = [0; 4096];
    loop {
        let count = screen.read(&mut buffer).unwrap();
        if count == 0 {
            break;
        }
        shown.extend_from_slice(&buffer[..count]);
        if (shown.ends_with(b": ") || shown.ends_with(b"] "))
            && let Some(line) = lines.next()
        {
            // Whoever asks for a password throws away what was typed before it hid it.
            std::thread::sleep(Duration::from_millis(100));
            keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }
    let status = child.wait().unwrap();
    (status.success(), String::from_utf8(shown).unwrap())
}

#[test]
fn people_are_asked_at_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        return skip("it needs script(1)");
    }
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let (done, shown) = at_a_terminal(&hub, "users create bob", &["correct horse", "correct horse"]);
    assert!(done && shown.contains("Password for bob:") && shown.contains("was created"), "{shown}");
    assert!(!shown.contains("correct horse"), "{shown}");
    assert!(hub.log_in("bob", "correct horse").is_some());
    let (done, shown) = at_a_terminal(&hub, "users passwd bob", &["another horse", "another house"]);
    assert!(!done && shown.contains("the two passwords differ; nothing was changed"), "{shown}");
    assert!(hub.log_in("bob", "correct horse").is_some());

    let (done, shown) = at_a_terminal(&hub, "secrets set DEPLOY_KEY --scope agent:scout", &["another horse"]);
    assert!(done && shown.contains("Value of DEPLOY_KEY:") && shown.contains("was set"), "{shown}");
    assert!(!shown.contains("another horse"), "{shown}");

    let (done, shown) = at_a_terminal(&hub, "agents delete scout", &["n"]);
    assert!(!done && shown.contains("nothing was changed"), "{shown}");
    // Tables fit the terminal.
    hub.admin(&["agents", "update", "scout", "--instructions", &"word ".repeat(40)]).ok();
    let (_, shown) = at_a_terminal(&hub, "agents show scout", &[]);
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    let (done, shown) = at_a_terminal(&hub, "agents delete scout", &["y"]);
    assert!(done && shown.contains("The agent scout was deleted."), "{shown}");
}

#[test]
fn agents_are_made_shown_and_changed() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    let instructions = place.root().join("instructions");
    std::fs::write(&instructions, "Line one\nLine two\n").unwrap();
    let file = format!("@{}", instructions.display());
    let harness = r#"{"backend":"webhook","url":"https://runner.example/run"}"#;
    let created = hub
        .admin(&[
            "agents",
            "create",
            "scout",
            "--owner",
            "ada",
            "--display-name",
            "The Scout",
            "--archetype",
            "researcher",
            "--trigger-mode",
            "reactive",
            "--cooldown-seconds",
            "5",
            "--runs-per-day",
            "7",
            "--cost-usd-per-day",
            "2.5",
            "--max-trigger-depth",
            "3",
            "--k8s-image",
            "registry.example/scout:1",
            "--harness",
            harness,
            "--instructions",
            &file,
        ])
        .ok();
    let key = secret_after(&created, "shown only once", "stoa_agent_");
    assert_eq!(hub.status_with_key(&key), 200);

    let agent = hub.json(&["agents", "show", "scout"]);
    for (field, value) in [
        ("name", json!("scout")),
        ("owner", json!("ada")),
        ("display_name", json!("The Scout")),
        ("archetype", json!("researcher")),
        ("trigger_mode", json!("reactive")),
        ("cooldown_seconds", json!(5)),
        ("budget", json!({"runs_per_day": 7, "cost_usd_per_day": 2.5, "others_percent": 50})),
        ("max_trigger_depth", json!(3)),
        ("k8s_image", json!("registry.example/scout:1")),
        ("harness", json!({"backend": "webhook", "url": "https://runner.example/run"})),
        ("instructions", json!("Line one\nLine two\n")),
    ] {
        assert_eq!(agent[field], value, "{field}");
    }
    let shown = hub.admin(&["agents", "show", "scout"]).ok();
    assert!(shown.contains("instructions       Line one\n                   Line two\n"), "{shown}");

    // One limit of the budget leaves the other alone, and what is not named stays.
    let update = |flags: &[&str]| hub.json(&[&["agents", "update", "scout"], flags].concat());
    assert_eq!(
        update(&["--runs-per-day", "9"])["budget"],
        json!({"runs_per_day": 9, "cost_usd_per_day": 2.5, "others_percent": 50})
    );
    let changed = update(&["--cost-usd-per-day", "none", "--k8s-image", "none", "--harness", "none"]);
    assert_eq!(changed["budget"], json!({"runs_per_day": 9, "cost_usd_per_day": null, "others_percent": 50}));
    assert_eq!((&changed["k8s_image"], &changed["harness"]), (&Value::Null, &Value::Null));
    assert_eq!(changed["display_name"], "The Scout");
    assert_eq!(update(&["--instructions", ""])["instructions"], "");
    let piped = hub.admin_with(&["agents", "update", "scout", "--harness", "@-", "--json"], harness).json();
    assert_eq!(piped["harness"]["backend"], "webhook");

    let paused = hub.admin(&["agents", "pause", "scout"]).ok();
    assert!(paused.contains("status             paused (manual)"), "{paused}");
    assert_eq!(hub.json(&["agents", "resume", "scout"])["paused_at"], Value::Null);
    assert_eq!(hub.json(&["agents", "unquarantine", "scout"])["quarantined_at"], Value::Null);

    let rotated = hub.admin(&["agents", "rotate-key", "scout"]).ok();
    let new_key = secret_after(&rotated, "shown only once", "stoa_agent_");
    assert_eq!((hub.status_with_key(&key), hub.status_with_key(&new_key)), (401, 200));

    let table = hub.admin(&["agents", "list"]).ok();
    assert!(table.lines().nth(1).unwrap().starts_with("scout  ada    The Scout"), "{table}");
    hub.admin(&["agents", "delete", "scout"]).fails(2, &["--yes"]);
    assert_eq!(hub.status_with_key(&new_key), 200);
    assert_eq!(hub.admin(&["agents", "delete", "scout", "--yes"]).ok(), "The agent scout was deleted.\n");
    assert_eq!(hub.status_with_key(&new_key), 401);
    assert_eq!(hub.json(&["agents", "list"]), json!({"items": []}));
}

#[test]
fn keys_are_made_shown_and_revoked() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    hub.admin(&["channels", "create", "work", "--owner", "ada"]).ok();
    let create = ["keys", "create", "--owner", "ada", "--agent", "scout", "--name", "the ci"];
    let limits =
        ["--permissions", "messages:read,search:read", "--channels", "general,work", "--expires-at", "2999-01-31"];
    let created = hub.admin(&[&create[..], &limits].concat()).ok();
    let key = secret_after(&created, "shown only once", "stoa_key_");
    assert_eq!(hub.status_with_key(&key), 200);

    let list = hub.json(&["keys", "list"]);
    let id = list["items"][0]["id"].to_string();
    let shown = hub.json(&["keys", "show", &id]);
    assert_eq!(shown["permissions"], json!(["messages:read", "search:read"]));
    assert_eq!(shown["channels"], json!(["general", "work"]));
    assert_eq!(shown["expires_at"], "2999-01-31T00:00:00.000Z");
    assert!(!hub.admin(&["keys", "list"]).ok().contains(&key) && !shown.to_string().contains(&key));

    let everything = hub.json(&[&create[..], &["--permissions", "*"]].concat());
    assert_eq!(
        (&everything["api_key"]["permissions"], &everything["api_key"]["channels"]),
        (&json!(["*"]), &json!([]))
    );
    let table = hub.admin(&["keys", "list"]).ok();
    assert!(table.contains("general,work") && table.contains("never"), "{table}");

    assert_eq!(hub.admin(&["keys", "revoke", &id]).ok(), format!("Key {id} (the ci) revoked.\n"));
    assert_eq!(hub.status_with_key(&key), 401);
    assert_eq!(hub.json(&["keys", "revoke", &id])["status"], "revoked", "doing it again changes nothing");
    assert_eq!(hub.status_with_key(everything["key"].as_str().unwrap()), 200);
}

#[test]
fn the_audit_log_tells_who_did_what() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let session = hub.log_in("ada", &password_of("ada")).unwrap();
    let made = hub.http("POST", "/api/agents", &[("cookie", &session)], Some(&json!({"name": "finder"})));
    assert_eq!(made.status, 201, "{made:?}");

    let all = hub.json(&["audit", "list"]);
    let actions = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(actions(&all), ["agent.created", "agent.created", "user.created", "user.created"]);
    let by_ada = hub.json(&["audit", "list", "--actor", "ada"]);
    assert_eq!((by_ada["items"].as_array().unwrap().len(), &by_ada["items"][0]["target"]), (1, &json!("finder")));
    assert_eq!(actions(&hub.json(&["audit", "list", "--action", "user.created", "--limit", "1"])), ["user.created"]);
    let table = hub.admin(&["audit", "list", "--actor", "operator"]).ok();
    assert!(table.lines().count() == 3 && table.contains("agent.created  scout"), "{table}");
}

#[test]
fn lists_are_complete_however_long() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    let mut socket = hub.socket();
    for number in 0..203 {
        let made =
            socket.call("agents.create", &json!({"owner": "ada", "agent": {"name": format!("agent-{number:03}")}}));
        assert!(made["error"].is_null(), "{made}");
    }
    let count = |arguments: &[&str]| hub.json(arguments)["items"].as_array().unwrap().len();
    assert_eq!(count(&["agents", "list"]), 203);
    for limit in [1, 199, 200, 201, 203, 500] {
        assert_eq!(count(&["agents", "list", "--limit", &limit.to_string()]), limit.min(203), "{limit}");
    }
    assert_eq!(hub.admin(&["agents", "list"]).ok().lines().count(), 204);
    assert_eq!(count(&["audit", "list", "--action", "agent.created"]), 203);

    // Whoever reads may stop early.
    let mut reading = hub.admin_command(&["audit", "list", "--json"]);
    let mut child = reading.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    // Whoever cannot write is told.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let outcome = reading.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(outcome.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("cannot be printed"));
}

#[test]
fn wrong_input_is_refused_by_name() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    // What the hub refuses: 4.
    for (arguments, words) in [
        (&["users", "create", "a-b"][..], &["username must be 3 to 64"][..]),
        (&["users", "create", "scout"], &["taken"]),
        (&["users", "create", "ADA"], &["taken"]),
        (&["users", "create", "system"], &["is taken"]),
        (&["users", "create", "bob", "--display-name", "a\u{202e}b"], &["display_name must not contain"]),
        (&["users", "passwd", "nobody"], &["No such user."]),
        (&["users", "disable", "nobody"], &["No such user."]),
        (&["users", "end-sessions", "nobody"], &["No such user."]),
        (&["agents", "show", "nobody"], &["No such agent."]),
        (&["agents", "delete", "nobody", "--yes"], &["No such agent."]),
        (&["agents", "create", "Scout", "--owner", "ada"], &["name must be 2 to 64 lowercase"]),
        (&["agents", "create", "finder", "--owner", "nobody"], &["No such user."]),
        (&["agents", "update", "scout", "--cooldown-seconds", "9999999"], &["cooldown_seconds must be at most 7 days"]),
        (&["agents", "update", "scout", "--cost-usd-per-day=-1"], &["budget.cost_usd_per_day must be between"]),
        (
            &["agents", "update", "scout", "--harness", r#"{"backend":"magic"}"#],
            &["harness.backend", "magic", "webhook"],
        ),
        (&["agents", "update", "scout", "--harness", r#"{"backend":"webhook"}"#], &["harness.url is required"]),
        (&["keys", "show", "99"], &["No such key."]),
        (&["keys", "revoke", "99"], &["No such key."]),
        (
            &["keys", "create", "--owner", "ada", "--agent", "scout", "--name", "x", "--permissions", "mail:read"],
            &["permissions", "mail:read"],
        ),
        (&["keys", "create", "--owner", "ada", "--agent", "nobody", "--name", "x", "--permissions", "*"], &["agent"]),
        (
            &[
                "keys",
                "create",
                "--owner",
                "ada",
                "--agent",
                "scout",
                "--name",
                "x",
                "--permissions",
                "*",
                "--expires-at",
                "1999-01-01",
            ],
            &["expires_at must be in the future"],
        ),
    ] {
        let said = hub.admin_with(arguments, "correct horse").fails(4, words);
        assert!(said.starts_with("stoa: "), "{said}");
        // Programs get the same, with a code.
        let error = hub.admin_with(&[arguments, &["--json"]].concat(), "correct horse").fails(4, &[]);
        let error: Value = serde_json::from_str(&error).unwrap();
        assert!(error["error"]["data"]["code"].is_string() && error["error"]["message"].is_string(), "{error}");
    }
    // Several faults are named one a line.
    let said = hub.admin_with(&["users", "create", "a-b"], "short").fails(4, &["2 fields are invalid"]);
    assert!(said.contains("\n  username: must be") && said.contains("\n  password: must be"), "{said}");
    // What cannot be meant: 2.
    for (arguments, words) in [
        (&["users", "role", "ada", "boss"][..], &["boss", "member, admin"][..]),
        (&["users", "list", "--limit", "0"], &["--limit"]),
        (&["users", "create"], &["<NAME>"]),
        (&["users", "create", "bob", "hunter22"], &["hunter22"]),
        (&["users", "create", "bob", "--password", "hunter22"], &["--password"]),
        (&["agents", "create", "finder"], &["--owner"]),
        (&["agents", "update", "scout"], &["nothing to change"]),
        (&["agents", "update", "scout", "--archetype", "king"], &["--archetype", "researcher"]),
        (&["agents", "update", "scout", "--cost-usd-per-day", "NaN"], &["--cost-usd-per-day"]),
        (&["agents", "update", "scout", "--cost-usd-per-day", "inf"], &["--cost-usd-per-day"]),
        (&["agents", "update", "scout", "--runs-per-day", "-1"], &["-1"]),
        (&["agents", "update", "scout", "--harness", "{"], &["--harness must be JSON"]),
        (&["agents", "update", "scout", "--instructions", "@/does/not/exist"], &["--instructions", "/does/not/exist"]),
        (&["keys", "show", "first"], &["<ID>"]),
        (
            &[
                "keys",
                "create",
                "--owner",
                "ada",
                "--agent",
                "scout",
                "--name",
                "x",
                "--permissions",
                "*",
                "--expires-at",
                "soon",
            ],
            &["--expires-at", "2026-01-31"],
        ),
        (&["keys", "create", "--owner", "ada", "--agent", "scout", "--name", "x"], &["--permissions"]),
        (&["db", "explode"], &["explode"]),
        (&[], &["Usage"]),
    ] {
        hub.admin_with(arguments, "correct horse").fails(2, words);
    }
    assert_eq!(hub.json(&["users", "list"])["items"].as_array().unwrap().len(), 2);
}

#[test]
fn what_others_wrote_cannot_act_on_the_terminal() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let evil = "\u{1b}[2J\u{9b}31m\rhidden\u{202e}text\nnext line";
    hub.admin(&["agents", "update", "scout", "--instructions", evil]).ok();
    for arguments in [&["agents", "show", "scout"][..], &["agents", "show", "scout", "--json"]] {
        let shown = hub.admin(arguments).ok();
        let is_harmless = |character: char| character == '\n' || !(character.is_control() || character == '\u{202e}');
        assert!(shown.chars().all(is_harmless), "{shown:?}");
    }
    assert_eq!(hub.json(&["agents", "show", "scout"])["instructions"], evil);
}

#[test]
fn a_new_key_keeps_logins_and_pages_working() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    hub.json(&["agents", "create", "finder", "--owner", "ada"]);
    let session = hub.log_in("ada", &password_of("ada")).unwrap();
    let page = |hub: &Hub, cursor: &str| {
        hub.http("GET", &format!("/api/agents?limit=1{cursor}"), &[("cookie", &session)], None)
    };
    let first = page(&hub, "");
    let cursor = format!("&cursor={}", first.body["next_cursor"].as_str().unwrap());
    let file = || std::fs::read_to_string(place.data().join("key")).unwrap();
    let old_file = file();

    let said = hub.admin(&["db", "rotate-key"]).ok();
    assert!(said.contains("Take a backup"), "{said}");
    assert!(file().lines().count() == 1 && file() != old_file);
    assert_eq!(hub.status_with_cookie(&session), 200);
    assert_eq!(hub.status_with_key(&key), 200);
    let second = page(&hub, &cursor);
    assert_eq!((second.status, &second.body["items"][0]["name"]), (200, &json!("scout")), "{second:?}");
    assert_eq!(hub.json(&["db", "rotate-key"])["key_file"], true);
    assert_eq!(hub.stop().code, Some(0));

    let hub = place.start();
    assert_eq!((hub.status_with_cookie(&session), hub.status_with_key(&key)), (200, 200));
    assert!(hub.log_in("ada", &password_of("ada")).is_some());
    drop(hub);
    // The old key is worth nothing any more.
    std::fs::write(place.data().join("key"), old_file).unwrap();
    place.fails_to_start(&[]).fails(1, &["the key does not match"]);
}

#[test]
fn keys_that_change_at_once_leave_one_that_fits() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut socket = hub.socket();
                for _ in 0..5 {
                    assert_eq!(socket.call("db.rotate_key", &json!({}))["result"]["key_file"], true);
                }
            });
        }
    });
    assert_eq!(hub.stop().code, Some(0));
    assert_eq!(place.start().status_with_key(&key), 200);
}

#[test]
fn a_key_from_the_environment_is_the_operators_to_change() {
    let place = Place::new();
    let (old, new) = ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=");
    let start = |key: &str| Hub::start(place.serve(&[]).env("STOA_KEY", key), place.data());
    start(old).stop();
    assert!(!place.data().join("key").exists());
    let hub = start(&format!("{new},{old}"));
    assert!(hub.admin(&["db", "rotate-key"]).ok().contains("Remove the others"));
    hub.stop();
    start(new).stop();
    Outcome::of(place.serve(&[]).env("STOA_KEY", old), b"").fails(1, &["the key does not match"]);
}

#[test]
fn the_database_is_described_and_tidied() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let info = hub.json(&["db", "info"]);
    let engine = if on_postgres() { "postgres" } else { "sqlite" };
    assert_eq!((&info["database"]["engine"], &info["users"], &info["agents"]), (&json!(engine), &json!(2), &json!(1)));
    let shown = hub.admin(&["db", "info"]).ok();
    assert!(shown.contains(&hub.address) && shown.contains(engine), "{shown}");
    assert!(hub.admin(&["db", "vacuum"]).ok().starts_with("The database now takes up "));
    assert_eq!(hub.json(&["db", "vacuum"])["engine"], engine);
}

#[test]
fn help_and_completions_know_the_commands() {
    let help = Outcome::of(&mut stoa(&["admin", "--help"]), b"").ok();
    for word in
        ["users", "agents", "keys", "audit", "db", "--json", "STOA_ADMIN_SOCKET", "STOA_DATA", "Exit codes", "rejected"]
    {
        assert!(help.contains(word), "{word} is missing: {help}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Outcome::of(&mut stoa(&["completions", shell]), b"").ok();
        for word in ["admin", "end-sessions", "unquarantine", "rotate-key", "vacuum"] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
    }
    // Whatever every user of the machine can read is no place for a secret.
    let flags = Outcome::of(&mut stoa(&["completions", "bash"]), b"").ok();
    assert!(flags.contains("--cost-usd-per-day"));
    // The --key of `stoa registry`, beside which a --principal stands, names a file.
    let flags: String = flags.lines().filter(|line| !line.contains("--key --principal")).collect();
    for flag in ["--password", "--secret", "--token", "--key "] {
        assert!(!flags.contains(flag), "{flag} exists");
    }
}
