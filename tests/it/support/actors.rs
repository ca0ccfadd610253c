//! People and agents, each with the credential they call with.

use std::ops::Deref;

use serde_json::{Value, json};

use super::client::{Call, Client, Reply};

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

/// A form with one file, as programs send it, and its content type.
pub(crate) fn file_form(filename: &str, content: &[u8]) -> (String, Vec<u8>) {
    let boundary = "----a-boundary-that-is-in-no-file";
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let body = [head.as_bytes(), content, format!("\r\n--{boundary}--\r\n").as_bytes()].concat();
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// What people and agents say to each other.
impl Client {
    pub(crate) fn upload(&self, filename: &str, content: &[u8]) -> Call {
        let (content_type, body) = file_form(filename, content);
        self.call("POST", "/api/attachments").body(&content_type, body)
    }

    /// Uploads a file that has to be taken, and returns its sum.
    pub(crate) async fn uploaded(&self, filename: &str, content: &[u8]) -> String {
        self.upload(filename, content).await.status(201).json()["sha256"].as_str().unwrap().to_owned()
    }

    pub(crate) fn download(&self, sha256: &str) -> Call {
        self.get(&format!("/api/attachments/{sha256}"))
    }

    /// Sends a message that has to arrive.
    pub(crate) async fn send(&self, request: Value) -> Value {
        self.post("/api/messages", &request).await.status(201).json()
    }

    pub(crate) async fn dm(&self, to: &str, body: &str) -> Value {
        self.send(json!({"to": to, "body": body})).await
    }

    pub(crate) async fn say(&self, channel: &str, body: &str) -> Value {
        self.send(json!({"channel": channel, "body": body})).await
    }

    /// Answers a message in a channel.
    pub(crate) async fn reply(&self, channel: &str, parent: &Value, body: &str) -> Value {
        self.send(json!({"channel": channel, "body": body, "reply_to": parent["id"]})).await
    }

    pub(crate) async fn message(&self, message: &Value) -> Value {
        self.get(&format!("/api/messages/{}", message["id"])).await.ok().json()
    }

    pub(crate) async fn edit(&self, message: &Value, body: &str) -> Reply {
        self.patch(&format!("/api/messages/{}", message["id"]), &json!({"body": body})).await
    }

    pub(crate) async fn take_back(&self, message: &Value) -> Reply {
        self.delete(&format!("/api/messages/{}", message["id"])).await
    }

    pub(crate) async fn replies(&self, message: &Value) -> Vec<Value> {
        self.list(&format!("/api/messages/{}/replies", message["id"])).await
    }

    /// Everything that waits in the inbox, with whole bodies.
    pub(crate) async fn inbox(&self) -> Vec<Value> {
        items(self.get("/api/inbox?full=true&limit=200").await.ok())
    }

    pub(crate) async fn claim(&self, request: Value) -> Vec<Value> {
        items(self.post("/api/inbox/claim", &request).await.ok())
    }

    /// `done`, `fail` or `release`.
    pub(crate) async fn settle(&self, message: &Value, how: &str, request: Value) -> Reply {
        self.post(&format!("/api/messages/{}/{how}", message["id"]), &request).await
    }

    /// Reacts to a message, or takes the same reaction back.
    pub(crate) fn react(&self, message: &Value, reaction: &str) -> Call {
        self.post(&format!("/api/messages/{}/reactions", message["id"]), &json!({"reaction": reaction}))
    }

    /// Proposes work in a channel.
    pub(crate) async fn propose(&self, channel: &str, body: &str) -> Value {
        self.send(json!({"channel": channel, "body": body, "action_type": "publish"})).await
    }

    pub(crate) fn unreact(&self, message: &Value, reaction: &str) -> Call {
        self.delete(&format!("/api/messages/{}/reactions?reaction={reaction}", message["id"]))
    }

    /// The ids of the messages of a channel that are in a state.
    pub(crate) async fn in_state(&self, channel: &str, state: &str) -> Vec<Value> {
        each(&items(self.get(&format!("/api/channels/{channel}/messages/by-state?state={state}")).await.ok()), "id")
    }

    /// Makes a channel whose messages are work, with these settings besides.
    pub(crate) async fn make_workflow(&self, name: &str, mut settings: Value) -> Value {
        let channel = self.make_channel(json!({"name": name})).await;
        settings["workflow_enabled"] = json!(true);
        self.put(&format!("/api/channels/{name}/settings"), &settings).await.ok();
        channel
    }

    pub(crate) async fn make_channel(&self, request: Value) -> Value {
        self.post("/api/channels", &request).await.status(201).json()["channel"].clone()
    }

    pub(crate) async fn add_member(&self, channel: &str, name: &str) -> Reply {
        self.call("PUT", &format!("/api/channels/{channel}/members/{name}")).await
    }

    /// The names of a channel's members.
    pub(crate) async fn members(&self, channel: &str) -> Vec<String> {
        let details = self.get(&format!("/api/channels/{channel}")).await.ok().json();
        let members = details["members"].as_array().unwrap();
        members.iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn mark_read(&self, request: Value) -> Value {
        self.post("/api/notifications/mark-read", &request).await.ok().json()
    }

    /// How much is unread in a channel or DM, by its name.
    pub(crate) async fn unread(&self, name: &str) -> i64 {
        let unread = self.get("/api/notifications/unread").await.ok().json();
        let found = unread.as_array().unwrap().iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {unread}"))["unread_count"].as_i64().unwrap()
    }
}

/// The items of an answer.
#[track_caller]
pub(crate) fn items(reply: Reply) -> Vec<Value> {
    reply.json()["items"].as_array().unwrap_or_else(|| panic!("no items: {reply:?}")).clone()
}

/// One field of each.
pub(crate) fn each(items: &[Value], field: &str) -> Vec<Value> {
    items.iter().map(|item| item[field].clone()).collect()
}
