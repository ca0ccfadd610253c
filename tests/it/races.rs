//! Many things at once: all of them are done, each as if it were alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::listeners::{happen, subjects};
use crate::support::{
    Human, KEY, PASSWORD, Proof, Recorder, TestHub, how_many, items, off_the_runtime, on_postgres, together,
};

#[tokio::test]
async fn writers_do_not_hinder_each_other() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let replies = together((0..80).map(|n| ada.post("/api/agents", &json!({"name": format!("agent{n}")})))).await;
    assert_eq!(how_many(&replies, 201), 80);
    let agents: Vec<_> = ada.list("/api/agents").await;
    let keys: BTreeSet<_> = replies.iter().map(|reply| reply.json()["key"].as_str().unwrap().to_owned()).collect();
    let ids: BTreeSet<_> = agents.iter().map(|agent| agent["id"].as_i64().unwrap()).collect();
    assert_eq!((agents.len(), keys.len(), ids.len()), (80, 80, 80));
    let calls = keys.iter().map(|key| hub.nobody().bearer(key).get("/api/agents"));
    assert_eq!(how_many(&together(calls).await, 200), 80);
    hub.finish().await;
}

#[tokio::test]
async fn no_change_of_one_thing_is_lost() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let calls = (0..24).map(|n| match n % 3 {
        0 => ada.patch("/api/agents/scout", &json!({"instructions": n.to_string()})),
        1 => ada.patch("/api/agents/scout", &json!({"cooldown_seconds": n})),
        _ => ada.patch("/api/agents/scout", &json!({"display_name": format!("Scout {n}")})),
    });
    let replies = together(calls).await;
    let etags: BTreeSet<_> = replies.iter().map(|reply| reply.header("etag").unwrap().to_owned()).collect();
    assert_eq!((how_many(&replies, 200), etags.len()), (24, 24), "{replies:?}");
    let agent = ada.get("/api/agents/scout").await.ok();
    assert_eq!(agent.header("etag"), Some("\"25\""));
    // Nobody's change of one field undid another's of another field.
    assert_ne!(agent.json()["instructions"], "");
    assert_ne!(agent.json()["cooldown_seconds"], 30);
    assert_ne!(agent.json()["display_name"], "scout");
    hub.finish().await;
}

/// What agents do most often, all at once. It has to come out as if each had waited for the one before.
#[tokio::test]
async fn what_agents_do_at_once_comes_out_as_one_by_one() {
    const AGENTS: usize = 6;
    const MESSAGES: usize = 4;
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.post("/api/channels", &json!({"name": "work"})).await.status(201);
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        // One owner could not react this often.
        agents.push(hub.human(&format!("owner{number}")).await.agent(&format!("agent{number}")).await);
    }
    let mut messages = Vec::new();
    let mut news = Vec::new();
    for number in 0..MESSAGES {
        messages.push(ada.say("work", &format!("task {number}")).await);
        news.push(ada.say("general", &format!("news {number}")).await);
    }
    for agent in &agents {
        for number in 0..3 {
            ada.dm(&agent.name, &format!("work {number}")).await;
        }
    }
    let (agents, messages, news) = (&agents, &messages, &news);
    let calls = (0..AGENTS).flat_map(|number| {
        let agent = &agents[number];
        let reacting = messages.iter().flat_map(move |message| {
            let key = format!("{number} {}", message["id"]);
            [
                agent.react(message, "approve"),
                // The same twice under one key: it is done once.
                agent.react(message, "reject").header("idempotency-key", &key),
                agent.react(message, "reject").header("idempotency-key", &key),
                agent.react(message, "in_progress"),
            ]
        });
        let reading = news.iter().map(move |message| {
            agent.post("/api/notifications/mark-read", &json!({"channel": "general", "message_id": message["id"]}))
        });
        // Twice as many claims as there is to claim.
        let claiming = (0..6).map(move |_| agent.post("/api/inbox/claim", &json!({})));
        let key = format!("send {number}");
        let send = move || agent.post("/api/messages", &json!({"channel": "work", "body": "done"}));
        let sending = (0..3).map(move |_| send().header("idempotency-key", &key));
        reacting.chain(reading).chain(claiming).chain(sending).collect::<Vec<_>>()
    });
    let replies = together(calls).await;
    let unexpected: Vec<_> = replies.iter().filter(|reply| ![200, 201, 409].contains(&reply.code())).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    // One claimed each message, and all others lost.
    let refused: Vec<_> = replies.iter().filter(|reply| reply.code() == 409).map(|reply| reply.json()).collect();
    let lost = refused.iter().filter(|problem| problem["code"] == "already_claimed").count();
    assert_eq!(lost, MESSAGES * (AGENTS - 1), "{refused:?}");
    for message in messages {
        let reactions = ada.message(message).await["reactions"].as_array().unwrap().clone();
        let count = |name: &str| reactions.iter().filter(|reaction| reaction["reaction"] == name).count();
        assert_eq!((count("approve"), count("reject"), count("in_progress")), (AGENTS, AGENTS, 1));
    }
    for agent in agents {
        let claimed = items(agent.get("/api/inbox?status=processing").await.ok());
        assert_eq!(claimed.len(), 3);
        let unread = agent.get("/api/notifications/unread").await.ok().json();
        let general = unread.as_array().unwrap().iter().find(|entry| entry["name"] == "general").unwrap();
        let read = news.iter().position(|message| message["id"] == general["last_read_message_id"]).unwrap();
        assert_eq!(general["unread_count"], MESSAGES - 1 - read);
    }
    let said = ada.list("/api/channels/work/messages").await;
    assert_eq!(said.len(), MESSAGES + AGENTS);
    hub.finish().await;
}

#[tokio::test]
async fn of_new_passwords_at_once_one_is_set() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for round in 0..3 {
        let current = if round == 0 { PASSWORD.to_owned() } else { format!("new password {}", round - 1) };
        let session = Human::log_in(&hub.nobody(), "ada", &current).await;
        let calls = (0..5).map(|n| {
            // Each from an address of its own, or the guard against guessing would step in.
            let new = if n == 0 { format!("new password {round}") } else { format!("lost password {n}") };
            session
                .put("/auth/password", &json!({"current_password": current, "new_password": new}))
                .header("x-forwarded-for", format!("203.0.113.{n}"))
        });
        let replies = together(calls).await;
        // The others' session had ended, or what they gave was not the current password any more.
        let refused = how_many(&replies, 401) + how_many(&replies, 403);
        assert_eq!((how_many(&replies, 200), refused), (1, 4), "{replies:?}");
        let winner = replies.iter().position(|reply| reply.code() == 200).unwrap();
        let renewed = hub.nobody().cookie(&replies[winner].cookie());
        assert_eq!(renewed.get("/auth/sessions").await.ok().json()["items"].as_array().unwrap().len(), 1);
        let set = if winner == 0 { format!("new password {round}") } else { format!("lost password {winner}") };
        Human::log_in(&hub.nobody(), "ada", &set).await;
        let reset = json!({"username": "ada", "password": format!("new password {round}")});
        hub.operator().call("users.passwd", reset).await;
    }
    assert!(ada.get("/auth/me").await.code() == 401);
    hub.finish().await;
}

#[tokio::test]
async fn a_key_is_never_made_for_an_agent_that_is_gone() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for round in 0..5 {
        let name = format!("scout{round}");
        ada.agent(&name).await;
        let request = json!({"name": "k", "agent": name, "permissions": ["*"]});
        let mut calls: Vec<_> = (0..6).map(|_| ada.post("/api/keys", &request)).collect();
        calls.insert(3, ada.delete(&format!("/api/agents/{name}")));
        let replies = together(calls).await;
        for reply in replies.iter().filter(|reply| reply.code() == 201) {
            let key = reply.json()["key"].as_str().unwrap().to_owned();
            hub.nobody().bearer(&key).get("/api/agents").await.problem(401, "invalid_credentials");
        }
        assert_eq!(how_many(&replies, 204), 1);
        assert_eq!(how_many(&replies, 201) + how_many(&replies, 422), 6, "{replies:?}");
    }
    assert!(ada.list("/api/keys").await.iter().all(|key| key["status"] == "revoked"));
    hub.finish().await;
}

#[tokio::test]
async fn hubs_that_start_at_once_on_a_new_database_make_one_admin() {
    if !on_postgres() {
        return;
    }
    let shown = Arc::new(AtomicUsize::new(0));
    let counter = shown.clone();
    let count = Arc::new(move |_: &str| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let first = TestHub::setup().key(KEY).configure(|config| config.show_password = count);
    let (second, third) = (first.beside(), first.beside());
    let (one, two, three) = tokio::join!(first.start(), second.start(), third.start());
    assert_eq!(shown.load(Ordering::SeqCst), 1);
    assert_eq!(one.count("select count(*) as n from users").await, 1);
    for hub in [three, two, one] {
        hub.finish().await;
    }
}

#[tokio::test]
async fn while_the_database_is_away_the_hub_says_so_and_then_goes_on() {
    if !on_postgres() {
        return;
    }
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let database = hub.database();
    let away = database.clone();
    off_the_runtime(move || away.go_away());
    let calls = [
        hub.nobody().get("/readyz").may_fail(),
        ada.get("/auth/me").may_fail(),
        ada.post("/api/agents", &json!({"name": "scout"})).may_fail(),
    ];
    for reply in together(calls).await {
        let reply = reply.problem(503, "unavailable");
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert!(!reply.text().contains("FATAL") && !reply.text().contains("stoa_it_"), "{reply:?}");
    }
    hub.nobody().get("/healthz").await.ok();
    off_the_runtime(move || database.come_back());
    hub.nobody().get("/readyz").await.ok();
    ada.agent("scout").await;
    hub.finish().await;
}

#[tokio::test]
async fn lost_connections_to_the_database_are_made_again() {
    if !on_postgres() {
        return;
    }
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let ada = hub.human("ada").await;
    hub.settle().await;
    for round in 1..=3 {
        let database = hub.database();
        off_the_runtime(move || {
            database.lose_connections();
        });
        let calls = (0..10).map(|_| ada.get("/api/agents"));
        assert_eq!(how_many(&together(calls).await, 200), 10);
        ada.agent(&format!("scout{round}")).await;
        happen(&hub, 1000 + round, 1).await;
        hub.settle().await;
    }
    assert_eq!(subjects(&recorder.seen()).iter().filter(|subject| **subject > 1000).count(), 3);
    assert_eq!(recorder.seen().len(), 7);
    hub.finish().await;
}

#[tokio::test]
async fn a_request_that_waits_for_its_body_ends_with_its_session() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let Proof::Cookie(cookie) = ada.proof.clone() else { panic!("people have cookies") };
    let body = r#"{"name": "parked"}"#;
    let head = format!(
        "POST /api/agents HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(hub.address).await.unwrap();
    let lookups = hub.metric("stoa_identity_lookups_total").await;
    stream.write_all(format!("{head}{}", &body[..5]).as_bytes()).await.unwrap();
    while hub.metric("stoa_identity_lookups_total").await <= lookups {
        tokio::task::yield_now().await;
    }
    // The request has passed the door. Now the session ends, and with it whatever came in by it.
    hub.operator().call("users.end_sessions", json!({"username": "ada"})).await;
    stream.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("session_expired"), "{answer}");
    assert!(hub.log_in("ada").await.list("/api/agents").await.is_empty());
    hub.finish().await;
}
