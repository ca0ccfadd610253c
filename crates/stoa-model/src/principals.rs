//! Whoever can author something, as everybody may see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::named::named_enum;

named_enum! {
    pub enum PrincipalKind {
        User = "user",
        Agent = "agent",
        System = "system",
        Machine = "machine",
    }
}

/// The directory card of a user or an agent: all that strangers see of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    pub name: String,
    pub kind: PrincipalKind,
    pub display_name: String,
    /// The user who owns the agent; null for users.
    pub owner: Option<String>,
    pub last_seen_at: Option<Timestamp>,
}
