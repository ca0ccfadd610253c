//! Listeners follow the outbox after the commit, by a durable cursor.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx, params};

use super::lag::unsignalled;
use super::outbox::{self, EventPage, Position};
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub, catch_panic, pause};

/// Events given to a listener at once, unless it wants it otherwise.
const BATCH: i64 = 500;
/// How long a hub keeps a listener to itself without advancing it.
const LEASE: Duration = Duration::from_secs(30);
const FAILURE_PAUSE: Duration = Duration::from_millis(500);
/// How long a hub leaves a listener alone that another one runs.
const REST_WHILE_TAKEN: Duration = Duration::from_millis(250);

/// Something that follows the events. It may see one twice, never none, and always in order.
/// Among several hubs on one database one at a time runs it.
pub trait Listener: Send + Sync + 'static {
    /// Names the cursor; a listener that is renamed begins anew.
    fn name(&self) -> &'static str;

    /// Events that it is given at once, at most.
    fn batch(&self) -> i64 {
        BATCH
    }

    /// How long it rests after a batch, so that the next one is worth it: each costs a commit.
    fn rest(&self) -> Duration {
        Duration::ZERO
    }

    /// A page may have rows but no events: those that cannot be read count as handled, too.
    fn handle<'a>(&'a self, hub: &'a Hub, page: &'a EventPage) -> BoxFuture<'a, Result<(), HubError>>;

    /// Makes up for events it can no longer read, because it is new or was away for too long. What
    /// happens from now on comes to [`handle`](Self::handle).
    fn rebuild<'a>(&'a self, _hub: &'a Hub) -> BoxFuture<'a, Result<(), HubError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Follows the outbox until the hub stops.
pub(crate) async fn follow(hub: Hub, listener: Arc<dyn Listener>) {
    let mut changes = hub.db().changes();
    loop {
        changes.mark_unchanged();
        // A panic of a feature must not end the listener for good.
        let advanced = catch_panic(advance(&hub, &*listener)).await;
        let next_look = match advanced.unwrap_or_else(|| Err(HubError::internal("the listener panicked"))) {
            Ok(next_look) => next_look,
            Err(error) => {
                tracing::error!(listener = listener.name(), %error, "a listener failed and will retry");
                NextLook::After(FAILURE_PAUSE)
            }
        };
        let rest = match next_look {
            NextLook::AfterRest(rest) => rest,
            // Each event would be a reason to look whether the other hub still has it.
            NextLook::FromOther(_) => REST_WHILE_TAKEN,
            NextLook::OnSignal | NextLook::After(_) => Duration::ZERO,
        };
        if !rest.is_zero() {
            tokio::select! {
                () = hub.stopping() => break,
                () = pause(rest) => {}
                () = hub.hurried() => {}
            }
        }
        if matches!(next_look, NextLook::AfterRest(_)) {
            continue;
        }
        tokio::select! {
            () = hub.stopping() => break,
            _ = changes.changed() => {}
            () = unsignalled(&hub) => {}
            () = next_look.wait(&hub) => {}
        }
    }
    let name = listener.name();
    let owner = hub.instance().to_owned();
    let released = hub.write(move |tx| release(tx, name, &owner)).await;
    if let Err(error) = released {
        tracing::debug!(listener = name, %error, "a listener's lease runs out by itself");
    }
}

/// When to look again if nothing is signalled.
enum NextLook {
    OnSignal,
    After(Duration),
    /// Not before, whatever is signalled.
    AfterRest(Duration),
    /// When the lease of another hub ends, or when it may have let go of it.
    FromOther(i64),
}

impl NextLook {
    async fn wait(self, hub: &Hub) {
        match self {
            NextLook::OnSignal => std::future::pending().await,
            NextLook::After(duration) | NextLook::AfterRest(duration) => pause(duration).await,
            NextLook::FromOther(ms) => hub.clock().sleep_until(ms).await,
        }
    }
}

/// What a look at the cursor found.
enum Look {
    /// Another hub runs this listener until then.
    Taken(i64),
    /// The lease is nobody's, or about to run out.
    Free,
    /// The cursor is new, or behind what has been pruned.
    Rebuild(Position),
    Events(EventPage),
}

async fn advance(hub: &Hub, listener: &dyn Listener) -> Result<NextLook, HubError> {
    loop {
        // What is left is there for the next one, here or on another hub.
        if hub.is_stopping() {
            return Ok(NextLook::OnSignal);
        }
        let (name, owner, batch) = (listener.name(), hub.instance().to_owned(), listener.batch());
        // Looking costs no write, which would be in the way of others.
        match hub.read(move |tx| look(tx, name, &owner, batch)).await? {
            Look::Taken(until) => return Ok(NextLook::FromOther(until)),
            Look::Free => {
                let owner = hub.instance().to_owned();
                hub.write(move |tx| claim(tx, name, &owner)).await?;
            }
            Look::Rebuild(position) => {
                listener.rebuild(hub).await?;
                let owner = hub.instance().to_owned();
                hub.write(move |tx| store_cursor(tx, name, &owner, position)).await?;
            }
            Look::Events(page) => {
                let Some(end) = page.end else { return Ok(NextLook::OnSignal) };
                listener.handle(hub, &page).await?;
                let owner = hub.instance().to_owned();
                hub.write(move |tx| store_cursor(tx, name, &owner, end)).await?;
                if !listener.rest().is_zero() {
                    return Ok(NextLook::AfterRest(listener.rest()));
                }
            }
        }
    }
}

/// Where a listener has come to, who runs it, and until when.
struct Cursor {
    position: Position,
    holder: Option<String>,
    until: i64,
}

fn find_cursor(tx: &mut Tx<'_>, name: &str) -> Result<Option<Cursor>, DbError> {
    tx.query_optional(
        "select xid, seq, lease_owner, lease_until from listener_cursors where name = $1",
        params![name],
        |row| {
            Ok(Cursor {
                position: Position { xid: row.get("xid")?, seq: row.get("seq")? },
                holder: row.get("lease_owner")?,
                until: row.get::<Option<i64>>("lease_until")?.unwrap_or(0),
            })
        },
    )
}

fn look(tx: &mut Tx<'_>, name: &str, owner: &str, batch: i64) -> Result<Look, DbError> {
    let now = tx.now_ms();
    let Some(cursor) = find_cursor(tx, name)? else {
        return Ok(Look::Rebuild(outbox::end(tx)?));
    };
    let is_ours = cursor.holder.as_deref() == Some(owner);
    if cursor.holder.is_some() && !is_ours && cursor.until > now {
        return Ok(Look::Taken(cursor.until));
    }
    if !is_ours || cursor.until < now + crate::clock::milliseconds(LEASE / 2) {
        return Ok(Look::Free);
    }
    if cursor.position < outbox::pruned_through(tx)? {
        return Ok(Look::Rebuild(outbox::end(tx)?));
    }
    Ok(Look::Events(outbox::events_after(tx, cursor.position, batch)?))
}

/// Takes or extends the lease, unless another hub was quicker.
fn claim(tx: &mut Tx<'_>, name: &str, owner: &str) -> Result<(), DbError> {
    let now = tx.now_ms();
    tx.execute(
        "update listener_cursors set lease_owner = $2, lease_until = $3
         where name = $1 and (lease_owner is null or lease_owner = $2 or lease_until is null or lease_until <= $4)",
        params![name, owner, now + crate::clock::milliseconds(LEASE), now],
    )?;
    Ok(())
}

fn store_cursor(tx: &mut Tx<'_>, name: &str, owner: &str, position: Position) -> Result<(), DbError> {
    let lease_until = tx.now_ms() + crate::clock::milliseconds(LEASE);
    tx.execute(
        "insert into listener_cursors (name, xid, seq, lease_owner, lease_until) values ($1, $2, $3, $4, $5)
         on conflict (name) do update
         set xid = excluded.xid, seq = excluded.seq, lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
         where (listener_cursors.xid, listener_cursors.seq) <= (excluded.xid, excluded.seq)",
        params![name, position.xid, position.seq, owner, lease_until],
    )?;
    Ok(())
}

fn release(tx: &mut Tx<'_>, name: &str, owner: &str) -> Result<(), DbError> {
    tx.execute(
        "update listener_cursors set lease_owner = null, lease_until = null where name = $1 and lease_owner = $2",
        params![name, owner],
    )?;
    // Another hub can take over at once.
    tx.signal_change();
    Ok(())
}

/// Makes a listener begin anew.
pub(crate) fn forget(tx: &mut Tx<'_>, name: &str) -> Result<(), DbError> {
    tx.execute("delete from listener_cursors where name = $1", params![name])?;
    tx.signal_change();
    Ok(())
}

/// Drops the cursors of listeners that no longer exist, which would hold up pruning, and, where this
/// process is the only one, the leases that a crash left behind.
pub(crate) fn tidy_at_start(tx: &mut Tx<'_>, names: &[&'static str]) -> Result<(), DbError> {
    let stored: Vec<String> = tx.query("select name from listener_cursors", &[], |row| row.get("name"))?;
    for name in stored.iter().filter(|name| !names.contains(&name.as_str())) {
        tx.execute("delete from listener_cursors where name = $1", params![name])?;
    }
    if tx.engine() == stoa_db::Engine::Sqlite {
        tx.execute("update listener_cursors set lease_owner = null, lease_until = null", &[])?;
    }
    Ok(())
}

/// How many events each listener has not seen yet; at least one if it has to rebuild.
pub fn backlog(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>, DbError> {
    let cursors = tx.query("select name, xid, seq from listener_cursors order by name", &[], |row| {
        Ok((row.get::<String>("name")?, Position { xid: row.get("xid")?, seq: row.get("seq")? }))
    })?;
    let pruned = outbox::pruned_through(tx)?;
    let behind = |(name, position): (String, Position)| {
        let unseen = outbox::count_after(tx, position)?;
        Ok((name, unseen.max(i64::from(position < pruned))))
    };
    cursors.into_iter().map(behind).collect()
}
