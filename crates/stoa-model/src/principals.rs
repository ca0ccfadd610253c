//! Whoever can author something, as everybody may see them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::named::named_enum;
use crate::trust::TrustView;
use crate::users::Role;

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
    /// What an agent is for; null for users.
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub presence: Presence,
    pub last_seen_at: Option<Timestamp>,
}

named_enum! {
    /// Whether a user or an agent can be expected to answer.
    #[derive(Default)]
    pub enum Presence {
        /// Seen within the last five minutes.
        Online = "online",
        /// An agent with a run under way or a message that it has claimed.
        Working = "working",
        /// An agent that its owner, its budget or a quarantine holds back.
        Paused = "paused",
        #[default]
        Offline = "offline",
    }
}

/// What everyone may know about a user or an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Profile {
    #[serde(flatten)]
    pub card: Card,
    /// Null for agents.
    pub role: Option<Role>,
    pub created_at: Timestamp,
    /// How far an agent is trusted, by kind of work.
    pub trust: Vec<TrustView>,
    /// Channels that the caller sees and that this one is a member of, at most 100.
    pub shared_channels: Vec<String>,
}
