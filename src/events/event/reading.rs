use stoa_model::{ConversationId, PrincipalId};

use super::event_group;

event_group! {
    /// How far somebody has read.
    pub enum ReadingEvent {
        /// Somebody marked a conversation as read up to another message than before.
        "read_moved" => Moved { principal: PrincipalId, conversation: ConversationId },
    }
}

impl ReadingEvent {
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        let ReadingEvent::Moved { conversation, .. } = self;
        Some(*conversation)
    }
}
