use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stoa_model::MessageId;
use stoa_model::messages::WorkflowState;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::{ReactRequest, ReactedView, Reaction, ReactionAction, ReactionView, ReactionsView};

use super::{board, react, trust};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::messages::MessageItem;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::mcp::{Effect, MAX_LISTED, ToolSpec, Tools, Toolset};

pub fn add_tools(tools: &mut Tools) {
    use Effect::{Adds, Reads, Sets};
    use Permission::{MessagesRead, ReactionsWrite};
    let spec = |name, effect, permission, description| {
        ToolSpec::new(name, Toolset::Workflow, effect, Some(permission), description)
    };
    let description = "React to a message; in_progress claims it; repeat to undo";
    tools.add(spec("react", Adds, ReactionsWrite, description).repeatable(), react_to);
    tools.add(spec("unreact", Sets, ReactionsWrite, "Remove your reaction"), unreact);
    tools.add(spec("get_reactions", Reads, MessagesRead, "List a message's reactions and its state"), get_reactions);
    tools.add(
        spec("list_by_state", Reads, MessagesRead, "List a channel's messages in a workflow state, newest first"),
        list_by_state,
    );
    tools.add(spec("get_trust", Reads, MessagesRead, "Show an agent's trust per action"), get_trust);
}

#[derive(Deserialize, JsonSchema)]
struct ReactArguments {
    message_id: i64,
    reaction: Reaction,
    metadata: Option<Map<String, Value>>,
}

/// A reaction, as short as it can be said.
#[derive(Serialize, JsonSchema)]
struct ReactionItem {
    reaction: Reaction,
    from: String,
    from_kind: PrincipalKind,
    at: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "Value")]
    metadata: Map<String, Value>,
}

impl From<ReactionView> for ReactionItem {
    fn from(reaction: ReactionView) -> Self {
        Self {
            reaction: reaction.reaction,
            from: reaction.from.name,
            from_kind: reaction.from.kind,
            at: reaction.created_at.to_string(),
            metadata: reaction.metadata,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Reactions {
    /// Missing for talk.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<WorkflowState>,
    reactions: Vec<ReactionItem>,
}

impl From<ReactionsView> for Reactions {
    fn from(view: ReactionsView) -> Self {
        Self { state: view.workflow_state, reactions: view.reactions.into_iter().map(Into::into).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
struct Reacted {
    /// added or removed
    action: ReactionAction,
    #[serde(flatten)]
    now: Reactions,
}

impl From<ReactedView> for Reacted {
    fn from(view: ReactedView) -> Self {
        Self { action: view.action, now: view.now.into() }
    }
}

async fn react_to(hub: Hub, actor: Actor, arguments: ReactArguments) -> Result<Reacted, HubError> {
    let request = ReactRequest { reaction: arguments.reaction, metadata: arguments.metadata, edited_at: None };
    Ok(react::react(&hub, &actor, MessageId(arguments.message_id), request).await?.into())
}

#[derive(Deserialize, JsonSchema)]
struct UnreactArguments {
    message_id: i64,
    reaction: Reaction,
}

async fn unreact(hub: Hub, actor: Actor, arguments: UnreactArguments) -> Result<Reacted, HubError> {
    Ok(react::unreact(&hub, &actor, MessageId(arguments.message_id), arguments.reaction).await?.into())
}

#[derive(Deserialize, JsonSchema)]
struct MessageArguments {
    message_id: i64,
}

async fn get_reactions(hub: Hub, actor: Actor, arguments: MessageArguments) -> Result<Reactions, HubError> {
    Ok(react::get_reactions(&hub, &actor, MessageId(arguments.message_id)).await?.into())
}

#[derive(Deserialize, JsonSchema)]
struct StateArguments {
    channel: String,
    state: WorkflowState,
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<MessageItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list_by_state(hub: Hub, actor: Actor, arguments: StateArguments) -> Result<Listed, HubError> {
    let channel = arguments.channel.strip_prefix('#').unwrap_or(&arguments.channel).to_owned();
    let list = ListQuery { limit: Some(MAX_LISTED), cursor: arguments.cursor };
    let page = board::list_by_state(&hub, &actor, channel, arguments.state, list).await?;
    let items = page.items.into_iter().map(|message| MessageItem::of(message, false)).collect();
    Ok(Listed { items, next_cursor: page.next_cursor })
}

#[derive(Deserialize, JsonSchema)]
struct TrustArguments {
    /// Default: you
    agent: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Trust {
    action_type: String,
    score: f64,
    adjustments: i64,
    updated_at: String,
}

#[derive(Serialize, JsonSchema)]
struct Trusted {
    agent: String,
    trust: Vec<Trust>,
}

async fn get_trust(hub: Hub, actor: Actor, arguments: TrustArguments) -> Result<Trusted, HubError> {
    let agent = arguments.agent.unwrap_or_else(|| actor.principal.handle.clone());
    let agent = agent.strip_prefix('@').map_or(agent.clone(), str::to_owned);
    let trust = trust::get_trust(&hub, &actor, agent.clone()).await?.into_iter().map(|trust| Trust {
        action_type: trust.action_type,
        score: trust.score,
        adjustments: trust.adjustments,
        updated_at: trust.updated_at.to_string(),
    });
    Ok(Trusted { agent, trust: trust.collect() })
}
