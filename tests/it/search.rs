//! Search: what is found, by whom, and how soon.

use serde_json::{Value, json};

use crate::support::{Client, TestHub, each, items};

impl Client {
    /// What a search answers; `query` as it stands behind the question mark.
    pub(crate) async fn search(&self, query: &str) -> Value {
        self.get(&format!("/api/messages/search?{query}")).await.ok().json()
    }

    /// The bodies that are found by what is typed, newest first.
    pub(crate) async fn found(&self, q: &str) -> Vec<String> {
        let answer = self.search(&format!("q={}", encoded(q))).await;
        let bodies = bodies(&answer);
        assert_eq!(answer["total"], bodies.len(), "{answer}");
        bodies
    }
}

pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

pub(crate) fn bodies(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap();
    items.iter().map(|item| item["body"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn words_phrases_prefixes_and_exclusions_find() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for body in ["The deploy failed again", "Deployment went well", "it failed to deploy", "Un café à Zürich"] {
        ada.say("general", body).await;
    }
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        for (q, wanted) in [
            ("deploy", &["it failed to deploy", "The deploy failed again"][..]),
            ("DEPLOY failed", &["it failed to deploy", "The deploy failed again"]),
            ("\"deploy failed\"", &["The deploy failed again"]),
            ("deploy*", &["it failed to deploy", "Deployment went well", "The deploy failed again"]),
            ("deploy* -failed", &["Deployment went well"]),
            ("failed -\"deploy failed\"", &["it failed to deploy"]),
            ("cafe zurich", &["Un café à Zürich"]),
            ("nothing", &[]),
            ("???", &[]),
            ("-failed", &["Un café à Zürich", "Deployment went well"]),
        ] {
            assert_eq!(ada.found(q).await, wanted, "{q}, settled: {settled}");
        }
    }
    hub.finish().await;
}
