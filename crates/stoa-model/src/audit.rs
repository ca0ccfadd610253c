//! The audit log: who changed what about accounts, keys and the hub itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{AuditId, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    pub id: AuditId,
    pub at: Timestamp,
    /// The handle of whoever did it; `operator` for the command line, null for nobody known.
    pub actor: Option<String>,
    /// What was done, like `agent.created`.
    pub action: String,
    /// What it was done to, like the name of an agent.
    pub target: Option<String>,
    #[schema(value_type = Object)]
    pub details: serde_json::Value,
    pub remote_ip: Option<String>,
    pub request_id: Option<String>,
}
