//! Listeners follow the outbox after the commit, by a durable cursor.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx, params};

use super::StoredEvent;
use super::outbox::{self, Position};
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub, catch_panic, pause};

/// Events given to a listener at once.
const BATCH: i64 = 500;
/// How long a hub keeps a listener to itself without advancing it.
const LEASE: Duration = Duration::from_secs(30);
/// How soon to look again for events that are committed but not yet safe to read.
const HELD_BACK_PAUSE: Duration = Duration::from_millis(15);
const FAILURE_PAUSE: Duration = Duration::from_millis(500);

/// Something that follows the events. It may see one twice, never none, and always in order.
/// Among several hubs on one database one at a time runs it.
pub trait Listener: Send + Sync + 'static {
    /// Names the cursor; a listener that is renamed begins anew.
    fn name(&self) -> &'static str;

    fn handle<'a>(&'a self, hub: &'a Hub, events: &'a [StoredEvent]) -> BoxFuture<'a, Result<(), HubError>>;

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
                tracing::error!(listener = listener.name(), %error, "a listener failed and will try again");
                NextLook::After(FAILURE_PAUSE)
            }
        };
        tokio::select! {
            () = hub.stopping() => break,
            _ = changes.changed() => {}
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
    /// When another hub's lease ends.
    At(i64),
}

impl NextLook {
    async fn wait(self, hub: &Hub) {
        match self {
            NextLook::OnSignal => std::future::pending().await,
            NextLook::After(duration) => pause(duration).await,
            NextLook::At(ms) => hub.clock().sleep_until(ms).await,
        }
    }
}

/// What a look at the cursor found.
enum Claim {
    /// Another hub runs this listener until then.
    Taken(i64),
    /// The cursor is new, or behind what has been pruned.
    Rebuild(Position),
    Events {
        from: Position,
        events: Vec<StoredEvent>,
        held_back: bool,
    },
}

async fn advance(hub: &Hub, listener: &dyn Listener) -> Result<NextLook, HubError> {
    loop {
        // What is left is there for the next one, here or on another hub.
        if hub.is_stopping() {
            return Ok(NextLook::OnSignal);
        }
        let (name, owner) = (listener.name(), hub.instance().to_owned());
        match hub.write(move |tx| claim(tx, name, &owner)).await? {
            Claim::Taken(until) => return Ok(NextLook::At(until)),
            Claim::Rebuild(position) => {
                listener.rebuild(hub).await?;
                let owner = hub.instance().to_owned();
                hub.write(move |tx| store_cursor(tx, name, &owner, position)).await?;
            }
            Claim::Events { events, held_back, .. } if events.is_empty() => {
                return Ok(if held_back { NextLook::After(HELD_BACK_PAUSE) } else { NextLook::OnSignal });
            }
            Claim::Events { from, events, .. } => {
                listener.handle(hub, &events).await?;
                let end = events.last().map_or(from, |event| event.position);
                let owner = hub.instance().to_owned();
                hub.write(move |tx| store_cursor(tx, name, &owner, end)).await?;
            }
        }
    }
}

fn claim(tx: &mut Tx<'_>, name: &str, owner: &str) -> Result<Claim, DbError> {
    let now = tx.now_ms();
    let lease_until = now + crate::clock::milliseconds(LEASE);
    let stored = tx.query_optional(
        "select xid, seq, lease_owner, lease_until from listener_cursors where name = $1",
        params![name],
        |row| {
            let position = Position { xid: row.get("xid")?, seq: row.get("seq")? };
            Ok((position, row.get::<Option<String>>("lease_owner")?, row.get::<Option<i64>>("lease_until")?))
        },
    )?;
    let Some((from, holder, until)) = stored else {
        let end = outbox::end(tx)?;
        return Ok(Claim::Rebuild(end));
    };
    let until = until.unwrap_or(0);
    let is_ours = holder.as_deref() == Some(owner);
    if holder.is_some() && !is_ours && until > now {
        return Ok(Claim::Taken(until));
    }
    if !is_ours || until < now + crate::clock::milliseconds(LEASE / 2) {
        tx.execute(
            "update listener_cursors set lease_owner = $2, lease_until = $3 where name = $1",
            params![name, owner, lease_until],
        )?;
    }
    if from < outbox::pruned_through(tx)? {
        let end = outbox::end(tx)?;
        return Ok(Claim::Rebuild(end));
    }
    let events = outbox::events_after(tx, from, BATCH)?;
    let held_back = outbox::is_held_back(tx)?;
    Ok(Claim::Events { from, events, held_back })
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
