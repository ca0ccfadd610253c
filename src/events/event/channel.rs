use stoa_model::{ChannelId, ConversationId, PrincipalId};

use super::event_group;

event_group! {
    /// What happens to channels and their members.
    pub enum ChannelEvent {
        "channel_created" => Created { channel: ChannelId, conversation: ConversationId },
        /// Its texts, its settings, its owner, or whether it is public.
        "channel_updated" => Updated { channel: ChannelId, conversation: ConversationId },
        /// A public channel has become private: those who are not members no longer see it.
        "channel_hidden" => Hidden { channel: ChannelId, conversation: ConversationId },
        "channel_deleted" => Deleted {
            channel: ChannelId,
            conversation: ConversationId,
            #[serde(default)]
            name: String,
            /// Who could see it, because nobody can find out afterwards. None if everybody could.
            #[serde(default)]
            audience: Option<Vec<PrincipalId>>,
        },
        "member_added" => MemberAdded { channel: ChannelId, conversation: ConversationId, principal: PrincipalId },
        "member_removed" => MemberRemoved { channel: ChannelId, conversation: ConversationId, principal: PrincipalId },
    }
}

impl ChannelEvent {
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        match self {
            ChannelEvent::Created { conversation, .. }
            | ChannelEvent::Updated { conversation, .. }
            | ChannelEvent::Hidden { conversation, .. }
            | ChannelEvent::Deleted { conversation, .. }
            | ChannelEvent::MemberAdded { conversation, .. }
            | ChannelEvent::MemberRemoved { conversation, .. } => Some(*conversation),
        }
    }

    /// The member that it is about.
    pub fn member(&self) -> Option<PrincipalId> {
        match self {
            ChannelEvent::MemberAdded { principal, .. } | ChannelEvent::MemberRemoved { principal, .. } => {
                Some(*principal)
            }
            ChannelEvent::Created { .. }
            | ChannelEvent::Updated { .. }
            | ChannelEvent::Hidden { .. }
            | ChannelEvent::Deleted { .. } => None,
        }
    }
}
