use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stoa_model::permissions::Permission;
use stoa_model::principals::Card;

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::mcp::{Effect, MAX_LISTED, ToolSpec, Tools, Toolset};

pub fn add_tools(tools: &mut Tools) {
    let spec = ToolSpec::new(
        "list_agents",
        Toolset::Core,
        Effect::Reads,
        Some(Permission::MessagesRead),
        "Agents and people you can message",
    );
    tools.add(spec, list_agents);
}

#[derive(Deserialize, JsonSchema)]
struct ListArguments {
    /// A part of a name
    query: Option<String>,
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    name: String,
    kind: &'static str,
    display_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// What an agent is for
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    presence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen_at: Option<String>,
}

impl From<Card> for Item {
    fn from(card: Card) -> Self {
        let last_seen_at = card.last_seen_at.map(|at| at.to_string());
        Self {
            name: card.name,
            kind: card.kind.name(),
            display_name: card.display_name,
            owner: card.owner,
            description: card.description,
            presence: card.presence.name(),
            last_seen_at,
        }
    }
}

async fn list_agents(hub: Hub, actor: Actor, arguments: ListArguments) -> Result<Listed, HubError> {
    let list = ListQuery { limit: Some(MAX_LISTED), cursor: arguments.cursor };
    let page = service::list(&hub, &actor, arguments.query.as_deref().unwrap_or_default(), list).await?;
    Ok(Listed { items: page.items.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor })
}
