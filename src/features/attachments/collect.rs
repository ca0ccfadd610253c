//! Taking away contents that nobody has any more.
//!
//! An upload that its uploader has not sent is forgotten after a day, whoever else has the same content. A content goes when no
//! message shows it and a day has passed since it was stored and last uploaded. This cannot take away
//! what somebody is just uploading or sending, on one hub or on several that share a database and a store:
//!
//! - **Rows decide, in one transaction.** The command that forgets a content looks once more whether it is used. A send or an
//!   upload of it is a command too, and refers to the content's row: SQLite runs one after the other, and on PostgreSQL the one
//!   that comes second is repeated and then sees what the first has done. An upload then stores its own row again; a send is told
//!   that there is no such file.
//! - **No name in the store is used twice.** An upload puts its content under a name of its own, before it writes the row
//!   that says so, even if the content is there already. What is removed is the name that the forgotten row had. However late that
//!   happens, and by however many hubs, it is never what another upload has put there.
//! - **What has to be removed is a row**, written together with the forgetting and deleted after the removal: a crash leaves a
//!   content a little longer, but does not leave it for ever. Removing twice is removing.
//! - **Backups hold removals off**, by a row that they write before they look at the tables: what they see there was not
//!   removed before, and is not removed before they have read it.
//! - **Names without rows** are those of uploads that a crash interrupted between the content and its row. They are swept
//!   after a day, which no upload takes, into a trash that is emptied after a week. A sweep that would take more than half of all
//!   contents stops: the database is more likely to be wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::permissions::Permission;

use super::store;
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::{Settlement, WorkItem, Worker, work};
use crate::features::{audit, users};
use crate::hub::{BoxFuture, Hub, StartError};

/// How long a content is kept for who has uploaded it and not sent it.
const GRACE: Duration = Duration::from_secs(24 * 3600);
/// How long a content lies in the trash that nothing refers to.
const TRASH: Duration = Duration::from_secs(7 * 24 * 3600);
const BATCH: i64 = 100;
const QUEUE: &str = "attachments";
const EVERY: Duration = Duration::from_secs(3600);

/// What was taken away.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Collected {
    /// Contents that nobody had any more.
    pub removed: u64,
    pub freed_bytes: i64,
}

/// Takes away what nobody has any more, for an operator or for an agent of an administrator.
pub async fn collect_for(hub: &Hub, actor: &Actor) -> Result<Collected, HubError> {
    require_collector(hub, actor).await?;
    let collected = collect(hub).await?;
    let (actor_in, details) = (actor.clone(), json!(collected));
    hub.write(move |tx| audit::record(tx, &actor_in, "attachments.collected", None, &details)).await?;
    Ok(collected)
}

async fn require_collector(hub: &Hub, actor: &Actor) -> Result<(), HubError> {
    if actor.is_admin() {
        return Ok(());
    }
    actor.require(Permission::AttachmentsWrite)?;
    actor.require_beyond_conversation()?;
    let human = actor.principal.human;
    if hub.read(move |tx| users::is_admin(tx, human)).await? {
        return Ok(());
    }
    Err(HubError::forbidden("admin_required", "Requires an admin's agent."))
}

async fn collect(hub: &Hub) -> Result<Collected, HubError> {
    let mut collected = Collected::default();
    loop {
        let since = hub.clock().now_ms() - milliseconds(GRACE);
        if hub.write(move |tx| store::delete_old_uploads(tx, since, BATCH)).await? == 0 {
            break;
        }
    }
    let mut behind = String::new();
    loop {
        let since = hub.clock().now_ms() - milliseconds(GRACE);
        // Looked for beside the writer, who has only to look at these few once more.
        let after = behind.clone();
        let unused = hub.read(move |tx| store::list_unused(tx, since, &after, BATCH)).await?;
        let Some(last) = unused.last().cloned() else { break };
        let forgotten = hub.write(move |tx| forget(tx, since, &unused)).await?;
        collected.removed += forgotten.removed;
        collected.freed_bytes += forgotten.freed_bytes;
        behind = last;
    }
    remove_forgotten(hub).await?;
    Ok(collected)
}

fn forget(tx: &mut Tx<'_>, since_ms: i64, unused: &[String]) -> Result<Collected, DbError> {
    let mut forgotten = Collected::default();
    for sha256 in unused {
        if let Some(size) = store::delete_unused(tx, since_ms, sha256)? {
            forgotten.removed += 1;
            forgotten.freed_bytes += size;
        }
    }
    Ok(forgotten)
}

/// Lets the store let go of what was forgotten, unless a backup holds it.
async fn remove_forgotten(hub: &Hub) -> Result<(), HubError> {
    loop {
        // A command, so that it does not see less than what was committed before.
        let objects = hub.write(|tx| store::list_removals(tx, BATCH)).await?;
        if objects.is_empty() {
            return Ok(());
        }
        for object in &objects {
            hub.blobs().remove(object).await?;
        }
        hub.write(move |tx| store::delete_removals(tx, &objects)).await?;
    }
}

/// Puts aside what uploads have left in the store that never came to their end. A database that does not know most of the contents is
/// more likely the wrong one, or a part of one, than right: then nothing is touched.
async fn sweep(hub: &Hub) -> Result<(), HubError> {
    hub.blobs().tidy_incoming().await?;
    let mut unknown = Vec::new();
    for beginning in 0..=u8::MAX {
        let found = hub.blobs().list_older(beginning, GRACE).await?;
        for objects in found.chunks(usize::try_from(BATCH).unwrap_or(1)) {
            let asked = objects.to_vec();
            let known = hub.read(move |tx| store::list_known_objects(tx, &asked)).await?;
            unknown.extend(objects.iter().filter(|object| !known.contains(object)).cloned());
        }
    }
    let is_doubtful = !unknown.is_empty() && unknown.len() * 2 > count_stored(hub).await?;
    hub.memory::<Doubt>().0.store(is_doubtful, Ordering::Relaxed);
    if is_doubtful {
        let unknown = unknown.len();
        tracing::warn!(
            unknown,
            "the database knows less than half of the stored attachments, so none of them is deleted; is it the right database?"
        );
        return Ok(());
    }
    for object in &unknown {
        tracing::info!(object, "a content that an upload left behind is put into the trash");
        hub.blobs().discard(object).await?;
    }
    Ok(hub.blobs().empty_trash(TRASH).await?)
}

/// Whether the last sweep of this hub took nothing away, because the database knows too little.
#[derive(Default)]
struct Doubt(AtomicBool);

/// What an operator should know about the store.
pub fn warning(hub: &Hub) -> Option<String> {
    hub.memory::<Doubt>().0.load(Ordering::Relaxed).then(|| {
        "The database knows less than half of the stored attachments, so the hub does not clean up there. Is it the right database?"
            .to_owned()
    })
}

async fn count_stored(hub: &Hub) -> Result<usize, HubError> {
    let mut count = 0;
    for beginning in 0..=u8::MAX {
        count += hub.blobs().list_older(beginning, Duration::ZERO).await?.len();
    }
    Ok(count)
}

/// The name by which a store knows whose contents it has, the same for all hubs on one database.
fn ensure_owner(tx: &mut Tx<'_>) -> Result<String, DbError> {
    const NAME: &str = "attachments_owner";
    if let Some(owner) = Hub::meta(tx, NAME)? {
        return Ok(owner);
    }
    let owner = crate::storage::tarball::hex(&tx.random_bytes::<16>());
    Hub::set_meta(tx, NAME, &owner)?;
    Ok(owner)
}

/// Does both from time to time, one hub at a time.
struct Collector;

/// A thing to do, how often, and how.
const CHORES: [(&str, Duration); 2] = [("collect", EVERY), ("sweep", EVERY.saturating_mul(6))];

pub fn worker() -> Arc<dyn Worker> {
    Arc::new(Collector)
}

/// Puts the work into its queue, and makes sure that the store is this hub's.
pub(super) fn prepare(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move {
        hub.write(schedule).await?;
        let owner = hub.write(ensure_owner).await?;
        Ok(hub.blobs().claim(&owner).await?)
    })
}

/// Puts the work into its queue, if it is not there.
fn schedule(tx: &mut Tx<'_>) -> Result<(), DbError> {
    for (name, every) in CHORES {
        let due_at = tx.now_ms() + milliseconds(every);
        work::enqueue(tx, QUEUE, name, due_at)?;
    }
    Ok(())
}

impl Worker for Collector {
    fn queue(&self) -> &'static str {
        QUEUE
    }

    fn perform<'a>(&'a self, hub: &'a Hub, item: &'a WorkItem) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let Some((name, every)) = CHORES.iter().find(|(name, _)| *name == item.subject) else {
                return Settlement::Done;
            };
            let done = match *name {
                "sweep" => sweep(hub).await,
                _ => collect(hub).await.map(|collected| {
                    if collected.removed > 0 {
                        let Collected { removed, freed_bytes } = collected;
                        tracing::info!(removed, freed_bytes, "unused attachments were deleted");
                    }
                }),
            };
            if let Err(error) = done {
                tracing::warn!(chore = name, %error, "deleting unused attachments failed and will be retried");
            }
            Settlement::RepeatAt(hub.clock().now_ms() + milliseconds(*every))
        })
    }
}

/// Keeps what is forgotten in the store until it is dropped or, if this hub dies, for a few minutes.
pub struct Hold {
    hub: Hub,
    name: String,
    renewing: tokio::task::JoinHandle<()>,
}

/// A hold that is not renewed for this long is over.
const HOLD: Duration = Duration::from_secs(10 * 60);

/// Begins a hold. Who looks at the tables after this finds the contents that they name, for as long as it lasts.
pub async fn hold(hub: &Hub) -> Result<Hold, HubError> {
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(HubError::internal)?;
    let name = format!("{} {:016x}", hub.instance(), u64::from_be_bytes(number));
    renew(hub, &name).await?;
    let (hub_in, name_in) = (hub.clone(), name.clone());
    let mut due_at = hub.clock().now_ms() + milliseconds(HOLD) / 10;
    let renewing = tokio::spawn(async move {
        loop {
            hub_in.clock().sleep_until(due_at).await;
            due_at = hub_in.clock().now_ms() + milliseconds(HOLD) / 10;
            if let Err(error) = renew(&hub_in, &name_in).await {
                tracing::warn!(%error, "attachments may be deleted while they are read");
            }
        }
    });
    Ok(Hold { hub: hub.clone(), name, renewing })
}

async fn renew(hub: &Hub, name: &str) -> Result<(), HubError> {
    let name = name.to_owned();
    Ok(hub.write(move |tx| store::insert_hold(tx, &name, tx.now_ms() + milliseconds(HOLD))).await?)
}

impl Hold {
    pub async fn end(self) -> Result<(), HubError> {
        self.renewing.abort();
        let name = self.name.clone();
        Ok(self.hub.write(move |tx| store::delete_hold(tx, &name)).await?)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}
