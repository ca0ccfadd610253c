use serde::{Deserialize, Serialize};
use stoa_model::messages::{Author, MessageStatus};
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId, RunId};

use super::event_group;

event_group! {
    /// What happens to messages.
    pub enum MessageEvent {
        "message_sent" => Sent(Box<MessageSent>),
        /// Its text changed.
        "message_edited" => Edited(MessageChange),
        /// Only a tombstone is left of it.
        "message_deleted" => Deleted(MessageChange),
        /// They are gone, and no tombstone is left of them.
        "messages_purged" => Purged { messages: Vec<MessageId> },
        "message_status_changed" => StatusChanged {
            #[serde(flatten)]
            change: MessageChange,
            status: MessageStatus,
        },
        /// It was turned into work of another kind, or into talk.
        "message_work_changed" => WorkChanged(MessageChange),
    }
}

impl MessageEvent {
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        match self {
            MessageEvent::Sent(sent) => Some(sent.conversation),
            MessageEvent::Edited(change)
            | MessageEvent::Deleted(change)
            | MessageEvent::WorkChanged(change)
            | MessageEvent::StatusChanged { change, .. } => Some(change.conversation),
            MessageEvent::Purged { .. } => None,
        }
    }

    /// The messages that are new, gone, or have another text.
    pub fn changed_messages(&self) -> &[MessageId] {
        match self {
            MessageEvent::Sent(sent) => std::slice::from_ref(&sent.message),
            MessageEvent::Edited(change) | MessageEvent::Deleted(change) => std::slice::from_ref(&change.message),
            MessageEvent::Purged { messages } => messages,
            MessageEvent::StatusChanged { .. } | MessageEvent::WorkChanged(_) => &[],
        }
    }
}

/// A message as it was sent, with what streams show of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSent {
    pub message: MessageId,
    pub conversation: ConversationId,
    pub channel: Option<ChannelId>,
    pub channel_name: Option<String>,
    pub author: PrincipalId,
    pub from: Author,
    /// The other side of a DM.
    pub recipient: Option<PrincipalId>,
    pub to: Option<String>,
    pub reply_to: Option<MessageId>,
    /// The channel message about which this DM notifies its recipient.
    pub mention_of: Option<MessageId>,
    /// The principals that a channel message mentions; each gets a DM about it.
    pub mentioned: Vec<PrincipalId>,
    pub depth: i64,
    pub no_wake: bool,
    /// Whether it was proposed as work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_work: bool,
    /// Whether it is for an agent that messages can start. Then the rest of the chain decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_wake: bool,
    /// The run in which it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// Which message changed, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageChange {
    pub message: MessageId,
    pub conversation: ConversationId,
    pub channel_name: Option<String>,
    pub recipient: Option<PrincipalId>,
}
