//! The audit log: who changed what about accounts, keys and the hub itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{AuditId, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    pub id: AuditId,
    pub at: Timestamp,
    /// The handle of the actor; `operator` for the command line, null if unknown.
    pub actor: Option<String>,
    /// The action, for example `agent.created`.
    pub action: String,
    /// The target, for example the name of an agent.
    pub target: Option<String>,
    #[schema(value_type = Object)]
    pub details: serde_json::Value,
    pub remote_ip: Option<String>,
    pub request_id: Option<String>,
}
