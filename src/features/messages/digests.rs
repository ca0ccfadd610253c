//! Notices of the hub name messages of others; what is to be said of these is put in when a notice is read. So it shows to its reader
//! what they may see then, and not what they could see when it was sent.

use std::collections::HashMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stoa_db::{DbError, Tx};
use stoa_model::messages::{MessageView, WorkflowState, title};
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::Reaction;
use stoa_model::{MessageId, Timestamp};

use super::store::{self, Bodies, MessageRow};
use super::view::Sight;
use crate::access::Actor;
use crate::error::HubError;

/// Where the metadata of a message says what it is a digest of, or which approval was taken back.
const DIGEST: &str = "stalemate";
const LAPSE: &str = "lapsed_approval";
/// Messages that are looked up at once.
const AT_ONCE: usize = 500;

/// A reminder of stalled work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Digest {
    pub kind: String,
    /// How many there are; the digest names the first.
    pub count: usize,
    pub messages: Vec<Named>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Named {
    pub channel: String,
    pub message_id: MessageId,
    pub state: WorkflowState,
    pub since: Timestamp,
}

/// An approval that an edit took back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lapse {
    pub message_id: MessageId,
    pub channel: Option<String>,
    /// The text that it was about.
    pub revision: i64,
    pub reaction: Reaction,
}

impl Lapse {
    /// The text for a reader who no longer sees the message.
    pub const BODY: &str = "A message was edited after you approved it. You can no longer see it.";

    pub fn into_metadata(self) -> Map<String, Value> {
        let value = serde_json::to_value(self).unwrap_or_default();
        Map::from_iter([(LAPSE.to_owned(), value)])
    }

    fn of(view: &MessageView) -> Option<Self> {
        let value = view.metadata.get(LAPSE).filter(|_| view.from.kind == PrincipalKind::System)?;
        serde_json::from_value(value.clone()).ok()
    }

    fn words(&self, row: &MessageRow) -> String {
        let place = row.channel.as_ref().map(|channel| format!(" in #{channel}")).unwrap_or_default();
        let did = if self.reaction == Reaction::Published { "published" } else { "approved" };
        let (id, author) = (row.id, &row.from.name);
        let next = match row.deleted_at {
            Some(_) => "The message has been deleted, so there is nothing to do.",
            None => "Read the new text and approve or reject it.",
        };
        format!(
            "@{author} edited message {id}{place} after you {did} it. That was for the earlier text, so the hub took it back. {next}"
        )
    }
}

impl Digest {
    pub fn into_metadata(self) -> Result<Map<String, Value>, HubError> {
        let value = serde_json::to_value(self).map_err(HubError::internal)?;
        Ok(Map::from_iter([(DIGEST.to_owned(), value)]))
    }

    /// What a message of the hub is a digest of. Others may put there what they like.
    fn of(view: &MessageView) -> Option<Self> {
        let value = view.metadata.get(DIGEST).filter(|_| view.from.kind == PrincipalKind::System)?;
        serde_json::from_value(value.clone()).ok()
    }
}

/// Puts into notices what there is to say to this reader of the messages that they name.
pub(super) fn fill(
    tx: &mut Tx<'_>,
    actor: &Actor,
    views: &mut [MessageView],
    sight: &mut Sight,
) -> Result<(), DbError> {
    fill_digests(tx, actor, views, sight)?;
    fill_lapses(tx, actor, views, sight)
}

fn fill_lapses(tx: &mut Tx<'_>, actor: &Actor, views: &mut [MessageView], sight: &mut Sight) -> Result<(), DbError> {
    let lapses: Vec<(usize, Lapse)> =
        views.iter().enumerate().filter_map(|(place, view)| Some((place, Lapse::of(view)?))).collect();
    let ids: Vec<MessageId> = lapses.iter().map(|(_, lapse)| lapse.message_id).collect();
    let known = find_named(tx, &ids)?;
    for (place, mut lapse) in lapses {
        let Some(view) = views.get_mut(place) else { continue };
        view.metadata.remove(LAPSE);
        if let Some(row) = known.get(&lapse.message_id)
            && sight.sees(tx, actor, row.conversation_id)?
        {
            view.body = lapse.words(row);
            lapse.channel.clone_from(&row.channel);
            view.metadata.extend(lapse.into_metadata());
        }
    }
    Ok(())
}

fn find_named(tx: &mut Tx<'_>, ids: &[MessageId]) -> Result<HashMap<MessageId, MessageRow>, DbError> {
    let mut known = HashMap::new();
    for chunk in ids.chunks(AT_ONCE) {
        known.extend(store::find_messages(tx, chunk, Bodies::Beginning)?.into_iter().map(|row| (row.id, row)));
    }
    Ok(known)
}

fn fill_digests(tx: &mut Tx<'_>, actor: &Actor, views: &mut [MessageView], sight: &mut Sight) -> Result<(), DbError> {
    let digests: Vec<(usize, Digest)> =
        views.iter().enumerate().filter_map(|(place, view)| Some((place, Digest::of(view)?))).collect();
    if digests.is_empty() {
        return Ok(());
    }
    let ids: Vec<MessageId> =
        digests.iter().flat_map(|(_, digest)| digest.messages.iter().map(|named| named.message_id)).collect();
    let mut known = find_named(tx, &ids)?;
    known.retain(|_, row| row.channel.is_some());
    for (place, mut digest) in digests {
        let Some(view) = views.get_mut(place) else { continue };
        let mut seen = Vec::new();
        for named in std::mem::take(&mut digest.messages) {
            if let Some(row) = known.get(&named.message_id)
                && sight.sees(tx, actor, row.conversation_id)?
            {
                add_line(&mut view.body, &named, row, view.created_at);
                seen.push(named);
            }
        }
        if digest.count > seen.len() {
            let _ = write!(view.body, "\n\nand {} more.", digest.count - seen.len());
        }
        digest.messages = seen;
        // What was read as a digest can be written as one.
        if let Ok(value) = serde_json::to_value(digest) {
            view.metadata.insert(DIGEST.to_owned(), value);
        }
    }
    Ok(())
}

fn add_line(body: &mut String, named: &Named, row: &MessageRow, told_at: Timestamp) {
    let (channel, id, state) = (row.channel.as_deref().unwrap_or_default(), named.message_id, words(named.state));
    let age = age(told_at.as_ms() - named.since.as_ms());
    // Writing into a string does not fail.
    let _ = match row.deleted_at {
        Some(_) => write!(body, "\n- #{channel}, message {id}, deleted"),
        None => write!(
            body,
            "\n- #{channel}, [message {id}](/channels/{channel}?at={id}), {state} for {age}: \"{}\"",
            title(&row.body)
        ),
    };
}

fn words(state: WorkflowState) -> &'static str {
    match state {
        WorkflowState::InProgress => "in progress",
        state => state.name(),
    }
}

/// A time in the unit in which people would say it.
fn age(ms: i64) -> String {
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    let (count, unit) = match ms {
        ms if ms < 2 * HOUR => (ms / MINUTE, "minute"),
        ms if ms < 48 * HOUR => (ms / HOUR, "hour"),
        ms => (ms / (24 * HOUR), "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_said_as_people_say_them() {
        for (minutes, said) in [
            (1, "1 minute"),
            (119, "119 minutes"),
            (120, "2 hours"),
            (47 * 60, "47 hours"),
            (48 * 60, "2 days"),
            (100 * 24 * 60, "100 days"),
        ] {
            assert_eq!(age(minutes * 60_000), said);
        }
    }
}
