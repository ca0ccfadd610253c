//! Receivers that behave badly cost the hub little, and nobody else anything.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stoa_model::text::is_unprintable;
use stoa_outbound::{Limits, Policy};

use super::trap::{Manner, PIPE_BYTES, Trap};
use super::{deliveries, register};
use crate::support::{Door, eventually};

/// It has no length, so it ends when the receiver hangs up.
const HOSTILE: &str = "HTTP/1.1 400 Bad\r\nconnection: close\r\n\r\n\u{202e}txt.exe\u{200b}\u{feff}\u{1b}[2J\u{0}\u{7}\u{2066}<script>\u{e0041}\u{fdd0}ok";

fn policy() -> Policy {
    Policy { allow_http: true, ..Policy::default() }
}

#[tokio::test]
async fn bad_answers_are_recorded_and_not_read_to_their_end() {
    let bytes = |text: &str| Manner::Bytes(text.as_bytes().to_vec());
    let mut rubbish: Vec<u8> = (0..=255).rev().collect();
    rubbish.extend([0; 1000]);
    let line = concat!("x-filler: ", "0123456789012345678901234567890123456789012345678901234567890123456789", "\r\n");
    let piece = "20\r\n0123456789abcdef0123456789abcdef\r\n";
    let cases = [
        (Manner::Silent, json!([null, "timed_out"])),
        (Manner::Endless("HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n", line), json!([200, null])),
        (Manner::Endless("HTTP/1.1 500 Oops\r\ntransfer-encoding: chunked\r\n\r\n", piece), json!([500, null])),
        (Manner::Endless("HTTP/1.1 200 OK\r\n", line), json!([null, "broken"])),
        (Manner::Endless("HTTP/1.1 200 ", "OK"), json!([null, "broken"])),
        (bytes(""), json!([null, "broken"])),
        (bytes("HTTP/1.1 200 O"), json!([null, "broken"])),
        (bytes("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"), json!([null, "broken"])),
        (Manner::Bytes(rubbish), json!([null, "broken"])),
        (bytes(HOSTILE), json!([400, null])),
    ];
    let trap = Trap::default();
    let limits = Limits { total_timeout: Duration::from_secs(5), ..Limits::default() };
    let hub = trap.setup(policy(), limits).start().await;
    let ada = hub.human("ada").await;
    ada.agent("lookout").await;
    let mut tested = Vec::new();
    for (number, (manner, expected)) in cases.into_iter().enumerate() {
        let (name, address) = (format!("bad{number}.example"), format!("93.184.216.{number}"));
        trap.resolve(&name, &[&address]);
        trap.answer(&address, manner);
        let (id, _) = register(&ada, "lookout", &format!("http://{name}/"), &["message.received"]).await;
        // A test is tried once.
        ada.post(&format!("/api/webhooks/{id}/test"), &json!({})).await.status(202);
        tested.push((id, address, expected));
    }
    for (id, address, expected) in tested {
        eventually("it was tried", async || deliveries(&ada, id).await[0]["status"] != "pending").await;
        let delivery = deliveries(&ada, id).await.remove(0);
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 1, "{delivery}");
        assert_eq!(json!([attempts[0]["status"], attempts[0]["error"]]), expected, "{delivery}");
        let excerpt = attempts[0]["response_excerpt"].as_str().unwrap_or_default();
        assert!(excerpt.len() <= 4096, "{delivery}");
        assert!(
            !excerpt.chars().any(|character| is_unprintable(character) && !"\n\t".contains(character)),
            "{excerpt:?}"
        );
        // The body, what was read ahead, and what was on its way.
        assert!(trap.taken(&address) <= 2 * 64 * 1024 + 2 * PIPE_BYTES, "{} of {delivery}", trap.taken(&address));
        if expected == json!([400, null]) {
            assert!(excerpt.contains("txt.exe") && excerpt.contains("<script>"), "{excerpt:?}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn a_receiver_that_does_not_answer_delays_nobody_else() {
    let (trap, door) = (Trap::default(), Arc::new(Door::new()));
    let hub = trap.setup(policy(), Limits::default()).start().await;
    let ada = hub.human("ada").await;
    let (silent, quick) = ("93.184.216.1", "93.184.216.2");
    trap.resolve("silent.example", &[silent]);
    trap.resolve("quick.example", &[quick]);
    trap.answer(silent, Manner::Behind(door.clone()));
    door.close();
    let mut ids = Vec::new();
    for (agent, host) in [("lookout", "silent"), ("porter", "quick")] {
        ada.agent(agent).await;
        ids.push(register(&ada, agent, &format!("http://{host}.example/"), &["message.received"]).await.0);
    }
    let connected = |address: &str| trap.connected().iter().filter(|other| *other == address).count();
    ada.dm("lookout", "hello").await;
    eventually("the silent one is called", async || connected(silent) == 1).await;
    for number in 1..=10 {
        ada.dm("porter", "hello").await;
        eventually("the quick one is called", async || connected(quick) == number).await;
    }
    let statuses = async |id: i64| -> Vec<Value> {
        deliveries(&ada, id).await.iter().map(|delivery| delivery["status"].clone()).collect()
    };
    assert_eq!(statuses(ids[0]).await, ["pending"]);
    door.open();
    hub.settle().await;
    assert_eq!(
        (statuses(ids[0]).await, statuses(ids[1]).await),
        (vec![json!("delivered")], vec![json!("delivered"); 10])
    );
    assert_eq!(connected(silent), 1);
    hub.finish().await;
}
