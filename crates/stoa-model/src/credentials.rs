//! The shape of the secrets that Stoa hands out.
//!
//! A credential is a prefix that says what it is, 256 random bits in base62, and a checksum, so that
//! scanners can recognise a leaked one and a typo is refused without asking the database.

/// What a credential is for, told by its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    AgentKey,
    ApiKey,
    AccessToken,
    RefreshToken,
    RunToken,
    Invitation,
}

use CredentialKind::{AccessToken, AgentKey, ApiKey, Invitation, RefreshToken, RunToken};

const KINDS: [CredentialKind; 6] = [AgentKey, ApiKey, AccessToken, RefreshToken, RunToken, Invitation];
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits that 256 bits need in base 62.
const RANDOM_DIGITS: usize = 43;
const CHECKSUM_DIGITS: usize = 6;
/// The longest credential, in bytes.
pub const MAX_LENGTH: usize = "stoa_agent_".len() + RANDOM_DIGITS + CHECKSUM_DIGITS;

impl CredentialKind {
    pub fn prefix(self) -> &'static str {
        match self {
            AgentKey => "stoa_agent_",
            ApiKey => "stoa_key_",
            AccessToken => "stoa_at_",
            RefreshToken => "stoa_rt_",
            RunToken => "stoa_run_",
            Invitation => "stoa_inv_",
        }
    }

    /// Writes 256 random bits as a credential of this kind.
    pub fn render(self, random: [u8; 32]) -> String {
        let body = format!("{}{}", self.prefix(), base62(random));
        let checksum = checksum(&body);
        body + &checksum
    }
}

/// What `text` claims to be, if it is whole. Says nothing about whether it was ever issued.
pub fn recognise(text: &str) -> Option<CredentialKind> {
    let kind = KINDS.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
    let digits = &text[kind.prefix().len()..];
    if digits.len() != RANDOM_DIGITS + CHECKSUM_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let (body, stated) = text.split_at(text.len() - CHECKSUM_DIGITS);
    (checksum(body) == stated).then_some(kind)
}

/// The length of the credential that a text begins with, if it begins with one.
pub fn length_at_start(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"stoa_") {
        return None;
    }
    let kind = KINDS.into_iter().find(|kind| text.starts_with(kind.prefix().as_bytes()))?;
    let length = kind.prefix().len() + RANDOM_DIGITS + CHECKSUM_DIGITS;
    let credential = std::str::from_utf8(text.get(..length)?).ok()?;
    recognise(credential).map(|_| length)
}

/// Random bytes as base 62 digits, for secrets that need no prefix.
pub fn base62(random: [u8; 32]) -> String {
    let mut number = random;
    let mut digits = [0u8; RANDOM_DIGITS];
    for digit in digits.iter_mut().rev() {
        // Long division by 62, most significant byte first.
        let mut remainder = 0u32;
        for byte in &mut number {
            let value = remainder << 8 | u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        *digit = ALPHABET[remainder as usize];
    }
    digits.iter().copied().map(char::from).collect()
}

fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [0u8; CHECKSUM_DIGITS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_credential_is_recognised(random: [u8; 32]) {
            for kind in KINDS {
                let credential = kind.render(random);
                prop_assert_eq!(recognise(&credential), Some(kind));
                prop_assert_eq!(length_at_start(format!("{credential}0, and more").as_bytes()), Some(credential.len()));
                prop_assert!(credential.len() <= MAX_LENGTH);
            }
        }

        #[test]
        fn one_wrong_character_is_refused(random: [u8; 32], at in 0usize..49, digit in 0usize..62) {
            let good = AgentKey.render(random);
            let mut bad = good.clone().into_bytes();
            let at = AgentKey.prefix().len() + at;
            bad[at] = ALPHABET[digit];
            let bad = String::from_utf8(bad).unwrap();
            prop_assert_eq!(recognise(&bad).is_some(), bad == good);
        }

        #[test]
        fn anything_else_is_refused(text: String) {
            prop_assert_eq!(recognise(&text), None);
        }
    }

    #[test]
    fn different_bits_are_different_digits() {
        assert_eq!(base62([0; 32]), "0".repeat(43));
        assert_ne!(base62([255; 32]), base62([254; 32]));
        assert_eq!(recognise("stoa_agent_é"), None);
    }
}
