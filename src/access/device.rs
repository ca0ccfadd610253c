//! The device cookie. It says that a browser has logged in as a user before.
//!
//! It chooses the line in which the password of this user waits, and lets the login through where others at the address have
//! sent too many wrong passwords. It proves nothing: a thief still has to guess the password, as slowly as everybody. It holds
//! the user's id, a random number and a time, and is signed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use stoa_model::{PrincipalId, Secret};

use crate::storage::keys::{KeyRing, Purpose};

const VERSION: u8 = 1;
/// How long a browser is remembered after its last login.
pub const LIFETIME_SECONDS: u64 = 180 * 24 * 3600;
/// The clocks of two hubs may differ by this much.
const MOST_AHEAD_MS: i64 = 60_000;
const LENGTH: usize = 1 + 8 + 16 + 8 + 32;

/// What a device cookie says. It is not to be believed before [`is_of`](Self::is_of) has looked at it.
pub struct DeviceClaim {
    user: i64,
    id: [u8; 16],
    issued_at: i64,
    signature: [u8; 32],
}

/// Makes a cookie. A new password has a new revision, which makes every earlier cookie void.
pub fn issue(keys: &KeyRing, user: PrincipalId, password_revision: i64, id: [u8; 16], now_ms: i64) -> Secret {
    let (user, issued_at) = (user.0.to_be_bytes(), now_ms.to_be_bytes());
    let signature = keys.sign(Purpose::DeviceCookie, &[&user, &password_revision.to_be_bytes(), &id, &issued_at]);
    let mut bytes = Vec::with_capacity(LENGTH);
    bytes.push(VERSION);
    for part in [&user[..], &id, &issued_at, &signature] {
        bytes.extend_from_slice(part);
    }
    Secret::new(URL_SAFE_NO_PAD.encode(bytes))
}

impl DeviceClaim {
    /// Reads a cookie; none if it has not the form of one.
    pub fn read(cookie: &Secret) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(cookie.expose()).ok().filter(|bytes| bytes.len() == LENGTH)?;
        let (version, rest) = bytes.split_first()?;
        let (user, rest) = rest.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        let (issued_at, rest) = rest.split_first_chunk()?;
        let claim = Self {
            user: i64::from_be_bytes(*user),
            id: *id,
            issued_at: i64::from_be_bytes(*issued_at),
            signature: rest.try_into().ok()?,
        };
        (*version == VERSION).then_some(claim)
    }

    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// Whether this browser has logged in as that user, with the password that the user still has, and not too long ago.
    pub fn is_of(&self, keys: &KeyRing, user: PrincipalId, password_revision: i64, now_ms: i64) -> bool {
        let age = now_ms.saturating_sub(self.issued_at);
        let lifetime = i64::try_from(LIFETIME_SECONDS).unwrap_or(0) * 1000;
        let parts: [&[u8]; 4] =
            [&self.user.to_be_bytes(), &password_revision.to_be_bytes(), &self.id, &self.issued_at.to_be_bytes()];
        self.user == user.0
            && (-MOST_AHEAD_MS..lifetime).contains(&age)
            && keys.verify(Purpose::DeviceCookie, &parts, &self.signature)
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn ring(byte: u8) -> KeyRing {
        KeyRing::load_or_create(std::path::Path::new("/nonexistent"), Some(&STANDARD.encode([byte; 32]))).unwrap()
    }

    #[test]
    fn a_cookie_is_of_its_user_and_password_for_its_time() {
        let day = 24 * 3600 * 1000;
        let (ada, bob) = (PrincipalId(7), PrincipalId(8));
        let cookie = issue(&ring(1), ada, 3, [9; 16], 1000);
        let claim = DeviceClaim::read(&cookie).unwrap();
        assert_eq!(claim.id(), [9; 16]);
        let is_of = |key: u8, user, revision, now| claim.is_of(&ring(key), user, revision, now);
        assert!(is_of(1, ada, 3, 1000) && is_of(1, ada, 3, 179 * day) && is_of(1, ada, 3, 0));
        assert!(!is_of(2, ada, 3, 1000), "another key");
        assert!(!is_of(1, bob, 3, 1000), "another user");
        assert!(!is_of(1, ada, 4, 1000), "another password");
        assert!(!is_of(1, ada, 3, 181 * day), "too old");
        assert!(!is_of(1, ada, 3, -day), "from the future");
    }

    #[test]
    fn a_changed_cookie_is_worth_nothing() {
        let cookie = issue(&ring(1), PrincipalId(7), 3, [9; 16], 1000);
        let bytes = URL_SAFE_NO_PAD.decode(cookie.expose()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let claim = DeviceClaim::read(&Secret::new(URL_SAFE_NO_PAD.encode(changed)));
            assert!(claim.is_none_or(|claim| !claim.is_of(&ring(1), PrincipalId(7), 3, 1000)), "byte {at}");
        }
        for text in ["", "x", &cookie.expose()[1..], &format!("{}AAAA", cookie.expose()), "!!!"] {
            assert!(DeviceClaim::read(&Secret::new(text)).is_none(), "{text}");
        }
    }
}
