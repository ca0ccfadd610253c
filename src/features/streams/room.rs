//! A conversation, as streams need to know it.

use std::collections::HashSet;

use stoa_db::{DbError, Tx};
use stoa_model::{ConversationId, PrincipalId};

use crate::features::channels::visibility::{self, Audience, ConversationName};

#[derive(Debug, Clone)]
pub(super) struct Room {
    pub(super) name: ConversationName,
    /// Who may see it.
    pub(super) audience: Audience,
    /// Who takes part, and so has something to read; left empty where nobody asks.
    pub(super) participants: HashSet<PrincipalId>,
}

impl Room {
    /// None if there is no such conversation any more.
    pub(super) fn load(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<Option<Self>, DbError> {
        let Some(name) = visibility::conversation_name(tx, conversation)? else { return Ok(None) };
        let audience = visibility::audience(tx, conversation)?;
        Ok(Some(Self { name, audience, participants: HashSet::new() }))
    }

    pub(super) fn load_with_participants(
        tx: &mut Tx<'_>,
        conversation: ConversationId,
    ) -> Result<Option<Self>, DbError> {
        let Some(room) = Self::load(tx, conversation)? else { return Ok(None) };
        Ok(Some(Self { participants: visibility::participants(tx, conversation)?, ..room }))
    }

    /// How much there is to remember.
    pub(super) fn size(&self) -> usize {
        let audience = match &self.audience {
            Audience::Everybody => 0,
            Audience::Only(principals) => principals.len(),
        };
        1 + audience + self.participants.len()
    }

    pub(super) fn is_public(&self) -> bool {
        self.audience == Audience::Everybody
    }
}
