//! The two-owner walk: every operation that the hub describes is tried by everybody who must not
//! reach what it is about, and then, to show that it was there, by its owner.

mod former_names;
mod tools;
mod visitors;
mod world;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub(crate) use self::tools::{ToolRow, for_admins, refused, shows_own, tools};
use self::world::{MACHINE, World};
use crate::support::{ALL_SCOPES, Agent, Call, Client, PASSWORD, RegistryFile, TestHub, file_form};

/// Who may do what. A new operation is one line in `walk_rows` of the tests of its feature; if it is about a thing of a new
/// kind, also one line in [`World::make`].
fn table() -> Vec<Row> {
    let of_features = [
        crate::agents::walk_rows(),
        crate::attachments_access::walk_rows(),
        crate::channels::walk_rows(),
        crate::hooks::walk_rows(),
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
        crate::runs::walk_rows(),
        crate::search::walk_rows(),
        crate::sessions::walk_rows(),
        crate::stars::walk_rows(),
        crate::streams::walk_rows(),
        crate::system::walk_rows(),
        crate::threads::walk_rows(),
        crate::traces::walk_rows(),
        crate::trust::walk_rows(),
        crate::webhooks::walk_rows(),
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
    /// The thing is the owner's agent itself, which its own keys reach.
    is_the_agent: bool,
    aims: Vec<Aim>,
}

/// The same operation with another query or body, which names the owner's things.
struct Aim {
    query: &'static str,
    body: Option<Value>,
    /// What everybody but the owner is told. 0 is an answer that shows nothing of the owner's.
    refusal: (u16, &'static str),
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
        is_the_agent: false,
        aims: Vec::new(),
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

    /// The thing is the owner's agent itself, which its own keys reach.
    pub(crate) fn about_the_agent(self) -> Self {
        Self { is_the_agent: true, ..self }
    }

    /// The operation is also sent with this query, which names `{channel}`, `{name}`, `{post}`, `{dm}` or `{sha256}` of the owner.
    pub(crate) fn aimed(mut self, query: &'static str, status: u16, code: &'static str) -> Self {
        self.aims.push(Aim { query, body: None, refusal: (status, code) });
        self
    }

    /// The same with a body.
    pub(crate) fn aimed_with(mut self, body: Value, status: u16, code: &'static str) -> Self {
        self.aims.push(Aim { query: "", body: Some(body), refusal: (status, code) });
        self
    }

    /// Whether one of the requests has a parameter or field of this name.
    fn sends(&self, name: &str) -> bool {
        let is_in = |query: &str, body: &Option<Value>| {
            query.split('&').any(|pair| pair.split('=').next() == Some(name))
                || body.as_ref().is_some_and(|body| !body[name].is_null())
        };
        is_in(self.query, &self.body) || self.aims.iter().any(|aim| is_in(aim.query, &aim.body))
    }

    /// The request, as this visitor sends it about the things of this world.
    fn call(&self, client: &Client, world: &World, visitor: &str, aim: Option<&Aim>) -> Call {
        let (method, path) = self.operation.split_once(' ').unwrap();
        let (query, body) = aim.map_or((self.query, &self.body), |aim| (aim.query, &aim.body));
        let query = world.fill_text(query, visitor);
        let mut call = client.call(method, &format!("{}?{query}", world.fill(path, visitor)));
        if let Some(body) = body {
            call = call.body("application/json", world.fill_text(&body.to_string(), visitor));
        }
        if self.uploads {
            let (content_type, form) = file_form("note.txt", visitor.as_bytes());
            call = call.body(&content_type, form);
        }
        call
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
    let hub = TestHub::setup()
        .registry(&registry)
        .configure(|config| config.outbound_allow = vec!["127.0.0.1".parse().unwrap()])
        .start()
        .await;
    let account = json!({"username": "second_admin", "password": PASSWORD, "role": "admin"});
    hub.operator().call("users.create", account).await;
    let visitors = Visitors::make(hub).await;
    for (number, row) in table().iter().enumerate() {
        visit(&visitors, &World::make(&visitors.hub, number).await, row).await;
    }
    visitors.hub.finish().await;
}

async fn visit(visitors: &Visitors, world: &World, row: &Row) {
    let (_, path) = row.operation.split_once(' ').unwrap();
    let before = world.state().await;
    for (visitor, client) in visitors.all(world).await {
        let call = row.call(&client, world, visitor, None);
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
        if visitor != "owner" {
            let shown = world::shown(&reply.text(), &world::SECRETS);
            assert_eq!(shown, None, "{} as {visitor}: {reply:?}", row.operation);
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

/// Whether a parameter or a field of this name can mean something of another owner.
fn is_reference(name: &str) -> bool {
    const REFERENCES: [&str; 9] =
        ["agent", "as", "attachments", "by", "channel", "channels", "dm", "extend", "reply_to"];
    REFERENCES.contains(&name) || name.ends_with("_id") || name.ends_with("_ids")
}

/// The parameters of an operation and the fields of its body.
fn names_in(document: &Value, operation: &Value) -> Vec<String> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let queries = parameters.filter(|parameter| parameter["in"] == "query");
    let mut names: Vec<_> = queries.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    // A body that may be missing is one of two.
    for schema in body["oneOf"].as_array().into_iter().flatten().chain([body]) {
        let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        let schema = place.and_then(|place| document.pointer(place)).unwrap_or(schema);
        names.extend(schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()));
    }
    names
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
    for row in table().iter().filter(|row| !matches!(row.access, Access::Public(_) | Access::Machine | Access::Admin)) {
        let (method, path) = row.operation.split_once(' ').unwrap();
        let operation = &document["paths"][path][method.to_lowercase()];
        for name in names_in(&document, operation).iter().filter(|name| is_reference(name)) {
            let is_sent = row.sends(name);
            assert!(
                is_sent,
                "{} can name things of others in `{name}`: add a row with aimed or aimed_with",
                row.operation
            );
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
