//! Refresh tokens: each works once, but a client that asks twice by mistake is not punished for it.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};
use stoa_db::params;
use stoa_model::credentials::CredentialKind;

use crate::backup::{Target, back_up};
use crate::support::oauth::{ALL, App, CALLBACK, Consent, Parameters, Tokens, authorize};
use crate::support::{Call, DAY, HOUR, MINUTE, START_MS, Setup, TestHub, how_many, together};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn each_refresh_gives_new_tokens() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let mut seen = HashSet::new();
    let mut tokens = app.tokens(&ada, "self").await;
    for _ in 0..5 {
        assert!(seen.insert(tokens.access.clone()) && seen.insert(tokens.refresh.clone()));
        assert!(inspector.is_active(&tokens.access).await);
        hub.advance(HOUR);
        tokens = app.refresh(&tokens.refresh).await.tokens();
        assert_eq!(tokens.scope, ALL);
    }
    hub.finish().await;
}

/// Two processes of one program share their tokens and refresh at the same time.
#[tokio::test]
async fn two_that_race_get_the_same_successor() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let mut tokens = app.tokens(&ada, "self").await;
    for _ in 0..5 {
        let replies = together((0..2).map(|_| app.refresh(&tokens.refresh))).await;
        let all: Vec<Tokens> = replies.into_iter().map(|reply| reply.tokens()).collect();
        assert_eq!(all[0].refresh, all[1].refresh);
        for tokens in &all {
            assert!(inspector.is_active(&tokens.access).await);
        }
        tokens = all[0].clone();
    }
    app.refresh(&tokens.refresh).await.tokens();
    hub.finish().await;
}

/// A lost answer is repeated once. More than that is not how a client behaves.
#[tokio::test]
async fn a_second_replay_revokes_the_family() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let first = app.tokens(&ada, "self").await;
    let second = app.refresh(&first.refresh).await.tokens();
    let again = app.refresh(&first.refresh).await.tokens();
    assert_eq!(again.refresh, second.refresh);
    app.refresh(&first.refresh).await.oauth_error(400, "invalid_grant");
    for token in [&first.access, &second.access, &again.access] {
        assert!(!inspector.is_active(token).await);
    }
    app.refresh(&second.refresh).await.oauth_error(400, "invalid_grant");

    // Also when all of them come at once.
    let tokens = app.tokens(&ada, "self").await;
    let replies = together((0..8).map(|_| app.refresh(&tokens.refresh))).await;
    assert_eq!(how_many(&replies, 200), 2);
    for issued in replies.into_iter().filter(|reply| reply.code() == 200) {
        let issued = issued.tokens();
        assert!(!inspector.is_active(&issued.access).await);
        app.refresh(&issued.refresh).await.oauth_error(400, "invalid_grant");
    }
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

/// A backup has all rows and the key of the hub in it. Whoever reads it must not be able to compute what comes next.
#[tokio::test]
async fn a_backup_does_not_determine_the_next_tokens() {
    let hub = TestHub::setup().base_url("https://hub.example").start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let first = app.tokens(&ada, "self").await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup").await;
    let second = app.refresh(&first.refresh).await.tokens();
    let setup = hub.stop().await;
    let elsewhere = Target::new();
    elsewhere.restore(&backup).await.unwrap();
    let copy = elsewhere.setup(&setup).start().await;
    let computed = app.at(&copy).refresh(&first.refresh).await.tokens();
    assert_ne!(computed.refresh, second.refresh);
    copy.finish().await;
}

/// The copy of a successor is there for as long as it can be asked for.
#[tokio::test]
async fn copies_of_successors_are_deleted() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let copies = || hub.count("select count(*) as n from oauth_successors");
    let mut tokens = app.tokens(&ada, "self").await;
    assert_eq!(copies().await, 0, "the first token replaces none");
    for _ in 0..3 {
        tokens = app.refresh(&tokens.refresh).await.tokens();
        assert_eq!(copies().await, 1, "a client that uses a token has received it");
    }
    hub.advance(2 * MINUTE);
    hub.settle().await;
    assert_eq!(copies().await, 0, "housekeeping");
    let next = app.refresh(&tokens.refresh).await.tokens();
    app.refresh(&tokens.refresh).await.tokens();
    assert_eq!(copies().await, 0, "given out");
    app.refresh(&next.refresh).await.tokens();
    hub.advance(11 * SECOND);
    app.refresh(&next.refresh).await.oauth_error(400, "invalid_grant");
    assert_eq!(copies().await, 0, "revoked");
    hub.finish().await;
}

/// Before migration 18 refresh tokens were computed. Those that clients have still work, and get random successors.
#[tokio::test]
async fn tokens_of_earlier_versions_work_once() {
    let (used, current) = (CredentialKind::RefreshToken.render([1; 32]), CredentialKind::RefreshToken.render([2; 32]));
    let hashes: Vec<[u8; 32]> = [&used, &current].map(|token| Sha256::digest(token).into()).to_vec();
    let setup = Setup::at_migration(13, move |tx| {
        for sql in [
            "insert into principals (id, kind, handle, folded_handle, display_name, folded_display_name, created_at)
             values (100, 'user', 'ada', 'ada', 'Ada', 'ada', 0)",
            "insert into users (id, password_hash, role) values (100, 'none', 'admin')",
            "insert into oauth_clients (id, client_id, kind, name, auth_method, redirect_uris, grant_types, created_at)
             values (1, 'an-app', 'registered', 'An App', 'none', '[\"https://app.example/callback\"]',
                 '[\"authorization_code\",\"refresh_token\"]', 0)",
        ] {
            tx.execute(sql, &[])?;
        }
        let (far, seed) = (START_MS * 2, [7_u8; 32]);
        tx.execute(
            "insert into oauth_grants (id, kind, client_id, user_id, scope, seed, generation, created_at, expires_at)
             values (1, 'consent', 1, 100, 'mcp:read', $1, 2, 0, $2)",
            params![&seed, far],
        )?;
        for (generation, hash) in (1_i64..).zip(&hashes) {
            let used_at = (generation == 1).then_some(0);
            tx.execute(
                "insert into oauth_refresh_tokens (token_hash, grant_id, generation, created_at, expires_at, used_at)
                 values ($1, 1, $2, 0, $3, $4)",
                params![hash, generation, far, used_at],
            )?;
        }
        Ok(())
    })
    .await;
    let hub = setup.start().await;
    let app = App::known_as(&hub.nobody(), "an-app", CALLBACK);
    let tokens = app.refresh(&current).await.tokens();
    hub.nobody().bearer(&tokens.access).mcp("tools/list", json!({})).await.rpc_result();
    let next = app.refresh(&tokens.refresh).await.tokens();
    // What was used before the migration still gives a thief away.
    app.refresh(&used).await.oauth_error(400, "invalid_grant");
    app.refresh(&next.refresh).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

/// Claude.ai refreshes from two of its servers.
#[tokio::test]
async fn an_address_means_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "self").await;
    let from = |call: Call, address: &str| call.sent_from(address);
    let one = from(app.refresh(&tokens.refresh), "203.0.113.1").await.tokens();
    hub.advance(5 * SECOND);
    let two = from(app.refresh(&tokens.refresh), "203.0.113.2").await.tokens();
    assert_eq!(one.refresh, two.refresh);
    from(app.refresh(&one.refresh), "203.0.113.3").await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn the_predecessor_is_good_for_ten_seconds() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let first = app.tokens(&ada, "self").await;
    let second = app.refresh(&first.refresh).await.tokens();
    hub.advance(10 * SECOND);
    let again = app.refresh(&first.refresh).await.tokens();
    assert_eq!(again.refresh, second.refresh);
    assert!(inspector.is_active(&again.access).await);

    app.refresh(&second.refresh).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn a_use_after_ten_seconds_revokes_the_family() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let first = app.tokens(&ada, "self").await;
    let second = app.refresh(&first.refresh).await.tokens();
    hub.advance(Duration::from_millis(10_001));
    app.refresh(&first.refresh).await.oauth_error(400, "invalid_grant");
    for token in [&first.access, &second.access] {
        assert!(!inspector.is_active(token).await, "the family is revoked");
    }
    app.refresh(&second.refresh).await.oauth_error(400, "invalid_grant");
    assert!(ada.grants().await.is_empty());
    hub.finish().await;
}

#[tokio::test]
async fn what_is_older_than_the_predecessor_kills_the_family() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let bystander = app.tokens(&ada, "self").await;
    let first = app.tokens(&ada, "self").await;
    let second = app.refresh(&first.refresh).await.tokens();
    let third = app.refresh(&second.refresh).await.tokens();
    app.refresh(&first.refresh).await.oauth_error(400, "invalid_grant");
    assert!(!inspector.is_active(&third.access).await);
    app.refresh(&third.refresh).await.oauth_error(400, "invalid_grant");
    // Another family of the same client and person lives.
    app.refresh(&bystander.refresh).await.tokens();
    hub.finish().await;
}

/// Whatever was under way when a person took it back, nothing of it works afterwards.
#[tokio::test]
async fn taking_back_wins_over_refreshes_under_way() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    for round in 0..4 {
        let tokens = app.tokens(&ada, "self").await;
        let id = ada.grants().await[0]["id"].clone();
        let end =
            if round % 2 == 0 { ada.delete(&format!("/api/oauth/grants/{id}")) } else { app.revoke(&tokens.refresh) };
        let mut calls: Vec<_> = (0..2).map(|_| app.refresh(&tokens.refresh)).collect();
        calls.insert(1, end);
        let mut replies = together(calls).await;
        let ended = replies.remove(1).ok();
        for reply in replies {
            if reply.code() == 200 {
                let issued = reply.tokens();
                assert!(!inspector.is_active(&issued.access).await, "{ended:?}");
                app.refresh(&issued.refresh).await.oauth_error(400, "invalid_grant");
            } else {
                reply.oauth_error(400, "invalid_grant");
            }
        }
        assert!(ada.grants().await.is_empty());
    }
    hub.finish().await;
}

/// The copy of a successor is sealed with the hub's key. A rotation of the key seals it again.
#[tokio::test]
async fn a_new_key_of_the_hub_changes_nothing_for_clients() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let (first, page) = (app.tokens(&ada, "self").await, app.consent(&ada).await);
    let second = app.refresh(&first.refresh).await.tokens();
    hub.operator().call("db.rotate_key", json!({})).await;
    let again = app.refresh(&first.refresh).await.tokens();
    assert_eq!(again.refresh, second.refresh);
    let third = app.refresh(&second.refresh).await.tokens();
    assert!(inspector.is_active(&third.access).await);
    assert_eq!(app.refresh(&second.refresh).await.tokens().refresh, third.refresh);
    page.approve(&ada, "self").await.landing();
    hub.finish().await;
}

/// A thief who is first is found out when the owner comes, later than ten seconds.
#[tokio::test]
async fn a_thief_and_the_owner_both_lose() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let stolen = app.tokens(&ada, "self").await;
    let thiefs = app.refresh(&stolen.refresh).await.tokens();
    hub.advance(HOUR);
    app.refresh(&stolen.refresh).await.oauth_error(400, "invalid_grant");
    app.refresh(&thiefs.refresh).await.oauth_error(400, "invalid_grant");
    hub.finish().await;
}

#[tokio::test]
async fn a_refresh_token_is_for_its_own_client() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let (app, other) = (hub.app().await, hub.app().await);
    let tokens = app.tokens(&ada, "self").await;
    other.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    let second = app.refresh(&tokens.refresh).await.tokens();
    // Not within the ten seconds of grace either.
    other.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    for nonsense in ["nonsense", &tokens.access, "stoa_rt_x", &tokens.refresh[1..], &"x".repeat(5000)] {
        app.refresh(nonsense).await.oauth_error(400, "invalid_grant");
    }
    // What a stranger tries does no harm to whom it belongs.
    app.refresh(&second.refresh).await.tokens();
    hub.finish().await;
}

#[tokio::test]
async fn thirty_idle_days_are_too_many() {
    let hub = TestHub::setup().session_lifetime(200 * DAY).start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let (kept, left) = (app.tokens(&ada, "self").await, app.tokens(&ada, "self").await);
    hub.advance(30 * DAY - SECOND);
    app.refresh(&kept.refresh).await.tokens();
    hub.advance(2 * SECOND);
    app.refresh(&left.refresh).await.oauth_error(400, "invalid_grant");
    assert_eq!(ada.grants().await.len(), 1, "what has run out is not in force");
    hub.settle().await;
    assert_eq!(ada.grants().await.len(), 1);
    hub.finish().await;
}

#[tokio::test]
async fn after_ninety_days_a_person_is_asked_again() {
    let hub = TestHub::setup().session_lifetime(200 * DAY).start().await;
    let ada = hub.human("ada").await;
    let app = hub.app().await;
    let mut tokens = app.tokens(&ada, "self").await;
    for _ in 0..4 {
        hub.advance(22 * DAY);
        hub.settle().await;
        tokens = app.refresh(&tokens.refresh).await.tokens();
    }
    hub.advance(2 * DAY - SECOND);
    tokens = app.refresh(&tokens.refresh).await.tokens();
    assert_eq!(tokens.expires_in, 1, "no token outlives what it comes from");
    hub.advance(2 * SECOND);
    app.refresh(&tokens.refresh).await.oauth_error(400, "invalid_grant");
    assert!(ada.grants().await.is_empty());
    app.tokens(&ada, "self").await;
    hub.finish().await;
}

#[tokio::test]
async fn tokens_end_with_the_time_of_their_grant() {
    let hub = TestHub::setup().session_lifetime(200 * DAY).start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let mut tokens = app.tokens(&ada, "self").await;
    for _ in 0..9 {
        hub.advance(10 * DAY - SECOND);
        tokens = app.refresh(&tokens.refresh).await.tokens();
    }
    assert_eq!(tokens.expires_in, 9);
    assert!(inspector.is_active(&tokens.access).await);
    hub.advance(10 * SECOND);
    assert!(!inspector.is_active(&tokens.access).await);
    hub.settle().await;
    assert!(!inspector.is_active(&tokens.access).await);
    hub.finish().await;
}

#[tokio::test]
async fn a_scope_can_shrink_and_not_grow() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let inspector = hub.inspector().await;
    let app = hub.app().await;
    let refresh = |tokens: &Tokens, scope: &str| {
        let parameters = Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", &tokens.refresh)]);
        app.token(parameters.set("scope", scope))
    };
    let tokens = app.tokens(&ada, "self").await;
    let less = refresh(&tokens, "mcp:read").await.tokens();
    assert_eq!(less.scope, "mcp:read");
    assert_eq!(inspector.introspect(&less.access).await["scope"], "mcp:read");
    refresh(&less, "everything").await.oauth_error(400, "invalid_scope");

    let parameters = app.parameters().set("scope", "mcp:read");
    let page = Consent::of(authorize(&ada, &parameters).await);
    let tokens = app.exchange(&page.approve(&ada, "self").await.landing().get("code")).await.tokens();
    refresh(&tokens, ALL).await.oauth_error(400, "invalid_scope");
    // A refusal costs nothing.
    let tokens = app.refresh(&tokens.refresh).await.tokens();
    assert_eq!(tokens.scope, "mcp:read");
    hub.finish().await;
}
