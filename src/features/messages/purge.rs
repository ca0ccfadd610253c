//! Taking old messages away for good.

use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::Tx;
use stoa_model::{MessageId, Timestamp};

use super::change::bury_copies;
use super::store::{self, Copies};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, MessageEvent};
use crate::features::{attachments, audit, channels};
use crate::hub::Hub;

/// Messages deleted in one command, so that a purge never holds up the writer.
const BATCH: i64 = 500;

#[derive(Debug, Serialize, Deserialize)]
pub struct Purged {
    pub purged: u64,
}

/// Deletes messages that were written before a moment, for the operator.
pub async fn purge_messages(
    hub: &Hub,
    actor: &Actor,
    before: Timestamp,
    channel: Option<String>,
) -> Result<Purged, HubError> {
    actor.require_admin()?;
    let (actor_in, name) = (actor.clone(), channel.clone());
    let conversation = hub
        .command(actor, move |tx| {
            let details = json!({"before": before, "channel": name});
            audit::record(tx, &actor_in, "messages.purged", name.as_deref(), &details)?;
            match &name {
                Some(name) => Ok(Some(channels::find_visible(tx, &actor_in, name)?.conversation_id)),
                None => Ok(None),
            }
        })
        .await?;
    let mut purged = 0;
    loop {
        let hub_in = hub.clone();
        let progress = hub
            .write(move |tx| {
                let ids = store::list_older(tx, conversation, before.as_ms(), BATCH)?;
                delete_batch(&hub_in, tx, &ids)
            })
            .await?;
        match progress {
            Progress::Nothing => return Ok(Purged { purged }),
            Progress::Copies => {}
            Progress::Messages(deleted) => purged += deleted,
        }
    }
}

/// What one step of a purge came to.
enum Progress {
    Nothing,
    /// DMs that told of the messages were emptied; the messages themselves are next.
    Copies,
    Messages(u64),
}

/// Deletes messages, after the DMs that told of them are emptied: a step at a time, because there may be hundreds
/// for each.
fn delete_batch(hub: &Hub, tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<Progress, HubError> {
    if ids.is_empty() {
        return Ok(Progress::Nothing);
    }
    if bury_copies(hub, tx, &Actor::system(), ids, Copies::All)? > 0 {
        return Ok(Progress::Copies);
    }
    attachments::release(tx, ids)?;
    let deleted = store::delete_messages(tx, ids)?;
    events::emit(hub, tx, &Actor::system(), MessageEvent::Purged { messages: ids.to_vec() })?;
    Ok(Progress::Messages(deleted))
}

/// Deletes a part of what was said in channels that are gone.
pub fn purge_deleted_channels(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    channels::purge_deleted(tx, |tx, conversation| {
        let ids = store::list_older(tx, Some(conversation), i64::MAX, BATCH)?;
        Ok(match delete_batch(hub, tx, &ids)? {
            Progress::Nothing => 0,
            Progress::Copies => 1,
            Progress::Messages(deleted) => deleted,
        })
    })
}
