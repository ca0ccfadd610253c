//! Who gets in by a signature, and what everybody else is told.

use serde_json::{Value, json};

use crate::support::{
    ALL_SCOPES, Identity, KEY, Letter, MINUTE, Machine, RegistryFile, Reply, START_MS, TAG, TestHub, eventually,
    fresh_nonce, on_postgres,
};

const DEMO: &str = "svc:sense:demo";
const CREATED: i64 = START_MS / 1000;

async fn hub_with_demo() -> (TestHub, Machine, RegistryFile) {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let demo = hub.machine(&identity);
    (hub, demo, registry)
}

fn letter(demo: &Machine) -> Letter {
    let event = demo.made("e1", "svc.demo.ping", json!(null)).to_string();
    demo.sign("POST", "/machine/events", &[("content-type", "application/cloudevents+json")], Some(&event))
}

type Change = fn(Letter) -> Letter;

/// Changes one thing, and says what it is told then.
async fn told(demo: &Machine, change: impl FnOnce(Letter) -> Letter) -> (u16, String) {
    let reply = change(letter(demo)).send().await;
    (reply.code(), reply.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_signed_request_is_served() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let answer = letter(&demo).send().await.status(202).json();
    assert_eq!(answer["accepted"], 1);
    demo.get("/machine/evidence?event_id=e1").await.status(200);
    hub.finish().await;
}

/// The vector that implementers in other languages are given, against a hub of that name.
#[tokio::test]
async fn the_published_vector_is_accepted() {
    let registry = RegistryFile::new();
    registry.change(|document| {
        document["principals"] = json!([{"principal_id": DEMO, "enabled": true, "keys": [{
            "kid": "key-2026-01", "public_key_base64url": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
            "status": "active", "scopes": ["events:ingest"]}]}]);
    });
    let hub = TestHub::setup().registry(&registry).base_url("https://hub.example").start().await;
    let send = async |body: &str, signature: &str| {
        hub.nobody()
            .call("POST", "/machine/events")
            .header("content-digest", "sha-256=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=:")
            .header(
                "signature-input",
                "sig1=(\"@method\" \"@authority\" \"@path\" \"@query\" \"content-type\" \"content-digest\");created=1800000000;\
                 keyid=\"svc:sense:demo/key-2026-01\";alg=\"ed25519\";expires=1800000120;nonce=\"AAECAwQFBgcICQoLDA0ODw\";\
                 tag=\"svc-machine-v1:svc-brain\"",
            )
            .header("signature", signature)
            .body("application/cloudevents+json", body.to_owned())
            .await
    };
    let body = r#"{"specversion":"1.0","id":"e1","source":"svc:sense:demo","type":"svc.demo.ping"}"#;
    let signature = "sig1=:1y8mVVSwoePDFuAsOcx7abe6lssa8CEK2EsVRtQH6ZLAOfHQPHEo/1711jS1kpTA/BMrSWNCp5/8YT7WjiHtBA==:";
    send(&body.replace("ping", "pong"), signature).await.problem(400, "digest_mismatch");
    send(body, &signature.replace("1y8m", "1y8n")).await.problem(401, "signature_invalid");
    assert_eq!(send(body, signature).await.status(202).json()["accepted"], 1);
    send(body, signature).await.problem(401, "signature_replayed");
    hub.finish().await;
}

#[tokio::test]
async fn every_failure_has_its_own_answer() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let malformed = (400, "signature_malformed".to_owned());
    let invalid = (401, "signature_invalid".to_owned());
    let incomplete = (401, "signature_incomplete".to_owned());

    // Headers that are not what RFC 9421 wants.
    assert_eq!(told(&demo, |letter| letter.without("signature")).await, malformed);
    assert_eq!(told(&demo, |letter| letter.without("signature-input")).await, malformed);
    assert_eq!(told(&demo, |letter| letter.rewrite("signature", ":", "")).await, malformed);
    assert_eq!(
        told(&demo, |letter| letter.rewrite("signature-input", "created=", "created=\"x\";created=")).await,
        malformed
    );
    assert_eq!(told(&demo, |letter| letter.rewrite("signature-input", "nonce=\"", "nonce=\"!")).await, malformed);
    assert_eq!(told(&demo, |letter| letter.rewrite("signature-input", "/key-2026-01", "")).await, malformed);
    assert_eq!(told(&demo, |letter| letter.header("authorization", "Bearer stoa_agent_x")).await, malformed);
    for name in ["signature", "signature-input", "content-digest", "content-type"] {
        let twice = |letter: Letter| {
            let value = letter.value(name);
            letter.header(name, &value)
        };
        assert_eq!(told(&demo, twice).await, malformed, "{name} twice");
    }
    let two = |letter: Letter| {
        let (input, signature) = (letter.value("signature-input"), letter.value("signature"));
        let label = input.split('=').next().unwrap().to_owned();
        let other = |text: &str| text.replacen(&label, "other", 1);
        letter.rewrite("signature-input", &input, &format!("{input}, {}", other(&input))).rewrite(
            "signature",
            &signature,
            &format!("{signature}, {}", other(&signature)),
        )
    };
    assert_eq!(told(&demo, two).await, malformed, "two signatures with our tag");

    // What is signed is not what arrives. All of these are told the same.
    let changes: Vec<(&str, Change)> = vec![
        ("method", |mut letter| {
            letter.method = "PUT".to_owned();
            letter.target = "/machine/runtime-status/web".to_owned();
            letter
        }),
        ("query", |mut letter| {
            letter.target = "/machine/events?x=1".to_owned();
            letter
        }),
        ("content type", |letter| letter.rewrite("content-type", "cloudevents", "other")),
        ("unknown principal", |letter| letter.rewrite("signature-input", DEMO, "svc:sense:nobody")),
        ("unknown key", |letter| letter.rewrite("signature-input", "key-2026-01", "key-2026-99")),
        ("another tag", |letter| letter.rewrite("signature-input", TAG, "svc-machine-v1:svc-bell")),
        ("another algorithm", |letter| letter.rewrite("signature-input", "ed25519", "rsa-v1_5-sha256")),
        ("created", |letter| letter.rewrite("signature-input", &CREATED.to_string(), &(CREATED - 1).to_string())),
    ];
    for (what, change) in changes {
        assert_eq!(told(&demo, change).await, invalid, "{what}");
    }
    // A host that another one is called by.
    let mut elsewhere = demo.clone();
    elsewhere.authority = "other.example".to_owned();
    assert_eq!(told(&elsewhere, |letter| letter).await, invalid);
    let mut shouting = demo.clone();
    shouting.authority = demo.authority.replace("127", "LOCALHOST");
    assert_eq!(told(&shouting, |letter| letter).await, invalid);

    // Something is missing.
    for component in ["@method", "@authority", "@path", "@query", "content-type", "content-digest"] {
        let without = |letter: Letter| {
            let input = letter.value("signature-input");
            let fewer = input
                .replacen(&format!("\"{component}\""), "", 1)
                .replace("( ", "(")
                .replace("  ", " ")
                .replace(" )", ")");
            letter.rewrite("signature-input", &input, &fewer)
        };
        assert_eq!(told(&demo, without).await, incomplete, "{component}");
    }
    for parameter in ["created", "expires", "nonce", "keyid", "tag"] {
        let without = |letter: Letter| {
            let input = letter.value("signature-input");
            let fewer: Vec<&str> =
                input.split(';').filter(|part| !part.starts_with(&format!("{parameter}="))).collect();
            letter.rewrite("signature-input", &input, &fewer.join(";"))
        };
        assert_eq!(told(&demo, without).await, incomplete, "{parameter}");
    }
    assert_eq!(told(&demo, |letter| letter.without("content-digest")).await, incomplete);

    let mut changed = letter(&demo);
    changed.body.as_mut().unwrap().push(b' ');
    changed.send().await.problem(400, "digest_mismatch");

    // Nothing of all that was taken in.
    assert_eq!(hub.count("select count(*) as n from machine_events").await, 0);
    assert_eq!(hub.count("select count(*) as n from machine_nonces").await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn a_refusal_says_what_is_wanted() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let nobody = hub.nobody().post("/machine/events", &json!({})).await.problem(401, "unauthenticated");
    let forged = letter(&demo).rewrite("signature-input", "key-2026-01", "key-2026-99").send().await;
    for reply in [nobody, forged.problem(401, "signature_invalid")] {
        assert_eq!(reply.header("www-authenticate"), Some("Signature realm=\"svc-brain\""));
        let wanted = reply.header("accept-signature").unwrap();
        for word in ["\"@method\"", "\"@authority\"", "\"content-digest\"", "expires", TAG] {
            assert!(wanted.contains(word), "{wanted} has no {word}");
        }
    }
    // A key of an agent is none here, and a signature is none elsewhere.
    let owner = hub.human("ada").await;
    let agent = owner.agent("scout").await;
    agent.get("/machine/evidence").await.problem(401, "unauthenticated");
    demo.get("/api/agents").await.problem(401, "unauthenticated");
    hub.finish().await;
}

/// Who does not know which keys there are learns nothing from what they are told.
#[tokio::test]
async fn the_unknown_the_disabled_and_the_revoked_are_told_the_same() {
    let registry = RegistryFile::new();
    let (good, disabled) = (registry.add(DEMO, &ALL_SCOPES), registry.add("svc:sense:off", &ALL_SCOPES));
    let revoked = Identity::new(DEMO, "key-revoked");
    registry.change(|document| {
        let mut entry = revoked.entry(&ALL_SCOPES);
        entry["status"] = json!("revoked");
        document["principals"][0]["keys"].as_array_mut().unwrap().push(entry);
        document["principals"][1]["enabled"] = json!(false);
    });
    let hub = TestHub::setup().registry(&registry).start().await;
    let stranger = Identity::new("svc:bell:stranger", "key-unknown");
    // The right names with another one's key.
    let forger = Identity { key: stranger.key.clone(), ..good.clone() };
    let mut answers = Vec::new();
    for identity in [&disabled, &revoked, &stranger, &forger] {
        let reply = hub.machine(identity).get("/machine/evidence").await.problem(401, "signature_invalid");
        let mut told = reply.json();
        told["request_id"] = Value::Null;
        answers.push(told);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
    hub.machine(&good).get("/machine/evidence").await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn clocks_may_differ_by_a_minute_and_no_more() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let ask = async |created: i64, lifetime: i64| -> Reply {
        demo.sign_as("GET", "/machine/evidence", &[], None, TAG, (created, lifetime), &fresh_nonce()).send().await
    };
    for (created, lifetime) in [(0, 300), (60, 60), (-360, 300), (-61, 1)] {
        ask(CREATED + created, lifetime).await.status(200);
    }
    for (created, lifetime) in [(61, 60), (-361, 300), (-62, 1)] {
        ask(CREATED + created, lifetime).await.problem(401, "signature_expired");
    }
    // No signer of ours makes one of these.
    for expires in [CREATED + 301, CREATED, CREATED - 5] {
        let letter = letter(&demo).rewrite(
            "signature-input",
            &format!("expires={}", CREATED + 60),
            &format!("expires={expires}"),
        );
        letter.send().await.problem(401, "signature_expired");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_signature_works_once_even_after_a_restart() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    // A name that stays, whatever port the next one gets.
    let hub = TestHub::setup().registry(&registry).base_url("https://hub.example").start().await;
    let mut demo = hub.machine(&identity);
    demo.authority = "hub.example".to_owned();
    let first = letter(&demo);
    first.clone().send().await.status(202);
    first.clone().send().await.problem(401, "signature_replayed");
    let hub = hub.restart().await;
    first.clone().to(&hub).send().await.problem(401, "signature_replayed");
    hub.finish().await;
}

/// A backup does not know what was used after it was made.
#[tokio::test]
async fn signatures_from_before_a_restore_are_too_old() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let restored = async |hub: &TestHub, at: i64| {
        let command = move |tx: &mut stoa_db::Tx<'_>| {
            tx.execute("delete from meta where name = 'restored_at'", &[])?;
            tx.execute("insert into meta (name, value) values ('restored_at', $1)", stoa_db::params![at.to_string()])
        };
        hub.inner().write::<_, stoa_db::DbError, _>(command).await.unwrap();
    };
    restored(&hub, START_MS + 1000).await;
    let hub = hub.restart().await;
    let demo = hub.machine(&demo.identity);
    demo.get("/machine/evidence").await.problem(401, "signature_expired");
    hub.advance(std::time::Duration::from_secs(1));
    demo.get("/machine/evidence").await.status(200);
    hub.finish().await;
}

/// Behind one name, as hubs are behind a proxy.
#[tokio::test]
async fn hubs_on_one_database_share_what_was_used() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let setup = TestHub::setup().registry(&registry).base_url("https://hub.example").key(KEY);
    let hub = setup.start().await;
    let mut demo = hub.machine(&identity);
    demo.authority = "hub.example".to_owned();
    let used = letter(&demo);
    used.clone().send().await.status(202);
    let other = if on_postgres() { Some(hub.beside().start().await) } else { None };
    let hub = match other {
        Some(other) => {
            used.clone().to(&other).send().await.problem(401, "signature_replayed");
            other.finish().await;
            hub
        }
        // On SQLite there is one hub at a time: the next one knows as well.
        None => hub.restart().await,
    };
    used.clone().to(&hub).send().await.problem(401, "signature_replayed");
    hub.finish().await;
}

#[tokio::test]
async fn of_two_who_use_one_signature_at_once_one_gets_in() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let once = letter(&demo);
    let replies = (0..16).map(|_| tokio::spawn(once.clone().send()));
    let mut codes = Vec::new();
    for reply in replies.collect::<Vec<_>>() {
        codes.push(reply.await.unwrap().code());
    }
    codes.sort_unstable();
    assert_eq!((codes[0], &codes[1..]), (202, &[401; 15][..]));
    hub.finish().await;
}

#[tokio::test]
async fn used_nonces_are_forgotten_when_their_time_is_over() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let first = letter(&demo);
    first.clone().send().await.status(202);
    // Longer than it could be used, for clocks are set back at times.
    for (minutes, kept) in [(2, 1), (14, 1), (2, 0)] {
        hub.advance(MINUTE * minutes);
        eventually("nonces are forgotten", async || {
            hub.count("select count(*) as n from machine_nonces").await == kept
        })
        .await;
    }
    // Forgotten or not, it is too old now.
    first.send().await.problem(401, "signature_expired");
    hub.finish().await;
}

#[tokio::test]
async fn a_key_reaches_as_far_as_its_scopes() {
    let registry = RegistryFile::new();
    let calls: [(&str, &str, &str, Value); 4] = [
        ("source-config:write", "PUT", "/machine/source-configs/own", json!({"routes": []})),
        ("runtime-status:write", "PUT", "/machine/runtime-status/web", json!({"status": "ok"})),
        ("events:ingest", "POST", "/machine/events", json!([])),
        ("evidence:read", "GET", "/machine/evidence", Value::Null),
    ];
    let identities: Vec<Identity> = calls
        .iter()
        .enumerate()
        .map(|(number, (scope, ..))| registry.add(&format!("svc:sense:only{number}"), &[scope]))
        .collect();
    let hub = TestHub::setup().registry(&registry).start().await;
    for (holder, identity) in identities.iter().enumerate() {
        let machine = hub.machine(identity);
        for (wanted, (scope, method, path, body)) in calls.iter().enumerate() {
            let body = (!body.is_null()).then(|| body.to_string());
            let headers = [("content-type", "application/json")];
            let headers = if body.is_some() { &headers[..] } else { &[] };
            let signed = machine.sign(method, path, headers, body.as_deref());
            let reply = signed.clone().send().await;
            if holder == wanted {
                assert!((200..300).contains(&reply.code()), "{reply:?}");
            } else {
                let reply = reply.problem(403, "insufficient_scope");
                assert!(reply.json()["detail"].as_str().unwrap().contains(scope), "{reply:?}");
            }
            // Either way it was used.
            signed.send().await.problem(401, "signature_replayed");
        }
        let shown = hub.operator().call("principals.show", json!({"principal_id": identity.principal_id})).await;
        assert_eq!(shown["refusals"], json!({"insufficient_scope": 3, "signature_replayed": 4}));
    }
    hub.finish().await;
}

#[tokio::test]
async fn without_a_registry_there_are_no_machines() {
    let hub = TestHub::start().await;
    let demo = hub.machine(&Identity::new(DEMO, "key-2026-01"));
    demo.get("/machine/evidence").await.problem(503, "registry_unavailable");
    hub.nobody().get("/machine/evidence").may_fail().await.problem(503, "registry_unavailable");
    hub.nobody().get("/machine/nothing").await.problem(404, "not_found");
    hub.finish().await;
}

/// The address that counts is the hub's own, whatever a proxy has made of the Host header.
#[tokio::test]
async fn the_public_address_is_what_is_signed() {
    let registry = RegistryFile::new();
    let identity = registry.add(DEMO, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).base_url("https://Hub.Example:443").start().await;
    let mut demo = hub.machine(&identity);
    demo.get("/machine/evidence").await.problem(401, "signature_invalid");
    demo.authority = "hub.example:443".to_owned();
    demo.get("/machine/evidence").await.problem(401, "signature_invalid");
    demo.authority = "hub.example".to_owned();
    demo.get("/machine/evidence").await.status(200);
    hub.finish().await;
}

/// Paths are signed as they are sent, and queries too.
#[tokio::test]
async fn encoded_paths_and_queries_are_signed_as_sent() {
    let (hub, demo, _registry) = hub_with_demo().await;
    demo.put("/machine/runtime-status/a%2Eb", &json!({"status": "ok"})).await.status(200);
    demo.get("/machine/evidence?since=2026-01-31T00%3A00%3A00Z&limit=1").await.status(200);
    demo.get("/machine/evidence?").await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn odd_hosts_are_refused() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let letter = demo.sign("GET", "/machine/evidence", &[], None);
    let ask = async |hosts: &[&str]| {
        let mut head = "GET /machine/evidence HTTP/1.1\r\nconnection: close\r\n".to_owned();
        for host in hosts {
            head.push_str(&format!("host: {host}\r\n"));
        }
        for (name, value) in &letter.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        hub.raw(format!("{head}\r\n").as_bytes()).await
    };
    for host in ["127.0.0.1:99999", "127.0.0.1:0", "[127.0.0.1]:80", "127.0.0.1]"] {
        let answer = ask(&[host]).await;
        assert!(answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 401"), "{host}: {answer}");
    }
    let own = hub.address.to_string();
    assert!(ask(&[&own, "127.0.0.1:1"]).await.starts_with("HTTP/1.1 400"));
    assert!(ask(&[&own]).await.starts_with("HTTP/1.1 200"));
    hub.finish().await;
}

#[tokio::test]
async fn an_empty_body_has_a_digest_too() {
    let (hub, demo, _registry) = hub_with_demo().await;
    let headers = [("content-type", "application/json")];
    let empty = demo.sign("POST", "/machine/events", &headers, Some(""));
    empty.clone().without("content-digest").send().await.problem(401, "signature_incomplete");
    // Signed well; there is only nothing in it.
    empty.send().await.problem(400, "malformed_request");
    hub.finish().await;
}
