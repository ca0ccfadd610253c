//! The owner and their things. Every text of theirs contains a word that nobody else may read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Agent, Client, Human, TestHub};

pub(super) const MACHINE: &str = "svc:sense:demo";

/// In what stands in the owner's channel.
pub(super) const CHANNEL_SECRET: &str = "plover";
/// In what only the owner and their agent share.
pub(super) const DM_SECRET: &str = "heron";
pub(super) const SECRETS: [&str; 2] = [CHANNEL_SECRET, DM_SECRET];

/// The first of these words that stands in a text.
pub(super) fn shown<'a>(text: &str, hidden: &[&'a str]) -> Option<&'a str> {
    hidden.iter().find(|word| text.contains(**word)).copied()
}

/// Operations that may succeed get a world each, so that none meets what another has done.
#[derive(Clone)]
pub(super) struct World {
    pub(super) owner: Human,
    pub(super) agent: Agent,
    /// What stands in a path or a body for `{name}` or, by the path it is in, for `{id}`.
    pub(super) things: BTreeMap<&'static str, String>,
}

impl World {
    pub(super) async fn make(hub: &TestHub, number: usize) -> Self {
        let owner = hub.human(&format!("owner{number}")).await;
        let instructions = format!("Look after the {DM_SECRET}");
        let agent = json!({"name": format!("secretive{number}"), "instructions": instructions});
        let agent = owner.agent_with(agent).await;
        let (key, _) = owner.key(&agent.name, json!(["messages:read"])).await;
        let sessions = owner.again().await.get("/auth/sessions").await.ok().json();
        let channel = format!("den{number}");
        let about = format!("For the {CHANNEL_SECRET}");
        let request = json!({"name": channel, "public": false, "topic": about, "description": about});
        owner.post("/api/channels", &request).await.status(201);
        owner.call("PUT", &format!("/api/channels/{channel}/members/{}", agent.name)).await.status(200);
        let send = async |from: &Client, request: Value| {
            from.post("/api/messages", &request).await.status(201).json()["id"].to_string()
        };
        let file = owner
            .uploaded(&format!("{CHANNEL_SECRET}.txt"), format!("a {CHANNEL_SECRET} of {}", owner.name).as_bytes())
            .await;
        let request = json!({
            "channel": channel, "body": format!("a {CHANNEL_SECRET}"), "subject": format!("the {CHANNEL_SECRET}"),
            "metadata": {CHANNEL_SECRET: CHANNEL_SECRET}, "attachments": [file],
        });
        let said = send(&owner, request).await;
        let request = json!({
            "to": agent.name, "body": format!("a {DM_SECRET}"), "subject": format!("the {DM_SECRET}"),
            "metadata": {DM_SECRET: DM_SECRET},
        });
        let sent = send(&owner, request).await;
        let received = send(
            &agent,
            json!({"to": owner.name, "body": format!("another {DM_SECRET}"), "reply_to": sent.parse::<i64>().unwrap()}),
        )
        .await;
        owner.post("/api/inbox/claim", &json!({"limit": 100})).await.ok();
        let reaction = json!({"reaction": "approve"});
        owner.post(&format!("/api/messages/{received}/reactions"), &reaction).await.ok();
        let (app, owned) = (hub.app().await, owner.owned_app(&agent.name).await);
        app.tokens(&owner, &agent.name).await;
        let grant = owner.grants().await[0]["id"].to_string();
        // Nobody listens there, so the test is soon over.
        let request = json!({"agent": agent.name, "url": "https://127.0.0.1:9/", "events": ["wiki.changed"]});
        let webhook = owner.post("/api/webhooks", &request).await.status(201).json()["webhook"]["id"].to_string();
        let tested = owner.post(&format!("/api/webhooks/{webhook}/test"), &json!({})).await.status(202).json();
        hub.settle().await;
        // A run that ends at once, because nothing can run it.
        let elsewhere = json!({"backend": "webhook", "url": "https://127.0.0.1:9/"});
        let settings = format!("/api/agents/{}", agent.name);
        owner.patch(&settings, &json!({"trigger_mode": "reactive", "harness": elsewhere})).await.ok();
        let started = owner.dm(&agent.name, "run").await;
        let run = started["delivery"][0]["run_id"].to_string();
        hub.settle().await;
        owner.patch(&settings, &json!({"trigger_mode": "passive", "harness": null})).await.ok();
        let hook = json!({"name": "CI", "kind": "url", "target": {"channel": channel}});
        let hook = owner.post("/api/hooks", &hook).await.status(201).json()["hook"]["id"].as_str().unwrap().to_owned();
        let invitation = hub.operator().call("users.invite", json!({"note": "a colleague"})).await["id"].to_string();
        let things = BTreeMap::from([
            ("/api/admin/invitations/{id}", invitation),
            ("{run}", run.clone()),
            ("/api/runs/{id}", run.clone()),
            ("/api/runs/{id}/retry", run.clone()),
            ("/api/runs/{id}/result", run.clone()),
            ("/api/runs/{id}/cancel", run),
            ("{webhook}", webhook.clone()),
            ("/api/webhooks/{id}", webhook.clone()),
            ("/api/webhooks/{id}/test", webhook.clone()),
            ("/api/webhooks/{id}/enable", webhook.clone()),
            ("/api/webhooks/{id}/rotate-secret", webhook.clone()),
            ("/api/webhooks/{id}/deliveries", webhook.clone()),
            ("/api/webhooks/{id}/retry-dead", webhook),
            ("/api/webhooks/deliveries/{id}", tested["id"].to_string()),
            ("/api/webhooks/deliveries/{id}/retry", tested["id"].to_string()),
            ("/api/hooks/{id}", hook.clone()),
            ("/api/hooks/{id}/requests", hook.clone()),
            ("/hooks/{id}", hook.clone()),
            ("/hooks/{id}/{secret}", hook),
            ("{name}", agent.name.clone()),
            ("/api/keys/{id}", key["id"].to_string()),
            ("/auth/sessions/{id}", sessions["items"][0]["id"].to_string()),
            ("{channel}", channel),
            ("{sha256}", file),
            ("/api/oauth/clients/{client_id}", owned.id),
            ("/oauth/register/{client_id}", app.id),
            ("/api/oauth/grants/{id}", grant),
            ("/api/channels/{name}/pins/{message_id}", said.clone()),
            ("/api/threads/{message_id}/mute", said.clone()),
            ("{post}", said),
            ("{dm}", sent.clone()),
            ("/api/messages/{id}", sent.clone()),
            ("/api/messages/{id}/history", sent.clone()),
            ("/api/messages/{id}/delivery", sent.clone()),
            ("/api/messages/{id}/replies", sent),
            ("/api/messages/{id}/done", received.clone()),
            ("/api/messages/{id}/fail", received.clone()),
            ("/api/messages/{id}/reactions", received.clone()),
            ("/api/messages/{id}/release", received),
        ]);
        Self { owner, agent, things }
    }

    /// A path with the things of this world in it.
    pub(super) fn fill(&self, path: &str, visitor: &str) -> String {
        let name = if path.starts_with("/api/channels/") { "{channel}" } else { "{name}" };
        let mut filled = path
            .replace("{name}", name)
            .replace("{principal}", "{name}")
            .replace("{agent}", "{name}")
            .replace("{conversation}", "channel:{channel}");
        if let Some(value) = self.things.get(path) {
            filled = filled.replace("{id}", value).replace("{message_id}", value).replace("{client_id}", value);
        }
        let filled = self.fill_text(&filled, visitor);
        assert!(!filled.contains("id}"), "World::make has nothing for {path}");
        filled
    }

    /// The same of a query or a body. There a number is written as a text, `"{post}"`.
    pub(super) fn fill_text(&self, text: &str, visitor: &str) -> String {
        let mut filled = text.replace("{visitor}", visitor).replace("{owner}", &self.owner.name);
        for name in ["{post}", "{dm}", "{webhook}", "{run}"] {
            filled = filled.replace(&format!("\"{name}\""), &self.things[name]);
        }
        for name in ["{name}", "{channel}", "{sha256}", "{post}", "{dm}", "{webhook}", "{run}"] {
            filled = filled.replace(name, &self.things[name]);
        }
        filled.replace("{principal_id}", MACHINE).replace("{source}", MACHINE).replace("{component}", "web")
    }

    /// The same things, but wherever a message is meant, it is this one.
    pub(super) fn about(&self, message: &str) -> Self {
        let mut world = self.clone();
        for (name, thing) in &mut world.things {
            if ["/api/messages/", "/api/threads/", "/api/channels/", "{post}", "{dm}"]
                .iter()
                .any(|kind| name.starts_with(kind))
            {
                *thing = message.to_owned();
            }
        }
        world
    }

    pub(super) fn channel(&self) -> &str {
        &self.things["{channel}"]
    }

    /// All that belongs to the owner, without the times at which it was looked at.
    pub(super) async fn state(&self) -> Value {
        let mut state = json!({
            "me": self.owner.get("/auth/me").await.ok().json(),
            "sessions": self.owner.get("/auth/sessions").await.ok().json(),
            "keys": self.owner.list("/api/keys").await,
            "webhooks": self.owner.list("/api/webhooks").await,
            "deliveries": self.owner.list("/api/webhooks/deliveries").await,
            "hooks": self.owner.list("/api/hooks").await,
            "clients": self.owner.list("/api/oauth/clients").await,
            "grants": self.owner.grants().await,
            "channel": self.owner.get(&format!("/api/channels/{}", self.channel())).await.ok().json(),
            "said": self.owner.get(&format!("/api/channels/{}/messages", self.channel())).await.ok().json(),
            "pins": self.owner.get(&format!("/api/channels/{}/pins", self.channel())).await.ok().json(),
            "dm": self.owner.get(&format!("/api/dm/{}/messages", self.agent.name)).await.ok().json(),
            "inbox": self.owner.get("/api/inbox?status=all").await.ok().json(),
            "threads": self.owner.get("/api/threads").await.ok().json(),
            "attachments": self.owner.list("/api/attachments").await,
        });
        self.agent.get("/api/agents").await.ok();
        forget_looks(&mut state);
        state
    }
}

fn forget_looks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !matches!(name.as_str(), "last_seen_at" | "last_used_at" | "last_request_at"));
            // Everybody may change the name that they are shown with.
            if let Some(Value::Object(author)) = fields.get_mut("from") {
                author.remove("display_name");
            }
            fields.values_mut().for_each(forget_looks);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_looks),
        _ => {}
    }
}
