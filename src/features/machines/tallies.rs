//! How often each key was used and each principal refused. Counted in memory and written down from time to time:
//! a refusal must not cost a commit, or strangers could keep the disk busy.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::registry::{Memory as Registry, principal_row};
use super::store;
use crate::hub::Hub;

#[derive(Default)]
pub(super) struct Tallies {
    counts: Mutex<Counts>,
    /// Held while counts are on their way: whoever wants to read them waits until they have arrived.
    writing: tokio::sync::Mutex<()>,
}

/// A number of times, and the last one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) count: i64,
    pub(super) last_at: i64,
}

#[derive(Default)]
struct Counts {
    /// By principal and key.
    uses: HashMap<(String, String), Tally>,
    /// By principal and reason.
    refusals: HashMap<(String, &'static str), Tally>,
}

fn add<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, Tally>, key: K, now: i64) {
    let tally = counts.entry(key).or_default();
    tally.count += 1;
    tally.last_at = tally.last_at.max(now);
}

pub(super) fn used(hub: &Hub, principal_id: &str, kid: &str) {
    hub.metrics().machine_requests.with_label_values(&["accepted"]).inc();
    let tallies = hub.memory::<Tallies>();
    let mut counts = tallies.counts.lock().unwrap_or_else(PoisonError::into_inner);
    add(&mut counts.uses, (principal_id.to_owned(), kid.to_owned()), hub.clock().now_ms());
}

/// `principal_id` is what the caller claims to be. Only those that the registry has are counted by name: callers
/// could invent as many as they like.
pub(super) fn refused(hub: &Hub, principal_id: Option<&str>, reason: &'static str) {
    hub.metrics().machine_requests.with_label_values(&[reason]).inc();
    let Some(principal_id) = principal_id else { return };
    let loaded = hub.memory::<Registry>().loaded();
    if loaded.is_none_or(|loaded| loaded.registry.principal(principal_id).is_none()) {
        return;
    }
    let tallies = hub.memory::<Tallies>();
    let mut counts = tallies.counts.lock().unwrap_or_else(PoisonError::into_inner);
    add(&mut counts.refusals, (principal_id.to_owned(), reason), hub.clock().now_ms());
}

/// Writes down what was counted since the last time.
pub(super) async fn flush(hub: &Hub) {
    let tallies = hub.memory::<Tallies>();
    let _writing = tallies.writing.lock().await;
    let counts = std::mem::take(&mut *tallies.counts.lock().unwrap_or_else(PoisonError::into_inner));
    if counts.uses.is_empty() && counts.refusals.is_empty() {
        return;
    }
    if let Err(error) = write(hub, &counts).await {
        tracing::warn!(%error, "the use of machine keys could not be noted");
        give_back(&tallies, counts);
    }
}

async fn write(hub: &Hub, counts: &Counts) -> Result<(), crate::error::HubError> {
    let (mut uses, mut refusals) = (Vec::new(), Vec::new());
    for ((principal_id, kid), tally) in &counts.uses {
        uses.push((principal_row(hub, principal_id).await?, kid.clone(), *tally));
    }
    for ((principal_id, reason), tally) in &counts.refusals {
        refusals.push((principal_row(hub, principal_id).await?, *reason, *tally));
    }
    // In one order, so that two hubs cannot wait for each other.
    uses.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    refusals.sort_by_key(|(id, reason, _)| (*id, *reason));
    hub.write(move |tx| {
        for (id, kid, tally) in &uses {
            store::add_uses(tx, *id, kid, *tally)?;
        }
        for (id, reason, tally) in &refusals {
            store::add_refusals(tx, *id, reason, *tally)?;
        }
        Ok(())
    })
    .await
}

fn give_back(tallies: &Tallies, lost: Counts) {
    let mut counts = tallies.counts.lock().unwrap_or_else(PoisonError::into_inner);
    merge(&mut counts.uses, lost.uses);
    merge(&mut counts.refusals, lost.refusals);
}

fn merge<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, Tally>, others: HashMap<K, Tally>) {
    for (key, other) in others {
        let tally = counts.entry(key).or_default();
        tally.count += other.count;
        tally.last_at = tally.last_at.max(other.last_at);
    }
}
