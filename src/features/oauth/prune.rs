//! Forgetting what is over.

use std::time::Duration;

use stoa_db::{DbError, Tx};

use super::{client_store, store};
use crate::clock::milliseconds;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Registrations that came to nothing.
const UNUSED_AFTER: Duration = DAY;
/// There are at most so many registrations that came to nothing: strangers make them. Where there are more, those older than an hour
/// are deleted, and if there are none, nobody can register.
const MANY_UNUSED: i64 = 10_000;
const UNUSED_AFTER_IF_MANY: Duration = Duration::from_secs(3600);
/// Clients that were used, but have nobody's permission any more.
const IDLE_AFTER: Duration = DAY.saturating_mul(90);
/// Grants that ended. Until then who shows an old token is told why it does not work.
const ENDED_AFTER: Duration = DAY;
const AT_ONCE: i64 = 500;

/// Deletes some of what is over, and says how much.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    let ago = |age: Duration| tx.now_ms() - milliseconds(age);
    let (unused, idle, ended) = (ago(UNUSED_AFTER), ago(IDLE_AFTER), ago(ENDED_AFTER));
    let unused_if_many = ago(UNUSED_AFTER_IF_MANY);
    Ok(store::delete_expired_requests(tx, AT_ONCE)?
        + store::delete_expired_tokens(tx, AT_ONCE)?
        + store::delete_ended_grants(tx, ended, AT_ONCE)?
        + client_store::delete_unused(tx, unused, idle, AT_ONCE)?
        + client_store::delete_surplus(tx, unused_if_many, MANY_UNUSED, AT_ONCE)?)
}

/// How many more registrations may come to nothing.
pub(super) fn room_for_unused(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    Ok(MANY_UNUSED - client_store::count_unused(tx, MANY_UNUSED)?)
}

/// Deletes the oldest registrations that came to nothing, if they are older than an hour.
pub(super) fn prune_oldest_unused(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    let before = tx.now_ms() - milliseconds(UNUSED_AFTER_IF_MANY);
    client_store::delete_oldest_unused(tx, before, AT_ONCE)
}

/// Deletes copies of refresh tokens that nobody can ask for any longer.
pub fn prune_successors(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    store::delete_expired_successors(tx, AT_ONCE)
}
