//! Webhooks do not reach what only the hub can reach, however its address is written or hidden.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use stoa_outbound::{Limits, Policy};

use super::failures::run_out_of_tries;
use super::trap::{Manner, PUBLIC, Trap};
use super::{Receiver, deliveries, register};
use crate::cli_support::{Hub, Place};
use crate::support::{Client, Human, TestHub};

/// Addresses that are not public, in all forms that an IPv6 address can hide one.
const FORBIDDEN: [&str; 38] = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.23",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2001:0:a9fe:a9fe::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "100::1",
];

/// Where clouds give passwords to their machines. Allowing all networks does not allow these.
const METADATA: [&str; 15] = [
    "100.100.100.200",
    "168.63.129.16",
    "169.254.0.23",
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "192.0.0.192",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
];

fn open_policy() -> Policy {
    Policy { allow_http: true, ..Policy::default() }
}

fn url_of(address: &str) -> String {
    if address.contains(':') { format!("http://[{address}]/") } else { format!("http://{address}/") }
}

async fn create(client: &Client, url: &str) -> crate::support::Reply {
    client.post("/api/webhooks", &json!({"agent": "lookout", "url": url, "events": ["message.received"]})).await
}

/// Sends a test of a webhook, and returns its only attempt.
async fn try_once(hub: &TestHub, ada: &Human, id: i64) -> Value {
    ada.post(&format!("/api/webhooks/{id}/test"), &json!({})).await.status(202);
    hub.settle().await;
    deliveries(ada, id).await[0]["attempts"][0].clone()
}

/// A hub with `lookout`, an agent of `ada`.
async fn start(trap: &Trap, policy: Policy) -> (TestHub, Human) {
    let hub = trap.setup(policy, Limits::default()).start().await;
    let ada = hub.human("ada").await;
    ada.agent("lookout").await;
    (hub, ada)
}

#[tokio::test]
async fn forbidden_addresses_are_not_connected_to() {
    let trap = Trap::default();
    let (hub, ada) = start(&trap, open_policy()).await;
    trap.resolve("hooks.example", &[PUBLIC]);
    let (id, _) = register(&ada, "lookout", "http://hooks.example/", &["message.received"]).await;
    assert_eq!(try_once(&hub, &ada, id).await["status"], 200);
    assert_eq!(trap.connected(), [PUBLIC]);
    let mixed = format!("{PUBLIC} 10.0.0.1");
    for (number, addresses) in FORBIDDEN.into_iter().chain([mixed.as_str()]).enumerate() {
        if !addresses.contains(' ') {
            create(&ada, &url_of(addresses)).await.invalid(&["url"]);
            let change = json!({"url": url_of(addresses)});
            ada.patch(&format!("/api/webhooks/{id}"), &change).await.invalid(&["url"]);
        }
        trap.resolve("hooks.example", &[addresses]);
        let attempt = try_once(&hub, &ada, id).await;
        assert_eq!((&attempt["status"], &attempt["error"]), (&Value::Null, &json!("forbidden_address")), "{addresses}");
        assert_eq!(trap.asked(), number + 2, "{addresses}");
    }
    assert_eq!(trap.connected(), [PUBLIC]);
    hub.finish().await;
}

/// A server that counts who connects to it. It answers nobody.
async fn count_connections(address: &str) -> Option<(u16, Arc<AtomicUsize>)> {
    let listener = tokio::net::TcpListener::bind(format!("{address}:0")).await.ok()?;
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    Some((port, count))
}

/// With the resolver of the system and real sockets.
#[tokio::test]
async fn no_spelling_of_loopback_is_connected_to() {
    let hub = TestHub::setup().configure(|config| config.allow_http_webhooks = true).start().await;
    let ada = hub.human("ada").await;
    ada.agent("lookout").await;
    let (port, connections) = count_connections("0.0.0.0").await.unwrap();
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0x7f.1",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.0x1",
        "127。0。0。1",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "user@127.0.0.1",
        "user:password@hooks.example",
        "hooks.example@127.0.0.1",
        "hooks.example:80@127.0.0.1",
        "127.0.0.1#@hooks.example",
        "127.0.0.1\\@hooks.example",
        "%31%32%37.0.0.1",
        "127.0.0.1%00.hooks.example",
        "127.0.0.1\t",
    ] {
        for scheme in [
            "http://",
            "https://",
            "HTTP://",
            "http:",
            "http:\\\\",
            "http:////",
            " http://",
            "ftp://",
            "file://",
            "ws://",
        ] {
            let reply = create(&ada, &format!("{scheme}{host}:{port}/")).await;
            assert_eq!(reply.code(), 422, "{scheme}{host} {reply:?}");
        }
    }
    // The hub cannot know where a name leads before it asks.
    let mut registered = Vec::new();
    for host in ["localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "hooks.localhost", "ip6-localhost"] {
        registered.push(register(&ada, "lookout", &format!("http://{host}:{port}/"), &["message.received"]).await.0);
    }
    ada.dm("lookout", "hello").await;
    run_out_of_tries(&hub).await;
    for id in registered {
        let delivery = deliveries(&ada, id).await.remove(0);
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 4, "{delivery}");
        let is_refused =
            |attempt: &Value| attempt["error"] == "forbidden_address" || attempt["error"] == "unresolvable";
        assert!(attempts.iter().all(is_refused), "{delivery}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    // The listener does count.
    tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    crate::support::eventually("it is counted", async || connections.load(Ordering::SeqCst) == 1).await;
    hub.finish().await;
}

#[tokio::test]
async fn each_try_judges_the_addresses_of_its_own() {
    let trap = Trap::default();
    let (hub, ada) = start(&trap, open_policy()).await;
    let other = "93.184.216.35";
    trap.answer(PUBLIC, Manner::status("500 Oops"));
    trap.resolve("flips.example", &[PUBLIC, "127.0.0.1", "169.254.169.254", other]);
    let (id, _) = register(&ada, "lookout", "http://flips.example/", &["message.received"]).await;
    ada.dm("lookout", "hello").await;
    run_out_of_tries(&hub).await;
    let delivery = deliveries(&ada, id).await.remove(0);
    let attempts = delivery["attempts"].as_array().unwrap();
    let seen: Vec<Value> = attempts.iter().map(|attempt| json!([attempt["status"], attempt["error"]])).collect();
    let refused = json!([null, "forbidden_address"]);
    assert_eq!(seen, [json!([500, null]), refused.clone(), refused, json!([200, null])]);
    // One question for each try: there is no second answer that could be another one.
    assert_eq!((trap.asked(), trap.connected()), (4, vec![PUBLIC.to_owned(), other.to_owned()]));
    hub.finish().await;
}

#[tokio::test]
async fn redirects_lead_nowhere() {
    let trap = Trap::default();
    let (hub, ada) = start(&trap, open_policy()).await;
    trap.resolve("moves.example", &[PUBLIC]);
    let (id, _) = register(&ada, "lookout", "http://moves.example/", &["message.received"]).await;
    for (status, target) in [
        (301, "http://169.254.169.254/latest/meta-data/"),
        (302, "http://127.0.0.1:22/"),
        (303, "http://[::1]/"),
        (307, "http://10.0.0.1/"),
        (308, "//metadata.google.internal/"),
        (300, "http://hooks.example/"),
    ] {
        trap.answer(PUBLIC, Manner::status(&format!("{status} Elsewhere\r\nlocation: {target}")));
        let attempt = try_once(&hub, &ada, id).await;
        assert_eq!(attempt["status"], status, "{attempt}");
    }
    assert_eq!(trap.connected(), [PUBLIC; 6]);
    hub.finish().await;
}

#[tokio::test]
async fn all_networks_do_not_include_the_metadata_of_clouds() {
    let trap = Trap::default();
    let everything = vec!["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()];
    let (hub, ada) = start(&trap, Policy { allow: everything, ..open_policy() }).await;
    trap.resolve("hooks.example", &["10.0.0.1"]);
    let (id, _) = register(&ada, "lookout", "http://hooks.example/", &["message.received"]).await;
    assert_eq!(try_once(&hub, &ada, id).await["status"], 200);
    for address in METADATA {
        create(&ada, &url_of(address)).await.invalid(&["url"]);
        trap.resolve("hooks.example", &[address]);
        assert_eq!(try_once(&hub, &ada, id).await["error"], "forbidden_address", "{address}");
    }
    assert_eq!(trap.connected(), ["10.0.0.1"]);
    hub.finish().await;
}

/// What was registered under other settings is judged by those of now.
#[tokio::test]
async fn an_address_that_is_no_longer_allowed_is_not_called() {
    let trap = Trap::default();
    let setup = |policy: Policy| trap.setup(policy, Limits::default()).config.outbound;
    let allowed = Policy { allow: vec!["10.0.0.0/8".parse().unwrap()], ..open_policy() };
    let (hub, ada) = start(&trap, allowed.clone()).await;
    let (id, _) = register(&ada, "lookout", "http://10.0.0.1/", &["message.received"]).await;
    assert_eq!(try_once(&hub, &ada, id).await["status"], 200);
    let denied = Policy { deny: vec!["10.0.0.1".parse().unwrap()], ..allowed };
    let mut stopped = hub.stop().await;
    for (policy, error) in [
        (open_policy(), "forbidden_address"),
        (denied, "forbidden_address"),
        (Policy { allow: vec!["10.0.0.0/8".parse().unwrap()], ..Policy::default() }, "forbidden_scheme"),
    ] {
        let hub = stopped.configure(|config| config.outbound = setup(policy)).start().await;
        let ada = hub.log_in("ada").await;
        assert_eq!(try_once(&hub, &ada, id).await["error"], error);
        stopped = hub.stop().await;
    }
    assert_eq!(trap.connected(), ["10.0.0.1"]);
}

/// The settings of the program, with real sockets.
#[test]
fn denied_networks_win_over_allowed_ones() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let place = Place::new();
    let mut command = place.serve(&[]);
    command.env("STOA_ALLOW_PRIVATE_NETWORKS", "1").env("STOA_ALLOW_HTTP_WEBHOOKS", "1");
    command.env("STOA_OUTBOUND_DENY", "127.0.0.2/31,10.0.0.0/8,93.184.216.34,fd12::/16");
    let hub = Hub::start(&mut command, place.data());
    let key = hub.json(&["agents", "create", "lookout", "--owner", "admin"])["key"].as_str().unwrap().to_owned();
    runtime.block_on(async {
        let client = Client::new(format!("http://{}", hub.address)).bearer(&key);
        // Not every system has more addresses of loopback than one.
        let counter = count_connections("127.0.0.2").await;
        let port = counter.as_ref().map_or(9, |(port, _)| *port);
        let denied =
            ["127.0.0.2", "0x7f.2", "[::ffff:127.0.0.3]", "[64:ff9b::127.0.0.2]", "10.9.8.7", PUBLIC, "[fd12::1]"];
        for host in denied.map(str::to_owned).into_iter().chain(METADATA.map(|address| url_of(address)[7..].to_owned()))
        {
            create(&client, &format!("http://{}:{port}/", host.trim_end_matches('/'))).await.invalid(&["url"]);
        }
        let receiver = Receiver::start().await;
        let (id, _) = register(&client, "lookout", &receiver.url, &["message.received"]).await;
        client.post(&format!("/api/webhooks/{id}/test"), &json!({})).await.status(202);
        receiver.has(1).await;
        assert!(counter.is_none_or(|(_, connections)| connections.load(Ordering::SeqCst) == 0));
    });
    assert_eq!(hub.stop().code, Some(0));
}
