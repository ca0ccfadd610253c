//! What the hub says about itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VersionView {
    pub name: String,
    pub version: String,
}

/// Whether the hub is up.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HealthView {
    pub status: String,
}

/// Whether the hub can serve requests.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReadyView {
    pub status: String,
    pub details: ReadyDetails,
}

/// Details of a ready hub.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReadyDetails {
    /// Seconds for which this hub has not seen all events: its streams are that late.
    pub event_lag_seconds: u64,
    /// Milliseconds that the hub adds to the machine's time so that it agrees with the database's.
    pub clock_correction_ms: i64,
    /// Warnings for the operator.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SystemView {
    pub version: String,
    pub started_at: Timestamp,
    pub base_url: String,
    pub database: DatabaseView,
    pub users: i64,
    pub agents: i64,
    /// Queued database writes.
    pub write_queue_length: u64,
    /// Progress of each listener of the event log.
    pub listeners: Vec<ListenerView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DatabaseView {
    /// `sqlite` or `postgres`.
    pub engine: String,
    pub engine_version: String,
    pub schema_version: i64,
    pub size_bytes: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ListenerView {
    pub name: String,
    /// Events it is behind.
    pub behind: i64,
}
