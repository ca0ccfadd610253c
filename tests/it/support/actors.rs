//! People and agents, each with the credential they call with.

use std::ops::Deref;

use serde_json::{Value, json};

use super::client::Client;

/// Everybody's password, but the first administrator's.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A person who is logged in.
#[derive(Clone)]
pub(crate) struct Human {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) id: i64,
    pub(crate) password: String,
}

/// An agent with its own key.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) client: Client,
    pub(crate) name: String,
    pub(crate) id: i64,
    pub(crate) key: String,
}

impl Deref for Human {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Deref for Agent {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Human {
    pub(crate) async fn log_in(nobody: &Client, name: &str, password: &str) -> Self {
        let reply = nobody.post("/auth/login", &json!({"username": name, "password": password})).await.status(200);
        let user = reply.json()["user"].clone();
        Self {
            client: nobody.cookie(&reply.cookie()),
            name: name.to_owned(),
            id: user["id"].as_i64().unwrap(),
            password: password.to_owned(),
        }
    }

    /// The same person with a session more.
    pub(crate) async fn again(&self) -> Self {
        Self::log_in(&self.client.with(super::Proof::Nothing), &self.name, &self.password).await
    }

    pub(crate) async fn agent(&self, name: &str) -> Agent {
        self.agent_with(json!({"name": name})).await
    }

    pub(crate) async fn agent_with(&self, request: Value) -> Agent {
        let created = self.post("/api/agents", &request).await.status(201).json();
        let key = created["key"].as_str().unwrap().to_owned();
        Agent {
            client: self.client.bearer(&key),
            name: created["agent"]["name"].as_str().unwrap().to_owned(),
            id: created["agent"]["id"].as_i64().unwrap(),
            key,
        }
    }

    /// A managed key for one of this person's agents: its record and itself.
    pub(crate) async fn key(&self, agent: &str, permissions: Value) -> (Value, String) {
        let request = json!({"name": "a key", "agent": agent, "permissions": permissions});
        let created = self.post("/api/keys", &request).await.status(201).json();
        (created["api_key"].clone(), created["key"].as_str().unwrap().to_owned())
    }
}
