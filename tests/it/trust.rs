//! Trust: what people say of an agent's work, replayed from nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Agent, Client, DAY, Human, MINUTE, TestHub, how_many, together};
use crate::walk::{Row, ToolRow, either, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![shows_own("get_trust", json!({"agent": "{name}"}))]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![either("GET /api/trust/{agent}")]
}

impl Client {
    async fn trust(&self, agent: &str) -> Vec<Value> {
        self.get(&format!("/api/trust/{agent}")).await.ok().json().as_array().unwrap().clone()
    }

    /// The score and the adjustments of an agent in one kind of work.
    async fn trusted(&self, agent: &str, action_type: &str) -> (f64, i64) {
        let found = self.trust(agent).await.into_iter().find(|trust| trust["action_type"] == action_type);
        found.map_or((0.0, 0), |trust| (trust["score"].as_f64().unwrap(), trust["adjustments"].as_i64().unwrap()))
    }

    /// A message that says what kind of work it is.
    async fn work(&self, channel: &str, action_type: &str) -> Value {
        self.send(json!({"channel": channel, "body": "work", "metadata": {"action_type": action_type}})).await
    }
}

#[tokio::test]
async fn people_raise_and_lower_it() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, bee) = (ada.agent("scout").await, ada.agent("bee").await);
    assert_eq!(ada.trust("scout").await, Vec::<Value>::new());
    let (first, second) = (scout.say("general", "one").await, scout.say("general", "two").await);
    ada.react(&first, "approve").await.ok();
    assert_eq!(
        eve.get("/api/trust/scout").await.ok().json(),
        json!([{"action_type": "publish", "score": 0.05, "adjustments": 1, "updated_at": "2027-01-15T08:00:00.000Z"}])
    );
    eve.react(&first, "approve").await.ok();
    eve.react(&second, "approve").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.15, 3));
    ada.react(&second, "reject").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.05, 4));
    // Never below nothing: replayed, what is taken out counts as if it had never been.
    ada.react(&first, "reject").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.0, 5));
    hub.advance(MINUTE);
    ada.react(&second, "reject").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.05, 4));
    assert_eq!(ada.trust("scout").await[0]["updated_at"], "2027-01-15T08:01:00.000Z");
    // Other reactions, other reactors and other authors change nothing.
    for reaction in ["in_progress", "done", "published"] {
        eve.react(&first, reaction).await.ok();
    }
    bee.react(&first, "approve").await.ok();
    bee.react(&second, "reject").await.ok();
    let human = ada.say("general", "three").await;
    eve.react(&human, "approve").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.05, 4));
    // A DM counts as well, and its kind of work is its own.
    let dm = scout.send(json!({"to": "eve", "body": "x", "metadata": {"action_type": "deploy.prod"}})).await;
    eve.react(&dm, "approve").await.ok();
    let odd = scout.send(json!({"to": "eve", "body": "x", "metadata": {"action_type": "No such Label!"}})).await;
    eve.react(&odd, "approve").await.ok();
    let kinds: Vec<_> = ada.trust("scout").await.into_iter().map(|trust| trust["action_type"].clone()).collect();
    assert_eq!(kinds, ["deploy.prod", "publish"]);
    assert_eq!(ada.trusted("scout", "publish").await, (0.1, 5));
    hub.finish().await;
}

#[tokio::test]
async fn it_outlives_the_message() {
    let hub = TestHub::setup().session_lifetime(10 * DAY).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let message = scout.say("general", "one").await;
    ada.react(&message, "approve").await.ok();
    scout.take_back(&message).await.ok();
    ada.react(&message, "reject").await.problem(409, "message_deleted");
    assert_eq!(ada.trusted("scout", "publish").await, (0.05, 1));
    hub.advance(2 * DAY);
    hub.operator().call("messages.purge", json!({"older_than": "1d"})).await;
    let later = scout.say("general", "two").await;
    ada.react(&later, "approve").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.1, 2));
    hub.finish().await;
}

#[tokio::test]
async fn everybody_may_know_it() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    let message = scout.say("general", "one").await;
    ada.react(&message, "approve").await.ok();
    assert_eq!(spy.trusted("scout", "publish").await, (0.05, 1));
    for unknown in ["nobody", "ada", "system"] {
        ada.get(&format!("/api/trust/{unknown}")).await.problem(404, "not_found");
    }
    let (_, key) = ada.key("scout", json!(["reactions:write"])).await;
    hub.nobody().bearer(&key).get("/api/trust/scout").await.problem(403, "forbidden");
    let own = scout.tool("get_trust", json!({})).await;
    assert_eq!((&own["agent"], &own["trust"][0]["score"]), (&json!("scout"), &json!(0.05)));
    assert_eq!(spy.tool("get_trust", json!({"agent": "@scout"})).await["trust"], own["trust"]);
    assert_eq!(spy.tool("get_trust", json!({})).await["trust"], json!([]));
    assert_eq!(spy.tool_refused("get_trust", json!({"agent": "nobody"})).await.0, "not_found");
    ada.delete("/api/agents/scout").await.ok();
    ada.get("/api/trust/scout").await.problem(404, "not_found");
    hub.finish().await;
}

/// Numbers that come out the same in every run, and look as if they did not.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// What people have said and not taken back, in its order: who, of which message, and how.
type Ledger = Vec<(usize, usize, &'static str)>;

/// The score that it comes to, in hundredths.
fn replay<'a>(ledger: impl Iterator<Item = &'a (usize, usize, &'static str)>) -> i64 {
    ledger.fold(0, |score, (.., reaction)| (score + if *reaction == "approve" { 5 } else { -10 }).clamp(0, 100))
}

struct Scene {
    people: Vec<Human>,
    scout: Agent,
    /// Each with its kind of work.
    messages: Vec<(Value, &'static str)>,
    ledger: Ledger,
}

impl Scene {
    async fn begin(hub: &TestHub) -> Self {
        let mut people = Vec::new();
        for name in ["ada", "bob", "cyd", "eve"] {
            people.push(hub.human(name).await);
        }
        let scout = people[0].agent("scout").await;
        let mut messages = Vec::new();
        for n in 0..12 {
            let kind = if n % 3 == 0 { "review" } else { "publish" };
            messages.push((scout.work("general", kind).await, kind));
        }
        Self { people, scout, messages, ledger: Vec::new() }
    }

    async fn toggle(&mut self, entry: (usize, usize, &'static str)) {
        let (who, what, reaction) = entry;
        let reacted = self.people[who].react(&self.messages[what].0, reaction).await.ok().json();
        match self.ledger.iter().position(|known| *known == entry) {
            Some(place) => {
                assert_eq!(reacted["action"], "removed");
                self.ledger.remove(place);
            }
            None => {
                assert_eq!(reacted["action"], "added");
                self.ledger.push(entry);
            }
        }
    }

    async fn check(&self) {
        let mut expected = BTreeMap::new();
        for kind in ["publish", "review"] {
            let of_kind = || self.ledger.iter().filter(|(_, what, _)| self.messages[*what].1 == kind);
            expected.insert(kind, (replay(of_kind()), i64::try_from(of_kind().count()).unwrap()));
        }
        for (kind, (score, adjustments)) in expected {
            let (found, count) = self.people[0].trusted(&self.scout.name, kind).await;
            #[expect(clippy::cast_possible_truncation, reason = "a score has few digits")]
            let found = (found * 100.0).round() as i64;
            assert_eq!((found, count), (score, adjustments), "{kind} after {:?}", self.ledger);
        }
    }
}

#[tokio::test]
async fn toggling_farms_nothing() {
    let hub = TestHub::start().await;
    let mut scene = Scene::begin(&hub).await;
    let mut dice = Dice(7);
    for step in 0..1000 {
        // More approvals than rejections, so that both ends of the scale are reached.
        let reaction = if dice.roll(4) == 0 { "reject" } else { "approve" };
        let entry = (dice.roll(scene.people.len()), dice.roll(scene.messages.len()), reaction);
        scene.toggle(entry).await;
        if step % 50 == 49 {
            scene.check().await;
        }
    }
    scene.check().await;
    hub.finish().await;
}

#[tokio::test]
async fn toggles_at_once_are_replayed_too() {
    let hub = TestHub::start().await;
    let scene = Scene::begin(&hub).await;
    // Everybody approves everything at once: the order is the hub's, the sum is not.
    let approvals = scene.people.iter().flat_map(|human| scene.messages.iter().map(|(m, _)| human.react(m, "approve")));
    let replies = together(approvals).await;
    assert_eq!(how_many(&replies, 200), 48);
    assert_eq!(scene.people[0].trusted("scout", "publish").await, (1.0, 32));
    assert_eq!(scene.people[0].trusted("scout", "review").await, (0.8, 16));
    let sums = "select count(*) as n from trust t where t.adjustments <> (select count(*) from trust_ledger l
        where l.agent_id = t.agent_id and l.action_type = t.action_type)";
    assert_eq!(hub.count(sums).await, 0);
    let last = "select count(*) as n from trust t where t.score <> (select l.score from trust_ledger l
        where l.agent_id = t.agent_id and l.action_type = t.action_type order by l.id desc limit 1)";
    assert_eq!(hub.count(last).await, 0);
    hub.finish().await;
}

/// A DM that tells of a mention says nothing new, so approving it adds nothing.
#[tokio::test]
async fn what_only_tells_of_a_mention_counts_for_nothing() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let post = scout.say("general", "@ada look").await;
    let copy = ada.inbox().await.remove(0);
    assert_ne!(copy["id"], post["id"]);
    ada.react(&copy, "approve").await.ok();
    assert!(ada.trust("scout").await.is_empty());
    ada.react(&post, "approve").await.ok();
    assert_eq!(ada.trusted("scout", "publish").await, (0.05, 1));
    hub.finish().await;
}
