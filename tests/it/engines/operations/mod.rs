//! What a sequence can do. Each feature registers its operations, with a weight and a function that draws one.

mod accounts;
mod agents;
mod channels;
mod files;
mod inbox;
mod messages;
mod notifications;
mod oauth;
mod reactions;
mod reading;
mod tools;

use serde_json::{Value, json};

use super::dice::Dice;
use super::step::{Action, Draft, reference};
use super::text;
use super::world::{KnownMessage, World};
use crate::search::encoded;

/// An operation of the REST API as the walk names it (`POST /api/messages`), or a tool (`tool send_message`).
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) weight: usize,
    pub(crate) draw: fn(&mut Draw<'_>) -> Option<Draft>,
}

fn operation(name: &'static str, weight: usize, draw: fn(&mut Draw<'_>) -> Option<Draft>) -> Operation {
    Operation { name, weight, draw }
}

/// All operations. A new feature adds a line.
pub(crate) fn all() -> Vec<Operation> {
    let of_features = [
        accounts::operations(),
        agents::operations(),
        channels::operations(),
        files::operations(),
        inbox::operations(),
        messages::operations(),
        notifications::operations(),
        oauth::operations(),
        reactions::operations(),
        reading::operations(),
        tools::operations(),
    ];
    let time = operation("advance", 60, |draw| {
        let seconds = match draw.dice.below(10) {
            0 => 3600 * (1 + draw.dice.below(30)),
            1 | 2 => 60 * (1 + draw.dice.below(20)),
            _ => 1 + draw.dice.below(30),
        };
        Some(Draft { actor: "nobody".to_owned(), action: Action::Advance(seconds as u64) })
    });
    of_features.into_iter().flatten().chain([time]).collect()
}

const RUNS: &str = "programs end when they end; tests of runs run on both engines";

/// Operations that no sequence carries out, with the reason.
pub(crate) const LEFT_OUT: &[(&str, &str)] = &[
    ("GET /api/runs", RUNS),
    ("GET /api/runs/{id}", RUNS),
    ("POST /api/runs/{id}/retry", RUNS),
    ("POST /api/runs/{id}/cancel", RUNS),
    ("POST /api/runs/{id}/result", RUNS),
    ("POST /api/agents/{name}/run-secret", RUNS),
    ("GET /api/agents/reactive", RUNS),
    ("POST /api/agents/{name}/check", RUNS),
    ("GET /api/programs", "it shows what is installed on the machine; tests of runs run on both engines"),
    ("GET /api/automation", RUNS),
    ("POST /api/automation/stop", RUNS),
    ("POST /api/automation/resume", RUNS),
    ("GET /api/messages/{id}/delivery", RUNS),
    ("tool list_runs", RUNS),
    ("tool get_run", RUNS),
    ("GET /api/admin/invitations", "made by the operator only; tests of registration run on both engines"),
    ("DELETE /api/admin/invitations/{id}", "made by the operator only; tests of registration run on both engines"),
    ("DELETE /api/oauth/grants/{id}", "needs a browser's consent; tests of OAuth do it on both engines"),
    (
        "DELETE /api/webhooks/{id}",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks/dead-letters",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks/deliveries",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks/deliveries/{id}",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks/{id}",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "GET /api/webhooks/{id}/deliveries",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "PATCH /api/webhooks/{id}",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks/deliveries/{id}/retry",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks/{id}/enable",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks/{id}/retry-dead",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks/{id}/rotate-secret",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "POST /api/webhooks/{id}/test",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "tool delete_webhook",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "tool list_webhooks",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    (
        "tool register_webhook",
        "secrets are random, and answers follow from receivers; tests of webhooks run on both engines",
    ),
    ("GET /api/hooks", "ids and secrets are random; tests of hooks run on both engines"),
    ("POST /api/hooks", "ids and secrets are random; tests of hooks run on both engines"),
    ("GET /api/hooks/{id}", "ids and secrets are random; tests of hooks run on both engines"),
    ("PATCH /api/hooks/{id}", "ids and secrets are random; tests of hooks run on both engines"),
    ("DELETE /api/hooks/{id}", "ids and secrets are random; tests of hooks run on both engines"),
    ("GET /api/hooks/{id}/requests", "ids and secrets are random; tests of hooks run on both engines"),
    ("POST /hooks/{id}", "ids and secrets are random; tests of hooks run on both engines"),
    ("POST /hooks/{id}/{secret}", "ids and secrets are random; tests of hooks run on both engines"),
    ("GET /oauth/authorize", "OAuth has tests of its own on both engines"),
    ("POST /oauth/authorize/decision", "OAuth has tests of its own on both engines"),
    ("POST /oauth/introspect", "OAuth has tests of its own on both engines"),
    ("POST /oauth/register", "OAuth has tests of its own on both engines"),
    ("GET /oauth/register/{client_id}", "OAuth has tests of its own on both engines"),
    ("DELETE /oauth/register/{client_id}", "OAuth has tests of its own on both engines"),
    ("POST /oauth/revoke", "OAuth has tests of its own on both engines"),
    ("POST /oauth/token", "OAuth has tests of its own on both engines"),
    ("GET /.well-known/oauth-authorization-server", "does not read the database"),
    ("GET /.well-known/oauth-protected-resource", "does not read the database"),
    ("GET /.well-known/oauth-protected-resource/mcp", "does not read the database"),
    ("GET /.well-known/svc-machine-principal-registry/v1/schema.json", "does not read the database"),
    (
        "tool gc_attachments",
        "the administrator who is drawn has no agent; tests of attachments call it on both engines",
    ),
    ("GET /api/version", "does not read the database"),
    ("GET /healthz", "does not read the database"),
    ("GET /readyz", "says the same on both engines whenever the hub runs"),
    ("GET /metrics", "figures of the process"),
    ("GET /api/admin/system", "names the engine and its figures"),
    ("GET /api/events", "a stream; the run with clients at the same time follows it"),
    ("GET /api/admin/principals", "needs a registry of machine principals"),
    ("GET /api/admin/principals/{principal_id}", "needs a registry of machine principals"),
    ("DELETE /machine/runtime-status/{component}", "needs a signature by a machine principal"),
    ("DELETE /machine/source-configs/{source}", "needs a signature by a machine principal"),
    ("GET /machine/evidence", "needs a signature by a machine principal"),
    ("GET /machine/source-configs", "needs a signature by a machine principal"),
    ("GET /machine/source-configs/{source}", "needs a signature by a machine principal"),
    ("POST /machine/events", "needs a signature by a machine principal"),
    ("PUT /machine/runtime-status/{component}", "needs a signature by a machine principal"),
    ("PUT /machine/source-configs/{source}", "needs a signature by a machine principal"),
];

/// What an operation is drawn from.
pub(crate) struct Draw<'a> {
    pub(crate) dice: &'a mut Dice,
    pub(crate) world: &'a World,
}

impl Draw<'_> {
    pub(crate) fn person(&mut self) -> String {
        self.dice.one_of(&self.world.people).cloned().unwrap_or_default()
    }

    /// An agent, if there is one.
    pub(crate) fn agent(&mut self) -> String {
        self.dice.one_of(&self.world.agents).map(|(agent, _)| agent.clone()).unwrap_or_default()
    }

    /// Somebody whose credential works, most often.
    pub(crate) fn anyone(&mut self) -> String {
        let first = self.any_caller();
        let is_locked_out = self.world.locked_out.contains(&first) && self.dice.chance(90);
        if is_locked_out { self.any_caller() } else { first }
    }

    fn any_caller(&mut self) -> String {
        let key = self.dice.recent(&self.world.keys).cloned();
        match (self.dice.below(100), key) {
            (0, _) => "nobody".to_owned(),
            (1, _) => "root".to_owned(),
            (2..8, Some(key)) => key,
            (8..55, _) => self.person(),
            _ => self.agent(),
        }
    }

    /// Somebody's name, or what is none.
    pub(crate) fn name(&mut self) -> String {
        match self.dice.below(12) {
            0 => text::odd_name(self.dice),
            1 => self.dice.one_of(&self.world.names()).map(|name| name.to_uppercase()).unwrap_or_default(),
            _ => self.dice.one_of(&self.world.names()).cloned().unwrap_or_default(),
        }
    }

    /// A channel's name, or what is none.
    pub(crate) fn channel(&mut self) -> String {
        if self.dice.chance(4) {
            return text::odd_name(self.dice);
        }
        self.dice.one_of(&self.world.channels).cloned().unwrap_or_default()
    }

    pub(crate) fn message(&mut self) -> Option<KnownMessage> {
        self.dice.recent(&self.world.messages).cloned()
    }

    /// A reference to a message, seldom an id that no message has.
    pub(crate) fn message_reference(&mut self) -> Option<String> {
        if self.dice.chance(2) {
            return Some(self.dice.pick(&["999999999", "0", "-1", "9223372036854775807", "x"]).to_owned());
        }
        self.message().map(|message| reference(&message.reference))
    }

    /// A message and somebody who has probably to do with it.
    pub(crate) fn message_and_party(&mut self) -> Option<(KnownMessage, String)> {
        let message = self.message()?;
        let party = match (self.dice.below(10), &message.to) {
            (0..3, _) => message.author.clone(),
            (3..6, Some(to)) => to.clone(),
            (6, Some(to)) => self.world.owner_of(to).to_owned(),
            (7, _) => self.world.owner_of(&message.author).to_owned(),
            _ => self.anyone(),
        };
        Some((message, party))
    }

    /// A message and its author, most often.
    pub(crate) fn message_and_author(&mut self) -> Option<(KnownMessage, String)> {
        let (message, party) = self.message_and_party()?;
        let author = message.author.clone();
        Some((message, if self.dice.chance(60) { author } else { party }))
    }

    /// The owner of a channel, most often.
    pub(crate) fn channel_owner(&mut self, channel: &str) -> String {
        let owner = self.world.channel_owners.get(channel).cloned().filter(|_| self.dice.chance(65));
        owner.unwrap_or_else(|| self.anyone())
    }

    pub(crate) fn text(&mut self) -> String {
        text::body(self.dice, &self.world.names())
    }

    pub(crate) fn limit(&mut self) -> String {
        match self.dice.below(20) {
            0 => self.dice.pick(&["0", "-1", "201", "x", "99999999999999999999", "1.5", ""]).to_owned(),
            1..4 => "200".to_owned(),
            _ => (1 + self.dice.below(6)).to_string(),
        }
    }

    /// A segment of a path.
    pub(crate) fn segment(name: &str) -> String {
        if name.is_empty() { "%20".to_owned() } else { encoded(name) }
    }
}

/// Makes some requests wrong, and sends some twice.
pub(crate) fn spice(dice: &mut Dice, world: &World, number: usize, draft: Draft) -> Draft {
    let mut draft = draft;
    let Action::Call(call) = &mut draft.action else { return mangled_tool(dice, draft) };
    if call.method == "GET" {
        // The next page is then asked for later.
        call.all_pages &= dice.chance(70);
        return draft;
    }
    if dice.chance(3)
        && let Some(earlier) = dice.recent(&world.repeatable)
    {
        let mut again = earlier.clone();
        // The same key with another request.
        if dice.chance(30)
            && let (Action::Call(again), Some(_)) = (&mut again.action, &call.body)
        {
            again.body.clone_from(&call.body);
        }
        return again;
    }
    let draft = if dice.chance(5) { draft.header("idempotency-key", format!("key-{number}")) } else { draft };
    if dice.chance(4) { mangled_call(dice, draft) } else { draft }
}

fn mangled_call(dice: &mut Dice, mut draft: Draft) -> Draft {
    let Action::Call(call) = &mut draft.action else { return draft };
    call.body = call.body.take().map(|body| mangled(dice, &body));
    draft
}

fn mangled_tool(dice: &mut Dice, mut draft: Draft) -> Draft {
    // This tool keeps its time limit: the clock of these hubs does not move, so a wait without a limit would never end.
    if let Action::Tool { name, arguments } = &mut draft.action
        && name != "wait_for_messages"
        && dice.chance(4)
    {
        // What is no JSON never reaches a tool, so only its fields are changed.
        let Ok(value) = serde_json::from_str(arguments) else { return draft };
        *arguments = with_wrong_field(dice, value).to_string();
    }
    draft
}

fn mangled(dice: &mut Dice, body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    match dice.below(8) {
        0 => body[..body.len() - 1].to_owned(),
        1 => format!("[{body}]"),
        2 => String::new(),
        3 => format!("{body} {body}"),
        _ => with_wrong_field(dice, value).to_string(),
    }
}

/// The same with one field that has the wrong type or value, is missing, or is unknown.
fn with_wrong_field(dice: &mut Dice, mut value: Value) -> Value {
    let Some(fields) = value.as_object_mut() else { return value };
    let known: Vec<String> = fields.keys().cloned().collect();
    let field = dice.one_of(&known).cloned().unwrap_or_else(|| "extra".to_owned());
    match dice.below(9) {
        0 => drop(fields.remove(&field)),
        1 => drop(fields.insert("unknown".to_owned(), json!(1))),
        2 => drop(fields.insert(field, json!(-1))),
        3 => drop(fields.insert(field, json!({"a": []}))),
        4 => drop(fields.insert(field, json!("y".repeat(300)))),
        5 => drop(fields.insert(field, json!(text::hostile(dice).replace(text::LONE_SURROGATE, "")))),
        6 => drop(fields.insert(field, json!(1.5e300))),
        7 => drop(fields.insert(field, json!(true))),
        _ => drop(fields.insert(field, Value::Null)),
    }
    value
}
