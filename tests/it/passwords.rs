//! Passwords: who waits for whom, and what a change of STOA_BCRYPT_COST does: logins bring the hashes up to date, and unknown names take
//! the same work as known ones.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Call, MINUTE, PASSWORD, Reply, Setup, TestHub, eventually, how_many, together};

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

/// A hub that needs longer for a whole line of passwords than a request may take.
async fn slow_hub() -> TestHub {
    let setup = with_cost(TestHub::setup(), 10).configure(|config| config.request_timeout = Duration::from_secs(3));
    let hub = setup.start().await;
    hub.human("ada").await;
    hub
}

/// More wrong logins at once than the line holds, each from an address of its own, and one call in the midst of them.
async fn amid_a_crowd(hub: &TestHub, address: impl Fn(u32) -> String, call: Call) -> Reply {
    let before = hub.metric("stoa_bcrypt_verifications_total").await;
    let guess = |number: u32| {
        let guess = login(&format!("nobody{number}"), "a wrong password");
        hub.nobody().post("/auth/login", &guess).sent_from(&address(number)).may_fail()
    };
    let crowd = together((0..200).map(guess));
    let one = async {
        let all = async || hub.metric("stoa_bcrypt_verifications_total").await - before >= 200.0;
        eventually("all of them stand in line, or were refused", all).await;
        call.await
    };
    let (crowd, reply) = tokio::join!(crowd, one);
    assert_eq!(how_many(&crowd, 401) + how_many(&crowd, 503), 200, "{crowd:?}");
    reply
}

#[tokio::test]
async fn a_crowd_does_not_keep_out_who_has_logged_in_before() {
    let hub = slow_hub().await;
    let first = hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
    let again = hub.nobody().cookie(&first.device()).post("/auth/login", &login("ada", PASSWORD));
    amid_a_crowd(&hub, |number| format!("10.{number}.0.1"), again).await.status(200);
    hub.finish().await;
}

#[tokio::test]
async fn a_crowd_of_one_network_does_not_keep_strangers_out() {
    for address in
        [(|number| format!("2001:db8:1:{number:x}::1")) as fn(u32) -> String, |number| format!("203.0.113.{number}")]
    {
        let hub = slow_hub().await;
        let call = hub.nobody().post("/auth/login", &login("ada", PASSWORD)).sent_from("198.51.100.7");
        amid_a_crowd(&hub, address, call).await.status(200);
        hub.finish().await;
    }
}

/// The others at an address may use up its failed logins. A browser that is known there has its own.
#[tokio::test]
async fn wrong_passwords_at_an_address_do_not_keep_out_who_has_logged_in_there() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    hub.human("bob").await;
    let first = hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
    for number in 0..20 {
        let name = format!("nobody{}", number % 5);
        hub.nobody().post("/auth/login", &login(&name, "wrong")).await.problem(401, "invalid_credentials");
    }
    hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.problem(429, "rate_limited");
    let known =
        |name: &str, password: &str| hub.nobody().cookie(&first.device()).post("/auth/login", &login(name, password));
    known("ada", PASSWORD).await.status(200);
    known("bob", PASSWORD).await.problem(429, "rate_limited");
    for _ in 0..5 {
        known("ada", "wrong").await.problem(401, "invalid_credentials");
    }
    known("ada", PASSWORD).await.problem(429, "rate_limited");
    hub.finish().await;
}

/// As many wrong passwords count against a name at an address, with a device cookie and without one.
#[tokio::test]
async fn a_known_browser_may_be_wrong_no_more_often_than_others() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let first = hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
    let known = |password: &str| hub.nobody().cookie(&first.device()).post("/auth/login", &login("ada", password));
    for _ in 0..5 {
        known("wrong").await.problem(401, "invalid_credentials");
    }
    known("wrong").await.problem(429, "rate_limited");
    hub.finish().await;
}

/// A hash of this cost takes a minute. No answer here waits for one.
#[tokio::test]
async fn a_registration_that_will_be_refused_hashes_nothing() {
    let hub = TestHub::start().await;
    hub.human("ada").await;
    let invitation = hub.operator().call("users.invite", json!({"role": "member"})).await;
    let hub = with_cost(hub.stop().await, 20).start().await;
    let register = |name: &str, password: &str| {
        let request = json!({"invite": invitation["invite"], "username": name, "password": password});
        hub.nobody().post("/auth/register", &request)
    };
    for _ in 0..18 {
        register("ADA", PASSWORD).await.problem(409, "name_taken");
    }
    register("bob", "short").await.invalid(&["password"]);
    register("system", PASSWORD).await.problem(409, "name_taken");
    // The refused requests have used up what the address may ask for.
    register("ada", PASSWORD).await.problem(429, "rate_limited");
    register("ada", PASSWORD).sent_from("203.0.113.9").await.problem(409, "name_taken");
    hub.finish().await;
}

#[tokio::test]
async fn a_browser_is_known_by_a_cookie_that_gives_no_access() {
    for (base_url, name, secure) in
        [("http://hub.example", "stoa_device", ""), ("https://hub.example", "__Host-stoa_device", "; Secure")]
    {
        let hub = TestHub::setup().base_url(base_url).start().await;
        hub.human("ada").await;
        let first = hub.nobody().post("/auth/login", &login("ada", PASSWORD)).await.status(200);
        let cookies: Vec<_> = first.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
        let [_, device] = cookies[..] else { panic!("{cookies:?}") };
        let (value, attributes) = device.strip_prefix(&format!("{name}=")).unwrap().split_once(';').unwrap();
        assert_eq!(attributes, format!(" Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax{secure}"));
        assert!(!value.contains("ada"));
        // It is no session, and no session is in it.
        let browser = hub.nobody().cookie(&first.device());
        browser.get("/auth/me").await.problem(401, "unauthenticated");
        hub.nobody()
            .cookie(&format!("{}={value}", first.cookie().split('=').next().unwrap()))
            .get("/auth/me")
            .await
            .status(401);
        // Whose ever it is and whatever it says, everybody can log in with it.
        for cookie in
            [first.device(), format!("{name}=nonsense"), format!("{name}="), format!("{name}={}", "A".repeat(9000))]
        {
            let again = hub.nobody().cookie(&cookie).post("/auth/login", &login("admin", &hub.admin_password())).await;
            assert_ne!(again.status(200).device(), first.device());
        }
        // Logging out leaves it where it is, and a new password brings a new one.
        let session = hub.nobody().cookie(&format!("{}; {}", first.device(), first.cookie()));
        let change = json!({"current_password": PASSWORD, "new_password": "another password"});
        let changed = session.put("/auth/password", &change).await.status(200);
        assert_ne!(changed.device(), first.device());
        let out = hub.nobody().cookie(&changed.cookie()).post("/auth/logout", &json!({})).await.status(204);
        assert!(!format!("{:?}", out.headers).contains(name), "{out:?}");
        // The form sets it, too.
        let form = hub.nobody().call("POST", "/login");
        let form = form.body("application/x-www-form-urlencoded", "username=ada&password=another+password").await;
        assert!(form.status(303).device().starts_with(name));
        hub.finish().await;
    }
}
