use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stoa_model::channels::{ChannelView, CreateChannelRequest, UpdateChannelSettingsRequest};
use stoa_model::permissions::Permission;

use super::{members, service};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};
use crate::paging::ListQuery;
use crate::surfaces::mcp::{Effect, MAX_COMPLETIONS, MAX_LISTED, ToolSpec, Tools, Toolset};

pub fn add_tools(tools: &mut Tools) {
    use Effect::{Adds, Deletes, Reads, Sets};
    use Permission::{ChannelsRead, ChannelsWrite};
    let spec = |name, effect, permission, description| {
        ToolSpec::new(name, Toolset::Channels, effect, Some(permission), description)
    };
    let list = ToolSpec::new("list_channels", Toolset::Core, Reads, Some(ChannelsRead), "List channels you can see");
    tools.add(list, list_channels);
    tools.add(spec("create_channel", Adds, ChannelsWrite, "Create a channel"), create_channel);
    tools.add(spec("join_channel", Sets, ChannelsWrite, "Join a public channel"), join_channel);
    tools.add(spec("leave_channel", Deletes, ChannelsWrite, "Leave a channel"), leave_channel);
    tools.add(
        spec("update_channel_settings", Sets, ChannelsWrite, "Change a channel's workflow settings"),
        update_channel_settings,
    );
}

/// Names of channels that begin like this.
pub(crate) fn complete_name(
    hub: Hub,
    actor: Actor,
    beginning: String,
) -> BoxFuture<'static, Result<Vec<String>, HubError>> {
    Box::pin(async move {
        let beginning = beginning.trim_start_matches('#');
        service::list_names(&hub, &actor, beginning, MAX_COMPLETIONS + 1).await
    })
}

#[derive(Serialize, JsonSchema)]
struct Item {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    topic: String,
    public: bool,
    owner: String,
    members: i64,
    joined: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_message_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_read_message_id: Option<i64>,
}

impl From<ChannelView> for Item {
    fn from(channel: ChannelView) -> Self {
        Self {
            name: channel.name,
            topic: channel.topic,
            public: channel.public,
            owner: channel.owner,
            members: channel.member_count,
            joined: channel.is_member,
            last_message_id: channel.last_message_id.map(|id| id.0),
            last_read_message_id: channel.last_read_message_id.map(|id| id.0),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct ListArguments {
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list_channels(hub: Hub, actor: Actor, arguments: ListArguments) -> Result<Listed, HubError> {
    let list = ListQuery { limit: Some(MAX_LISTED), cursor: arguments.cursor };
    let page = service::list_channels(&hub, &actor, list).await?;
    Ok(Listed { items: page.items.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor })
}

#[derive(Deserialize, JsonSchema)]
struct CreateArguments {
    name: String,
    topic: Option<String>,
    description: Option<String>,
    /// Default true
    public: Option<bool>,
}

async fn create_channel(hub: Hub, actor: Actor, arguments: CreateArguments) -> Result<Item, HubError> {
    let request = CreateChannelRequest {
        name: arguments.name,
        topic: arguments.topic.unwrap_or_default(),
        description: arguments.description.unwrap_or_default(),
        public: arguments.public,
    };
    Ok(service::create_channel(&hub, &actor, request).await?.details.channel.into())
}

#[derive(Deserialize, JsonSchema)]
struct ChannelArguments {
    channel: String,
}

impl ChannelArguments {
    fn name(self) -> String {
        self.channel.strip_prefix('#').map_or(self.channel.clone(), str::to_owned)
    }
}

async fn join_channel(hub: Hub, actor: Actor, arguments: ChannelArguments) -> Result<Item, HubError> {
    Ok(members::join_channel(&hub, &actor, arguments.name()).await?.details.channel.into())
}

#[derive(Serialize, JsonSchema)]
struct Left {
    left: String,
}

async fn leave_channel(hub: Hub, actor: Actor, arguments: ChannelArguments) -> Result<Left, HubError> {
    let left = arguments.name();
    members::leave_channel(&hub, &actor, left.clone()).await?;
    Ok(Left { left })
}

#[derive(Deserialize, JsonSchema)]
struct SettingsArguments {
    channel: String,
    workflow_enabled: Option<bool>,
    auto_approve: Option<bool>,
    /// For example 30m, 24h, 7d; 0 = off
    stalemate_remind_after: Option<String>,
    stalemate_escalate_after: Option<String>,
    /// 0 to 1
    publish_threshold: Option<f64>,
    approve_threshold: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct Settings {
    channel: String,
    workflow_enabled: bool,
    auto_approve: bool,
    stalemate_remind_after: String,
    stalemate_escalate_after: String,
    publish_threshold: f64,
    approve_threshold: f64,
}

async fn update_channel_settings(hub: Hub, actor: Actor, arguments: SettingsArguments) -> Result<Settings, HubError> {
    let request = UpdateChannelSettingsRequest {
        workflow_enabled: arguments.workflow_enabled,
        auto_approve: arguments.auto_approve,
        stalemate_remind_after: arguments.stalemate_remind_after,
        stalemate_escalate_after: arguments.stalemate_escalate_after,
        publish_threshold: arguments.publish_threshold,
        approve_threshold: arguments.approve_threshold,
    };
    let name = ChannelArguments { channel: arguments.channel }.name();
    let channel = service::update_settings(&hub, &actor, name, None, request).await?.details.channel;
    let settings = channel.settings;
    Ok(Settings {
        channel: channel.name,
        workflow_enabled: settings.workflow_enabled,
        auto_approve: settings.auto_approve,
        stalemate_remind_after: settings.stalemate_remind_after,
        stalemate_escalate_after: settings.stalemate_escalate_after,
        publish_threshold: settings.publish_threshold,
        approve_threshold: settings.approve_threshold,
    })
}
