//! Work that stands still: who has it is reminded, then people are called for help. Whatever is due for somebody at one
//! time is one message, a digest.

use std::collections::{BTreeMap, HashMap};

use stoa_db::Tx;
use stoa_model::channels::duration_ms;
use stoa_model::{ChannelId, MessageId, PrincipalId};

use crate::error::HubError;
use crate::features::channels::{WorkflowChannel, visibility};
use crate::features::messages::{Digest, Named, Notice, Stalemate, StalledMessage};
use crate::features::{channels, messages, principals, reactions};
use crate::hub::Hub;

/// Messages that are told of in one command, so that the writer is not held up for long.
const BATCH: i64 = 2000;
/// Digests that are sent in one command; what is left is the next one's.
const MAX_DIGESTS: usize = 1000;
/// People of one channel who are called for help.
const MAX_HELPERS: i64 = 500;
/// Messages that a digest names. The rest is counted.
const MAX_NAMED: usize = 20;

/// Sends notices about work that does not progress, and returns the number of messages they name. The messages are
/// marked in the same transaction, so that each is named once.
pub fn send_stalemate_notices(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, HubError> {
    let workflow = channels::list_workflow_channels(tx)?;
    if workflow.is_empty() {
        return Ok(0);
    }
    let mut round =
        Round { channels: workflow.into_iter().map(|channel| (channel.id, channel)).collect(), ..Round::default() };
    let mut told = 0;
    for kind in [Stalemate::Reminder, Stalemate::Escalation] {
        told += round.collect(tx, kind)?;
    }
    round.send(hub, tx)?;
    Ok(told)
}

/// All that one command tells.
#[derive(Default)]
struct Round {
    channels: HashMap<ChannelId, WorkflowChannel>,
    standing: Vec<StalledMessage>,
    /// What each is told, by its place among those that stand still: many may be told of the same.
    digests: BTreeMap<(PrincipalId, Stalemate), Vec<usize>>,
    helpers: HashMap<ChannelId, Vec<PrincipalId>>,
}

impl Round {
    /// Puts what is due into digests, and notes that it was told.
    fn collect(&mut self, tx: &mut Tx<'_>, kind: Stalemate) -> Result<u64, HubError> {
        let mut by_patience: BTreeMap<i64, Vec<ChannelId>> = BTreeMap::new();
        for channel in self.channels.values() {
            let patience = match kind {
                Stalemate::Reminder => &channel.settings.stalemate_remind_after,
                Stalemate::Escalation => &channel.settings.stalemate_escalate_after,
            };
            // 0 is off, and what cannot be read was never accepted.
            if let Some(patience_ms) = duration_ms(patience).ok().filter(|ms| *ms > 0) {
                by_patience.entry(patience_ms).or_default().push(channel.id);
            }
        }
        let mut due = Vec::new();
        for (patience_ms, mut ids) in by_patience {
            ids.sort_unstable();
            let room = BATCH - due.len() as i64;
            due.extend(messages::list_stalled(tx, &ids, kind, tx.now_ms() - patience_ms, room)?);
        }
        let claimants = match kind {
            Stalemate::Reminder => {
                let ids: Vec<MessageId> = due.iter().map(|message| message.id).collect();
                reactions::claimants(tx, &ids)?
            }
            Stalemate::Escalation => HashMap::new(),
        };
        let mut told = Vec::new();
        for message in due {
            if self.digests.len() >= MAX_DIGESTS {
                break;
            }
            told.push(message.id);
            let recipients = match kind {
                Stalemate::Reminder => self.reminded(tx, &message, claimants.get(&message.id).copied())?,
                Stalemate::Escalation => self.helpers(tx, message.channel)?,
            };
            for recipient in recipients {
                self.digests.entry((recipient, kind)).or_default().push(self.standing.len());
            }
            self.standing.push(message);
        }
        messages::mark_notified(tx, kind, &told)?;
        Ok(told.len() as u64)
    }

    /// Whoever has claimed it, as long as they can do something about it; else the channel's owner.
    fn reminded(
        &self,
        tx: &mut Tx<'_>,
        message: &StalledMessage,
        claimant: Option<PrincipalId>,
    ) -> Result<Vec<PrincipalId>, HubError> {
        let Some(channel) = self.channels.get(&message.channel) else { return Ok(Vec::new()) };
        if let Some(claimant) = claimant {
            let is_reachable = principals::find_by_id(tx, claimant)?.is_some_and(|known| known.is_reachable());
            if is_reachable && visibility::sees(tx, claimant, channel.conversation)? {
                return Ok(vec![claimant]);
            }
        }
        Ok(vec![channel.owner])
    }

    /// The channel's people.
    fn helpers(&mut self, tx: &mut Tx<'_>, channel: ChannelId) -> Result<Vec<PrincipalId>, HubError> {
        if let Some(helpers) = self.helpers.get(&channel) {
            return Ok(helpers.clone());
        }
        let helpers = channels::list_human_members(tx, channel, MAX_HELPERS)?;
        self.helpers.insert(channel, helpers.clone());
        Ok(helpers)
    }

    fn send(&self, hub: &Hub, tx: &mut Tx<'_>) -> Result<(), HubError> {
        let mut notices = Vec::new();
        for ((recipient, kind), places) in &self.digests {
            // An owner may be shut out; then there is nobody to tell.
            let Some(recipient) = principals::find_by_id(tx, *recipient)?.filter(|known| known.is_reachable()) else {
                continue;
            };
            let (body, digest) = self.digest(*kind, places);
            notices.push(Notice { recipient, body: body.to_owned(), metadata: digest.into_metadata()? });
        }
        messages::notify(hub, tx, notices)
    }

    fn digest(&self, kind: Stalemate, places: &[usize]) -> (&'static str, Digest) {
        let (word, body) = match kind {
            Stalemate::Reminder => ("reminder", "Stale work waiting for you:\n"),
            Stalemate::Escalation => ("escalation", "Stale work that needs a decision:\n"),
        };
        let standing = places.iter().filter_map(|place| self.standing.get(*place)).take(MAX_NAMED);
        let messages = standing.map(|message| Named {
            channel: self.channels.get(&message.channel).map(|channel| channel.name.clone()).unwrap_or_default(),
            message_id: message.id,
            state: message.state,
            since: message.since,
        });
        (body, Digest { kind: word.to_owned(), count: places.len(), messages: messages.collect() })
    }
}
