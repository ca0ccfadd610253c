use stoa_db::{DbError, Tx, Value as Parameter, in_list, params};
use stoa_model::messages::WorkflowState;
use stoa_model::{ChannelId, MessageId, Timestamp};

use crate::storage::columns;

/// What can be told of work that stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stalemate {
    Reminder,
    Escalation,
}

impl Stalemate {
    fn column(self) -> &'static str {
        match self {
            Stalemate::Reminder => "reminded_at",
            Stalemate::Escalation => "escalated_at",
        }
    }
}

/// A message whose work stands still.
#[derive(Debug, Clone)]
pub struct StalledMessage {
    pub id: MessageId,
    pub channel: ChannelId,
    pub state: WorkflowState,
    pub since: Timestamp,
}

/// A new state is a new beginning: nothing was told of it yet.
pub(super) fn update_state(tx: &mut Tx<'_>, id: MessageId, state: Option<WorkflowState>) -> Result<(), DbError> {
    tx.execute(
        "update messages set is_work = $2, workflow_state = $3, state_since = $4, reminded_at = null, escalated_at = null
         where id = $1",
        params![id.0, state.is_some(), state.unwrap_or(WorkflowState::Proposed).name(), tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn list_stalled(
    tx: &mut Tx<'_>,
    channels: &[ChannelId],
    kind: Stalemate,
    since_ms: i64,
    limit: i64,
) -> Result<Vec<StalledMessage>, DbError> {
    let told_at = kind.column();
    let (list, ids) = in_list(3, channels.iter().map(|id| Parameter::Integer(id.0)));
    let mut values = vec![Parameter::Integer(since_ms), Parameter::Integer(limit)];
    values.extend(ids);
    // Said as the index says it, so that only what is due is read.
    tx.query(
        &format!(
            "select m.id, m.channel_id, m.workflow_state, coalesce(m.state_since, m.created_at) as since
             from messages m
             where m.is_work = 1 and m.channel_id in {list} and m.channel_id is not null
               and m.status in ('pending', 'processing') and m.{told_at} is null
               and coalesce(m.state_since, m.created_at) <= $1
               and m.workflow_state in ('proposed', 'approved', 'in_progress') and m.deleted_at is null
             order by coalesce(m.state_since, m.created_at), m.id limit $2"
        ),
        &values,
        |row| {
            Ok(StalledMessage {
                id: MessageId(row.get("id")?),
                channel: ChannelId(row.get("channel_id")?),
                state: columns::named(row, "workflow_state")?,
                since: Timestamp::from_ms(row.get("since")?),
            })
        },
    )
}

pub(super) fn update_notified(tx: &mut Tx<'_>, kind: Stalemate, ids: &[MessageId]) -> Result<(), DbError> {
    let (list, ids) = in_list(2, ids.iter().map(|id| Parameter::Integer(id.0)));
    let mut values = vec![Parameter::Integer(tx.now_ms())];
    values.extend(ids);
    tx.execute(&format!("update messages set {} = $1 where id in {list}", kind.column()), &values)?;
    Ok(())
}
