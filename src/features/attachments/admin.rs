use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use stoa_model::Timestamp;
use stoa_model::page::Page;

use super::store;
use super::{archive, collect};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileParams {
    path: PathBuf,
}

/// A content as the operator sees it.
#[derive(Debug, Serialize)]
struct StoredView {
    sha256: String,
    size: i64,
    mime_type: String,
    created_at: Timestamp,
    /// How many have uploaded it, and how many messages show it.
    uploads: i64,
    messages: i64,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("attachments.list", |hub, actor, params: ListQuery| async move { list(&hub, &actor, params).await });
    methods.add("attachments.gc", |hub, actor, _: NoParams| async move { collect::collect_for(&hub, &actor).await });
    methods.add("attachments.backup", |hub, actor, params: FileParams| async move {
        archive::back_up(&hub, &actor, params.path).await
    });
    methods.add("attachments.restore", |hub, actor, params: FileParams| async move {
        archive::restore(&hub, &actor, params.path).await
    });
    methods.add("attachments.check", |hub, actor, _: NoParams| async move { check(&hub, &actor).await });
}

/// All contents, in the order of their sums, and how much each is used; not what anybody calls them.
async fn list(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<StoredView>, HubError> {
    actor.require_admin()?;
    let behind: String = list.position(hub, actor, "operator attachments")?.unwrap_or_default();
    let limit = list.limit()?;
    let rows = hub.read(move |tx| store::list_stored(tx, &behind, limit + 1)).await?;
    let rows = rows.into_iter().map(|row| {
        let view = StoredView {
            sha256: row.sha256.clone(),
            size: row.size,
            mime_type: row.mime_type,
            created_at: row.created_at,
            uploads: row.uploads,
            messages: row.messages,
        };
        (row.sha256, view)
    });
    page_of(hub, actor, "operator attachments", rows.collect(), limit)
}

/// Whether the store has what it should have.
#[derive(Debug, Default, Serialize)]
struct Checked {
    checked: u64,
    /// The sums of what is not there, or is not as long as it was.
    missing: Vec<String>,
}

async fn check(hub: &Hub, actor: &Actor) -> Result<Checked, HubError> {
    const BATCH: i64 = 500;
    actor.require_admin()?;
    let mut found = Checked::default();
    let mut behind = String::new();
    loop {
        let after = behind.clone();
        let blobs = hub.read(move |tx| store::list_blobs(tx, &after, BATCH)).await?;
        let Some(last) = blobs.last() else { return Ok(found) };
        behind.clone_from(&last.sha256);
        for blob in blobs {
            found.checked += 1;
            if !hub.blobs().has(&blob.object, blob.size.unsigned_abs()).await? {
                found.missing.push(blob.sha256);
            }
        }
    }
}
