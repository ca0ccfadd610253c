//! Channels: conversations with a name, members and an owner.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::principals::PrincipalKind;
use crate::text::check_optional_label;
use crate::validation::{Faults, FieldError, or_default, present};
use crate::{ChannelId, ConversationId, MessageId, Timestamp, handles};

/// The channel that everybody joins. It exists from the first start.
pub const GENERAL: &str = "general";
pub const MAX_TOPIC: usize = 250;
pub const MAX_DESCRIPTION_BYTES: usize = 4096;
/// Members that a channel's own page names; `member_count` counts them all.
pub const MAX_LISTED_MEMBERS: i64 = 1000;
pub const MAX_PINS: i64 = 100;

/// Workflow settings of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChannelSettings {
    pub workflow_enabled: bool,
    pub auto_approve: bool,
    /// A time such as `30m`, `24h` or `7d`; `0` = off.
    #[schema(example = "24h")]
    pub stalemate_remind_after: String,
    #[schema(example = "72h")]
    pub stalemate_escalate_after: String,
    pub publish_threshold: f64,
    pub approve_threshold: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChannelView {
    pub id: ChannelId,
    pub conversation_id: ConversationId,
    pub name: String,
    pub topic: String,
    pub description: String,
    pub public: bool,
    /// The user who owns the channel.
    pub owner: String,
    #[serde(flatten)]
    pub settings: ChannelSettings,
    pub created_at: Timestamp,
    pub member_count: i64,
    /// Whether the caller is a member.
    pub is_member: bool,
    /// The last message the caller has read; null if none.
    pub last_read_message_id: Option<MessageId>,
    pub last_message_id: Option<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemberView {
    pub name: String,
    pub kind: PrincipalKind,
    pub display_name: String,
    /// The user who owns the agent; null for users.
    pub owner: Option<String>,
    pub joined_at: Timestamp,
    pub last_seen_at: Option<Timestamp>,
}

/// A channel and its members, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChannelDetails {
    pub channel: ChannelView,
    pub members: Vec<MemberView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateChannelRequest {
    #[schema(pattern = "^[a-z0-9][a-z0-9_-]{0,63}$")]
    pub name: String,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(max_length = 250)]
    pub topic: String,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(max_length = 4096)]
    pub description: String,
    /// Whether everyone can see it. Default: true.
    #[serde(default)]
    #[schema(default = true)]
    pub public: Option<bool>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateChannelRequest {
    #[serde(default, deserialize_with = "present")]
    #[schema(max_length = 250, nullable = false)]
    pub topic: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(max_length = 4096, nullable = false)]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub public: Option<bool>,
    /// Transfers the channel to another member.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub owner: Option<String>,
}

/// Updates only the given settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateChannelSettingsRequest {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub workflow_enabled: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    pub auto_approve: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    #[schema(pattern = "^(0|[1-9][0-9]{0,5}[mhd])$", nullable = false)]
    pub stalemate_remind_after: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(pattern = "^(0|[1-9][0-9]{0,5}[mhd])$", nullable = false)]
    pub stalemate_escalate_after: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(minimum = 0.0, maximum = 1.0, nullable = false)]
    pub publish_threshold: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    #[schema(minimum = 0.0, maximum = 1.0, nullable = false)]
    pub approve_threshold: Option<f64>,
}

impl CreateChannelRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("name", handles::check_channel_name(&self.name));
        check_texts(&mut faults, Some(&self.topic), Some(&self.description));
        faults.finish()
    }
}

impl UpdateChannelRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        check_texts(&mut faults, self.topic.as_deref(), self.description.as_deref());
        faults.finish()
    }
}

fn check_texts(faults: &mut Faults, topic: Option<&str>, description: Option<&str>) {
    faults.check("topic", topic.map_or(Ok(()), |topic| check_optional_label(topic, MAX_TOPIC)));
    let fits = description.is_none_or(|description| description.len() <= MAX_DESCRIPTION_BYTES);
    faults.require("description", fits, "must be at most 4096 bytes long");
}

impl UpdateChannelSettingsRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        let duration = |text: &Option<String>| text.as_deref().map_or(Ok(0), duration_ms).map(drop);
        faults.check("stalemate_remind_after", duration(&self.stalemate_remind_after));
        faults.check("stalemate_escalate_after", duration(&self.stalemate_escalate_after));
        let is_share = |value: Option<f64>| value.is_none_or(|value| (0.0..=1.0).contains(&value));
        faults.require("publish_threshold", is_share(self.publish_threshold), "must be between 0 and 1");
        faults.require("approve_threshold", is_share(self.approve_threshold), "must be between 0 and 1");
        faults.finish()
    }

    /// Whether it touches what decides how far agents are trusted.
    pub fn concerns_trust(&self) -> bool {
        self.auto_approve.is_some() || self.publish_threshold.is_some() || self.approve_threshold.is_some()
    }

    pub fn apply(&self, settings: &mut ChannelSettings) {
        let given = self.clone();
        settings.workflow_enabled = given.workflow_enabled.unwrap_or(settings.workflow_enabled);
        settings.auto_approve = given.auto_approve.unwrap_or(settings.auto_approve);
        // The sum turns a negative zero into the usual one: engines keep the two apart differently.
        settings.publish_threshold = given.publish_threshold.unwrap_or(settings.publish_threshold) + 0.0;
        settings.approve_threshold = given.approve_threshold.unwrap_or(settings.approve_threshold) + 0.0;
        if let Some(after) = given.stalemate_remind_after {
            settings.stalemate_remind_after = after;
        }
        if let Some(after) = given.stalemate_escalate_after {
            settings.stalemate_escalate_after = after;
        }
    }
}

/// Reads `30m`, `24h` or `7d`; `0` means off and is 0.
pub fn duration_ms(text: &str) -> Result<i64, &'static str> {
    const WANTED: &str = "must be a time such as 30m, 24h or 7d (at most 365d), or 0 for off";
    const DAY_MS: i64 = 24 * 3600 * 1000;
    if text == "0" {
        return Ok(0);
    }
    let unit = match text.as_bytes().last() {
        Some(b'm') => 60_000,
        Some(b'h') => 3_600_000,
        Some(b'd') => DAY_MS,
        _ => return Err(WANTED),
    };
    let digits = &text[..text.len() - 1];
    let is_number = !digits.is_empty() && digits.len() <= 6 && !digits.starts_with('0');
    let number: i64 =
        digits.parse().ok().filter(|_| is_number && digits.bytes().all(|byte| byte.is_ascii_digit())).ok_or(WANTED)?;
    Some(number * unit).filter(|ms| *ms <= 365 * DAY_MS).ok_or(WANTED)
}

#[cfg(test)]
mod tests {
    use super::duration_ms;

    #[test]
    fn durations() {
        for (text, ms) in [("0", 0), ("1m", 60_000), ("24h", 86_400_000), ("365d", 31_536_000_000)] {
            assert_eq!(duration_ms(text), Ok(ms), "{text}");
        }
        for text in ["", "m", "0m", "1", "1s", "-1h", "+1h", "1.5h", "366d", "9999999m", "01h", "1 h", "ä", "1ä"] {
            assert!(duration_ms(text).is_err(), "{text}");
        }
    }
}
