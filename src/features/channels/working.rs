//! What somebody is working on, as a part of queries that a send makes anyway: on PostgreSQL a query of its own would be one
//! more round trip for each message.

use stoa_db::{DbError, Row};
use stoa_model::MessageId;

/// The deepest thing that somebody works on: a message that they have claimed, or a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Working {
    pub depth: Option<i64>,
    /// The message that its chain began with.
    pub chain: Option<MessageId>,
}

/// SQL for the columns that [`read`] reads. `principal` and `now` are SQL for an id and the time in milliseconds.
pub fn columns_sql(principal: &str, now: &str) -> String {
    // In the order of the index `messages_claimed`, so the first claim that is still in force ends the search.
    let claimed = |what: &str| {
        format!(
            "(select {what} from messages claimed
              where claimed.recipient_id = {principal} and claimed.status = 'processing' and claimed.lease_until > {now}
              order by claimed.depth desc limit 1)"
        )
    };
    // An agent has one run at a time.
    let running = |what: &str| {
        format!(
            "(select {what} from reactive_runs running where running.agent_id = {principal} and running.status = 'running')"
        )
    };
    format!(
        "{} as claimed_depth, {} as claimed_chain, {} as running_depth, {} as running_chain",
        claimed("claimed.depth"),
        claimed("coalesce(claimed.chain_id, claimed.id)"),
        running("running.depth"),
        running("running.chain_id")
    )
}

pub fn read(row: &Row<'_>) -> Result<Working, DbError> {
    let claimed: Option<i64> = row.get("claimed_depth")?;
    let running: Option<i64> = row.get("running_depth")?;
    let chain: Option<i64> = if running >= claimed { row.get("running_chain")? } else { row.get("claimed_chain")? };
    Ok(Working { depth: claimed.max(running), chain: chain.map(MessageId) })
}
