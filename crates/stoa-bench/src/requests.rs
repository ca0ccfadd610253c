//! What is asked of a hub that was filled.

use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::dice::Dice;
use super::fill::Filled;
use super::history::Writer;
use super::hub_process::HubProcess;
use super::load::{Ask, Extent, Order};
use super::raw_writer::DM_EVERY;

/// Where hubs speak MCP.
pub(super) const MCP_PATH: &str = "/mcp";
/// Different messages that are sent in turn.
const MESSAGES: usize = 1024;
/// Rooms and agents that listings are asked of: those that have much to show, whatever the size.
const SHOWN_ROOMS: usize = 4;
const SHOWN_AGENTS: usize = 3;

/// A listing, and where it is.
pub(super) struct Listing {
    pub(super) name: &'static str,
    pub(super) asks: Vec<Ask>,
}

/// Messages into channels, and some DMs, each by an agent that may send it.
pub(super) fn messages(filled: &Filled) -> Vec<Ask> {
    let (population, writer, mut dice) = (&filled.population, Writer::new(), Dice::new(3));
    let first_agent = population.first_agent;
    let mut asks = Vec::new();
    while asks.len() < MESSAGES {
        let body = writer.text(&mut dice);
        let (agent, message) = if dice.below(DM_EVERY) == 0 && !filled.history.pairs.is_empty() {
            let (agent, partner) = filled.history.pairs[dice.below(filled.history.pairs.len() as u64) as usize];
            (agent, json!({"to": population.people[partner].name, "body": body}))
        } else {
            let room = &population.rooms[dice.below(population.rooms.len() as u64) as usize];
            let member = room.members[dice.below(room.members.len() as u64) as usize];
            (member, json!({"channel": room.name, "body": body}))
        };
        // People have no keys.
        if let Some(agent) = agent.checked_sub(first_agent) {
            let body = Some(message.to_string());
            asks.push(Ask { path: "/api/messages".to_owned(), body, credential: Some(agent) });
        }
    }
    asks
}

/// The same messages, sent by tools.
pub(super) fn tool_calls(sends: &[Ask]) -> Result<Vec<Ask>, String> {
    let call = |ask: &Ask| {
        let arguments: Value = serde_json::from_str(ask.body.as_deref().unwrap_or_default())
            .map_err(|error| format!("a message is not JSON: {error}"))?;
        let tool = if arguments["to"].is_null() { "send_channel_message" } else { "send_message" };
        let body = Some(tool_call(tool, &arguments));
        Ok(Ask { path: MCP_PATH.to_owned(), body, credential: ask.credential })
    };
    sends.iter().map(call).collect()
}

pub(super) fn tool_call(tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// What MCP wants to see in each request.
pub(super) fn add_mcp_headers(headers: &mut HeaderMap) {
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
}

/// The pages that people and agents look at most.
pub(super) fn listings(filled: &Filled) -> Vec<Listing> {
    let (population, history) = (&filled.population, &filled.history);
    let first_agent = population.first_agent;
    let ask = |path: String, agent: usize| Ask { path, body: None, credential: Some(agent) };
    let by_room = |query: &dyn Fn(usize) -> String| {
        let rooms = population.rooms.iter().enumerate().take(SHOWN_ROOMS);
        let asks = rooms.filter_map(|(place, room)| {
            let agent = room.members.iter().find_map(|member| member.checked_sub(first_agent))?;
            Some(ask(format!("/api/channels/{}/messages?limit=20{}", room.name, query(place)), agent))
        });
        asks.collect::<Vec<_>>()
    };
    let by_agent = |path: &str| (0..SHOWN_AGENTS).map(|agent| ask(path.to_owned(), agent)).collect::<Vec<_>>();
    let by_pair = (0..SHOWN_AGENTS).map(|agent| {
        let partner = &population.people[first_agent + agent + 1].name;
        ask(format!("/api/dm/{partner}/messages?limit=20"), agent)
    });
    let by_message = |rest: &str| {
        let answered = history.answered.iter().take(64);
        answered.map(|id| ask(format!("/api/messages/{id}{rest}"), 0)).collect::<Vec<_>>()
    };
    let listings = vec![
        Listing { name: "channel, newest", asks: by_room(&|_| String::new()) },
        Listing { name: "channel, middle", asks: by_room(&|place| format!("&before={}", history.middles[place])) },
        Listing { name: "dm", asks: by_pair.collect() },
        Listing { name: "inbox", asks: by_agent("/api/inbox?limit=10") },
        Listing { name: "partners", asks: by_agent("/api/dm/partners") },
        Listing { name: "unread", asks: by_agent("/api/notifications/unread") },
        Listing { name: "message", asks: by_message("") },
        Listing { name: "replies", asks: by_message("/replies") },
    ];
    listings.into_iter().filter(|listing| !listing.asks.is_empty()).collect()
}

/// An order to a hub that was filled, for a time.
pub(super) fn order(
    hub: &HubProcess,
    filled: &Filled,
    asks: Vec<Ask>,
    status: u16,
    connections: usize,
    seconds: f64,
) -> Order {
    Order {
        server: hub.pid,
        address: hub.address,
        asks,
        events: None,
        status,
        credentials: filled.population.keys(),
        connections,
        extent: Extent::Seconds(seconds),
        rate: None,
    }
}
