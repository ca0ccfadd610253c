//! List cursors: signed, so that nobody can make one up, and bound to the list they came from.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::storage::keys::{KeyRing, Purpose};

const SIGNATURE_BYTES: usize = 16;
/// No cursor that we issue is longer.
const MAX_CURSOR_BYTES: usize = 1024;

/// Writes where the next page begins. `list` names the list and its filters: the cursor is worth
/// nothing for another one, or for another caller.
pub fn issue(keys: &KeyRing, actor: &Actor, list: &str, position: &impl Serialize) -> Result<String, HubError> {
    let position = serde_json::to_vec(position).map_err(HubError::internal)?;
    let mut bytes = sign(keys, actor, list, &position)[..SIGNATURE_BYTES].to_vec();
    bytes.extend_from_slice(&position);
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Reads a cursor that [`issue`] wrote for the same list and caller.
pub fn read<P: DeserializeOwned>(keys: &KeyRing, actor: &Actor, list: &str, cursor: &str) -> Result<P, HubError> {
    let decode = || {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok().filter(|_| cursor.len() <= MAX_CURSOR_BYTES)?;
        let (signature, position) = bytes.split_at_checked(SIGNATURE_BYTES)?;
        let caller = caller(actor);
        let parts: [&[u8]; 3] = [caller.as_bytes(), list.as_bytes(), position];
        keys.verify_prefix(Purpose::Cursor, &parts, signature).then(|| serde_json::from_slice(position).ok())?
    };
    decode().ok_or_else(|| {
        HubError::new(ErrorKind::Malformed, "invalid_cursor", "The cursor does not belong to this list and caller.")
            .hint("Start without a cursor, and keep the same filters while you page.")
    })
}

fn sign(keys: &KeyRing, actor: &Actor, list: &str, position: &[u8]) -> [u8; 32] {
    keys.sign(Purpose::Cursor, &[caller(actor).as_bytes(), list.as_bytes(), position])
}

fn caller(actor: &Actor) -> String {
    actor.id().to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_and_caller_only() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyRing::load_or_create(folder.path(), None).unwrap();
        let ada = Actor::anonymous(Arc::default());
        let mut bob = ada.clone();
        Arc::make_mut(&mut bob.principal).id = stoa_model::PrincipalId(2);
        let cursor = issue(&keys, &ada, "agents", &("scout", 7)).unwrap();
        assert_eq!(read::<(String, i64)>(&keys, &ada, "agents", &cursor).unwrap(), ("scout".to_owned(), 7));
        for (actor, list, cursor) in [
            (&bob, "agents", cursor.as_str()),
            (&ada, "keys", &cursor),
            (&ada, "agents", &cursor[1..]),
            (&ada, "agents", ""),
            (&ada, "agents", "not a cursor"),
            (&ada, "agents", &"A".repeat(5000)),
        ] {
            assert_eq!(read::<(String, i64)>(&keys, actor, list, cursor).unwrap_err().code, "invalid_cursor");
        }
        // After a rotation the pages that are being read can be read to their end.
        let rotated = keys.with_new_key().unwrap();
        assert!(read::<(String, i64)>(&rotated, &ada, "agents", &cursor).is_ok());
    }
}
