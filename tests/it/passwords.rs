//! Passwords after a change of STOA_BCRYPT_COST: logins bring the hashes up to date, and unknown names take the same work as known ones.

use serde_json::{Value, json};

use crate::support::{MINUTE, PASSWORD, Setup, TestHub, together};

const AT_4: &str = "select count(*) as n from users where password_hash like '$2b$04$%'";
const AT_5: &str = "select count(*) as n from users where password_hash like '$2b$05$%'";

fn with_cost(setup: Setup, cost: u32) -> Setup {
    setup.configure(|config| config.bcrypt_cost = cost)
}

fn login(name: &str, password: &str) -> Value {
    json!({"username": name, "password": password})
}

#[tokio::test]
async fn a_login_stores_a_hash_of_the_present_cost() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    hub.human("bob").await;
    let mut setup = hub.stop().await;
    // Up, and down again.
    for (cost, at_cost) in [(5, AT_5), (4, AT_4)] {
        let hub = with_cost(setup, cost).start().await;
        let before = hub.audit().await;
        let found = hub.count(at_cost).await;
        hub.nobody().post("/auth/login", &login("ada", "a wrong password")).await.status(401);
        assert_eq!(hub.count(at_cost).await, found, "only the right password can be hashed again");
        hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
        assert_eq!(hub.count(at_cost).await, found + 1);
        hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
        assert_eq!(hub.count(at_cost).await, found + 1);
        // Nobody changed a password: sessions go on, and the audit log has nothing to say.
        hub.found_by(&ada).get("/auth/me").await.ok();
        assert_eq!(hub.audit().await, before);
        setup = hub.stop().await;
    }
}

/// The first of them stores another hash while the others compare with the old one.
#[tokio::test]
async fn logins_at_the_same_time_all_succeed() {
    let hub = TestHub::start().await;
    for name in ["ada", "bob", "eve"] {
        hub.human(name).await;
    }
    let hub = with_cost(hub.stop().await, 5).start().await;
    for name in ["ada", "bob", "eve"] {
        for reply in together((0..5).map(|_| hub.nobody().post("/auth/login", &login(name, PASSWORD)))).await {
            reply.status(200);
        }
    }
    assert_eq!((hub.count(AT_4).await, hub.count(AT_5).await), (1, 3));
    hub.finish().await;
}

/// A login that stores another hash neither undoes a change of the password nor gets in its way.
#[tokio::test]
async fn a_change_of_the_password_wins_against_a_login() {
    let names: Vec<String> = (0..8).map(|number| format!("user{number}")).collect();
    let hub = TestHub::start().await;
    let mut people = Vec::new();
    for name in &names {
        people.push(hub.human(name).await);
    }
    let hub = with_cost(hub.stop().await, 5).start().await;
    for (number, person) in people.iter().enumerate() {
        let (name, address) = (&person.name, format!("203.0.113.{number}"));
        let change = json!({"current_password": PASSWORD, "new_password": "another password"});
        let change = hub.found_by(person).put("/auth/password", &change).sent_from(&address);
        let old = || hub.nobody().post("/auth/login", &login(name, PASSWORD)).sent_from(&address);
        let mut replies = together([old(), change, old(), old()]).await;
        replies.remove(1).status(200);
        for reply in replies {
            assert!([200, 401].contains(&reply.code()), "{reply:?}");
            if reply.code() == 200 {
                hub.nobody().cookie(&reply.cookie()).get("/auth/me").await;
            }
        }
        hub.advance(MINUTE);
        old().await.status(401);
        hub.nobody().post("/auth/login", &login(name, "another password")).sent_from(&address).await.status(200);
    }
    hub.finish().await;
}

#[tokio::test]
async fn an_unknown_name_costs_what_most_accounts_cost() {
    let names = ["ada", "bob", "eve", "joe"];
    let hub = TestHub::start().await;
    for name in names {
        hub.human(name).await;
    }
    let decoy_cost = |hub: &TestHub| hub.inner().passwords().decoy_cost();
    assert_eq!(decoy_cost(&hub), 4);
    let hub = with_cost(hub.stop().await, 5).start().await;
    assert_eq!(decoy_cost(&hub), 4, "all accounts are from before");
    hub.human("new").await;
    hub.log_in("ada").await;
    hub.advance(MINUTE);
    hub.nobody().post("/auth/login", &login("nobody", PASSWORD)).await.status(401);
    assert_eq!(decoy_cost(&hub), 4, "two of six have the new cost");
    for name in names {
        hub.log_in(name).await;
    }
    hub.advance(MINUTE);
    hub.nobody().post("/auth/login", &login("nobody", PASSWORD)).await.status(401);
    assert_eq!(decoy_cost(&hub), 5);
    hub.finish().await;
}
