//! Event streams: who is told what, and that nothing is lost or told twice.

use std::time::Duration;

use serde_json::{Value, json};
use stoa::access::Actor;
use stoa::error::HubError;
use stoa::events::{MessageChange, MessageEvent, emit, outbox, prune};
use stoa_model::{ConversationId, MessageId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{
    ALL_SCOPES, Client, DAY, EventStream, HOUR, Human, KEY, MINUTE, Machine, PASSWORD, RegistryFile, TestHub, each,
    eventually, on_postgres,
};
use crate::walk::{Row, either};

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![either("GET /api/events").never_ends()]
}

const HEARTBEAT: Duration = Duration::from_secs(15);

async fn dm(from: &Client, to: &str, body: &str) -> Value {
    from.post("/api/messages", &json!({"to": to, "body": body})).await.status(201).json()
}

async fn post(from: &Client, channel: &str, body: &str) -> Value {
    from.post("/api/messages", &json!({"channel": channel, "body": body})).await.status(201).json()
}

async fn channel(owner: &Human, name: &str, is_public: bool) {
    owner.post("/api/channels", &json!({"name": name, "public": is_public})).await.status(201);
}

async fn member(owner: &Human, channel: &str, name: &str) {
    owner.put(&format!("/api/channels/{channel}/members/{name}"), &json!({})).await.ok();
}

/// Something that this principal sees, to show that nothing came before it.
async fn assert_nothing(hub: &TestHub, stream: &mut EventStream, name: &str) {
    let witness = hub.log_in("witness").await;
    let sent = dm(&witness, name, "a sign").await;
    let seen = stream.next().await;
    assert_eq!((seen.event.as_str(), &seen.data["name"]), ("unread_update", &json!("witness")), "{seen:?}");
    let seen = stream.next().await;
    assert_eq!((seen.event.as_str(), &seen.data["message_id"]), ("new_message", &sent["id"]), "{seen:?}");
}

/// A hub with a machine whose events go into `#general`, several messages in one command.
async fn hub_with_machine() -> (TestHub, Machine, RegistryFile) {
    let registry = RegistryFile::new();
    let identity = registry.add("svc:sense:demo", &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let machine = hub.machine(&identity);
    let route = json!({"routes": [{"type": "t", "channel": "general", "template": "{{id}}"}]});
    machine.put("/machine/source-configs/main", &route).await.status(201);
    (hub, machine, registry)
}

/// Messages of a machine, all in one command.
async fn many_messages(machine: &Machine, batch: &str, count: usize) -> Vec<Value> {
    let events: Vec<Value> = (0..count).map(|n| machine.made(&format!("{batch}{n:03}"), "t", json!({}))).collect();
    let answer = machine.batch(&events).await.status(202).json();
    each(answer["results"].as_array().unwrap(), "message_id")
}

/// Tells everybody of changes to messages with these numbers, in one command.
async fn many_edits(hub: &TestHub, numbers: std::ops::Range<i64>) {
    let general = hub.count("select conversation_id as n from channels where name = 'general'").await;
    let inner = hub.inner().clone();
    hub.inner()
        .write(move |tx| {
            for number in numbers.clone() {
                let change = MessageChange {
                    message: MessageId(number),
                    conversation: ConversationId(general),
                    channel_name: Some("general".to_owned()),
                    recipient: None,
                };
                emit(&inner, tx, &Actor::system(), MessageEvent::Edited(change))?;
            }
            Ok::<_, HubError>(())
        })
        .await
        .unwrap();
}

fn numbers(frames: &[crate::support::Frame]) -> Vec<i64> {
    frames.iter().filter_map(|frame| frame.data["message_id"].as_i64()).collect()
}

/// A stream that is open and is not read.
async fn silent_client(hub: &TestHub, client: &Client) -> tokio::net::TcpStream {
    let crate::support::Proof::Cookie(cookie) = &client.proof else { panic!("a person is wanted") };
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(hub.address).await.unwrap();
    let request = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n", hub.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn open_streams(hub: &TestHub, count: f64) {
    eventually("so many streams are open", async || hub.metric("stoa_streams").await == count).await;
}

#[tokio::test]
async fn a_message_is_told_to_those_who_may_see_it_and_to_nobody_else() {
    let hub = TestHub::start().await;
    hub.human("witness").await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    let mut of_ada = ada.events().await;
    let mut of_bob = bob.events().await;
    let mut of_eve = eve.events().await;
    let mut of_scout = scout.events().await;

    let sent = dm(&bob, "scout", "hello").await;
    let expected = json!({
        "message_id": sent["id"], "channel": null, "conversation_id": sent["conversation_id"],
        "from": {"kind": "user", "name": "bob", "display_name": "bob"}, "to": "scout", "reply_to": null,
    });
    let unread = json!({"kind": "dm", "name": "bob", "unread_count": 1});
    assert_eq!(of_scout.expect("unread_update").await, unread);
    for stream in [&mut of_scout, &mut of_bob, &mut of_ada] {
        assert_eq!(stream.expect("new_message").await, expected);
    }

    // Only the channel's members, and who owns one of them.
    channel(&bob, "secret", false).await;
    assert_eq!(of_bob.expect("channel").await["change"], "created");
    assert_eq!(of_bob.expect("channel").await["change"], "member_added");
    let sent = post(&bob, "secret", "for nobody").await;
    assert_eq!(of_bob.expect("new_message").await["message_id"], sent["id"]);
    member(&bob, "secret", "scout").await;
    for stream in [&mut of_bob, &mut of_scout, &mut of_ada] {
        let told = stream.expect("channel").await;
        assert_eq!(
            (&told["change"], &told["member"], &told["name"]),
            (&json!("member_added"), &json!("scout"), &json!("secret"))
        );
    }
    let sent = post(&bob, "secret", "for scout").await;
    let unread = json!({"kind": "channel", "name": "secret", "unread_count": 1});
    assert_eq!(of_scout.expect("unread_update").await, unread);
    for stream in [&mut of_bob, &mut of_scout, &mut of_ada] {
        let told = stream.expect("new_message").await;
        assert_eq!((&told["message_id"], &told["channel"]), (&sent["id"], &json!("secret")));
    }

    // A public channel is everybody's; a count have those who are in it.
    channel(&bob, "open", true).await;
    let sent = post(&bob, "open", "for all").await;
    for stream in [&mut of_ada, &mut of_eve, &mut of_scout] {
        assert_eq!(stream.expect("channel").await["name"], "open");
        assert_eq!(stream.expect("new_message").await["message_id"], sent["id"]);
    }
    assert_nothing(&hub, &mut of_eve, "eve").await;
    assert_nothing(&hub, &mut of_scout, "scout").await;
    hub.finish().await;
}

#[tokio::test]
async fn edits_deletions_and_states_are_told() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut of_bob = bob.events().await;
    let sent = dm(&ada, "bob", "hello").await;
    let path = format!("/api/messages/{}", sent["id"]);
    of_bob.expect("unread_update").await;
    of_bob.expect("new_message").await;
    ada.patch(&path, &json!({"body": "hello, bob"})).await.ok();
    let changed = json!({"message_id": sent["id"], "conversation_id": sent["conversation_id"], "channel": null});
    assert_eq!(of_bob.expect("message_updated").await, changed);
    bob.post("/api/inbox/claim", &json!({})).await.ok();
    assert_eq!(of_bob.expect("message_updated").await["status"], "processing");
    ada.delete(&path).await.status(204);
    assert_eq!(of_bob.expect("unread_update").await, json!({"kind": "dm", "name": "ada", "unread_count": 0}));
    assert_eq!(of_bob.expect("message_deleted").await, changed);
    hub.finish().await;
}

#[tokio::test]
async fn unread_messages_are_counted_as_they_come_and_go() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    for body in ["one", "two"] {
        post(&ada, "general", body).await;
    }
    let mut of_bob = bob.events().await;
    let mut again = bob.again().await.client.events().await;
    let mut last = Value::Null;
    for count in 3..=5 {
        last = post(&ada, "general", "more").await;
        for stream in [&mut of_bob, &mut again] {
            let unread = stream.next().await;
            assert_eq!(unread.data, json!({"kind": "channel", "name": "general", "unread_count": count}));
            assert_eq!(unread.id, None, "the id is on the last frame");
            let message = stream.next().await;
            assert_eq!((message.event.as_str(), message.id.is_some()), ("new_message", true));
        }
    }
    // What one says oneself is not unread.
    post(&bob, "general", "mine").await;
    of_bob.expect("new_message").await;
    let read = json!({"channel": "general", "message_id": last["id"].as_i64().unwrap() - 1});
    bob.post("/api/notifications/mark-read", &read).await.ok();
    assert_eq!(of_bob.expect("unread_update").await["unread_count"], 1);
    post(&ada, "general", "and more").await;
    assert_eq!(of_bob.expect("unread_update").await["unread_count"], 2);
    of_bob.expect("new_message").await;
    ada.delete(&format!("/api/messages/{}", last["id"])).await.status(204);
    assert_eq!(of_bob.expect("unread_update").await["unread_count"], 1);
    of_bob.expect("message_deleted").await;
    bob.post("/api/notifications/mark-read", &json!({"channel": "general"})).await.ok();
    assert_eq!(of_bob.expect("unread_update").await["unread_count"], 0);
    // Who leaves with something unread and comes back has nothing to catch up on.
    post(&ada, "general", "unread").await;
    assert_eq!(of_bob.expect("unread_update").await["unread_count"], 1);
    of_bob.expect("new_message").await;
    bob.call("POST", "/api/channels/general/leave").await.ok();
    bob.call("POST", "/api/channels/general/join").await.ok();
    let unread = of_bob.until("unread_update").await;
    assert_eq!(unread, json!({"kind": "channel", "name": "general", "unread_count": 0}));
    // Both sides of a DM call it by the other's name.
    dm(&ada, "bob", "hello").await;
    assert_eq!(of_bob.expect("unread_update").await, json!({"kind": "dm", "name": "ada", "unread_count": 1}));
    of_bob.expect("new_message").await;
    bob.post("/api/notifications/mark-read", &json!({"dm": "ada"})).await.ok();
    assert_eq!(of_bob.expect("unread_update").await, json!({"kind": "dm", "name": "ada", "unread_count": 0}));
    hub.finish().await;
}

#[tokio::test]
async fn a_key_hears_of_what_it_reaches() {
    let hub = TestHub::start().await;
    hub.human("witness").await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    channel(&ada, "news", true).await;
    let (_, deaf) = ada.key("scout", json!(["messages:write"])).await;
    hub.nobody().bearer(&deaf).get("/api/events").await.problem(403, "forbidden");
    let request = json!({"name": "k", "agent": "scout", "permissions": ["messages:read"], "channels": ["news"]});
    let limited = ada.post("/api/keys", &request).await.status(201).json();
    let limited = hub.nobody().bearer(limited["key"].as_str().unwrap());
    let mut stream = limited.events().await;
    let greeting = stream.last_id.clone();
    post(&ada, "general", "out of reach").await;
    let news = post(&ada, "news", "within").await;
    assert_eq!(stream.expect("new_message").await["message_id"], news["id"]);
    scout.post("/api/notifications/mark-read", &json!({"channel": "general"})).await.ok();
    // A limit on channels is none on DMs.
    assert_nothing(&hub, &mut stream, "scout").await;
    // It is the same for what was missed.
    let mut again = limited.events_after(&greeting).await;
    assert_eq!(again.expect("new_message").await["message_id"], news["id"]);
    assert_eq!(again.expect("new_message").await["channel"], Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn a_client_that_comes_back_misses_nothing_and_hears_nothing_twice() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut stream = bob.events().await;
    let (mut seen, mut sent, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..5 {
        // Some are heard as they come, some are missed.
        for number in 0..6 {
            sent.push(dm(&ada, "bob", &format!("{round} {number}")).await["id"].clone());
            dm(&ada, "admin", "not for bob").await;
            if number == 2 {
                stream = bob.events_after(&stream.last_id).await;
            }
            if number < 4 {
                seen.push(whole_message(&mut stream).await);
                ids.push(stream.last_id.clone());
            }
        }
        stream = EventStream::new(bob.get(&format!("/api/events?since={}", stream.last_id)).open().await);
        stream.frame().await.unwrap();
    }
    while seen.len() < sent.len() {
        seen.push(whole_message(&mut stream).await);
        ids.push(stream.last_id.clone());
    }
    assert_eq!(seen, sent);
    let places: Vec<Vec<i64>> =
        ids.iter().map(|id| id.split('-').skip(1).map(|number| number.parse().unwrap()).collect()).collect();
    assert!(places.is_sorted(), "{places:?}");
    hub.finish().await;
}

/// The next message; it carries the id, and the count came before it.
async fn whole_message(stream: &mut EventStream) -> Value {
    loop {
        let frame = stream.next().await;
        if frame.event == "new_message" {
            assert!(frame.id.is_some(), "{frame:?}");
            return frame.data["message_id"].clone();
        }
    }
}

#[tokio::test]
async fn a_backlog_is_told_in_order_and_ends_with_what_is_unread() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let id = bob.events().await.last_id;
    many_edits(&hub, 0..1500).await;
    for body in ["one", "two"] {
        dm(&ada, "bob", body).await;
    }
    // A transaction of anybody on the same server may hold back the latest events; they would then be told after the backlog.
    hub.settle().await;
    let mut stream = bob.events_after(&id).await;
    let mut frames = Vec::new();
    for _ in 0..1503 {
        frames.push(stream.next().await);
    }
    assert_eq!(numbers(&frames[..1500]), (0..1500).collect::<Vec<_>>());
    assert!(frames[..1502].iter().all(|frame| frame.id.is_some()));
    let unread = &frames[1502];
    assert_eq!(unread.data, json!({"kind": "dm", "name": "ada", "unread_count": 2}));
    assert_eq!(unread.id, None, "it is about now, not about an event");
    // From here on it is live.
    dm(&ada, "bob", "three").await;
    assert_eq!(stream.expect("unread_update").await["unread_count"], 3);
    stream.expect("new_message").await;
    hub.finish().await;
}

#[tokio::test]
async fn messages_at_once_are_counted_once() {
    let (hub, machine, _registry) = hub_with_machine().await;
    let bob = hub.human("bob").await;
    let start = post(&bob, "general", "hello").await;
    let mut stream = bob.events().await;
    let mut other = bob.again().await.client.events().await;
    let sent = many_messages(&machine, "a", 5).await;
    for stream in [&mut stream, &mut other] {
        let mut frames = Vec::new();
        for _ in 0..6 {
            frames.push(stream.next().await);
        }
        let unread = frames.remove(4);
        assert_eq!(
            unread.data,
            json!({"kind": "channel", "name": "general", "unread_count": 5}),
            "before the last message"
        );
        assert!(frames.iter().all(|frame| frame.event == "new_message" && frame.id.is_some()), "{frames:?}");
        assert_eq!(frames.iter().map(|frame| frame.data["message_id"].clone()).collect::<Vec<_>>(), sent);
    }
    // However many they are, the last count is right before the last message comes.
    let before = other.last_id.clone();
    let more = many_messages(&machine, "b", 70).await;
    let (mut seen, mut count) = (Vec::new(), Value::Null);
    while seen.len() < more.len() {
        let frame = stream.next().await;
        match frame.event.as_str() {
            "new_message" => seen.push(frame.data["message_id"].clone()),
            event => {
                assert_eq!(event, "unread_update");
                count = frame.data["unread_count"].clone();
            }
        }
    }
    assert_eq!((seen, count), (more.clone(), json!(75)));
    // Who comes back gets the messages, and the count after them.
    hub.settle().await;
    let mut again = bob.events_after(&before).await;
    for message in &more {
        assert_eq!(again.expect("new_message").await["message_id"], *message);
    }
    assert_eq!(again.expect("unread_update").await["unread_count"], 75);
    let read = json!({"channel": "general", "message_id": start["id"]});
    bob.post("/api/notifications/mark-read", &read).await.ok();
    assert_eq!(again.expect("unread_update").await["unread_count"], 75);
    hub.finish().await;
}

#[tokio::test]
async fn streams_open_while_much_happens_and_lose_nothing() {
    let hub = TestHub::start().await;
    let bob = hub.human("bob").await;
    let mut first = bob.events().await;
    let start = first.last_id.clone();
    let writing = async {
        for round in 0..60 {
            many_edits(&hub, round * 20..round * 20 + 20).await;
        }
    };
    let mut latecomers = Vec::new();
    let opening = async {
        for _ in 0..20 {
            latecomers.push(bob.events_after(&start).await);
        }
    };
    tokio::join!(writing, opening);
    for stream in latecomers.iter_mut().chain([&mut first]) {
        let mut seen = Vec::new();
        while seen.len() < 1200 {
            seen.push(stream.next().await.data["message_id"].as_i64().unwrap());
        }
        assert_eq!(seen, (0..1200).collect::<Vec<_>>());
    }
    hub.finish().await;
}

#[tokio::test]
async fn ids_outlive_a_restart() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut stream = bob.events().await;
    dm(&ada, "bob", "before").await;
    stream.expect("unread_update").await;
    stream.expect("new_message").await;
    let id = stream.last_id.clone();
    let missed = dm(&ada, "bob", "missed").await;
    let hub = hub.restart().await;
    let bob = hub.log_in("bob").await;
    let mut stream = bob.events_after(&id).await;
    // From the backlog the count comes last; live, where the message is still held back at the start, it comes first.
    let mut frames = [stream.next().await, stream.next().await];
    frames.sort_by(|one, other| one.event.cmp(&other.event));
    assert_eq!((frames[0].event.as_str(), &frames[0].data["message_id"]), ("new_message", &missed["id"]));
    assert_eq!((frames[1].event.as_str(), &frames[1].data["unread_count"]), ("unread_update", &json!(2)));
    let ada = hub.log_in("ada").await;
    let sent = dm(&ada, "bob", "after").await;
    stream.expect("unread_update").await;
    assert_eq!(stream.expect("new_message").await["message_id"], sent["id"]);
    hub.finish().await;
}

#[tokio::test]
async fn who_cannot_go_on_is_told_so_and_goes_on_from_now() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let old = bob.events().await.last_id;
    let (epoch, place) = old.split_once('-').unwrap();
    let future = format!("{epoch}-9999999999-1");
    let other_history = format!("00000000-{place}");
    let garbage = ["garbage", "-", "0", &format!("{old}x"), &format!("{epoch}--1-1"), "\u{fc}", &"9".repeat(5000)];
    let missed = dm(&ada, "bob", "missed").await;
    for id in [future.as_str(), &other_history].into_iter().chain(garbage) {
        let mut stream = bob.events_after(id).await;
        let resync = stream.next().await;
        assert_eq!((resync.event.as_str(), &resync.data, resync.retry), ("resync", &json!({}), Some(3000)), "{id}");
        assert!(resync.id.unwrap().starts_with(epoch), "{id}");
        assert_ne!(stream.last_id, id);
        let sent = dm(&ada, "bob", "hello").await;
        stream.expect("unread_update").await;
        assert_eq!(stream.expect("new_message").await["message_id"], sent["id"], "{id}");
    }
    // The place of the last event that was pruned is as good as any; one before it is not.
    let mut stream = bob.events_after(&old).await;
    assert_eq!(stream.expect("new_message").await["message_id"], missed["id"]);
    let kept = stream.last_id.clone();
    drop(stream);
    hub.advance(DAY + HOUR);
    // What a listener has not seen yet is kept for it.
    hub.settle().await;
    while hub.inner().write(prune::prune).await.unwrap() > 0 {}
    let bob = hub.log_in("bob").await;
    for id in [old, kept] {
        let mut stream = bob.events_after(&id).await;
        assert_eq!(stream.next().await.event, "resync");
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_quiet_client_does_not_fall_out_of_what_is_kept() {
    let hub = TestHub::setup().session_lifetime(30 * DAY).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut stream = bob.events().await;
    dm(&ada, "admin", "not for bob").await;
    hub.advance(DAY);
    dm(&ada, "admin", "nor this").await;
    // The client never sees an event, yet comes to know where the last one is.
    let end = hub.inner().read(outbox::end).await.unwrap();
    let end = format!("-{}-{}", end.xid, end.seq);
    while !stream.last_id.ends_with(&end) {
        hub.advance(HEARTBEAT);
        while !stream.frame().await.unwrap().is_comment {}
    }
    hub.advance(HOUR);
    // What a listener has not seen yet is kept for it.
    hub.settle().await;
    while hub.inner().write(prune::prune).await.unwrap() > 0 {}
    let mut again = bob.events_after(&stream.last_id).await;
    let sent = dm(&ada, "bob", "hello").await;
    again.expect("unread_update").await;
    assert_eq!(again.expect("new_message").await["message_id"], sent["id"], "no resync");
    hub.finish().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_let_go_and_misses_nothing() {
    let hub = TestHub::start().await;
    let bob = hub.human("bob").await;
    let id = bob.events().await.last_id;
    let mut silent = silent_client(&hub, &bob).await;
    open_streams(&hub, 1.0).await;
    // Until all that lies between the hub and its client is full.
    let mut sent = 0;
    while hub.metric("stoa_streams_lagged_total").await == 0.0 {
        many_edits(&hub, sent..sent + 1000).await;
        sent += 1000;
        assert!(sent < 200_000, "the client is never let go");
    }
    let mut read = Vec::new();
    silent.read_to_end(&mut read).await.ok();
    let text = String::from_utf8_lossy(&read);
    let heard = text.matches("event: message_updated").count() as i64;
    assert!(heard > 0 && heard < sent, "{heard} of {sent}");
    assert!(text.ends_with("0\r\n\r\n"), "the answer ends in order");
    let last_id = text.rmatch_indices("\nid: ").next().unwrap().0;
    let last_id = text[last_id + 5..].lines().next().unwrap().to_owned();
    let mut again = bob.events_after(&last_id).await;
    for number in heard..sent {
        assert_eq!(again.expect("message_updated").await["message_id"], number);
    }
    // Who is read to slowly is nobody else's concern.
    let mut from_the_start = bob.events_after(&id).await;
    for number in 0..sent {
        assert_eq!(from_the_start.expect("message_updated").await["message_id"], number);
    }
    hub.finish().await;
}

#[tokio::test]
async fn an_ended_credential_ends_its_streams_at_once() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let end = async |stream: &mut EventStream| {
        // It is sent after the credential has ended, so it must not come.
        dm(&bob, "ada", "secret").await;
        dm(&bob, "scout", "secret").await;
        let rest = stream.rest().await;
        assert!(rest.iter().all(|frame| !frame.event.starts_with("new_message")), "{rest:?}");
    };

    let session = ada.again().await;
    let mut stream = session.events().await;
    let mut other = ada.events().await;
    session.call("POST", "/auth/logout").await.status(204);
    end(&mut stream).await;
    other.expect("unread_update").await;
    other.expect("new_message").await;

    let (key, secret) = ada.key("scout", json!(["*"])).await;
    let mut stream = hub.nobody().bearer(&secret).events().await;
    let mut of_agent = scout.events().await;
    ada.delete(&format!("/api/keys/{}", key["id"])).await.status(200);
    end(&mut stream).await;
    of_agent.expect("unread_update").await;
    of_agent.expect("new_message").await;

    ada.post("/api/agents/scout/key", &json!({})).await.ok();
    end(&mut of_agent).await;

    let cub = ada.agent("cub").await;
    let mut of_cub = cub.events().await;
    ada.delete("/api/agents/cub").await.status(204);
    of_cub.rest().await;

    // Who is shut out takes their agents along.
    let hawk = ada.agent("hawk").await;
    let mut of_hawk = hawk.events().await;
    hub.operator().call("users.disable", json!({"username": "ada"})).await;
    other.rest().await;
    of_hawk.rest().await;
    open_streams(&hub, 0.0).await;
    hub.finish().await;
}

#[tokio::test]
async fn a_session_that_runs_out_ends_its_streams() {
    let hub = TestHub::setup().session_lifetime(HOUR).start().await;
    let ada = hub.human("ada").await;
    let mut stream = ada.events().await;
    hub.advance(HOUR);
    stream.rest().await;
    ada.get("/api/events").await.problem(401, "session_expired");
    hub.finish().await;
}

#[tokio::test]
async fn a_key_that_runs_out_hears_nothing_of_what_comes_after() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.agent("scout").await;
    // The next heartbeat, which looks for what has run out, is later than that.
    let request = json!({"name": "k", "agent": "scout", "permissions": ["*"], "expires_at": "2027-01-15T08:00:05Z"});
    let created = ada.post("/api/keys", &request).await.status(201).json();
    let mut stream = hub.nobody().bearer(created["key"].as_str().unwrap()).events().await;
    hub.advance(Duration::from_millis(4999));
    dm(&bob, "scout", "in time").await;
    stream.expect("unread_update").await;
    stream.expect("new_message").await;
    hub.advance(Duration::from_millis(1));
    dm(&bob, "scout", "too late").await;
    let rest = stream.rest().await;
    assert!(rest.is_empty(), "{rest:?}");
    hub.finish().await;
}

#[tokio::test]
async fn a_member_who_is_removed_is_told_that_and_nothing_more() {
    let hub = TestHub::start().await;
    hub.human("witness").await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    channel(&ada, "secret", false).await;
    member(&ada, "secret", "bob").await;
    let mut of_bob = bob.events().await;
    let start = of_bob.last_id.clone();
    post(&ada, "secret", "still").await;
    of_bob.expect("unread_update").await;
    of_bob.expect("new_message").await;
    ada.delete("/api/channels/secret/members/bob").await.ok();
    let told = of_bob.expect("channel").await;
    let conversation = told["conversation_id"].clone();
    let expected =
        json!({"name": "secret", "conversation_id": conversation, "change": "member_removed", "member": "bob"});
    assert_eq!(told, expected);
    post(&ada, "secret", "not any more").await;
    ada.patch("/api/channels/secret", &json!({"topic": "them"})).await.ok();
    ada.delete("/api/channels/secret").await.ok();
    assert_nothing(&hub, &mut of_bob, "bob").await;
    // What they missed they do not see afterwards either.
    let mut again = bob.events_after(&start).await;
    assert_eq!(again.expect("channel").await, expected);
    assert_eq!(again.expect("new_message").await["channel"], Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn channels_that_change_are_told() {
    let hub = TestHub::start().await;
    hub.human("witness").await;
    let (ada, bob, eve) = (hub.human("ada").await, hub.human("bob").await, hub.human("eve").await);
    let (mut of_ada, mut of_bob, mut of_eve) = (ada.events().await, bob.events().await, eve.events().await);
    let start = of_eve.last_id.clone();
    let change = async |stream: &mut EventStream| stream.expect("channel").await["change"].clone();
    channel(&ada, "plans", false).await;
    assert_eq!(change(&mut of_ada).await, "created");
    assert_eq!(change(&mut of_ada).await, "member_added");
    member(&ada, "plans", "bob").await;
    assert_eq!(change(&mut of_ada).await, "member_added");
    assert_eq!(change(&mut of_bob).await, "member_added");
    ada.patch("/api/channels/plans", &json!({"topic": "what next"})).await.ok();
    assert_eq!(change(&mut of_bob).await, "updated");
    // Made private for some who saw it, and then taken away.
    ada.patch("/api/channels/plans", &json!({"public": true})).await.ok();
    assert_eq!(change(&mut of_eve).await, "updated");
    ada.patch("/api/channels/plans", &json!({"public": false})).await.ok();
    let hidden = of_eve.expect("channel").await;
    assert_eq!((&hidden["change"], &hidden["name"]), (&json!("deleted"), &json!("plans")));
    post(&ada, "plans", "among us").await;
    for expected in ["updated", "updated"] {
        assert_eq!(change(&mut of_bob).await, expected);
    }
    of_bob.expect("unread_update").await;
    of_bob.expect("new_message").await;
    // Not before they were told: in a channel that is gone nobody is.
    ada.delete("/api/channels/plans").await.ok();
    let deleted = of_bob.expect("channel").await;
    assert_eq!((&deleted["change"], &deleted["name"]), (&json!("deleted"), &json!("plans")));
    assert_nothing(&hub, &mut of_eve, "eve").await;
    // Who was away hears of it, too.
    let mut again = eve.events_after(&start).await;
    assert_eq!(change(&mut again).await, "deleted");
    assert_eq!(again.expect("new_message").await["channel"], Value::Null);
    hub.finish().await;
}

#[tokio::test]
async fn a_heartbeat_comes_every_15_seconds() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut stream = ada.events().await;
    for _ in 0..3 {
        hub.advance(HEARTBEAT);
        loop {
            let frame = stream.frame().await.unwrap();
            if frame.is_comment {
                assert_eq!((frame.event.as_str(), &frame.data), ("", &Value::Null));
                break;
            }
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn at_the_end_clients_are_told_before_the_hub_goes() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let mut streams = vec![ada.events().await, bob.events().await, scout.events().await];
    let _silent = silent_client(&hub, &ada).await;
    dm(&bob, "ada", "one more").await;
    let id = streams[0].last_id.clone();
    let setup = hub.stop().await;
    for stream in &mut streams {
        let rest = stream.rest().await;
        let last = rest.last().unwrap();
        assert_eq!((last.event.as_str(), &last.data, &last.id), ("shutdown", &json!({}), &None));
    }
    let hub = setup.start().await;
    let mut again = hub.log_in("ada").await.events_after(&id).await;
    again.until("new_message").await;
    hub.finish().await;
}

#[tokio::test]
async fn a_user_has_so_many_streams_and_no_more() {
    let hub = TestHub::setup().configure(|config| config.max_streams = 3).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    let first = ada.events().await;
    let _others = [ada.events().await, scout.events().await];
    for client in [&ada.client, &scout.client] {
        let refused = client.get("/api/events").await.problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some());
    }
    bob.events().await;
    drop(first);
    open_streams(&hub, 2.0).await;
    ada.events().await;
    hub.finish().await;
}

#[tokio::test]
async fn many_idle_streams_are_no_trouble() {
    let hub = TestHub::setup().configure(|config| config.max_streams = 0).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut streams = Vec::new();
    for _ in 0..200 {
        streams.push(bob.events().await);
    }
    open_streams(&hub, 200.0).await;
    let sent = dm(&ada, "bob", "to each of them").await;
    for stream in &mut streams {
        stream.expect("unread_update").await;
        assert_eq!(stream.expect("new_message").await["message_id"], sent["id"]);
    }
    drop(streams);
    open_streams(&hub, 0.0).await;
    hub.finish().await;
}

#[tokio::test]
async fn who_is_online_is_told() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let mut of_ada = ada.events().await;
    hub.advance(2 * MINUTE);
    let first = bob.events().await;
    let expected =
        json!({"name": "bob", "online": true, "presence": "online", "last_seen_at": "2027-01-15T08:02:00.000Z"});
    assert_eq!(of_ada.presence_of("bob").await, expected);
    let second = bob.events().await;
    drop(first);
    drop(second);
    open_streams(&hub, 1.0).await;
    // A page that is loaded anew is no news.
    hub.advance(Duration::from_secs(9));
    let third = bob.events().await;
    drop(third);
    open_streams(&hub, 1.0).await;
    hub.advance(Duration::from_secs(10));
    let expected =
        json!({"name": "bob", "online": false, "presence": "offline", "last_seen_at": "2027-01-15T08:02:19.000Z"});
    assert_eq!(of_ada.presence_of("bob").await, expected);

    // The directory knows who is here now, as long as they are.
    let scout = ada.agent("scout").await;
    let _of_scout = scout.events().await;
    assert_eq!(of_ada.presence_of("scout").await["online"], true);
    for _ in 0..10 {
        hub.advance(MINUTE);
        let now = stoa_model::Timestamp::from_ms(hub.now_ms());
        eventually("the agent was seen just now", async || {
            let cards = ada.get("/api/directory?q=scout").await.ok().json();
            cards["items"][0]["last_seen_at"] == json!(now)
        })
        .await;
    }
    let metrics = hub.nobody().get("/metrics").await.ok().text();
    assert!(metrics.contains("\nactive_agents 1\n"), "{metrics}");
    hub.finish().await;
}

#[tokio::test]
async fn a_stranger_hears_nothing_of_what_others_have() {
    let hub = TestHub::start().await;
    hub.human("witness").await;
    let stranger = hub.human("stranger").await;
    let (mut stream, start) = {
        let stream = stranger.events().await;
        let id = stream.last_id.clone();
        (stream, id)
    };
    let owner = hub.human("owner").await;
    let agent = owner.agent("secretive").await;
    channel(&owner, "vault", false).await;
    member(&owner, "vault", "secretive").await;
    let sent = post(&owner, "vault", "hush @secretive").await;
    let path = format!("/api/messages/{}", sent["id"]);
    owner.patch(&path, &json!({"body": "hush, hush"})).await.ok();
    agent.post("/api/inbox/claim", &json!({})).await.ok();
    agent.post("/api/notifications/mark-read", &json!({"channel": "vault"})).await.ok();
    dm(&agent, "owner", "done").await;
    owner.delete(&path).await.status(204);
    owner.delete("/api/channels/vault/members/secretive").await.ok();
    owner.delete("/api/channels/vault").await.ok();
    owner.delete("/api/agents/secretive").await.status(204);
    assert_nothing(&hub, &mut stream, "stranger").await;
    let mut again = stranger.events_after(&start).await;
    assert_eq!(again.expect("new_message").await["from"]["name"], "witness");
    hub.finish().await;
}

#[tokio::test]
async fn what_happens_on_one_hub_is_told_on_the_other() {
    if !on_postgres() {
        return;
    }
    let one = TestHub::setup().key(KEY).start().await;
    let (ada, bob) = (one.human("ada").await, one.human("bob").await);
    let two = one.beside().start().await;
    let bob_there = two.log_in("bob").await;
    let mut stream = bob_there.events().await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let sent = dm(&ada, "bob", "hello over there").await;
        stream.expect("unread_update").await;
        assert_eq!(stream.expect("new_message").await["message_id"], sent["id"]);
        ids.push((sent["id"].clone(), stream.last_id.clone()));
    }
    // An id of one hub is good on the other.
    let mut here = bob.events_after(&ids[9].1).await;
    for (message, _) in &ids[10..] {
        // Who catches up gets the counts at the end, or between messages if the hub has not read them itself yet.
        assert_eq!(here.until("new_message").await["message_id"], *message);
    }
    // Being online on either is being online.
    let mut of_ada = ada.events().await;
    drop(here);
    open_streams(&one, 1.0).await;
    one.advance(Duration::from_secs(10));
    while of_ada.presence_of("bob").await["online"] == true {}
    assert_eq!(of_ada.presence_of("bob").await["online"], true, "the other hub knows better");
    // Shut out here, shut out there.
    bob.put("/auth/password", &json!({"current_password": PASSWORD, "new_password": "another horse battery"}))
        .await
        .ok();
    stream.rest().await;
    two.finish().await;
    one.finish().await;
}
