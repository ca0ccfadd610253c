//! Public keys: from text to something that verifies, or the reason why not.

use std::fmt;

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, URL_SAFE_NO_PAD};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

use crate::{KeyStatus, Scopes};

/// An Ed25519 public key of a principal and what it is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub kid: String,
    pub public_key_base64url: String,
    pub status: KeyStatus,
    pub scopes: Scopes,
    /// The key itself, also when it was written with stray bits: whether two are one is asked of these.
    pub(crate) bytes: [u8; 32],
    pub(crate) verifying_key: Result<VerifyingKey, Unusable>,
}

impl Key {
    /// The key to verify signatures with, or why there is none. Neither status nor principal is asked:
    /// [`crate::Registry::find_key`] asks everything.
    pub fn verifying_key(&self) -> Result<&VerifyingKey, Unusable> {
        self.verifying_key.as_ref().map_err(|unusable| *unusable)
    }

    /// The 32 bytes of the public key, usable or not.
    #[must_use]
    pub fn public_key_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// A short name for the public key, for people to compare; see [`fingerprint`].
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.bytes)
    }
}

/// The first 96 bits of the SHA-256 of a public key, as 16 characters of base64url: short enough to be compared by eye,
/// long enough that nobody finds a second key with the same.
///
/// ```
/// assert_eq!(stoa_registry::fingerprint(&[0; 32]), "Zmh6rfhivXdsj8GL");
/// ```
#[must_use]
pub fn fingerprint(public_key: &[u8; 32]) -> String {
    let digest = Sha256::digest(public_key);
    URL_SAFE_NO_PAD.encode(digest.get(..12).unwrap_or_default())
}

/// Why a key that satisfies the schema verifies nothing. The document stays valid; only this key is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unusable {
    /// The last character has bits that belong to no byte, so the same key can be written in four ways.
    StrayBits,
    /// The bytes are no point of the curve.
    NotAPoint,
    /// The bytes name a point in another way than everybody else does.
    PointNotCanonical,
    /// Signatures for such a key can be made without knowing any secret.
    SmallOrder,
    /// Another entry has the same key, so a signature would not say whose it is.
    UsedTwice,
}

impl Unusable {
    /// A word for programs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Unusable::StrayBits => "stray_bits",
            Unusable::NotAPoint => "not_a_point",
            Unusable::PointNotCanonical => "point_not_canonical",
            Unusable::SmallOrder => "small_order",
            Unusable::UsedTwice => "used_twice",
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Unusable::StrayBits => {
                "the key cannot be used: its last character has stray bits; encode the 32 bytes again, without padding"
            }
            Unusable::NotAPoint => {
                "the key cannot be used: it is not a point of the curve; is it really an Ed25519 public key?"
            }
            Unusable::PointNotCanonical => {
                "the key cannot be used: its point is not in canonical encoding; create a new key"
            }
            Unusable::SmallOrder => {
                "the key cannot be used: it is a point of small order, for which anyone can sign; create a new key"
            }
            Unusable::UsedTwice => {
                "the key cannot be used: it is listed more than once; each kid needs a key of its own"
            }
        })
    }
}

impl std::error::Error for Unusable {}

/// The bytes of a text that has the form of a key, stray bits or not.
pub(crate) fn decode(text: &str) -> Option<[u8; 32]> {
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&URL_SAFE, GeneralPurposeConfig::with_decode_allow_trailing_bits(NO_PAD, true));
    LENIENT.decode(text).ok()?.try_into().ok()
}

/// What a text and its bytes verify with, were they the only ones.
pub(crate) fn verifying_key(text: &str, bytes: &[u8; 32]) -> Result<VerifyingKey, Unusable> {
    if URL_SAFE_NO_PAD.encode(bytes) != text {
        return Err(Unusable::StrayBits);
    }
    // Decoding a point follows ZIP 215, which takes encodings that are not canonical too.
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| Unusable::NotAPoint)?;
    if key.is_weak() {
        return Err(Unusable::SmallOrder);
    }
    if key.to_edwards().compress().as_bytes() != bytes {
        return Err(Unusable::PointNotCanonical);
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg";

    fn outcome(text: &str) -> Result<VerifyingKey, Unusable> {
        verifying_key(text, &decode(text).unwrap())
    }

    fn of_bytes(bytes: [u8; 32]) -> Result<VerifyingKey, Unusable> {
        outcome(&URL_SAFE_NO_PAD.encode(bytes))
    }

    /// `2^255 - 19 + n` for small `n`: what is a second way to write the coordinate `n`.
    fn beyond_the_prime(n: u8) -> [u8; 32] {
        let mut bytes = [0xff; 32];
        bytes[0] = 0xed + n;
        bytes[31] = 0x7f;
        bytes
    }

    #[test]
    fn of_the_four_ways_to_write_a_key_one_is_good() {
        assert!(outcome(GOOD).is_ok());
        for last in ["h", "i", "j"] {
            let text = format!("{}{last}", &GOOD[..42]);
            assert_eq!(decode(&text), decode(GOOD), "{last}");
            assert_eq!(outcome(&text), Err(Unusable::StrayBits));
        }
    }

    #[test]
    fn no_point_in_a_second_writing_is_accepted() {
        for n in 0..19 {
            for sign in [0, 0x80] {
                let mut bytes = beyond_the_prime(n);
                bytes[31] |= sign;
                assert!(of_bytes(bytes).is_err(), "{n} {sign}");
            }
        }
        assert_eq!(of_bytes(beyond_the_prime(3)), Err(Unusable::PointNotCanonical));
    }

    #[test]
    fn no_point_of_small_order_is_accepted() {
        let (mut zero_with_sign, mut one, mut minus_one) = ([0; 32], [0; 32], beyond_the_prime(0));
        zero_with_sign[31] = 0x80;
        one[0] = 1;
        minus_one[0] -= 1;
        let (mut one_with_sign, mut minus_one_with_sign) = (one, minus_one);
        one_with_sign[31] |= 0x80;
        minus_one_with_sign[31] |= 0x80;
        for bytes in [[0; 32], zero_with_sign, one, minus_one, one_with_sign, minus_one_with_sign] {
            assert_eq!(of_bytes(bytes), Err(Unusable::SmallOrder), "{bytes:?}");
        }
    }
}
