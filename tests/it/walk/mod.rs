//! The two-owner walk: every operation that the hub describes is tried by everybody who must not
//! reach what it is about, and then, to show that it was there, by its owner.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{ALL_SCOPES, Agent, Client, Human, PASSWORD, RegistryFile, TestHub, file_form};

const MACHINE: &str = "svc:sense:demo";

/// Who may do what. A new operation is one line in `walk_rows` of the tests of its feature; if it is about a thing of a new
/// kind, also one line in [`World::make`].
fn table() -> Vec<Row> {
    let of_features = [
        crate::agents::walk_rows(),
        crate::attachments_access::walk_rows(),
        crate::channels::walk_rows(),
        crate::inbox::walk_rows(),
        crate::keys::walk_rows(),
        crate::machines::walk_rows(),
        crate::members::walk_rows(),
        crate::messages::walk_rows(),
        crate::names::walk_rows(),
        crate::notifications::walk_rows(),
        crate::oauth_grants::walk_rows(),
        crate::reactions::walk_rows(),
        crate::registration::walk_rows(),
        crate::search::walk_rows(),
        crate::sessions::walk_rows(),
        crate::streams::walk_rows(),
        crate::system::walk_rows(),
        crate::threads::walk_rows(),
        crate::traces::walk_rows(),
        crate::trust::walk_rows(),
        crate::workflow::walk_rows(),
    ];
    of_features.into_iter().flatten().collect()
}

/// The operations of the table, as `POST /api/messages`.
pub(crate) fn operations() -> BTreeSet<String> {
    table().iter().map(|row| row.operation.to_owned()).collect()
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Access {
    /// Everybody gets this status.
    Public(u16),
    /// People, for what is their own.
    Session,
    /// People and agents, for what is their own.
    Either,
    /// A thing that people reach if it is theirs.
    SessionThing,
    /// A thing that people reach if it is theirs, and agents if it is theirs.
    EitherThing,
    Admin,
    /// Machine principals, who are known by their signatures alone: nobody here is one.
    Machine,
}

/// An operation, and the expected answer for each visitor.
pub(crate) struct Row {
    operation: &'static str,
    access: Access,
    /// What stands behind the path.
    query: &'static str,
    body: Option<Value>,
    /// What those are told whose thing it is not.
    refusal: (u16, &'static str),
    also_for_admins: bool,
    shows_cards: bool,
    /// What the owner is told.
    for_owner: (u16, &'static str),
    never_ends: bool,
    /// The body is a form with a file.
    uploads: bool,
}

fn row(operation: &'static str, access: Access) -> Row {
    Row {
        operation,
        access,
        query: "",
        body: None,
        refusal: (404, "not_found"),
        also_for_admins: false,
        shows_cards: false,
        for_owner: (0, ""),
        never_ends: false,
        uploads: false,
    }
}

pub(crate) fn public(operation: &'static str, status: u16) -> Row {
    row(operation, Access::Public(status))
}

pub(crate) fn session(operation: &'static str) -> Row {
    row(operation, Access::Session)
}

pub(crate) fn either(operation: &'static str) -> Row {
    row(operation, Access::Either)
}

pub(crate) fn session_thing(operation: &'static str) -> Row {
    row(operation, Access::SessionThing)
}

pub(crate) fn either_thing(operation: &'static str) -> Row {
    row(operation, Access::EitherThing)
}

pub(crate) fn admin(operation: &'static str) -> Row {
    row(operation, Access::Admin)
}

pub(crate) fn machine(operation: &'static str) -> Row {
    row(operation, Access::Machine)
}

impl Row {
    pub(crate) fn body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn query(self, query: &'static str) -> Self {
        Self { query, ..self }
    }

    pub(crate) fn refused(self, status: u16, code: &'static str) -> Self {
        Self { refusal: (status, code), ..self }
    }

    /// For what even the owner may not do.
    pub(crate) fn for_owner(self, status: u16, code: &'static str) -> Self {
        Self { for_owner: (status, code), ..self }
    }

    pub(crate) fn also_for_admins(self) -> Self {
        Self { also_for_admins: true, ..self }
    }

    /// The answer may name other people's agents.
    pub(crate) fn shows_cards(self) -> Self {
        Self { shows_cards: true, ..self }
    }

    /// A success is an answer that goes on; what is in it, tests of its own look at.
    pub(crate) fn never_ends(self) -> Self {
        Self { never_ends: true, ..self }
    }

    pub(crate) fn uploads(self) -> Self {
        Self { uploads: true, ..self }
    }

    /// What each visitor is to be told: 0 is any success, and a word is the problem's code.
    fn expected(&self, visitor: &str) -> (u16, &'static str) {
        let found = (0, "");
        match (self.access, visitor) {
            (Access::Public(status), _) => (status, ""),
            (Access::Machine, _) => (401, "unauthenticated"),
            (_, "nobody") => (401, "unauthenticated"),
            (_, "revoked") => (401, "invalid_credentials"),
            (_, "logged out") => (401, "session_expired"),
            (Access::Admin, "admin") => found,
            (Access::Admin, _) => (403, "admin_required"),
            (Access::Either, _) => found,
            (Access::Session | Access::SessionThing, "agent") => (403, "forbidden"),
            (Access::Session, _) => found,
            (Access::SessionThing | Access::EitherThing, "owner") => self.for_owner,
            (Access::SessionThing | Access::EitherThing, "admin") if self.also_for_admins => found,
            (Access::SessionThing | Access::EitherThing, _) => self.refusal,
        }
    }
}

/// The owner and their things, made anew for each operation so that none meets what another has done.
struct World {
    owner: Human,
    agent: Agent,
    /// What stands in a path or a body for `{name}` or, by the path it is in, for `{id}`.
    things: BTreeMap<&'static str, String>,
}

impl World {
    async fn make(hub: &TestHub, number: usize) -> Self {
        let owner = hub.human(&format!("owner{number}")).await;
        let agent = owner.agent(&format!("secretive{number}")).await;
        let (key, _) = owner.key(&agent.name, json!(["messages:read"])).await;
        let sessions = owner.again().await.get("/auth/sessions").await.ok().json();
        let channel = format!("den{number}");
        owner.post("/api/channels", &json!({"name": channel, "public": false})).await.status(201);
        owner.call("PUT", &format!("/api/channels/{channel}/members/{}", agent.name)).await.status(200);
        let send = async |from: &Client, request: Value| {
            from.post("/api/messages", &request).await.status(201).json()["id"].to_string()
        };
        let file = owner.uploaded("secret.txt", format!("a secret of {}", owner.name).as_bytes()).await;
        let said = send(&owner, json!({"channel": channel, "body": "a secret", "attachments": [file]})).await;
        let sent = send(&owner, json!({"to": agent.name, "body": "another secret"})).await;
        let received = send(
            &agent,
            json!({"to": owner.name, "body": "a secret answer", "reply_to": sent.parse::<i64>().unwrap()}),
        )
        .await;
        owner.post("/api/inbox/claim", &json!({"limit": 100})).await.ok();
        let reaction = json!({"reaction": "approve"});
        owner.post(&format!("/api/messages/{received}/reactions"), &reaction).await.ok();
        let (app, owned) = (hub.app().await, owner.owned_app(&agent.name).await);
        app.tokens(&owner, &agent.name).await;
        let grant = owner.grants().await[0]["id"].to_string();
        let things = BTreeMap::from([
            ("{name}", agent.name.clone()),
            ("/api/keys/{id}", key["id"].to_string()),
            ("/auth/sessions/{id}", sessions["items"][0]["id"].to_string()),
            ("channel", channel),
            ("{sha256}", file),
            ("/api/oauth/clients/{client_id}", owned.id),
            ("/oauth/register/{client_id}", app.id),
            ("/api/oauth/grants/{id}", grant),
            ("/api/channels/{name}/pins/{message_id}", said.clone()),
            ("/api/threads/{message_id}/mute", said),
            ("/api/messages/{id}", sent.clone()),
            ("/api/messages/{id}/history", sent.clone()),
            ("/api/messages/{id}/replies", sent),
            ("/api/messages/{id}/done", received.clone()),
            ("/api/messages/{id}/fail", received.clone()),
            ("/api/messages/{id}/reactions", received.clone()),
            ("/api/messages/{id}/release", received),
        ]);
        Self { owner, agent, things }
    }

    fn fill(&self, text: &str, visitor: &str) -> String {
        let name = if text.starts_with("/api/channels/") { "channel" } else { "{name}" };
        let mut filled = text.replace("{visitor}", visitor).replace("{name}", &self.things[name]);
        filled = filled.replace("{principal}", &self.things["{name}"]).replace("{principal_id}", MACHINE);
        filled = filled.replace("{agent}", &self.things["{name}"]);
        filled = filled.replace("{source}", MACHINE).replace("{component}", "web");
        filled = filled.replace("{sha256}", &self.things["{sha256}"]);
        if let Some(value) = self.things.get(text) {
            filled = filled.replace("{id}", value).replace("{message_id}", value).replace("{client_id}", value);
        }
        assert!(!filled.contains("id}"), "World::make has nothing for {text}");
        filled
    }

    /// All that belongs to the owner, without the times at which it was looked at.
    async fn state(&self) -> Value {
        let mut state = json!({
            "me": self.owner.get("/auth/me").await.ok().json(),
            "sessions": self.owner.get("/auth/sessions").await.ok().json(),
            "keys": self.owner.list("/api/keys").await,
            "clients": self.owner.list("/api/oauth/clients").await,
            "grants": self.owner.grants().await,
            "channel": self.owner.get(&format!("/api/channels/{}", self.things["channel"])).await.ok().json(),
            "said": self.owner.get(&format!("/api/channels/{}/messages", self.things["channel"])).await.ok().json(),
            "pins": self.owner.get(&format!("/api/channels/{}/pins", self.things["channel"])).await.ok().json(),
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
            fields.retain(|name, _| !matches!(name.as_str(), "last_seen_at" | "last_used_at"));
            fields.values_mut().for_each(forget_looks);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_looks),
        _ => {}
    }
}

/// Everybody but the owner, with fresh sessions, because some operations end them.
struct Visitors {
    hub: TestHub,
    agent: Agent,
    revoked: Client,
    logged_out: Client,
}

impl Visitors {
    async fn make(hub: TestHub) -> Self {
        let stranger = hub.human("stranger").await;
        let agent = stranger.agent("errand").await;
        let (key, revoked) = stranger.key(&agent.name, json!(["*"])).await;
        stranger.delete(&format!("/api/keys/{}", key["id"])).await.status(200);
        let second = hub.human("second").await;
        let own = second.agent("seconds-agent").await;
        second.key(&own.name, json!(["*"])).await;
        let revoked = hub.nobody().bearer(&revoked);
        let logged_out = hub.log_in("second").await.client;
        logged_out.call("POST", "/auth/logout").await.status(204);
        Self { hub, agent, revoked, logged_out }
    }

    async fn all(&self, world: &World) -> Vec<(&'static str, Client)> {
        vec![
            ("nobody", self.hub.nobody()),
            ("revoked", self.revoked.clone()),
            ("logged out", self.logged_out.clone()),
            ("agent", self.agent.client.clone()),
            ("stranger", self.hub.log_in("stranger").await.client),
            ("second", self.hub.log_in("second").await.client),
            // Not the first administrator, whose password is not the one that the table knows.
            ("admin", self.hub.log_in("second_admin").await.client),
            // Last: whoever owns it may take it away.
            ("owner", world.owner.client.clone()),
        ]
    }
}

#[tokio::test]
async fn nobody_reaches_what_is_not_theirs() {
    let registry = RegistryFile::new();
    registry.add(MACHINE, &ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let account = json!({"username": "second_admin", "password": PASSWORD, "role": "admin"});
    hub.operator().call("users.create", account).await;
    let visitors = Visitors::make(hub).await;
    for (number, row) in table().iter().enumerate() {
        visit(&visitors, &World::make(&visitors.hub, number).await, row).await;
    }
    visitors.hub.finish().await;
}

async fn visit(visitors: &Visitors, world: &World, row: &Row) {
    let (method, path) = row.operation.split_once(' ').unwrap();
    let before = world.state().await;
    for (visitor, client) in visitors.all(world).await {
        let mut call = client.call(method, &format!("{}?{}", world.fill(path, visitor), row.query));
        if let Some(body) = &row.body {
            call = call.body("application/json", world.fill(&body.to_string(), visitor));
        }
        if row.uploads {
            let (content_type, form) = file_form("note.txt", visitor.as_bytes());
            call = call.body(&content_type, form);
        }
        if visitor == "owner" {
            assert_eq!(world.state().await, before, "{}: a visitor changed something", row.operation);
        }
        let (status, code) = row.expected(visitor);
        if row.never_ends && status == 0 {
            let answer = call.open().await;
            assert!(answer.status().is_success(), "{} as {visitor}: {answer:?}", row.operation);
            continue;
        }
        let reply = call.await;
        let is_expected = if status == 0 { (200..300).contains(&reply.code()) } else { reply.code() == status };
        assert!(is_expected, "{} as {visitor}: {reply:?}", row.operation);
        if !code.is_empty() {
            reply.clone().problem(status, code);
        }
        // What somebody else may list, they find their own things in, and none of the owner's.
        let sees_all = matches!(visitor, "owner" | "admin") || row.shows_cards;
        let names_the_thing = path.contains('{') || reply.code() >= 400;
        if !sees_all && !names_the_thing {
            assert!(!reply.text().contains(&world.agent.name), "{} as {visitor}: {reply:?}", row.operation);
            assert!(!reply.text().contains(&world.owner.name), "{} as {visitor}: {reply:?}", row.operation);
        }
    }
}

#[tokio::test]
async fn the_table_and_the_description_know_the_same_operations() {
    let hub = TestHub::start().await;
    let document = hub.nobody().get("/api/openapi.json").await.ok().json();
    let mut described = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            described.insert(format!("{} {path}", method.to_uppercase()));
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no operationId"));
            assert!(ids.insert(id.to_owned()), "the operationId {id} is there twice");
        }
    }
    let known: BTreeSet<String> = table().iter().map(|row| row.operation.to_owned()).collect();
    assert_eq!(known.len(), table().len(), "a row is there twice");
    let missing: Vec<_> = described.difference(&known).collect();
    assert!(missing.is_empty(), "operations that the walk does not know, add a row for each: {missing:#?}");
    let vanished: Vec<_> = known.difference(&described).collect();
    assert!(vanished.is_empty(), "rows of the walk that are not described: {vanished:#?}");
    hub.finish().await;
}
