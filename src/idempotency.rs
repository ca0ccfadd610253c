//! Doing a repeated request once: the answer is stored in the command's own transaction, so it is
//! there exactly when the change is.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{DbError, Tx, params};

use crate::actor::{Actor, Idempotency};
use crate::error::{ErrorKind, HubError};
use crate::keys::{KeyRing, Purpose};

/// How long an answer is kept.
pub const RETENTION_MS: i64 = 24 * 3600 * 1000;

/// Runs `command`, or gives the answer it gave to the same request before. A refusal is not
/// stored: the caller may mend what was wrong and use the same key again.
pub fn once<T: Serialize + DeserializeOwned>(
    tx: &mut Tx<'_>,
    keys: &KeyRing,
    actor: &Actor,
    wish: &Idempotency,
    command: impl FnOnce(&mut Tx<'_>) -> Result<T, HubError>,
) -> Result<T, HubError> {
    let caller = caller(actor, wish);
    let context = format!("{caller} {} {}", wish.route, wish.key);
    let earlier = tx.query_optional(
        "select request_mac, answer, created_at from idempotency where caller = $1 and route = $2 and key = $3",
        params![caller, wish.route, wish.key],
        |row| Ok((row.get::<Vec<u8>>("request_mac")?, row.get::<Vec<u8>>("answer")?, row.get::<i64>("created_at")?)),
    )?;
    if let Some((request_mac, answer, created_at)) = earlier {
        if created_at > tx.now_ms() - RETENTION_MS {
            if request_mac != wish.request_mac {
                return Err(HubError::new(
                    ErrorKind::Invalid,
                    "idempotency_key_reused",
                    "This Idempotency-Key was used before with another request.",
                )
                .hint("Use a new key for a new request."));
            }
            let plain = keys.open(Purpose::IdempotencyAnswer, &context, &answer).map_err(HubError::internal)?;
            let answer = serde_json::from_slice(&plain).map_err(HubError::internal)?;
            wish.mark_replayed();
            return Ok(answer);
        }
        tx.execute(
            "delete from idempotency where caller = $1 and route = $2 and key = $3",
            params![caller, wish.route, wish.key],
        )?;
    }
    let answer = command(tx)?;
    let plain = serde_json::to_vec(&answer).map_err(HubError::internal)?;
    let sealed =
        keys.seal(Purpose::IdempotencyAnswer, &context, tx.random_bytes(), &plain).map_err(HubError::internal)?;
    tx.execute(
        "insert into idempotency (caller, route, key, request_mac, answer, created_at) values ($1, $2, $3, $4, $5, $6)",
        params![caller, wish.route, wish.key, wish.request_mac, sealed, tx.now_ms()],
    )?;
    Ok(answer)
}

/// Forgets answers that are too old to be replayed.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute("delete from idempotency where created_at <= $1", params![tx.now_ms() - RETENTION_MS])
}

/// After a change of key the stored answers could not be opened any more once the old key is gone.
pub fn forget_all(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute("delete from idempotency", &[])
}

/// Whose keys these are. Callers without an identity (who log in or register) are told apart by
/// what they send, so that a stranger's choice of key can never get in another one's way.
fn caller(actor: &Actor, wish: &Idempotency) -> String {
    if actor.id().0 != 0 {
        return actor.id().to_string();
    }
    let request: String = wish.request_mac.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("anonymous {request}")
}
