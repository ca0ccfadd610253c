//! The walk of those who come near: keys of the owner's own agent that may do less, somebody who was in the channel once, and somebody
//! who came after everything. They are refused, so they all walk through one world.

use serde_json::{Value, json};

use super::world::{CHANNEL_SECRET, MACHINE, SECRETS, World, shown};
use super::{Access, Aim, Row, table};
use crate::support::oauth::{Consent, authorize};
use crate::support::{ALL_SCOPES, Agent, Client, Human, RegistryFile, TestHub};

/// A status and the code of a problem; 0 is any success.
type Answer = (u16, &'static str);

/// A hub with one owner, and everybody who must not reach what is theirs.
pub(super) struct House {
    pub(super) hub: TestHub,
    pub(super) world: World,
    _registry: RegistryFile,
    /// Where the events were before there was anything.
    beginning: String,
    /// Keys of the owner's agent that may do everything, but only in one channel: another one, or the owner's.
    pub(super) limited: Client,
    pub(super) limited_to_channel: Client,
    /// A key and a token of the owner's agent that only read.
    pub(super) reader: Client,
    pub(super) reading_app: Client,
    pub(super) revoked: Client,
    /// They were in the owner's channel, and took part.
    pub(super) former: Human,
    pub(super) former_agent: Agent,
    pub(super) stranger: Human,
    pub(super) stranger_agent: Agent,
    /// They came after everything.
    newcomer: Human,
    pub(super) newcomer_agent: Agent,
    /// What the former member and their agent said in the channel.
    pub(super) said_by_former: Vec<String>,
    /// The copy that the owner's agent got when it was mentioned in the channel.
    copy: String,
}

impl House {
    pub(super) async fn make() -> Self {
        let registry = RegistryFile::new();
        registry.add(MACHINE, &ALL_SCOPES);
        let hub = TestHub::setup()
            .registry(&registry)
            .configure(|config| config.outbound_allow = vec!["127.0.0.1".parse().unwrap()])
            .start()
            .await;
        let witness = hub.human("witness").await;
        let stranger = hub.human("stranger").await;
        let stranger_agent = stranger.agent("strangers-agent").await;
        let beginning = witness.events().await.last_id;
        let world = World::make(&hub, 0).await;
        let (owner, agent, channel) = (&world.owner, &world.agent, world.channel());

        let former = hub.human("former").await;
        let former_agent = former.agent("formers-agent").await;
        let mut said_by_former = Vec::new();
        for (client, name) in [(&former.client, &former.name), (&former_agent.client, &former_agent.name)] {
            owner.add_member(channel, name).await.ok();
            let body = format!("What is a {CHANNEL_SECRET}, @{}?", owner.name);
            let said = client.say(channel, &body).await;
            owner.reply(channel, &said, &format!("@{name} A {CHANNEL_SECRET} is a bird")).await;
            client.react(&said, "approve").await.ok();
            client.download(&world.things["{sha256}"]).await.ok();
            said_by_former.push(said["id"].to_string());
        }
        owner.say(channel, &format!("@{} Feed the {CHANNEL_SECRET}", agent.name)).await;
        for name in [&former_agent.name, &former.name] {
            owner.delete(&format!("/api/channels/{channel}/members/{name}")).await.status(204);
        }
        // The secret also stands in an older text, in a pin and beside a reaction.
        let post = json!({"id": world.things["{post}"].parse::<i64>().unwrap()});
        owner.edit(&post, &format!("another {CHANNEL_SECRET}")).await.ok();
        owner.call("PUT", &format!("/api/channels/{channel}/pins/{}", post["id"])).await.ok();
        let reaction = json!({"reaction": "done", "metadata": {"note": CHANNEL_SECRET}});
        agent.post(&format!("/api/messages/{}/reactions", post["id"]), &reaction).await.ok();
        owner.call("PUT", &format!("/api/threads/{}/mute", post["id"])).await.ok();
        // Only the copy is left to be claimed.
        agent.claim(json!({"message_ids": [world.things["{dm}"].parse::<i64>().unwrap()]})).await;
        let copies = agent.inbox().await;
        let copy = copies.iter().find(|copy| copy["body"].as_str().unwrap().contains(CHANNEL_SECRET)).unwrap();
        let copy = copy["id"].to_string();

        let another = "another-den";
        owner.make_channel(json!({"name": another, "public": false})).await;
        owner.add_member(another, &agent.name).await.ok();
        let bearer = |key: Value| hub.nobody().bearer(key.as_str().unwrap());
        let limited_to = async |channel: &str| {
            let request = json!({"name": "limited", "agent": agent.name, "permissions": ["*"], "channels": [channel]});
            bearer(owner.post("/api/keys", &request).await.status(201).json()["key"].take())
        };
        let (limited, limited_to_channel) = (limited_to(another).await, limited_to(channel).await);
        let reads: Vec<_> = stoa_model::permissions::PermissionSet::reads().names();
        let (_, key) = owner.key(&agent.name, json!(reads)).await;
        let reader = hub.nobody().bearer(&key);
        let app = hub.app().await;
        let consent = Consent::of(authorize(owner, &app.parameters().set("scope", "mcp:read")).await);
        let code = consent.approve(owner, &agent.name).await.landing().get("code");
        let reading_app = hub.nobody().bearer(&app.exchange(&code).await.tokens().access);
        let (key, revoked) = owner.key(&agent.name, json!(["*"])).await;
        owner.delete(&format!("/api/keys/{}", key["id"])).await.status(200);
        let revoked = hub.nobody().bearer(&revoked);

        hub.settle().await;
        let newcomer = hub.human("newcomer").await;
        let newcomer_agent = newcomer.agent("newcomers-agent").await;
        Self {
            hub,
            world,
            _registry: registry,
            beginning,
            limited,
            limited_to_channel,
            reader,
            reading_app,
            revoked,
            former,
            former_agent,
            stranger,
            stranger_agent,
            newcomer,
            newcomer_agent,
            said_by_former,
            copy,
        }
    }

    /// The world as it is, and with each message that was said in the channel in place of the others.
    pub(super) fn worlds(&self) -> Vec<World> {
        let mut worlds = vec![self.world.clone(), self.world.about(&self.world.things["{post}"])];
        worlds.extend(self.said_by_former.iter().map(|message| self.world.about(message)));
        worlds
    }

    /// Follows the events from the beginning up to one that is meant for this visitor. None is about the channel.
    async fn assert_hears_nothing(&self, client: &Client, name: &str) {
        let mut stream = client.events_after(&self.beginning).await;
        let sign = self.hub.log_in("witness").await.dm(name, "a sign").await;
        let mut hidden = vec![CHANNEL_SECRET, self.world.channel()];
        let mut messages = vec![&self.world.things["{post}"]];
        messages.extend(&self.said_by_former);
        if name != self.world.agent.name {
            hidden.push(&self.world.agent.name);
            messages.push(&self.world.things["{dm}"]);
        }
        let is_of_former = name == self.former.name;
        let is_own = |member: &Value| *member == name || (is_of_former && *member == self.former_agent.name.as_str());
        loop {
            let frame = stream.next().await;
            // Who was taken out of a channel hears that, or their page would go on showing it.
            if frame.data["change"] == "member_removed" && is_own(&frame.data["member"]) {
                continue;
            }
            assert_eq!(shown(&frame.data.to_string(), &hidden), None, "an event for {name}: {frame:?}");
            let message = frame.data["message_id"].to_string();
            assert!(!messages.contains(&&message), "{name}: {frame:?}");
            if frame.event == "new_message" && frame.data["message_id"] == sign["id"] {
                return;
            }
        }
    }
}

/// Somebody who walks through all rows.
struct Visitor<'a> {
    name: &'a str,
    client: Client,
    /// People log in for each operation, as some end their sessions.
    is_person: bool,
    /// Words that no answer may contain.
    hidden: &'a [&'a str],
    /// Lists do not name the owner and their agent either.
    is_new: bool,
    /// What the answer to a row must be; `None` if any will do.
    expected: fn(&Row) -> Option<Answer>,
    /// The same for its aims.
    aimed: fn(&Row, Answer) -> Option<Answer>,
}

impl Visitor<'_> {
    /// Tries everything, and says all that was wrong at the end.
    async fn walk(&self, house: &House, worlds: &[World]) {
        let before = house.world.state().await;
        let mut faults = Vec::new();
        let mut rows = table();
        // Lists first: a trace of a request that names the channel is the visitor's own.
        rows.sort_by_key(|row| row.operation.contains('{'));
        for row in &rows {
            for (place, world) in worlds.iter().enumerate() {
                if place > 0 && !row.operation.contains("{id}") && !row.operation.contains("{message_id}") {
                    break;
                }
                faults.extend(self.send(house, world, row, None, (self.expected)(row)).await);
                for aim in &row.aims {
                    faults.extend(self.send(house, world, row, Some(aim), (self.aimed)(row, aim.refusal)).await);
                }
            }
        }
        assert!(faults.is_empty(), "{}: {faults:#?}", self.name);
        assert_eq!(house.world.state().await, before, "{} changed something", self.name);
    }

    /// What is wrong with the answer.
    async fn send(
        &self,
        house: &House,
        world: &World,
        row: &Row,
        aim: Option<&Aim>,
        expected: Option<Answer>,
    ) -> Option<String> {
        let client = if self.is_person { house.hub.log_in(self.name).await.client } else { self.client.clone() };
        let call = row.call(&client, world, self.name, aim);
        if row.never_ends && expected.is_none_or(|(status, _)| status == 0) {
            let status = call.open().await.status();
            return (!status.is_success()).then(|| format!("{}: {status}", row.operation));
        }
        let reply = call.await;
        let is_expected = match expected {
            None => true,
            Some((0, _)) => (200..300).contains(&reply.code()),
            Some((status, "")) => reply.code() == status,
            Some((status, code)) => reply.code() == status && reply.json()["code"] == code,
        };
        let mut hidden = self.hidden.to_vec();
        // What names the channel itself gets its name back in an answer.
        let is_list = !row.operation.contains('{') && aim.is_none();
        if is_list && !hidden.is_empty() {
            hidden.push(world.channel());
        }
        if is_list && self.is_new && !row.shows_cards {
            hidden.extend([world.owner.name.as_str(), &world.agent.name]);
        }
        let shown = shown(&reply.text(), &hidden);
        (!is_expected || shown.is_some()).then(|| format!("expected {expected:?}, shows {shown:?}: {reply:?}"))
    }
}

/// What agents get for an operation that is aimed at the owner's things.
fn expected_of_aim(row: &Row, refusal: Answer) -> Option<Answer> {
    Some(match row.access {
        Access::Session | Access::SessionThing => (403, "forbidden"),
        _ => refusal,
    })
}

/// For those who have nothing to do with the owner any more: the answers that a stranger gets.
async fn walk_like_a_stranger(house: &House, person: &Human, agent: &Agent, is_new: bool) {
    for (name, client, is_person) in [(&person.name, &person.client, true), (&agent.name, &agent.client, false)] {
        let expected: fn(&Row) -> Option<Answer> = match is_person {
            true => |row| Some(row.expected("stranger")),
            false => |row| Some(row.expected("agent")),
        };
        let aimed = if is_person { |_: &Row, refusal| Some(refusal) } else { expected_of_aim };
        let visitor = Visitor { name, client: client.clone(), is_person, hidden: &SECRETS, is_new, expected, aimed };
        visitor.walk(house, &house.worlds()).await;
        let client = if is_person { house.hub.log_in(name).await.client } else { client.clone() };
        house.assert_hears_nothing(&client, name).await;
        let everything = [
            "/api/inbox?status=all&full=true&limit=200",
            "/api/dm/system/messages",
            "/api/dm/owner0/messages",
            "/api/messages/search?q=plover",
            "/api/messages/search?q=heron",
            "/api/messages/search?q=bird",
            "/api/messages/search?q=in:den0",
            "/api/threads",
            "/api/notifications/unread",
        ];
        for path in everything {
            let reply = client.get(path).await.ok();
            assert_eq!(shown(&reply.text(), &["plover", "heron", "is a bird"]), None, "{name}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn a_former_member_is_a_stranger() {
    let house = House::make().await;
    walk_like_a_stranger(&house, &house.former, &house.former_agent, false).await;
    house.hub.finish().await;
}

#[tokio::test]
async fn a_new_account_is_a_stranger() {
    let house = House::make().await;
    walk_like_a_stranger(&house, &house.newcomer, &house.newcomer_agent, true).await;
    house.hub.finish().await;
}

/// What a key of the owner's agent gets that reaches another channel only.
fn expected_of_limited(row: &Row) -> Option<Answer> {
    match row.access {
        Access::Session => Some((403, "forbidden")),
        Access::Either => None,
        Access::EitherThing if row.is_the_agent => Some((0, "")),
        _ => Some(row.expected("agent")),
    }
}

#[tokio::test]
async fn a_limited_key_stays_in_its_channel() {
    let house = House::make().await;
    let visitor = Visitor {
        name: "limited",
        client: house.limited.clone(),
        is_person: false,
        hidden: &[CHANNEL_SECRET],
        is_new: false,
        expected: expected_of_limited,
        // No limited key makes channels.
        aimed: |row, refusal| match row.operation {
            "POST /api/channels" => Some((403, "forbidden")),
            _ if row.is_the_agent => None,
            _ => expected_of_aim(row, refusal),
        },
    };
    // The direct messages of the agent are within its reach, so all messages here are those of the channel.
    visitor.walk(&house, &house.worlds()[1..]).await;
    // Of the copy of a message it sees that it is there, and neither its text nor that it could be settled.
    let (copy, before) = (house.world.about(&house.copy), house.world.agent.inbox().await);
    for row in table().iter().filter(|row| row.operation.contains("/api/messages/{id}")) {
        let reply = row.call(&house.limited, &copy, "limited", None).await;
        assert_eq!(shown(&reply.text(), &[CHANNEL_SECRET]), None, "{reply:?}");
        assert!(reply.code() >= 400 || row.operation.starts_with("GET "), "{reply:?}");
    }
    assert_eq!(house.world.agent.inbox().await, before);
    house.assert_hears_nothing(&house.limited, &house.world.agent.name).await;
    house.hub.finish().await;
}

/// What a key of the owner's agent gets that only reads: all that the agent sees, and nothing is done.
fn expected_of_reader(row: &Row) -> Option<Answer> {
    let is_read = row.operation.starts_with("GET ");
    match row.access {
        Access::Either | Access::EitherThing if is_read => Some((0, "")),
        Access::Either | Access::EitherThing | Access::Session => Some((403, "forbidden")),
        _ => Some(row.expected("agent")),
    }
}

#[tokio::test]
async fn a_key_that_reads_changes_nothing_at_all() {
    let house = House::make().await;
    let visitor = Visitor {
        name: "reader",
        client: house.reader.clone(),
        is_person: false,
        hidden: &[],
        is_new: false,
        expected: expected_of_reader,
        aimed: |row, _| expected_of_reader(row),
    };
    visitor.walk(&house, &house.worlds()).await;
    house.hub.finish().await;
}
