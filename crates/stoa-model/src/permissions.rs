//! What a managed API key may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::named::named_enum;

named_enum! {
    /// One thing that a key can be allowed to do.
    #[derive(PartialOrd, Ord)]
    pub enum Permission {
        MessagesRead = "messages:read",
        MessagesWrite = "messages:write",
        ChannelsRead = "channels:read",
        ChannelsWrite = "channels:write",
        AttachmentsRead = "attachments:read",
        AttachmentsWrite = "attachments:write",
        ReactionsWrite = "reactions:write",
        SearchRead = "search:read",
        GoalsRead = "goals:read",
        GoalsWrite = "goals:write",
        WikiRead = "wiki:read",
        WikiWrite = "wiki:write",
        TracesRead = "traces:read",
        WebhooksWrite = "webhooks:write",
        RunsRead = "runs:read",
        RunsWrite = "runs:write",
    }
}

/// A set of permissions. `*` is all of them, those of later versions too.
///
/// On the wire it is a list of names: `["messages:read"]` or `["*"]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermissionSet {
    bits: u32,
    is_all: bool,
}

impl PermissionSet {
    pub const ALL: Self = Self { bits: 0, is_all: true };
    pub const NONE: Self = Self { bits: 0, is_all: false };

    /// Everything that only looks.
    pub fn reads() -> Self {
        let reads = Permission::ALL.into_iter().filter(|permission| permission.name().ends_with(":read"));
        reads.fold(Self::NONE, Self::with)
    }

    pub fn contains(self, permission: Permission) -> bool {
        self.is_all || self.bits & bit(permission) != 0
    }

    pub fn is_empty(self) -> bool {
        !self.is_all && self.bits == 0
    }

    #[must_use]
    pub fn with(self, permission: Permission) -> Self {
        if self.is_all { self } else { Self { bits: self.bits | bit(permission), is_all: false } }
    }

    pub fn names(self) -> Vec<&'static str> {
        if self.is_all {
            return vec!["*"];
        }
        Permission::ALL.into_iter().filter(|permission| self.contains(*permission)).map(Permission::name).collect()
    }
}

fn bit(permission: Permission) -> u32 {
    1 << permission as u32
}

impl PartialSchema for PermissionSet {
    fn schema() -> RefOr<Schema> {
        let names = Permission::ALL.into_iter().map(Permission::name).chain(["*"]);
        let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        ArrayBuilder::new().items(name).into()
    }
}

impl ToSchema for PermissionSet {}

impl fmt::Display for PermissionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.names().join(","))
    }
}

impl FromStr for PermissionSet {
    type Err = String;

    /// Reads names with commas between them, the form in which sets are stored and typed.
    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(Self::NONE, |set, name| {
            if name == "*" {
                return Ok(Self::ALL);
            }
            Permission::from_name(name).map(|permission| set.with(permission)).ok_or_else(|| {
                let names = Permission::ALL.map(Permission::name).join(", ");
                format!("{name:?} is not a permission. Use one of: {names}, *")
            })
        })
    }
}

impl Serialize for PermissionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for PermissionSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        if let Some(name) = names.iter().find(|name| name.contains(',')) {
            return Err(serde::de::Error::custom(format!("{name:?} is not a permission")));
        }
        names.join(",").parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let set: PermissionSet = "messages:read, wiki:write".parse().unwrap();
        for permission in Permission::ALL {
            let expected = matches!(permission, Permission::MessagesRead | Permission::WikiWrite);
            assert_eq!(set.contains(permission), expected, "{}", permission.name());
            assert!(PermissionSet::ALL.contains(permission));
        }
        assert_eq!(set.to_string(), "messages:read,wiki:write");
        assert_eq!("*,messages:read".parse(), Ok(PermissionSet::ALL));
        assert!("messages:reed".parse::<PermissionSet>().is_err());
        assert!(serde_json::from_str::<PermissionSet>(r#"["messages:read,wiki:read"]"#).is_err());
    }
}
