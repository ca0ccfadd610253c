//! How often one may ask: whoever asks too often is told when to come back, and holds up nobody else.

use serde_json::json;

use crate::support::oauth::{App, CALLBACK, Consent, registration};
use crate::support::{Elsewhere, HOUR, MINUTE, Reply, TestHub, how_many, together};

#[track_caller]
fn wait_of(reply: &Reply) -> u64 {
    let wait = reply.header("retry-after").unwrap_or_else(|| panic!("no retry-after: {reply:?}")).parse().unwrap();
    assert!((1..=60).contains(&wait), "{reply:?}");
    wait
}

#[tokio::test]
async fn questions_from_one_address_are_counted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let from = |address: &str| ada.get(&format!("/oauth/authorize?{}", app.parameters().encode())).sent_from(address);
    let replies = together((0..130).map(|_| from("203.0.113.1"))).await;
    assert_eq!((how_many(&replies, 200), how_many(&replies, 429)), (120, 10));
    // A person at a browser reads why.
    let page = from("203.0.113.1").await.page(429);
    wait_of(&page);
    // A question that waits already can still be looked at and answered.
    let asked = Consent::of(replies.into_iter().find(|reply| reply.code() == 200).unwrap());
    asked.approve(&ada, "self").sent_from("203.0.113.1").await.landing();
    Consent::of(from("203.0.113.2").await);
    hub.advance(MINUTE);
    Consent::of(from("203.0.113.1").await);
    hub.finish().await;
}

#[tokio::test]
async fn documents_fetched_for_one_address_are_counted() {
    let elsewhere = Elsewhere::new(&["app.example"]);
    let client = elsewhere.client();
    let hub = TestHub::setup().configure(|config| config.outbound = Some(client)).start().await;
    let ada = hub.human("ada").await;
    let ask = |number: usize, address: &str| {
        let id = format!("https://app.example/{number}");
        let document = json!({"client_id": id, "client_name": "x", "redirect_uris": [CALLBACK]});
        elsewhere.put(&id, "", &document);
        let app = App::known_as(&hub.nobody(), &id, CALLBACK);
        ada.get(&format!("/oauth/authorize?{}", app.parameters().encode())).sent_from(address)
    };
    for number in 0..20 {
        Consent::of(ask(number, "203.0.113.1").await);
    }
    wait_of(&ask(20, "203.0.113.1").await.page(429));
    assert_eq!(elsewhere.connections(), 20);
    // What is known costs nothing, and others have not asked yet.
    Consent::of(ask(3, "203.0.113.1").await);
    Consent::of(ask(20, "203.0.113.2").await);
    hub.finish().await;
}

#[tokio::test]
async fn requests_for_tokens_are_counted_for_each_client() {
    let hub = TestHub::setup().rate_limit(30).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (busy, calm) = (ada.owned_app("scout").await, ada.owned_app("scout").await);
    for _ in 0..30 {
        busy.own_token().await;
    }
    let refused = busy.ask_for_own().await.oauth_error(429, "temporarily_unavailable");
    hub.advance(std::time::Duration::from_secs(wait_of(&refused)));
    busy.own_token().await;
    calm.own_token().await;
    hub.finish().await;
}

/// The name of a public client is no secret, and many people use the same one.
#[tokio::test]
async fn a_stranger_does_not_use_up_what_a_public_client_may() {
    let hub = TestHub::setup().rate_limit(30).start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "self").await;
    let replies = together((0..40).map(|_| app.refresh("stoa_rt_nonsense").sent_from("203.0.113.66"))).await;
    assert!(how_many(&replies, 429) > 0);
    app.refresh(&tokens.refresh).sent_from("203.0.113.1").await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn wrong_secrets_from_one_address_are_counted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    let (app, other) = (ada.owned_app("scout").await, ada.owned_app("scout").await);
    let wrong = App { secret: Some("wrong".to_owned()), ..app.clone() };
    for _ in 0..20 {
        wrong.ask_for_own().sent_from("203.0.113.66").await.oauth_error(401, "invalid_client");
    }
    let refused = wrong.ask_for_own().sent_from("203.0.113.66").await.oauth_error(429, "temporarily_unavailable");
    wait_of(&refused);
    // The right one does not help either: the answer would tell that it is right. Elsewhere nobody notices.
    app.ask_for_own().sent_from("203.0.113.66").await.oauth_error(429, "temporarily_unavailable");
    app.own_token().await;
    other.ask_for_own().sent_from("203.0.113.66").await.status(200);
    hub.advance(MINUTE);
    // Right ones are not counted, however many.
    for _ in 0..30 {
        app.ask_for_own().sent_from("203.0.113.66").await.status(200);
    }
    hub.finish().await;
}

/// Strangers have many addresses, and each of them may register.
#[tokio::test]
async fn unused_registrations_have_a_limit() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let used = hub.app().await;
    used.tokens(&ada, "self").await;
    let first = hub.app().await;
    hub.advance(MINUTE);
    let now = hub.now_ms();
    let fill = format!(
        "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 9999)
         insert into oauth_clients (client_id, kind, name, auth_method, redirect_uris, grant_types, created_at)
         select 'unused' || n, 'registered', 'unused', 'none', '[]', '[]', {now} from numbers"
    );
    hub.inner().write(move |tx| tx.execute(&fill, &[])).await.map_err(|error: stoa_db::DbError| error).unwrap();
    let register = |address: &str| {
        registration(&hub.nobody(), &json!({"redirect_uris": [CALLBACK]})).sent_from(address).may_fail()
    };
    // They are counted now and then, so some may still be let in.
    for n in 1.. {
        if register(&format!("203.0.113.{n}")).await.code() == 503 {
            break;
        }
        assert!(n < 25, "nothing counts them");
    }
    let refused = register("203.0.113.101").await.oauth_error(503, "temporarily_unavailable");
    assert_eq!(refused.header("retry-after"), Some("600"));
    // What is there goes on, and after an hour the oldest ones make room.
    used.tokens(&ada, "self").await;
    hub.advance(HOUR - MINUTE + std::time::Duration::from_millis(1));
    let before = hub.count("select count(*) as n from oauth_clients").await;
    register("203.0.113.102").await.status(201);
    assert_eq!(hub.count("select count(*) as n from oauth_clients").await, before);
    let gone = format!("select count(*) as n from oauth_clients where client_id = '{}'", first.id);
    assert_eq!(hub.count(Box::leak(gone.into_boxed_str())).await, 0, "the oldest unused one had to go");
    register("203.0.113.103").await.oauth_error(503, "temporarily_unavailable");
    used.tokens(&ada, "self").await;
    hub.finish().await;
}
