//! The same walk over MCP: every tool, resource and prompt is tried by everybody who must not reach what it is about.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::visitors::House;
use super::world::{CHANNEL_SECRET, SECRETS, World, shown};
use crate::support::{Client, Messages, Reply, TestHub};

#[derive(Clone, Copy, PartialEq)]
enum ToolAccess {
    /// It is about a thing of the owner's.
    Thing,
    /// It shows what is the caller's own, or what everybody may see.
    Own,
    Admins,
}

/// What a tool is tried with.
pub(crate) struct ToolRow {
    tool: &'static str,
    arguments: Value,
    access: ToolAccess,
}

/// A tool that must refuse somebody else's things: `{channel}`, `{post}` in it with the file `{sha256}`, and `{dm}`.
pub(crate) fn refused(tool: &'static str, arguments: Value) -> ToolRow {
    ToolRow { tool, arguments, access: ToolAccess::Thing }
}

/// A tool that shows the caller's own things only, or what everybody may see.
pub(crate) fn shows_own(tool: &'static str, arguments: Value) -> ToolRow {
    ToolRow { tool, arguments, access: ToolAccess::Own }
}

/// A tool for the agents of administrators.
pub(crate) fn for_admins(tool: &'static str, arguments: Value) -> ToolRow {
    ToolRow { tool, arguments, access: ToolAccess::Admins }
}

fn table() -> Vec<ToolRow> {
    let of_features = [
        crate::attachments_access::tool_rows(),
        crate::channels::tool_rows(),
        crate::inbox::tool_rows(),
        crate::messages::tool_rows(),
        crate::names::tool_rows(),
        crate::search::tool_rows(),
        crate::trust::tool_rows(),
        crate::runs::tool_rows(),
        crate::webhooks::tool_rows(),
        crate::workflow::tool_rows(),
    ];
    of_features.into_iter().flatten().collect()
}

/// The names of all tools.
pub(crate) fn tools() -> BTreeSet<String> {
    table().iter().map(|row| row.tool.to_owned()).collect()
}

/// Resources by their address, and what stands there for a thing of the owner's.
const RESOURCES: [(&str, &[&str]); 4] = [
    ("stoa://inbox", &[]),
    ("stoa://channels/{name}", &["stoa://channels/{channel}"]),
    ("stoa://messages/{id}", &["stoa://messages/{post}", "stoa://messages/{dm}"]),
    ("stoa://attachments/{sha256}", &["stoa://attachments/{sha256}"]),
];

/// Prompts, and their arguments where they are about a thing of the owner's.
const PROMPTS: [(&str, Option<&str>); 4] = [
    ("daily-digest", None),
    ("channel-overview", Some("channel")),
    ("agent-health-check", None),
    ("debug-agent", Some("agent")),
];

/// With these codes tools refuse what does not exist for the caller.
const MISSING: [&str; 3] = ["not_found", "validation_failed", "unknown_attachment"];

/// A message to `/mcp` that is tried.
pub(super) struct Attempt {
    method: &'static str,
    params: Value,
    access: ToolAccess,
    is_read: bool,
    is_destructive: bool,
}

/// All attempts, which must be about all tools, resources and prompts that the hub offers to a credential without limits.
pub(super) async fn attempts(hub: &TestHub) -> Vec<Attempt> {
    let admin = hub.admin().await;
    let agent = admin.agent("broom").await;
    let list = async |method: &'static str, field: &str, key: &str| -> BTreeMap<String, Value> {
        let result = agent.mcp(method, json!({})).await.rpc_result();
        let listed = result[field].as_array().unwrap().iter();
        listed.map(|one| (one[key].as_str().unwrap().to_owned(), one["annotations"].clone())).collect()
    };
    let annotations = list("tools/list", "tools", "name").await;
    let offered: BTreeSet<_> = annotations.keys().cloned().collect();
    assert_eq!(tools(), offered, "a new tool is a line in tool_rows() of the tests of its feature");
    let listed = agent.mcp("tools/list", json!({})).await.rpc_result();
    for tool in listed["tools"].as_array().unwrap() {
        let arguments = tool["inputSchema"]["properties"].as_object().into_iter().flat_map(serde_json::Map::keys);
        for name in arguments.filter(|name| super::is_reference(name)) {
            let is_sent = table().iter().any(|row| tool["name"] == row.tool && !row.arguments[name].is_null());
            assert!(is_sent, "{} can name things of others in `{name}`: add a row with it", tool["name"]);
        }
    }
    let mut offered = list("resources/list", "resources", "uri").await;
    offered.extend(list("resources/templates/list", "resourceTemplates", "uriTemplate").await);
    let known: BTreeSet<_> = RESOURCES.iter().map(|(uri, _)| (*uri).to_owned()).collect();
    assert_eq!(known, offered.into_keys().collect(), "a new resource is a line in RESOURCES");
    let offered: BTreeSet<_> = list("prompts/list", "prompts", "name").await.into_keys().collect();
    let known: BTreeSet<_> = PROMPTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, offered, "a new prompt is a line in PROMPTS");

    let mut attempts: Vec<_> = table()
        .into_iter()
        .map(|row| Attempt {
            method: "tools/call",
            params: json!({"name": row.tool, "arguments": row.arguments}),
            access: row.access,
            is_read: annotations[row.tool]["readOnlyHint"] == true,
            is_destructive: annotations[row.tool]["destructiveHint"] == true,
        })
        .collect();
    let mut read = |method, params, access| {
        attempts.push(Attempt { method, params, access, is_read: true, is_destructive: false });
    };
    for (uri, things) in RESOURCES {
        if things.is_empty() {
            read("resources/read", json!({"uri": uri}), ToolAccess::Own);
        }
        for thing in things {
            read("resources/read", json!({"uri": thing}), ToolAccess::Thing);
        }
        if uri.ends_with("{name}") {
            let params =
                json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "name", "value": "de"}});
            read("completion/complete", params, ToolAccess::Own);
        }
    }
    for (name, argument) in PROMPTS {
        let Some(argument) = argument else {
            read("prompts/get", json!({"name": name}), ToolAccess::Own);
            continue;
        };
        let thing = if argument == "agent" { "{name}" } else { "{channel}" };
        read("prompts/get", json!({"name": name, "arguments": {argument: thing}}), ToolAccess::Thing);
        let params =
            json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": "de"}});
        read("completion/complete", params, ToolAccess::Own);
    }
    // So that what is taken away is taken away last.
    attempts.sort_by_key(|attempt| (!attempt.is_read, attempt.is_destructive));
    attempts
}

#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Answered,
    /// The code of a tool, or the number of the protocol.
    Refused(String),
    /// The caller did not get in.
    Closed(u16, String),
}

impl Attempt {
    /// Whether it names something of the owner's.
    pub(super) fn names(&self, thing: &str) -> bool {
        self.params.to_string().contains(thing)
    }

    pub(super) async fn send(&self, client: &Client, world: &World) -> (Outcome, Reply, String) {
        let params = match self.method {
            // It names a template as it is.
            "completion/complete" => self.params.clone(),
            _ => serde_json::from_str(&world.fill_text(&self.params.to_string(), "visitor")).unwrap(),
        };
        let what = format!("{} {params}", self.method);
        let reply = client.mcp(self.method, params).await;
        if reply.code() != 200 {
            let code = reply.json()["code"].as_str().unwrap_or_default().to_owned();
            return (Outcome::Closed(reply.code(), code), reply, what);
        }
        let answer = reply.json();
        let outcome = if answer["error"].is_object() {
            Outcome::Refused(answer["error"]["code"].to_string())
        } else if answer["result"]["isError"] == true {
            Outcome::Refused(answer["result"]["_meta"]["stoa/error"]["code"].as_str().unwrap().to_owned())
        } else {
            Outcome::Answered
        };
        (outcome, reply, what)
    }

    /// Whether it was refused as if the thing did not exist.
    pub(super) fn is_missing(&self, outcome: &Outcome) -> bool {
        let Outcome::Refused(code) = outcome else { return false };
        match self.method {
            "resources/read" => code == "-32002",
            "prompts/get" => code == "-32602",
            _ if self.names("create_channel") => code == "name_taken",
            _ => MISSING.contains(&code.as_str()),
        }
    }
}

/// Somebody who comes to `/mcp`.
struct Caller<'a> {
    name: &'a str,
    client: &'a Client,
    /// The worlds that they ask about, and the words of the owner's that they must not read.
    worlds: &'a [World],
    hidden: &'a [&'a str],
}

impl Caller<'_> {
    /// Tries everything, and says all that was wrong at the end.
    async fn walk(&self, house: &House, attempts: &[Attempt], is_right: impl Fn(&Attempt, &Outcome) -> bool) {
        let before = house.world.state().await;
        let mut faults = Vec::new();
        for attempt in attempts {
            for (place, world) in self.worlds.iter().enumerate() {
                if place > 0 && !attempt.names("{post}") && !attempt.names("{dm}") {
                    break;
                }
                let (outcome, reply, what) = attempt.send(self.client, world).await;
                let mut hidden = self.hidden.to_vec();
                if !hidden.is_empty() && !attempt.names("{channel}") {
                    hidden.push(world.channel());
                }
                let shown = shown(&reply.text(), &hidden);
                if !is_right(attempt, &outcome) || shown.is_some() {
                    faults.push(format!("{what}: {outcome:?}, shows {shown:?}: {reply:?}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}: {faults:#?}", self.name);
        assert_eq!(house.world.state().await, before, "{} changed something", self.name);
    }
}

fn refusal(code: &str) -> Outcome {
    Outcome::Refused(code.to_owned())
}

/// What callers with all permissions get for whom the owner's things do not exist.
fn is_right_for_outsider(attempt: &Attempt, outcome: &Outcome) -> bool {
    match attempt.access {
        ToolAccess::Thing => attempt.is_missing(outcome),
        ToolAccess::Own => *outcome == Outcome::Answered,
        ToolAccess::Admins => *outcome == refusal("admin_required"),
    }
}

#[tokio::test]
async fn no_agent_reaches_what_is_not_its_own() {
    let house = House::make().await;
    let attempts = attempts(&house.hub).await;
    let worlds = house.worlds();
    let outsiders = [&house.stranger_agent, &house.former_agent, &house.newcomer_agent];
    for agent in outsiders {
        let caller = Caller { name: &agent.name, client: &agent.client, worlds: &worlds, hidden: &SECRETS };
        caller.walk(&house, &attempts, is_right_for_outsider).await;
    }
    // The direct messages of its agent are within the reach of a limited key, so all messages here are those of the channel.
    let caller = Caller { name: "limited", client: &house.limited, worlds: &worlds[1..], hidden: &[CHANNEL_SECRET] };
    let is_right = |attempt: &Attempt, outcome: &Outcome| match attempt.names("create_channel") {
        true => *outcome == refusal("forbidden"),
        false => is_right_for_outsider(attempt, outcome),
    };
    caller.walk(&house, &attempts, is_right).await;
    let caller = Caller { name: "revoked", client: &house.revoked, worlds: &worlds[..1], hidden: &SECRETS };
    let closed = Outcome::Closed(401, "invalid_credentials".to_owned());
    caller.walk(&house, &attempts, |_, outcome| *outcome == closed).await;

    // Last: it may take things away. All of them were there.
    for attempt in &attempts {
        let (outcome, _, what) = attempt.send(&house.world.agent.client, &house.world).await;
        let is_found = !matches!(&outcome, Outcome::Refused(code) if MISSING.contains(&code.as_str()));
        assert!(is_found || attempt.access == ToolAccess::Admins, "{what} as the owner's agent: {outcome:?}");
    }
    house.hub.finish().await;
}

#[tokio::test]
async fn what_only_reads_uses_no_tool_that_writes() {
    let house = House::make().await;
    let attempts = attempts(&house.hub).await;
    let worlds = house.worlds();
    let closed = Outcome::Closed(403, "insufficient_scope".to_owned());
    for (name, client, refused) in
        [("reader", &house.reader, refusal("forbidden")), ("app", &house.reading_app, closed)]
    {
        let caller = Caller { name, client, worlds: &worlds, hidden: &[] };
        let is_right = |attempt: &Attempt, outcome: &Outcome| match attempt.is_read {
            true => *outcome == Outcome::Answered,
            false => *outcome == refused,
        };
        caller.walk(&house, &attempts, is_right).await;
    }
    house.hub.finish().await;
}

#[tokio::test]
async fn a_subscription_is_notified_of_nothing_hidden() {
    let house = House::make().await;
    let (world, agent) = (&house.world, house.world.agent.name.as_str());
    let uris = ["stoa://inbox".to_owned(), world.fill_text("stoa://channels/{channel}", "")];
    let callers = [
        (&house.limited, agent),
        (&house.former_agent.client, &house.former_agent.name),
        (&house.newcomer_agent.client, &house.newcomer_agent.name),
    ];
    for (client, name) in callers {
        let params = json!({"notifications": {"resourceSubscriptions": uris}});
        let mut stream = Messages::new(client.mcp_latest("subscriptions/listen", params).open().await);
        stream.next().await;
        world.owner.say(world.channel(), "hello").await;
        world.owner.dm(name, "a sign").await;
        let updated = stream.next().await;
        assert_eq!(updated["params"]["uri"], "stoa://inbox", "{name}: {updated}");
    }
    house.hub.finish().await;
}

#[tokio::test]
async fn a_cursor_is_of_use_only_to_who_got_it() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    let waited = spy.tool("wait_for_messages", json!({"timeout_seconds": 0})).await;
    scout.tool_refused("read_inbox", json!({"cursor": waited["next_cursor"]})).await;
    hub.finish().await;
}
