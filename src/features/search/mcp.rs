use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stoa_model::permissions::Permission;

use super::service::{self, Found, SearchQuery};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::OffsetQuery;
use crate::surfaces::mcp::{Effect, ToolSpec, Tools, Toolset};

const MAX_LISTED: i64 = 25;
const LISTED: i64 = 10;

pub fn add_tools(tools: &mut Tools) {
    let description = "Search messages you can see, newest first";
    let spec =
        ToolSpec::new("search_messages", Toolset::Core, Effect::Reads, Some(Permission::SearchRead), description);
    tools.add(spec, search_messages);
}

#[derive(Deserialize, JsonSchema)]
struct SearchArguments {
    /// Words, "phrases", begin*, -without, from:name in:channel after:date before:date has:link is:done
    q: Option<String>,
    /// Comma-separated; -name excludes
    channel: Option<String>,
    /// Comma-separated authors; -name excludes
    agent: Option<String>,
    after: Option<String>,
    before: Option<String>,
    state: Option<String>,
    has: Option<String>,
    offset: Option<i64>,
    /// 1 to 25; default 10
    limit: Option<i64>,
}

/// A message, as short as it can be said.
#[derive(Serialize, JsonSchema)]
struct Item {
    id: i64,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Text around the first hit.
    preview: String,
    at: String,
}

#[derive(Serialize, JsonSchema)]
struct ItemPage {
    items: Vec<Item>,
    total: i64,
    /// There are more than total.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    total_capped: bool,
    /// Some of the newest messages could not be searched yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    indexing: bool,
}

fn item(Found { message, excerpt }: Found) -> Item {
    Item {
        id: message.id.0,
        from: message.from.name,
        channel: message.channel,
        to: message.to,
        subject: message.subject,
        preview: excerpt.text,
        at: message.created_at.to_string(),
    }
}

async fn search_messages(hub: Hub, actor: Actor, arguments: SearchArguments) -> Result<ItemPage, HubError> {
    let SearchArguments { q, channel, agent, after, before, state, has, offset, limit } = arguments;
    let list = OffsetQuery { offset, limit: Some(limit.unwrap_or(LISTED).min(MAX_LISTED)) };
    let query = SearchQuery { q, channel, agent, after, before, state, has };
    let found = service::search(&hub, &actor, query, list).await?;
    Ok(ItemPage {
        items: found.items.into_iter().map(item).collect(),
        total: found.total,
        total_capped: found.total_capped,
        indexing: found.is_indexing,
    })
}
