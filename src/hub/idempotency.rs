//! Doing a repeated request once: what is needed to answer it again is stored in the command's own transaction, so it is
//! there exactly when the change is.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stoa_db::{DbError, Insert, Tx, params};
use stoa_model::PrincipalId;

use crate::access::{Actor, Credential, Idempotency};
use crate::error::{ErrorKind, HubError};
use crate::storage::keys::{KeyRing, Purpose};

const DIGEST_BYTES: usize = 32;
/// Longer ones are not stored.
const MAX_STORED_BYTES: usize = 32 * 1024;
/// What stands before an answer that is not plain JSON, which never begins so.
const DEFLATED: u8 = 1;
const TOO_LONG: u8 = 2;

static ANSWER: Insert =
    Insert::new("idempotency", "created_at", &["caller", "route", "key", "answer", "created_at", "owner_id", "bytes"]);

/// How long an answer is kept.
pub const RETENTION_MS: i64 = 24 * 3600 * 1000;

/// An answer that is made again for a repeated request, from what was done. So the caller sees what they may see by then, and little is
/// stored.
pub trait Replayed: Serialize + DeserializeOwned {
    /// What is stored instead of the answer.
    type Kept: Serialize + DeserializeOwned;

    fn kept(&self) -> Self::Kept;

    fn again(tx: &mut Tx<'_>, actor: &Actor, kept: Self::Kept) -> Result<Self, HubError>;
}

/// How an answer is stored and given again.
pub struct Form<T> {
    keep: fn(&T) -> Result<Vec<u8>, HubError>,
    again: fn(&mut Tx<'_>, &Actor, &[u8]) -> Result<T, HubError>,
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Form<T> {}

impl<T: Serialize + DeserializeOwned> Form<T> {
    /// The answer is stored as it is. It says nothing that the caller might lose sight of.
    pub fn whole() -> Self {
        Self { keep: |answer| to_json(answer), again: |_, _, stored| from_json(stored) }
    }
}

impl<T: Replayed> Form<T> {
    /// The answer is made again.
    pub fn replayed() -> Self {
        Self {
            keep: |answer| to_json(&answer.kept()),
            again: |tx, actor, stored| {
                let kept = match from_json::<T::Kept>(stored) {
                    Ok(kept) => kept,
                    // A hub of an earlier version stored it whole.
                    Err(_) => from_json::<T>(stored).map_err(|_| not_kept())?.kept(),
                };
                T::again(tx, actor, kept)
            },
        }
    }
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, HubError> {
    serde_json::to_vec(value).map_err(HubError::internal)
}

fn from_json<T: DeserializeOwned>(stored: &[u8]) -> Result<T, HubError> {
    serde_json::from_slice(stored).map_err(HubError::internal)
}

/// What is stored of an answer: all of it if it is short, or is short when it is compressed.
fn packed(answer: Vec<u8>) -> Result<Vec<u8>, HubError> {
    if answer.len() <= MAX_STORED_BYTES {
        return Ok(answer);
    }
    let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::fast());
    encoder.write_all(&answer).map_err(HubError::internal)?;
    let deflated = encoder.finish().map_err(HubError::internal)?;
    Ok(if deflated.len() <= MAX_STORED_BYTES { deflated } else { vec![TOO_LONG] })
}

fn unpacked(stored: &[u8]) -> Result<Vec<u8>, HubError> {
    match stored.split_first() {
        Some((&DEFLATED, deflated)) => {
            let mut answer = Vec::new();
            DeflateDecoder::new(deflated).read_to_end(&mut answer).map_err(HubError::internal)?;
            Ok(answer)
        }
        Some((&TOO_LONG, _)) => Err(not_kept()),
        _ => Ok(stored.to_vec()),
    }
}

fn not_kept() -> HubError {
    let detail = "This request was already carried out. Its response is no longer stored.";
    HubError::conflict("answer_not_kept", detail).hint("Read the current state instead.")
}

/// Runs `command`, or answers as it did to the same request before, and says how many bytes are stored for that. A refusal is not
/// stored: the caller may mend what was wrong and use the same key again. `room` says whether more may be stored for the caller.
pub fn once<T>(
    tx: &mut Tx<'_>,
    keys: &KeyRing,
    actor: &Actor,
    wish: &Idempotency,
    form: Form<T>,
    room: Result<(), HubError>,
    command: impl FnOnce(&mut Tx<'_>) -> Result<T, HubError>,
) -> Result<(T, i64), HubError> {
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
            let (digest, stored) = plain.split_at_checked(DIGEST_BYTES).unwrap_or_default();
            if digest != wish.request_digest {
                return Err(HubError::new(
                    ErrorKind::Invalid,
                    "idempotency_key_reused",
                    "This idempotency key was already used for a different request.",
                )
                .hint("Use a new key for a new request."));
            }
            let answer = (form.again)(tx, actor, &unpacked(stored)?)?;
            wish.mark_replayed();
            return Ok((answer, 0));
        }
        tx.execute(
            "delete from idempotency where caller = $1 and route = $2 and key = $3",
            params![caller, wish.route, wish.key],
        )?;
    }
    room?;
    let answer = command(tx)?;
    let mut plain = wish.request_digest.to_vec();
    plain.append(&mut packed((form.keep)(&answer)?)?);
    let sealed =
        keys.seal(Purpose::IdempotencyAnswer, &context, tx.random_bytes(), &plain).map_err(HubError::internal)?;
    let bytes = (context.len() + sealed.len()) as i64;
    let owner = owner_of(actor).map(|owner| owner.0);
    tx.append(&ANSWER, params![caller, wish.route, wish.key, sealed, tx.now_ms(), owner, bytes])?;
    Ok((answer, bytes))
}

/// Who answers for the stored answers of a caller, if anybody does.
pub fn owner_of(actor: &Actor) -> Option<PrincipalId> {
    Some(actor.principal.human).filter(|human| human.0 != 0)
}

/// The bytes that are stored for an owner.
pub fn stored_bytes(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<i64, DbError> {
    tx.query_one(
        "select cast(coalesce(sum(bytes), 0) as bigint) as bytes from idempotency where owner_id = $1",
        params![owner.0],
        |row| row.get("bytes"),
    )
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
        Credential::Run(run) => format!("{} run {}", actor.id(), run.run),
        Credential::AccessToken(grant) => format!("{} grant {grant}", actor.id()),
        Credential::Signature(scopes) => format!("{} scopes {scopes:?}", actor.id()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_packed_or_left_out() {
        let short = vec![b'a'; MAX_STORED_BYTES];
        assert_eq!(packed(short.clone()).unwrap(), short);
        let long = b"same ".repeat(MAX_STORED_BYTES);
        let stored = packed(long.clone()).unwrap();
        assert!(stored.len() <= MAX_STORED_BYTES);
        assert_eq!(unpacked(&stored).unwrap(), long);
        let mut mixed = 1_u32;
        let random = (0..3 * MAX_STORED_BYTES).map(|_| {
            mixed = mixed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            mixed.to_be_bytes()[0]
        });
        let stored = packed(random.collect()).unwrap();
        assert_eq!(stored, [TOO_LONG]);
        assert_eq!(unpacked(&stored).unwrap_err().code, "answer_not_kept");
    }
}
