use stoa_db::{DbError, Tx, params};
use stoa_model::reactions::Reaction;
use stoa_model::trust::Score;
use stoa_model::{MessageId, PrincipalId, Timestamp};

/// What an agent's work of one kind has come to.
pub(super) struct TrustTotal {
    pub(super) score: Score,
    pub(super) adjustments: i64,
}

pub(super) fn find_total(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    action_type: &str,
) -> Result<Option<TrustTotal>, DbError> {
    tx.query_optional(
        "select score, adjustments from trust where agent_id = $1 and action_type = $2",
        params![agent.0, action_type],
        |row| Ok(TrustTotal { score: Score::from_hundredths(row.get("score")?), adjustments: row.get("adjustments")? }),
    )
}

pub(super) fn upsert_total(
    tx: &mut Tx<'_>,
    agent: PrincipalId,
    action_type: &str,
    total: &TrustTotal,
) -> Result<(), DbError> {
    tx.execute(
        "insert into trust (agent_id, action_type, score, adjustments, updated_at) values ($1, $2, $3, $4, $5)
         on conflict (agent_id, action_type) do update
         set score = excluded.score, adjustments = excluded.adjustments, updated_at = excluded.updated_at",
        params![agent.0, action_type, total.score.hundredths(), total.adjustments, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) struct TrustRow {
    pub(super) action_type: String,
    pub(super) score: Score,
    pub(super) adjustments: i64,
    pub(super) updated_at: Timestamp,
}

/// All that an agent is trusted with, by name.
pub(super) fn list_trust(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Vec<TrustRow>, DbError> {
    tx.query(
        "select action_type, score, adjustments, updated_at from trust where agent_id = $1 order by action_type",
        params![agent.0],
        |row| {
            Ok(TrustRow {
                action_type: row.get("action_type")?,
                score: Score::from_hundredths(row.get("score")?),
                adjustments: row.get("adjustments")?,
                updated_at: Timestamp::from_ms(row.get("updated_at")?),
            })
        },
    )
}

pub(super) struct NewEntry<'a> {
    pub(super) agent: PrincipalId,
    pub(super) action_type: &'a str,
    pub(super) message: MessageId,
    pub(super) human: PrincipalId,
    pub(super) reaction: Reaction,
    pub(super) delta: i64,
    /// The score after it.
    pub(super) score: Score,
}

/// False if the same person's same reaction to the same message is in the ledger.
pub(super) fn insert_entry(tx: &mut Tx<'_>, entry: &NewEntry<'_>) -> Result<bool, DbError> {
    let inserted = tx.execute(
        "insert into trust_ledger (agent_id, action_type, message_id, human_id, reaction, delta, score, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (message_id, human_id, reaction) do nothing",
        params![
            entry.agent.0,
            entry.action_type,
            entry.message.0,
            entry.human.0,
            entry.reaction.name(),
            entry.delta,
            entry.score.hundredths(),
            tx.now_ms()
        ],
    )?;
    Ok(inserted > 0)
}

/// A row that was taken out of the ledger.
pub(super) struct Removed {
    pub(super) id: i64,
    pub(super) agent: PrincipalId,
    pub(super) action_type: String,
}

pub(super) fn delete_entry(
    tx: &mut Tx<'_>,
    message: MessageId,
    human: PrincipalId,
    reaction: Reaction,
) -> Result<Option<Removed>, DbError> {
    tx.query_optional(
        "delete from trust_ledger where message_id = $1 and human_id = $2 and reaction = $3
         returning id, agent_id, action_type",
        params![message.0, human.0, reaction.name()],
        |row| {
            Ok(Removed {
                id: row.get("id")?,
                agent: PrincipalId(row.get("agent_id")?),
                action_type: row.get("action_type")?,
            })
        },
    )
}

/// The score before an entry of the ledger.
pub(super) fn find_score_before(tx: &mut Tx<'_>, removed: &Removed) -> Result<Score, DbError> {
    let score = tx.query_optional(
        "select score from trust_ledger where agent_id = $1 and action_type = $2 and id < $3 order by id desc limit 1",
        params![removed.agent.0, removed.action_type, removed.id],
        |row| row.get("score").map(Score::from_hundredths),
    )?;
    Ok(score.unwrap_or_default())
}

/// An entry, and the score that it is said to have come to.
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) delta: i64,
    pub(super) score: Score,
}

/// Entries behind another, in their order.
pub(super) fn list_entries_after(
    tx: &mut Tx<'_>,
    removed: &Removed,
    after: i64,
    limit: i64,
) -> Result<Vec<Entry>, DbError> {
    tx.query(
        "select id, delta, score from trust_ledger
         where agent_id = $1 and action_type = $2 and id > $3 order by id limit $4",
        params![removed.agent.0, removed.action_type, after, limit],
        |row| {
            Ok(Entry { id: row.get("id")?, delta: row.get("delta")?, score: Score::from_hundredths(row.get("score")?) })
        },
    )
}

pub(super) fn update_entry_score(tx: &mut Tx<'_>, id: i64, score: Score) -> Result<(), DbError> {
    tx.execute("update trust_ledger set score = $2 where id = $1", params![id, score.hundredths()])?;
    Ok(())
}
