//! Searches and indexing of one owner leave room for those of others.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::messages::MAX_BODY_BYTES;

use crate::search::indexed;
use crate::support::{Client, Gate, Setup, TestHub, eventually, on_postgres};

/// Texts that the hub has split into words.
const TEXTS: &str = "stoa_search_texts_total";
const QUEUED: &str = "select count(*) as n from search_queue";

/// A body as long as they may be, which is found by `word`.
fn long_body(word: &str) -> String {
    let mut body = format!("{word} ");
    while body.len() + 6 < MAX_BODY_BYTES {
        body.push_str("filler");
        body.push(' ');
    }
    body
}

/// Keeps all readers of searches busy until the gate is opened.
async fn occupy_readers(hub: &TestHub, gate: &Arc<Gate>) -> Vec<tokio::task::JoinHandle<Result<(), DbError>>> {
    let mut occupied = Vec::new();
    for _ in 0..3 {
        let (hub_in, gate_in) = (hub.inner().clone(), gate.clone());
        let hold = move |_: &mut Tx<'_>| {
            gate_in.pass();
            Ok(())
        };
        occupied.push(tokio::spawn(async move { hub_in.read_long(Duration::from_secs(600), hold).await }));
        gate.somebody_waits().await;
    }
    occupied
}

#[tokio::test]
async fn only_a_changed_text_is_indexed_again() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "a walrus").await;
    hub.settle().await;
    assert_eq!(hub.metric(TEXTS).await, 1.0);
    for _ in 0..3 {
        for reaction in ["approve", "done"] {
            ada.react(&message, reaction).await.ok();
            hub.settle().await;
        }
        for q in [
            "walrus is:done",
            "has:reaction",
            "is:done has:reaction walrus",
            "has:reaction -is:proposed",
            "has:reaction -is:approved",
        ] {
            assert_eq!(ada.found(q).await, ["a walrus"], "{q}");
        }
        for q in ["walrus -is:done", "-has:reaction", "is:done -has:reaction", "has:reaction is:proposed"] {
            assert_eq!(ada.found(q).await, [""; 0], "{q}");
        }
        for reaction in ["approve", "done"] {
            ada.unreact(&message, reaction).await.ok();
        }
        hub.settle().await;
        assert_eq!(ada.found("walrus -is:done -has:reaction").await, ["a walrus"]);
        assert_eq!(ada.found("walrus is:done").await, [""; 0]);
    }
    assert_eq!(hub.metric(TEXTS).await, 1.0);
    ada.edit(&message, "an ostrich").await.ok();
    assert_eq!(ada.found("ostrich").await, ["an ostrich"]);
    hub.settle().await;
    assert_eq!(hub.metric(TEXTS).await, 2.0);
    assert_eq!((ada.found("ostrich").await.len(), ada.found("walrus").await.len()), (1, 0));
    hub.finish().await;
}

#[tokio::test]
async fn an_answer_says_when_it_could_not_look_at_everything() {
    let hub = TestHub::setup().without_listeners().start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.say("den", "a small walrus").await;
    ada.say("general", "a walrus for all").await;
    let answer = ada.search("q=walrus").await;
    assert_eq!((&answer["total"], &answer["indexing"]), (&json!(2), &json!(false)), "{answer}");
    assert_eq!(scout.tool("search_messages", json!({"q": "walrus"})).await.get("indexing"), None);
    for number in 0..5 {
        ada.say("den", &long_body(&format!("whale{number}"))).await;
    }
    // As many of the long texts as are looked through, the newest first, and the short ones.
    for (q, total) in [("whale*", 1), ("whale4", 1), ("whale0", 0)] {
        let answer = ada.search(&format!("q={q}&limit=1")).await;
        assert_eq!((&answer["total"], &answer["indexing"]), (&json!(total), &json!(true)), "{q}");
    }
    let answer = ada.search("q=walrus").await;
    assert_eq!((&answer["total"], &answer["indexing"]), (&json!(2), &json!(true)), "{answer}");
    // What somebody cannot see does not keep them from finding what they can see.
    let answer = eve.search("q=walrus").await;
    assert_eq!((&answer["total"], &answer["indexing"]), (&json!(1), &json!(false)), "{answer}");
    // Once it is indexed, all of it is found.
    let setup = hub.stop().await.with_listeners();
    let hub = setup.start().await;
    hub.settle().await;
    let ada = hub.nobody().with(ada.proof.clone());
    let answer = ada.search("q=whale*&limit=1").await;
    assert_eq!((&answer["total"], &answer["indexing"]), (&json!(5), &json!(false)), "{}", answer["total"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_tool_says_when_it_could_not_look_at_everything() {
    let hub = TestHub::setup().without_listeners().start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    for number in 0..3 {
        ada.say("general", &long_body(&format!("walrus{number}"))).await;
    }
    let answer = scout.tool("search_messages", json!({"q": "walrus0"})).await;
    assert_eq!((&answer["total"], &answer["indexing"]), (&json!(0), &json!(true)), "{answer}");
    hub.finish().await;
}

#[tokio::test]
async fn what_is_beyond_the_share_of_an_owner_is_indexed_later() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let edited = ada.say("general", "walrus before").await;
    let deleted = ada.say("general", "walrus to go").await;
    hub.settle().await;
    // They all come in one batch.
    let hub = hub.stop().await.without_listeners().start().await;
    let (ada, eve) = (hub.nobody().with(ada.proof.clone()), hub.nobody().with(eve.proof.clone()));
    for number in 0..6 {
        ada.say("general", &long_body(&format!("walrus{number}"))).await;
    }
    ada.edit(&edited, &long_body("ostrich")).await.ok();
    ada.take_back(&deleted).await.ok();
    eve.say("general", "a walrus of somebody else").await;
    assert_eq!(ada.search("q=before").await["total"], 0, "an old text is not found");
    let hub = hub.stop().await.with_listeners().start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    hub.settle().await;
    assert_eq!((indexed(&hub).await, hub.count(QUEUED).await), (8, 0));
    assert_eq!(hub.metric(TEXTS).await, 8.0, "each text is split into words once");
    for (q, total) in [("walrus*", 7), ("walrus5", 1), ("ostrich", 1), ("before", 0), ("go", 0)] {
        let answer = ada.search(&format!("limit=1&q={q}")).await;
        assert_eq!((&answer["total"], &answer["indexing"]), (&json!(total), &json!(false)), "{q}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_waits_in_the_queue_is_found_and_indexed_by_the_next_hub() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.say("general", "a walrus").await;
    hub.settle().await;
    put_all_off(&hub).await;
    assert_eq!((indexed(&hub).await, hub.count(QUEUED).await), (0, 1));
    assert_eq!(ada.found("walrus").await, ["a walrus"]);
    let hub = hub.restart().await;
    let ada = hub.nobody().with(ada.proof.clone());
    hub.settle().await;
    assert_eq!((indexed(&hub).await, hub.count(QUEUED).await), (1, 0));
    assert_eq!(ada.found("walrus").await, ["a walrus"]);
    hub.finish().await;
}

/// Moves all that is in the index to the queue.
async fn put_all_off(hub: &TestHub) {
    let put_off = |facts: &'static str, id: &'static str| {
        move |tx: &mut Tx<'_>| {
            tx.execute_batch(&format!(
                "insert into search_queue (message_id, conversation_id, owner_id, bytes)
                 select {id}, conversation_id, author_id, 10 from {facts}; delete from {facts}; delete from search_documents"
            ))
        }
    };
    let done: Result<(), DbError> = if on_postgres() {
        hub.inner().write(put_off("search_documents", "message_id")).await
    } else {
        hub.inner().db().write_companion(put_off("search_facts", "id")).await
    };
    done.unwrap();
}

#[tokio::test]
async fn other_reads_go_on_while_searches_are_stuck() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    ada.say("general", "a walrus").await;
    let gate = Arc::new(Gate::new());
    let occupied = occupy_readers(&hub, &gate).await;
    let searches: Vec<_> = (0..2)
        .map(|_| {
            let ada = ada.client.clone();
            tokio::spawn(async move { ada.search("q=walrus").await })
        })
        .collect();
    // More searches than the hub has readers of any kind.
    for _ in 0..8 {
        eve.get("/api/channels").await.ok();
        eve.say("general", "meanwhile").await;
    }
    assert!(searches.iter().all(|search| !search.is_finished()));
    gate.open();
    for search in searches {
        assert_eq!(search.await.unwrap()["total"], 1);
    }
    for reader in occupied {
        reader.await.unwrap().unwrap();
    }
    hub.finish().await;
}

#[tokio::test]
async fn an_owner_has_two_searches_at_once() {
    let hub = setup_that_waits().start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    ada.say("general", "a walrus").await;
    let gate = Arc::new(Gate::new());
    let occupied = occupy_readers(&hub, &gate).await;
    let search =
        |client: Client| tokio::spawn(async move { client.get("/api/messages/search?q=walrus").may_fail().await });
    let mut searches: Vec<_> =
        [ada.client.clone(), scout.client.clone(), ada.client.clone()].into_iter().map(search).collect();
    // One of the three waits for its turn, and then it is told to come back.
    eventually("one of them is refused", async || {
        hub.advance(Duration::from_secs(1));
        searches.iter().any(tokio::task::JoinHandle::is_finished)
    })
    .await;
    let refused = searches.remove(searches.iter().position(tokio::task::JoinHandle::is_finished).unwrap());
    let refused = refused.await.unwrap().problem(503, "busy");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Somebody else has turns of their own.
    searches.push(search(eve.client.clone()));
    hub.advance(Duration::from_secs(5));
    assert!(searches.iter().all(|search| !search.is_finished()));
    gate.open();
    for search in searches {
        assert_eq!(search.await.unwrap().ok().json()["total"], 1);
    }
    for reader in occupied {
        reader.await.unwrap().unwrap();
    }
    hub.finish().await;
}

/// Requests may take as long as a slow machine makes them.
fn setup_that_waits() -> Setup {
    TestHub::setup().configure(|config| config.request_timeout = Duration::from_secs(120))
}

#[tokio::test]
async fn a_search_that_takes_too_long_is_cut_off() {
    let hub = TestHub::setup().configure(|config| config.search_timeout = Duration::ZERO).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.say("general", "a walrus").await;
    let refused = ada.get("/api/messages/search?q=walrus").may_fail().await.problem(503, "busy");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let (code, said) = scout.tool_refused("search_messages", json!({"q": "walrus"})).await;
    assert!(code == "busy" && said.contains("narrow"), "{code}: {said}");
    hub.finish().await;
}
