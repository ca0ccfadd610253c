//! Who may read a file: whoever sees a message that shows it, its uploader, and the person who answers for the uploader.

use stoa_db::Tx;
use stoa_model::attachments::{AttachmentDetails, AttachmentView, is_sha256};
use stoa_model::page::Page;
use stoa_model::permissions::Permission;

use super::store::{self, AttachmentRow, ReadableRow};
use crate::access::Actor;
use crate::access::reach::outside_run_reach;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};
use crate::storage::blobs::BlobReader;

/// A file that somebody may read, and where its content is.
#[derive(Debug, Clone)]
pub struct Readable {
    pub details: AttachmentDetails,
    object: String,
}

impl From<AttachmentRow> for AttachmentView {
    fn from(row: AttachmentRow) -> Self {
        Self {
            sha256: row.sha256,
            size: row.size,
            mime_type: row.mime_type,
            filename: row.filename,
            width: row.width,
            height: row.height,
        }
    }
}

impl From<ReadableRow> for Readable {
    fn from(row: ReadableRow) -> Self {
        let details = AttachmentDetails { attachment: row.attachment.into(), created_at: row.created_at };
        Self { details, object: row.object }
    }
}

/// A file, under the name that the caller may know it by. Whether there is none, or it is not theirs to read, cannot be told
/// apart.
pub(super) fn find(tx: &mut Tx<'_>, actor: &Actor, sha256: &str) -> Result<Option<Readable>, HubError> {
    if !is_sha256(sha256) {
        return Ok(None);
    }
    let uploaded = store::find_uploaded(tx, sha256, actor)?;
    if uploaded.is_some() || actor.require(Permission::AttachmentsRead).is_err() {
        return Ok(uploaded.map(Into::into));
    }
    let sent = store::find_sent(tx, sha256, actor)?;
    if sent.is_none() && actor.principal.reach.of_run().is_some() && store::is_readable_by(tx, sha256, actor.id())? {
        return Err(outside_run_reach());
    }
    Ok(sent.map(Into::into))
}

pub async fn get(hub: &Hub, actor: &Actor, sha256: String) -> Result<Readable, HubError> {
    actor.require(Permission::AttachmentsRead)?;
    let actor = actor.clone();
    hub.read(move |tx| find(tx, &actor, &sha256)?.ok_or_else(|| HubError::not_found("attachment"))).await
}

/// Opens a part of a file.
pub async fn open(hub: &Hub, file: &Readable, begin: u64, length: u64) -> Result<BlobReader, HubError> {
    let size = file.details.attachment.size.unsigned_abs();
    Ok(hub.blobs().read(&file.object, size, begin, length).await?)
}

/// What the caller has uploaded, the latest first.
pub async fn list_own(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<AttachmentDetails>, HubError> {
    actor.require(Permission::AttachmentsRead)?;
    let before = list.position(hub, actor, "attachments")?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let rows = hub.read(move |tx| store::list_uploads(tx, &actor_in, before, limit + 1)).await?;
    let rows = rows.into_iter().map(|(id, row)| (id, Readable::from(row).details)).collect();
    page_of(hub, actor, "attachments", rows, limit)
}
