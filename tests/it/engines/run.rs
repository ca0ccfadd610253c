//! Carries steps out on one hub.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::names::{Answer, Names};
use super::step::{Action, Call, Step, resolve};
use crate::support::{Client, DAY, Human, PASSWORD, Reply, Setup, TestHub, file_form};

/// People who have accounts from the start. Names are compared without regard to case, so some are in mixed case.
pub(crate) const PEOPLE: &[&str] = &["ada", "Bob", "cy_d", "DORA", "eve"];

/// More pages than this mean that following `next_cursor` never ends.
const MAX_PAGES: usize = 200;

/// A hub, and what a sequence has learned about it.
pub(crate) struct Side {
    pub(crate) engine: &'static str,
    pub(crate) hub: TestHub,
    callers: BTreeMap<String, Client>,
    names: Names,
}

impl Side {
    pub(crate) async fn start(engine: &'static str, setup: Setup) -> Self {
        // Differences are reported with the steps that lead to them, instead of ending the test at once.
        let hub = setup.session_lifetime(3650 * DAY).may_fail().start().await;
        let mut callers = BTreeMap::from([("nobody".to_owned(), hub.nobody())]);
        for name in PEOPLE {
            callers.insert((*name).to_owned(), hub.human(name).await.client);
        }
        let account = json!({"username": "root", "password": PASSWORD, "role": "admin"});
        hub.operator().call("users.create", account).await;
        callers.insert("root".to_owned(), Human::log_in(&hub.nobody(), "root", PASSWORD).await.client);
        let names = Names::new(format!("http://{}", hub.address));
        Self { engine, hub, callers, names }
    }

    /// Carries out a step. None if it names somebody or something that does not exist, because an earlier step was left out.
    pub(crate) async fn perform(&mut self, step: &Step) -> Option<Answer> {
        let caller = self.callers.get(&step.actor)?.clone();
        self.names.begin();
        match &step.action {
            Action::Call(call) => self.perform_call(step, &caller, call).await,
            Action::Tool { name, arguments } => {
                self.settle_for(name).await;
                let arguments = self.resolved(arguments)?;
                let message = format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{},"arguments":{arguments}}}}}"#,
                    json!(name)
                );
                let call = caller.call("POST", "/mcp").header("accept", "application/json, text/event-stream");
                let reply = call.body("application/json", message).may_fail().await;
                Some(self.names.translate(step.number, &reply))
            }
            Action::Upload { filename, content } => {
                let (content_type, form) = file_form(filename, content.as_bytes());
                let reply = caller.call("POST", "/api/attachments").body(&content_type, form).may_fail().await;
                Some(self.names.translate(step.number, &reply))
            }
            Action::Advance(seconds) => {
                self.hub.settle().await;
                self.hub.advance(Duration::from_secs(*seconds));
                self.hub.settle().await;
                Some(Answer { status: 200, headers: BTreeMap::new(), body: Value::Null })
            }
        }
    }

    async fn perform_call(&mut self, step: &Step, caller: &Client, call: &Call) -> Option<Answer> {
        self.settle_for(&call.path).await;
        let path = self.resolved(&call.path)?;
        let body = match &call.body {
            Some(body) => Some(self.resolved(body)?),
            None => None,
        };
        let send = async |path: &str| {
            let mut request = caller.call(&call.method, path).may_fail();
            for (name, value) in &call.headers {
                request = request.header(name, value);
            }
            if let Some(body) = &body {
                request = request.body("application/json", body.clone());
            }
            request.await
        };
        let reply = send(&path).await;
        let mut answer = self.names.translate(step.number, &reply);
        self.learn_credentials(step, &reply, &answer);
        let mut next = next_cursor(&reply);
        let mut pages = vec![answer.body.clone()];
        while let Some(cursor) = next.filter(|_| call.all_pages) {
            assert!(pages.len() < MAX_PAGES, "{path} has no last page");
            let separator = if path.contains('?') { '&' } else { '?' };
            let reply = send(&format!("{path}{separator}cursor={cursor}")).await;
            pages.push(self.names.translate(step.number, &reply).body);
            next = next_cursor(&reply);
        }
        if call.all_pages {
            answer.body = pages.into();
        }
        Some(answer)
    }

    fn resolved(&self, text: &str) -> Option<String> {
        resolve(text, |reference| self.names.find(reference))
    }

    /// The search index and traces follow a moment later.
    async fn settle_for(&self, what: &str) {
        if ["search", "traces", "audit"].iter().any(|late| what.contains(late)) {
            self.hub.settle().await;
        }
    }

    /// Remembers each credential that an answer contains, so that later steps can use it.
    fn learn_credentials(&mut self, step: &Step, reply: &Reply, answer: &Answer) {
        let nobody = self.hub.nobody();
        if reply.code() < 300 && reply.header("set-cookie").is_some() {
            let user = answer.body["user"]["username"].as_str().unwrap_or(&step.actor);
            self.callers.insert(user.to_owned(), nobody.cookie(&reply.cookie()));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else { return };
        let Some(key) = body["key"].as_str() else { return };
        let name = answer.body["agent"]["name"].as_str().or(answer.body["api_key"]["id"].as_str());
        if let Some(name) = name {
            self.callers.insert(name.to_owned(), nobody.bearer(key));
        }
    }

    /// Ends the hub, and says how many requests failed inside it.
    pub(crate) async fn finish(self) -> f64 {
        let failed = self.hub.metric("stoa_internal_errors_total").await;
        self.hub.finish().await;
        failed
    }
}

fn next_cursor(reply: &Reply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.body).ok()?;
    body["next_cursor"].as_str().map(str::to_owned)
}
