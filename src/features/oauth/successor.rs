//! Copies of refresh tokens for clients that ask twice: for a few seconds the client that shows the token before gets the same
//! successor again.
//!
//! A copy is masked with the old token and sealed with the key of the hub. A backup has that key in it, but not the old token, which is
//! stored as a hash only. So no token can be read from a backup.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use stoa_db::Tx;
use stoa_model::Secret;
use stoa_model::credentials::CredentialKind;

use super::store::{self, Successor};
use crate::access::identity::credential_hash;
use crate::error::HubError;
use crate::storage::keys::{KeyRing, Purpose};

const MASK: &[u8] = b"stoa mask of a refresh token v1";

/// The bits of the token that follows `old`, as they are stored.
pub(super) fn seal(keys: &KeyRing, tx: &mut Tx<'_>, old: &Secret, random: [u8; 32]) -> Result<Vec<u8>, HubError> {
    let context = context(&credential_hash(old.expose()));
    let masked = masked(old, random)?;
    keys.seal(Purpose::RefreshSuccessor, &context, tx.random_bytes(), &masked).map_err(HubError::internal)
}

/// The token that follows `old`.
pub(super) fn open(keys: &KeyRing, old: &Secret, sealed: &[u8]) -> Result<Secret, HubError> {
    let context = context(&credential_hash(old.expose()));
    let opened = keys.open(Purpose::RefreshSuccessor, &context, sealed).map_err(HubError::internal)?;
    let masked_bits: [u8; 32] = opened.as_slice().try_into().map_err(HubError::internal)?;
    Ok(Secret::new(CredentialKind::RefreshToken.render(masked(old, masked_bits)?)))
}

/// Seals the stored copies with the current key, so that an older one can be removed.
pub(super) fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    for Successor { token_hash, sealed } in store::list_successors(tx)? {
        let context = context(&token_hash);
        let opened = keys.open(Purpose::RefreshSuccessor, &context, &sealed).map_err(HubError::internal)?;
        let sealed = keys.seal(Purpose::RefreshSuccessor, &context, tx.random_bytes(), &opened);
        store::update_successor(tx, &token_hash, &sealed.map_err(HubError::internal)?)?;
    }
    Ok(())
}

/// Adds what only somebody with the old token can compute. Doing it twice takes it away again. A token has one successor, so
/// no mask is used for two of them.
fn masked(old: &Secret, bits: [u8; 32]) -> Result<[u8; 32], HubError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(old.expose().as_bytes()).map_err(HubError::internal)?;
    mac.update(MASK);
    let mask: [u8; 32] = mac.finalize().into_bytes().into();
    Ok(std::array::from_fn(|at| bits[at] ^ mask[at]))
}

/// Where a copy belongs: it cannot be opened anywhere else.
fn context(token_hash: &[u8]) -> String {
    token_hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
