//! Doing a repeated request once: the answer is stored in the command's own transaction, so it is
//! there exactly when the change is.

use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{DbError, Insert, Tx, params};

use crate::access::{Actor, Credential, Idempotency};
use crate::error::{ErrorKind, HubError};
use crate::storage::keys::{KeyRing, Purpose};

const DIGEST_BYTES: usize = 32;

static ANSWER: Insert = Insert::new("idempotency", "created_at", &["caller", "route", "key", "answer", "created_at"]);

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
    let context = context(&caller, &wish.route, &wish.key);
    // The second of two that come at once finds the answer of the first.
    tx.hold("idempotency", params![caller, wish.route, wish.key])?;
    let earlier = tx.query_optional(
        "select answer, created_at from idempotency where caller = $1 and route = $2 and key = $3",
        params![caller, wish.route, wish.key],
        |row| Ok((row.get::<Vec<u8>>("answer")?, row.get::<i64>("created_at")?)),
    )?;
    if let Some((answer, created_at)) = earlier {
        if created_at > tx.now_ms() - RETENTION_MS {
            let plain = keys.open(Purpose::IdempotencyAnswer, &context, &answer).map_err(HubError::internal)?;
            let (digest, answer) = plain.split_at_checked(DIGEST_BYTES).unwrap_or_default();
            if digest != wish.request_digest {
                return Err(HubError::new(
                    ErrorKind::Invalid,
                    "idempotency_key_reused",
                    "This idempotency key was used before with another request.",
                )
                .hint("Use a new key for a new request."));
            }
            let answer = serde_json::from_slice(answer).map_err(HubError::internal)?;
            wish.mark_replayed();
            return Ok(answer);
        }
        tx.execute(
            "delete from idempotency where caller = $1 and route = $2 and key = $3",
            params![caller, wish.route, wish.key],
        )?;
    }
    let answer = command(tx)?;
    let mut plain = wish.request_digest.to_vec();
    serde_json::to_writer(&mut plain, &answer).map_err(HubError::internal)?;
    let sealed =
        keys.seal(Purpose::IdempotencyAnswer, &context, tx.random_bytes(), &plain).map_err(HubError::internal)?;
    tx.append(&ANSWER, params![caller, wish.route, wish.key, sealed, tx.now_ms()])?;
    Ok(answer)
}

/// Forgets answers that are too old to be replayed.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute(
        "delete from idempotency where (caller, route, key) in (
             select caller, route, key from idempotency where created_at <= $1 limit 500)",
        params![tx.now_ms() - RETENTION_MS],
    )
}

/// Whether there is an answer to be replayed, for checks before costly work.
pub fn is_known(tx: &mut Tx<'_>, actor: &Actor) -> Result<bool, DbError> {
    let Some(wish) = &actor.call.idempotency else { return Ok(false) };
    tx.query_one(
        "select exists (select 1 from idempotency where caller = $1 and route = $2 and key = $3) as known",
        params![caller(actor, wish), wish.route, wish.key],
        |row| row.get("known"),
    )
}

/// Seals the stored answers with the current key, so that an older one can go.
pub fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    let rows = tx.query("select caller, route, key, answer from idempotency", &[], |row| {
        let name = (row.get::<String>("caller")?, row.get::<String>("route")?, row.get::<String>("key")?);
        Ok((name, row.get::<Vec<u8>>("answer")?))
    })?;
    for ((caller, route, key), sealed) in rows {
        let context = context(&caller, &route, &key);
        let plain = keys.open(Purpose::IdempotencyAnswer, &context, &sealed).map_err(HubError::internal)?;
        let sealed =
            keys.seal(Purpose::IdempotencyAnswer, &context, tx.random_bytes(), &plain).map_err(HubError::internal)?;
        tx.execute(
            "update idempotency set answer = $4 where caller = $1 and route = $2 and key = $3",
            params![caller, route, key, sealed],
        )?;
    }
    Ok(())
}

/// Where an answer belongs: it cannot be opened anywhere else.
fn context(caller: &str, route: &str, key: &str) -> String {
    format!("{caller} {route} {key}")
}

/// Whose keys these are. Callers without an identity (who log in or register) are told apart by
/// what they send, so that a stranger's choice of key can never get in another one's way.
fn caller(actor: &Actor, wish: &Idempotency) -> String {
    match actor.principal.credential {
        Credential::None | Credential::Operator => wish.anonymous_caller.clone(),
        Credential::Session(_) | Credential::AgentKey => actor.id().to_string(),
        // A key with less reach must not be given the answers of one with more.
        Credential::ApiKey(key) => format!("{} key {key}", actor.id()),
        Credential::AccessToken(grant) => format!("{} grant {grant}", actor.id()),
        Credential::Signature(scopes) => format!("{} scopes {scopes:?}", actor.id()),
    }
}
