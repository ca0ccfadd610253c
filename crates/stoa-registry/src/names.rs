//! The closed lists of the contract, and the forms of names.

use std::fmt;
use std::str::FromStr;

/// A component that machine principals call. A document is for exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Audience {
    Sense,
    Brain,
    Bell,
}

impl Audience {
    pub const ALL: [Audience; 3] = [Audience::Sense, Audience::Brain, Audience::Bell];

    /// Its name in documents and in the tag of signatures.
    ///
    /// ```
    /// assert_eq!(stoa_registry::Audience::Brain.name(), "svc-brain");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Audience::Sense => "svc-sense",
            Audience::Brain => "svc-brain",
            Audience::Bell => "svc-bell",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|audience| audience.name() == name)
    }
}

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    SourceConfigWrite,
    RuntimeStatusWrite,
    EventsIngest,
    EvidenceRead,
}

impl Scope {
    pub const ALL: [Scope; 4] =
        [Scope::SourceConfigWrite, Scope::RuntimeStatusWrite, Scope::EventsIngest, Scope::EvidenceRead];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::SourceConfigWrite => "source-config:write",
            Scope::RuntimeStatusWrite => "runtime-status:write",
            Scope::EventsIngest => "events:ingest",
            Scope::EvidenceRead => "evidence:read",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Whether the owner of a key still stands by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyStatus {
    Active,
    Revoked,
}

impl KeyStatus {
    pub const ALL: [KeyStatus; 2] = [KeyStatus::Active, KeyStatus::Revoked];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            KeyStatus::Active => "active",
            KeyStatus::Revoked => "revoked",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A text that is none of the names of a closed list. Says which there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    known: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "must be {}", self.known)
    }
}

impl std::error::Error for UnknownName {}

/// `a, b or c`.
pub(crate) fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

macro_rules! closed_list {
    ($name:ident) => {
        impl $name {
            pub(crate) fn known() -> String {
                one_of(&Self::ALL.map($name::name))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                Self::from_name(name).ok_or_else(|| UnknownName { known: Self::known() })
            }
        }
    };
}

closed_list!(Audience);
closed_list!(Scope);
closed_list!(KeyStatus);

/// A set of scopes.
///
/// ```
/// use stoa_registry::{Scope, Scopes};
///
/// let scopes: Scopes = [Scope::EvidenceRead, Scope::EventsIngest].into_iter().collect();
/// assert!(scopes.contains(Scope::EventsIngest) && !scopes.contains(Scope::SourceConfigWrite));
/// assert_eq!(scopes.to_string(), "events:ingest evidence:read");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope there is.
    #[must_use]
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & Self::bit(scope) != 0
    }

    /// Adds a scope; whether it was not there before.
    pub const fn insert(&mut self, scope: Scope) -> bool {
        let is_new = !self.contains(scope);
        self.0 |= Self::bit(scope);
        is_new
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes of the set, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    const fn bit(scope: Scope) -> u8 {
        1 << scope as u8
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        scopes.into_iter().fold(Self::default(), |mut set, scope| {
            set.insert(scope);
            set
        })
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Scope::name).collect();
        formatter.write_str(&names.join(" "))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

/// What a `principal_id` looks like, for people.
pub const PRINCIPAL_ID_FORM: &str = "svc:sense:, svc:brain: or svc:bell: and then 1 to 63 of a-z, 0-9, dot and hyphen, \
                                     beginning with a letter or a digit";

/// What a `kid` looks like, for people.
pub const KID_FORM: &str = "8 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen";

/// Whether a text has the form of a `principal_id`.
///
/// ```
/// use stoa_registry::is_principal_id;
///
/// assert!(is_principal_id("svc:sense:demo"));
/// assert!(!is_principal_id("svc:sense:demo\n") && !is_principal_id("svc:hub:demo"));
/// ```
#[must_use]
pub fn is_principal_id(text: &str) -> bool {
    let Some((kind, name)) = text.strip_prefix("svc:").and_then(|rest| rest.split_once(':')) else { return false };
    let is_letter_or_digit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    matches!(kind, "sense" | "brain" | "bell")
        && name.len() <= 63
        && name.bytes().next().is_some_and(is_letter_or_digit)
        && name.bytes().all(|byte| is_letter_or_digit(byte) || matches!(byte, b'.' | b'-'))
}

/// Whether a text has the form of a `kid`.
#[must_use]
pub fn is_kid(text: &str) -> bool {
    (8..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Whether a text has the form of a `public_key_base64url`; [`crate::Key::verifying_key`] knows whether it is a key.
pub(crate) fn is_public_key(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_ids() {
        let longest = format!("svc:bell:{}", "a".repeat(63));
        for good in ["svc:sense:demo", "svc:brain:0", "svc:bell:a.-", "svc:sense:a..b--", &longest] {
            assert!(is_principal_id(good), "{good:?}");
        }
        let too_long = format!("{longest}a");
        for bad in [
            "",
            "svc:sense:",
            "svc:sense",
            "svc::demo",
            "svc:hub:demo",
            "SVC:sense:demo",
            "svc:sense:Demo",
            "svc:sense:-a",
            "svc:sense:.a",
            "svc:sense:a_b",
            "svc:sense:a:b",
            "svc:sense:a/b",
            "svc:sense:é",
            "svc:sense:a\n",
            "svc:sense:a\nb",
            "\nsvc:sense:a",
            " svc:sense:a",
            &too_long,
        ] {
            assert!(!is_principal_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn kids() {
        for good in ["key-2026", "._-._-._", "AZaz0912", &"k".repeat(64)] {
            assert!(is_kid(good), "{good:?}");
        }
        for bad in ["", "key-202", &"k".repeat(65), "key/2026", "key 2026", "key-2026\n", "kéy-2026", "key:2026"] {
            assert!(!is_kid(bad), "{bad:?}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for audience in Audience::ALL {
            assert_eq!(audience.to_string().parse(), Ok(audience));
        }
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        for status in KeyStatus::ALL {
            assert_eq!(status.to_string().parse(), Ok(status));
        }
        let refused = "svc-hub".parse::<Audience>().unwrap_err();
        assert_eq!(refused.to_string(), "must be svc-sense, svc-brain or svc-bell");
        assert!("Active".parse::<KeyStatus>().is_err() && "events".parse::<Scope>().is_err());
    }

    #[test]
    fn sets_of_scopes() {
        let mut scopes = Scopes::default();
        assert!(scopes.is_empty() && scopes.to_string().is_empty());
        assert!(scopes.insert(Scope::EvidenceRead) && !scopes.insert(Scope::EvidenceRead));
        assert_eq!(scopes.iter().collect::<Vec<_>>(), [Scope::EvidenceRead]);
        assert_eq!(Scopes::all().iter().collect::<Vec<_>>(), Scope::ALL);
        assert_eq!(format!("{scopes:?}"), "{EvidenceRead}");
    }
}
