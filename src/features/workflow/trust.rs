//! Trust: what people say of an agent's work, added up. The score is that of the ledger's rows, replayed in order from
//! nothing, so toggling a reaction gains nobody anything.

use stoa_db::{DbError, Tx};
use stoa_model::PrincipalId;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::reactions::Reaction;
use stoa_model::trust::{Score, TrustView, action_type_of, delta_of};

use super::trust_store::{self, NewEntry, Removed, TrustRow, TrustTotal};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::channels::visibility;
use crate::features::messages::MessageRow;
use crate::features::principals;
use crate::hub::Hub;

/// Entries that are replayed at a time.
const REPLAYED: i64 = 200;

impl From<TrustRow> for TrustView {
    fn from(row: TrustRow) -> Self {
        Self {
            action_type: row.action_type,
            score: row.score.as_number(),
            adjustments: row.adjustments,
            updated_at: row.updated_at,
        }
    }
}

/// How far an agent is trusted, by kind of work. Everybody may know.
pub async fn get_trust(hub: &Hub, actor: &Actor, agent: String) -> Result<Vec<TrustView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let known = principals::find(tx, &agent)?;
        let agent = known.filter(|known| known.kind == PrincipalKind::Agent && !known.is_deleted);
        let agent = agent.ok_or_else(|| HubError::not_found("agent"))?;
        visibility::require_known(tx, &actor, agent.id)?;
        Ok(list_trust(tx, agent.id)?)
    })
    .await
}

/// How far an agent is trusted, by kind of work.
pub fn list_trust(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Vec<TrustView>, DbError> {
    Ok(trust_store::list_trust(tx, agent)?.into_iter().map(Into::into).collect())
}

/// How far an agent is trusted with one kind of work.
pub(super) fn score_of(tx: &mut Tx<'_>, agent: PrincipalId, action_type: &str) -> Result<Score, DbError> {
    Ok(trust_store::find_total(tx, agent, action_type)?.map_or(Score::default(), |total| total.score))
}

/// Notes what a person said of an agent's message.
pub(super) fn note(
    tx: &mut Tx<'_>,
    message: &MessageRow,
    human: PrincipalId,
    reaction: Reaction,
) -> Result<(), DbError> {
    // A DM that only tells of a mention is no work of its own.
    let is_work = message.from.kind == PrincipalKind::Agent && message.mention_of.is_none();
    let Some(delta) = delta_of(reaction).filter(|_| is_work) else { return Ok(()) };
    let (agent, action_type) = (message.author_id, action_type_of(&message.metadata));
    let total = trust_store::find_total(tx, agent, action_type)?;
    let total = total.unwrap_or(TrustTotal { score: Score::default(), adjustments: 0 });
    let score = total.score.adjusted(delta);
    let entry = NewEntry { agent, action_type, message: message.id, human, reaction, delta, score };
    if trust_store::insert_entry(tx, &entry)? {
        let total = TrustTotal { score, adjustments: total.adjustments + 1 };
        trust_store::upsert_total(tx, agent, action_type, &total)?;
    }
    Ok(())
}

/// Makes it as if a person had never said it.
pub(super) fn withdraw(
    tx: &mut Tx<'_>,
    message: &MessageRow,
    human: PrincipalId,
    reaction: Reaction,
) -> Result<(), DbError> {
    let Some(removed) = trust_store::delete_entry(tx, message.id, human, reaction)? else { return Ok(()) };
    let total = trust_store::find_total(tx, removed.agent, &removed.action_type)?;
    let adjustments = total.as_ref().map_or(0, |total| (total.adjustments - 1).max(0));
    // Where the replay comes to a score that was there before, the rest is as it was.
    let score = match replay(tx, &removed)? {
        Some(score) => score,
        None => total.map_or(Score::default(), |total| total.score),
    };
    trust_store::upsert_total(tx, removed.agent, &removed.action_type, &TrustTotal { score, adjustments })
}

/// Brings up to date what lies behind a row that was taken out, and says what it comes to in the end. None if it comes to
/// what it came to before.
fn replay(tx: &mut Tx<'_>, removed: &Removed) -> Result<Option<Score>, DbError> {
    let mut score = trust_store::find_score_before(tx, removed)?;
    let mut after = removed.id;
    loop {
        let entries = trust_store::list_entries_after(tx, removed, after, REPLAYED)?;
        for entry in &entries {
            score = score.adjusted(entry.delta);
            if score == entry.score {
                return Ok(None);
            }
            trust_store::update_entry_score(tx, entry.id, score)?;
            after = entry.id;
        }
        if (entries.len() as i64) < REPLAYED {
            return Ok(Some(score));
        }
    }
}
