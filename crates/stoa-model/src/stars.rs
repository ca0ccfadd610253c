//! Stars: conversations that a caller wants on top of their list.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named::named_enum;

/// Stars that one caller can have.
pub const MAX_STARS: i64 = 200;

named_enum! {
    pub enum StarKind {
        Channel = "channel",
        Dm = "dm",
    }
}

/// A conversation with a star: a channel, or the direct messages with someone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StarView {
    pub kind: StarKind,
    pub name: String,
}

impl StarView {
    /// Reads `channel:general` or `dm:ada`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        let name = name.strip_prefix(['#', '@']).unwrap_or(name);
        Some(Self { kind: StarKind::from_name(kind)?, name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_read() {
        let general = StarView { kind: StarKind::Channel, name: "general".to_owned() };
        for text in ["channel:general", "channel:#general"] {
            assert_eq!(StarView::parse(text), Some(general.clone()), "{text}");
        }
        assert_eq!(StarView::parse("dm:@ada"), Some(StarView { kind: StarKind::Dm, name: "ada".to_owned() }));
        for text in ["", "general", "topic:x", ":x", "Channel:x"] {
            assert_eq!(StarView::parse(text), None, "{text}");
        }
    }
}
