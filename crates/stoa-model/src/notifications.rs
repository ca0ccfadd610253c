//! What somebody has not read yet.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::MessageId;
use crate::named::named_enum;
use crate::validation::{Faults, FieldError, present};

/// Counting stops here; whoever has more unread is not helped by a number.
pub const MAX_UNREAD: i64 = 100;

named_enum! {
    pub enum ConversationKind {
        Channel = "channel",
        Dm = "dm",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnreadView {
    pub kind: ConversationKind,
    /// The channel, or the other side of the DM.
    pub name: String,
    /// At most 100, which means 100 or more.
    pub unread_count: i64,
    pub last_message_id: Option<MessageId>,
    pub last_read_message_id: Option<MessageId>,
}

/// Send exactly one of `channel` and `dm`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkReadRequest {
    #[serde(default)]
    pub channel: Option<String>,
    /// The other side of the DM.
    #[serde(default)]
    pub dm: Option<String>,
    /// The last message that was read; the latest one if it is not given, nothing if it is 0.
    #[serde(default)]
    #[schema(minimum = 0)]
    pub message_id: Option<MessageId>,
}

impl MarkReadRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let is_one = self.channel.is_some() != self.dm.is_some();
        faults.require("channel", is_one, "or `dm` must be given, and not both");
        faults.require("message_id", self.message_id.is_none_or(|id| id.0 >= 0), "must not be negative");
        faults.finish()
    }
}

named_enum! {
    /// Notification level of a channel.
    #[derive(Default)]
    pub enum NotificationLevel {
        /// All messages count as unread.
        #[default]
        All = "all",
        /// Only mentions, which come as DMs; the channel itself never counts as unread.
        Mentions = "mentions",
    }
}

/// The level of one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelLevel {
    pub channel: String,
    pub level: NotificationLevel,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotificationSettings {
    /// For channels that have no level of their own.
    pub default_level: NotificationLevel,
    pub channels: Vec<ChannelLevel>,
}

/// Updates only the given fields; `channels` is replaced as a whole.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateNotificationSettingsRequest {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub default_level: Option<NotificationLevel>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_items = 1000)]
    pub channels: Option<Vec<ChannelLevel>>,
}

impl UpdateNotificationSettingsRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let count = self.channels.as_ref().map_or(0, Vec::len);
        faults.require("channels", count <= 1000, "must be at most 1000");
        faults.finish()
    }
}
