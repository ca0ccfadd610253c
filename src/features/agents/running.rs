//! What runs of agents need to know of them, and note about them.

use stoa_db::{DbError, Tx};
use stoa_model::agents::AgentView;
use stoa_model::{MessageId, PrincipalId};

use super::store;

/// An agent that could be run.
#[derive(Debug, Clone)]
pub struct Runnable {
    pub agent: AgentView,
    pub owner: PrincipalId,
    pub last_run_ended_at: Option<i64>,
    /// The last message of a person to it.
    pub person_message: MessageId,
}

/// An agent, unless it was deleted.
pub fn find_runnable(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<Runnable>, DbError> {
    let Some(row) = store::find_agent_by_id(tx, id)? else { return Ok(None) };
    let (last_run_ended_at, person_message) = store::find_run_marks(tx, id)?;
    Ok(Some(Runnable { owner: row.owner_id, last_run_ended_at, person_message, agent: row.into() }))
}

/// Keeps other decisions about the same agent from being made beside this one. Notes a message of a person.
pub fn begin_decision(tx: &mut Tx<'_>, id: PrincipalId, person_message: Option<MessageId>) -> Result<(), DbError> {
    store::update_person_message(tx, id, person_message)
}

/// Notes whether something waits for the next run.
pub fn set_pending_work(tx: &mut Tx<'_>, id: PrincipalId, is_pending: bool) -> Result<(), DbError> {
    store::update_pending_work(tx, id, is_pending)
}

pub fn note_run_ended(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    store::update_run_ended(tx, id)
}

/// Agents that messages start, by name.
pub fn list_reactive(tx: &mut Tx<'_>, owner: PrincipalId, limit: i64) -> Result<Vec<AgentView>, DbError> {
    Ok(store::list_reactive(tx, owner, limit)?.into_iter().map(Into::into).collect())
}

/// Agents of one owner, or of all, for which something waits.
pub fn list_with_pending_work(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<Vec<PrincipalId>, DbError> {
    store::list_with_pending_work(tx, owner)
}
