//! Whoever can author something, as everybody may see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    User,
    Agent,
    System,
    Machine,
}

impl PrincipalKind {
    pub fn name(self) -> &'static str {
        match self {
            PrincipalKind::User => "user",
            PrincipalKind::Agent => "agent",
            PrincipalKind::System => "system",
            PrincipalKind::Machine => "machine",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::User, Self::Agent, Self::System, Self::Machine].into_iter().find(|kind| kind.name() == name)
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
