//! Taking files in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use sha2::{Digest, Sha256};
use stoa_db::{DbError, Engine, Tx};
use stoa_model::PrincipalId;
use stoa_model::attachments::{AttachmentView, clean_filename};
use stoa_model::permissions::Permission;
use tokio::io::AsyncReadExt;

use super::receiving::{Received, Receiving};
use super::store::{self, Blob};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::{ErrorKind, HubError};
use crate::hub::{Hub, guards};
use crate::storage::blobs::BlobError;

/// What is written at once.
const PIECE: usize = 256 * 1024;
/// The time for which a quota holds.
const QUOTA_PERIOD: Duration = Duration::from_secs(24 * 3600);
const MEBIBYTE: u64 = 1024 * 1024;
/// What of a file is looked at at once, and how much of it a second time: more than a secret takes.
const GUARDED_PIECE: u64 = MEBIBYTE;
const GUARDED_OVERLAP: usize = 16 * 1024;

/// Files that a user and their agents may be uploading to one hub at the same time: each takes space before it is counted.
const MAX_AT_ONCE: usize = 16;
/// When those who found too many under way may come again.
const RETRY_SECONDS: u64 = 5;

/// A file that is being uploaded.
pub struct Upload {
    hub: Hub,
    actor: Actor,
    receiving: Receiving,
    buffer: BytesMut,
    turn: Turn,
}

/// How many files each person and their agents are uploading.
#[derive(Default)]
struct UnderWay(Mutex<HashMap<PrincipalId, usize>>);

/// One of them, until it is dropped.
struct Turn {
    under_way: Arc<UnderWay>,
    human: PrincipalId,
}

impl Turn {
    fn take(hub: &Hub, human: PrincipalId) -> Result<Self, HubError> {
        let under_way = hub.memory::<UnderWay>();
        let mut counts = under_way.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(human).or_default();
        if *count >= MAX_AT_ONCE {
            let detail = format!("A user and their agents can upload {MAX_AT_ONCE} files at the same time.");
            return Err(HubError::rate_limited(detail, RETRY_SECONDS).hint("Wait until an upload finishes."));
        }
        *count += 1;
        drop(counts);
        Ok(Self { under_way, human })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut counts = self.under_way.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.human) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.human);
            }
        }
    }
}

/// Begins an upload, if the caller may make one.
pub async fn begin(hub: &Hub, actor: &Actor) -> Result<Upload, HubError> {
    actor.require(Permission::AttachmentsWrite)?;
    let turn = Turn::take(hub, actor.principal.human)?;
    require_room(hub, actor.principal.human).await?;
    let store = hub.blobs().clone();
    let receiving = tokio::task::spawn_blocking(move || Receiving::new(&store)).await.map_err(BlobError::from)??;
    Ok(Upload { hub: hub.clone(), actor: actor.clone(), receiving, buffer: BytesMut::new(), turn })
}

/// Nobody shall fill the disk of everybody.
async fn require_room(hub: &Hub, human: PrincipalId) -> Result<(), HubError> {
    let quota = hub.config().upload_quota_mib;
    if quota == 0 {
        return Ok(());
    }
    let since = hub.clock().now_ms() - milliseconds(QUOTA_PERIOD);
    let uploaded = hub.read(move |tx| store::sum_uploaded(tx, human, since)).await?;
    if u64::try_from(uploaded).unwrap_or(0) < quota.saturating_mul(MEBIBYTE) {
        return Ok(());
    }
    let detail = format!("You and your agents have reached the upload limit of {quota} MiB in 24 hours.");
    Err(HubError::rate_limited(detail, QUOTA_PERIOD.as_secs())
        .hint("You can still send files that are already uploaded."))
}

impl Upload {
    /// Takes the next bytes in.
    pub async fn write(mut self, bytes: Bytes) -> Result<Self, HubError> {
        self.buffer.extend_from_slice(&bytes);
        if self.buffer.len() < PIECE { Ok(self) } else { self.flush().await }
    }

    async fn flush(self) -> Result<Self, HubError> {
        let Self { hub, actor, mut receiving, buffer, turn } = self;
        let (receiving, buffer) = tokio::task::spawn_blocking(move || {
            receiving.write(&buffer)?;
            Ok::<_, HubError>((receiving, buffer))
        })
        .await
        .map_err(BlobError::from)??;
        Ok(Self { hub, actor, receiving, buffer: cleared(buffer), turn })
    }

    /// Keeps the file, which is whole now, under the name that its sender gave it.
    pub async fn finish(self, filename: &str) -> Result<AttachmentView, HubError> {
        let Self { hub, actor, receiving, turn, .. } = self.flush().await?;
        let received = tokio::task::spawn_blocking(move || receiving.finish()).await.map_err(BlobError::from)??;
        let filename = clean_filename(filename);
        require_writable(&hub, &actor, &received, &filename).await?;
        // A caller who goes now has uploaded it all the same, so that nothing is left half done.
        let keeping = tokio::spawn(async move {
            let _turn = turn;
            keep(&hub, &actor, received, filename).await
        });
        keeping.await.map_err(HubError::internal)?
    }
}

/// A program of a run must not put a secret into a file. It is looked at in pieces that overlap, because a secret can lie between two.
async fn require_writable(hub: &Hub, actor: &Actor, received: &Received, filename: &str) -> Result<(), HubError> {
    if actor.run().is_none() {
        return Ok(());
    }
    guards::require_writable(hub, &actor.principal, filename.as_bytes()).await?;
    let mut file = tokio::fs::File::open(&received.file).await.map_err(BlobError::from)?;
    let mut piece = Vec::new();
    loop {
        let read = (&mut file).take(GUARDED_PIECE).read_to_end(&mut piece).await.map_err(BlobError::from)?;
        if read == 0 {
            return Ok(());
        }
        guards::require_writable(hub, &actor.principal, &piece).await?;
        piece.drain(..piece.len().saturating_sub(GUARDED_OVERLAP));
    }
}

/// The buffer once more, without what was in it.
fn cleared(mut buffer: BytesMut) -> BytesMut {
    buffer.clear();
    buffer
}

/// Puts a content in its place, and then notes it: what the rows name is always there. The content is put there even if it is
/// there already, so that nobody can tell by the time it takes.
async fn keep(hub: &Hub, actor: &Actor, received: Received, filename: String) -> Result<AttachmentView, HubError> {
    // The boundaries of a form are others each time; what it says is what makes two requests the same.
    let actor = actor.with_request_digest(Sha256::digest(format!("{} {filename}", received.sha256)).into());
    let (blob, file) = Blob::of(received)?;
    hub.blobs().put(file, blob.object.clone()).await?;
    let is_needed = Arc::new(AtomicBool::new(false));
    let (noted, blob_in, uploader) = (is_needed.clone(), blob.clone(), actor.id());
    let kept = hub
        .command(&actor, move |tx| {
            let is_new = record(tx, &blob_in, uploader, &filename)?;
            // It may run more than once; the last run is the one that counts.
            noted.store(is_new, Ordering::Relaxed);
            Ok(AttachmentView {
                sha256: blob_in.sha256.clone(),
                size: blob_in.size,
                mime_type: blob_in.mime_type.clone(),
                filename: filename.clone(),
                width: blob_in.width,
                height: blob_in.height,
            })
        })
        .await;
    let outcome = kept.as_ref().map(|_| is_needed.load(Ordering::Relaxed)).map_err(Clone::clone);
    if hub.blobs().is_far() {
        let hub = hub.clone();
        tokio::spawn(async move { settle(&hub, &blob, outcome).await });
    } else {
        settle(hub, &blob, outcome).await;
    }
    kept
}

fn record(tx: &mut Tx<'_>, blob: &Blob, uploader: PrincipalId, filename: &str) -> Result<bool, DbError> {
    let is_new = store::insert_blob(tx, blob)?;
    store::insert_upload(tx, &blob.sha256, uploader, filename)?;
    Ok(is_new)
}

/// Sees to it that what was put in place for nothing does not stay. What cannot be settled now, [`collect`](super::collect)
/// finds later.
async fn settle(hub: &Hub, blob: &Blob, outcome: Result<bool, HubError>) {
    let settled = match outcome {
        Ok(true) => Ok(()),
        Ok(false) => keep_one(hub, blob).await,
        // On PostgreSQL the connection may have broken after the commit; then nobody knows yet.
        Err(error) if is_undecided(&error) && hub.db().engine() == Engine::Postgres => Ok(()),
        Err(_) => hub.blobs().remove(&blob.object).await.map_err(HubError::from),
    };
    if let Err(error) = settled {
        tracing::warn!(%error, object = blob.object, "the rest of a failed upload will be deleted later");
    }
}

fn is_undecided(error: &HubError) -> bool {
    matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Internal)
}

/// The content was there before. If the store has lost it, this one takes its place.
pub(super) async fn keep_one(hub: &Hub, blob: &Blob) -> Result<(), HubError> {
    let sha256 = blob.sha256.clone();
    let earlier = hub.read(move |tx| store::find_blob(tx, &sha256)).await?;
    if let Some(earlier) = earlier.filter(|earlier| earlier.object != blob.object)
        && !hub.blobs().has(&earlier.object, blob.size.unsigned_abs()).await?
    {
        let (sha256, object) = (blob.sha256.clone(), blob.object.clone());
        let lost = earlier.object.clone();
        let is_taken = hub.write(move |tx| store::update_object(tx, &sha256, &lost, &object)).await?;
        if is_taken {
            tracing::warn!(sha256 = blob.sha256, "a content that the store had lost was uploaded again");
            return Ok(hub.blobs().remove(&earlier.object).await?);
        }
    }
    Ok(hub.blobs().remove(&blob.object).await?)
}
