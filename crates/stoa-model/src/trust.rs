//! Trust: how far an agent's work of one kind has pleased people.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::reactions::Reaction;

/// What a message is, if it does not say.
pub const DEFAULT_ACTION_TYPE: &str = "publish";
/// What an agent does that approves.
pub const APPROVE_ACTION_TYPE: &str = "approve";
pub const MAX_ACTION_TYPE: usize = 64;

/// A score in hundredths: twelve times 0.05 must be 0.6, which it is not in floating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Score(i64);

impl Score {
    pub fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths.clamp(0, 100))
    }

    pub fn hundredths(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn adjusted(self, delta: i64) -> Self {
        Self::from_hundredths(self.0.saturating_add(delta))
    }

    /// The number that is nearest to the score, as it is to the same number in a request.
    pub fn as_number(self) -> f64 {
        // A score is at most 100.
        f64::from(u8::try_from(self.0).unwrap_or(100)) / 100.0
    }

    pub fn reaches(self, threshold: f64) -> bool {
        self.as_number() >= threshold
    }
}

/// By how many hundredths a person's reaction changes the score of whose work it is about.
pub fn delta_of(reaction: Reaction) -> Option<i64> {
    match reaction {
        Reaction::Approve => Some(5),
        Reaction::Reject => Some(-10),
        Reaction::InProgress | Reaction::Done | Reaction::Published => None,
    }
}

/// The name of the kind of work in the metadata of a message.
pub const ACTION_TYPE: &str = "action_type";
/// Beside it, the name of the channel owner who set the kind of another author's message.
pub const GIVEN_BY: &str = "action_type_by";

/// The kind of work that counts for trust: `action_type` of the metadata, if it is a short word and the author chose it. Others must not
/// choose which trust of an agent they change.
pub fn action_type_of(metadata: &Map<String, Value>) -> &str {
    let label = metadata.get(ACTION_TYPE).and_then(Value::as_str);
    let is_own = !metadata.contains_key(GIVEN_BY);
    label.filter(|label| is_own && is_action_type(label)).unwrap_or(DEFAULT_ACTION_TYPE)
}

/// Whether the metadata of a message names a kind of work, so that the message is proposed as work.
pub fn has_action_type(metadata: &Map<String, Value>) -> bool {
    metadata.get(ACTION_TYPE).and_then(Value::as_str).is_some_and(is_action_type)
}

/// Refuses a kind of work that trust could not be kept for.
pub fn check_action_type(label: &str) -> Result<(), String> {
    if is_action_type(label) {
        return Ok(());
    }
    Err(format!("must be 1 to {MAX_ACTION_TYPE} lowercase letters, digits, `_`, `.` or `-`"))
}

fn is_action_type(label: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-');
    (1..=MAX_ACTION_TYPE).contains(&label.len()) && label.bytes().all(is_plain)
}

/// An agent's trust for one action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrustView {
    pub action_type: String,
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub score: f64,
    /// Number of reactions that count.
    pub adjustments: i64,
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_score_is_the_number_it_is_written_as() {
        for hundredths in 0..=100 {
            let written: f64 = format!("0.{hundredths:02}").parse().unwrap();
            let written = if hundredths == 100 { 1.0 } else { written };
            let score = Score::from_hundredths(hundredths);
            assert!(score.reaches(written), "{hundredths}");
            assert!(!score.reaches(written + 0.001), "{hundredths}");
        }
        let twelve = (0..12).fold(Score::default(), |score, _| score.adjusted(5));
        assert!(twelve.reaches(0.6));
        assert_eq!(serde_json::to_string(&twelve.as_number()).unwrap(), "0.6");
    }

    #[test]
    fn scores_stay_within_their_bounds() {
        assert_eq!(Score::default().adjusted(-10), Score::default());
        assert_eq!(Score::from_hundredths(98).adjusted(5).hundredths(), 100);
        assert_eq!(Score::from_hundredths(5).adjusted(-10).hundredths(), 0);
    }

    #[test]
    fn kinds_of_work() {
        let longest = "a".repeat(64);
        for (metadata, kind) in [
            (json!({}), "publish"),
            (json!({"action_type": "deploy.prod-2_x"}), "deploy.prod-2_x"),
            (json!({"action_type": longest}), longest.as_str()),
            (json!({"action_type": "a".repeat(65)}), "publish"),
            (json!({"action_type": ""}), "publish"),
            (json!({"action_type": "Deploy"}), "publish"),
            (json!({"action_type": "a b"}), "publish"),
            (json!({"action_type": 5}), "publish"),
            (json!({"action_type": null}), "publish"),
            (json!({"action_type": "deploy", "action_type_by": "eve"}), "publish"),
        ] {
            assert_eq!(action_type_of(metadata.as_object().unwrap()), kind, "{metadata}");
        }
    }
}
