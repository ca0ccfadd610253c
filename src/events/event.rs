//! The events. Names are in the past tense: an event is a fact.

use serde::{Deserialize, Serialize};
use stoa_model::messages::{Author, MessageStatus, WorkflowState};
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::Reaction;
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId};

use super::Position;

/// Something that happened. Listeners match without `_`, so that the compiler lists who has to
/// decide about a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    PrincipalCreated {
        principal: PrincipalId,
        principal_kind: PrincipalKind,
        owner: Option<PrincipalId>,
    },
    /// A display name, a role or settings changed, or the principal was disabled or enabled.
    PrincipalUpdated {
        principal: PrincipalId,
    },
    PrincipalDeleted {
        principal: PrincipalId,
    },
    /// Credentials of a principal, or of the agents that it owns, were put out of force.
    AccessChanged {
        principal: PrincipalId,
    },
    /// The first of a principal's streams opened, or the last one closed.
    PresenceChanged {
        principal: PrincipalId,
        name: String,
        is_online: bool,
    },
    ChannelCreated {
        channel: ChannelId,
        conversation: ConversationId,
    },
    /// Its texts, its settings, its owner, or whether it is public.
    ChannelUpdated {
        channel: ChannelId,
        conversation: ConversationId,
    },
    /// A public channel has become private: who is not in it does not see it any more.
    ChannelHidden {
        channel: ChannelId,
        conversation: ConversationId,
    },
    ChannelDeleted {
        channel: ChannelId,
        conversation: ConversationId,
        #[serde(default)]
        name: String,
        /// Who could see it, for nobody can find out afterwards. None if everybody could.
        #[serde(default)]
        audience: Option<Vec<PrincipalId>>,
    },
    MemberAdded {
        channel: ChannelId,
        conversation: ConversationId,
        principal: PrincipalId,
    },
    MemberRemoved {
        channel: ChannelId,
        conversation: ConversationId,
        principal: PrincipalId,
    },
    MessageSent(Box<MessageSent>),
    /// Its text changed.
    MessageEdited(MessageChange),
    /// Nothing but a tombstone is left of it.
    MessageDeleted(MessageChange),
    /// They are gone, and nothing is left of them.
    MessagesPurged {
        messages: Vec<MessageId>,
    },
    MessageStatusChanged {
        #[serde(flatten)]
        change: MessageChange,
        status: MessageStatus,
    },
    /// Somebody reacted to it, or took a reaction back.
    ReactionChanged(Box<ReactionChange>),
    /// Somebody marked a conversation as read up to another message than before.
    ReadMoved {
        principal: PrincipalId,
        conversation: ConversationId,
    },
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
    /// The channel message that this DM tells its recipient about.
    pub mention_of: Option<MessageId>,
    /// Whom a channel message calls out; each gets a DM that tells them.
    pub mentioned: Vec<PrincipalId>,
    pub depth: i64,
    pub no_wake: bool,
    /// Whether it was said where messages are work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_work: bool,
}

/// Which message changed, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageChange {
    pub message: MessageId,
    pub conversation: ConversationId,
    pub channel_name: Option<String>,
    pub recipient: Option<PrincipalId>,
}

/// A reaction that came or went, and what it made of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionChange {
    #[serde(flatten)]
    pub change: MessageChange,
    pub principal: PrincipalId,
    pub reaction: Reaction,
    pub is_added: bool,
    pub state_before: WorkflowState,
    pub state: WorkflowState,
}

impl Event {
    pub fn kind(&self) -> &'static str {
        match self {
            Event::PrincipalCreated { .. } => "principal_created",
            Event::PrincipalUpdated { .. } => "principal_updated",
            Event::PrincipalDeleted { .. } => "principal_deleted",
            Event::AccessChanged { .. } => "access_changed",
            Event::PresenceChanged { .. } => "presence_changed",
            Event::ChannelCreated { .. } => "channel_created",
            Event::ChannelUpdated { .. } => "channel_updated",
            Event::ChannelHidden { .. } => "channel_hidden",
            Event::ChannelDeleted { .. } => "channel_deleted",
            Event::MemberAdded { .. } => "member_added",
            Event::MemberRemoved { .. } => "member_removed",
            Event::MessageSent(_) => "message_sent",
            Event::MessageEdited(_) => "message_edited",
            Event::MessageDeleted(_) => "message_deleted",
            Event::MessagesPurged { .. } => "messages_purged",
            Event::MessageStatusChanged { .. } => "message_status_changed",
            Event::ReactionChanged(_) => "reaction_changed",
            Event::ReadMoved { .. } => "read_moved",
        }
    }

    /// The conversation that it happened in.
    pub fn conversation(&self) -> Option<ConversationId> {
        match self {
            Event::PrincipalCreated { .. }
            | Event::PrincipalUpdated { .. }
            | Event::PrincipalDeleted { .. }
            | Event::AccessChanged { .. }
            | Event::PresenceChanged { .. }
            | Event::MessagesPurged { .. } => None,
            Event::ChannelCreated { conversation, .. }
            | Event::ChannelUpdated { conversation, .. }
            | Event::ChannelHidden { conversation, .. }
            | Event::ChannelDeleted { conversation, .. }
            | Event::MemberAdded { conversation, .. }
            | Event::MemberRemoved { conversation, .. }
            | Event::ReadMoved { conversation, .. } => Some(*conversation),
            Event::MessageSent(sent) => Some(sent.conversation),
            Event::MessageEdited(change)
            | Event::MessageDeleted(change)
            | Event::MessageStatusChanged { change, .. } => Some(change.conversation),
            Event::ReactionChanged(reaction) => Some(reaction.change.conversation),
        }
    }
}

/// An event as the outbox has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub at_ms: i64,
    pub actor: Option<PrincipalId>,
    pub event: Event,
}
