//! Managed API keys: an owner's way to let a program act as one of their agents, within limits.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named::named_enum;
use crate::permissions::PermissionSet;
use crate::text::check_label;
use crate::validation::{Faults, FieldError};
use crate::{ApiKeyId, Secret, Timestamp, handles};

pub const MAX_KEY_CHANNELS: usize = 100;
pub const MAX_KEY_NAME: usize = 100;

named_enum! {
    pub enum ApiKeyStatus {
        Active = "active",
        Revoked = "revoked",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiKeyView {
    pub id: ApiKeyId,
    pub name: String,
    /// The agent that the key acts as.
    pub agent: String,
    pub permissions: PermissionSet,
    /// The channels the key can access; empty means all of the agent's channels, unless it is `limited`.
    pub channels: Vec<String>,
    /// Whether the key can access only `channels`.
    pub limited: bool,
    /// Deleted channels among them. The key cannot access a new channel with the same name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted_channels: Vec<String>,
    pub status: ApiKeyStatus,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateApiKeyRequest {
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    pub agent: String,
    pub permissions: PermissionSet,
    #[serde(default)]
    #[schema(max_items = 100)]
    pub channels: Vec<String>,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// A new key: its record, and the key itself, shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedApiKey {
    pub api_key: ApiKeyView,
    #[schema(example = "stoa_key_…")]
    pub key: Secret,
}

impl CreateApiKeyRequest {
    pub fn check(&self, now: Timestamp) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("name", check_label(&self.name, MAX_KEY_NAME));
        faults.require("permissions", !self.permissions.is_empty(), "must name at least one permission");
        faults.require("channels", self.channels.len() <= MAX_KEY_CHANNELS, "must be at most 100 names");
        for (index, channel) in self.channels.iter().enumerate() {
            faults.check(&format!("channels[{index}]"), handles::check_channel_name(channel));
        }
        faults.require("expires_at", self.expires_at.is_none_or(|at| at > now), "must be in the future");
        faults.finish()
    }
}
