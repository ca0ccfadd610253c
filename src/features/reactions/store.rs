use std::collections::HashSet;

use serde_json::{Map, Value};
use stoa_db::{DbError, Row, Tx, Value as Parameter, id_list, in_list, is_among, params};
use stoa_model::messages::Author;
use stoa_model::reactions::{ApprovalView, Reaction};
use stoa_model::{ConversationId, MessageId, PrincipalId, Timestamp};

use crate::storage::columns;

pub(super) struct ReactionRow {
    pub(super) message: MessageId,
    pub(super) reaction: Reaction,
    pub(super) from: Author,
    pub(super) metadata: Map<String, Value>,
    pub(super) created_at: Timestamp,
}

/// The reactions on these messages, in the order in which they were made.
pub(super) fn list_reactions(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<Vec<ReactionRow>, DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Parameter::Integer(id.0)));
    tx.query(
        &format!(
            "select r.message_id, r.reaction, r.metadata, r.created_at, p.kind, p.handle, p.display_name
             from reactions r join principals p on p.id = r.principal_id
             where r.message_id in {list} order by r.id"
        ),
        &values,
        reaction,
    )
}

/// Those of the messages that have reactions.
pub(super) fn list_reacted(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashSet<MessageId>, DbError> {
    let (is_among, ids) = (is_among(tx.engine(), "$1"), id_list(messages.iter().map(|id| id.0)));
    let sql = format!("select distinct message_id from reactions where message_id {is_among}");
    let reacted = tx.query(&sql, params![ids], |row| row.get("message_id").map(MessageId))?;
    Ok(reacted.into_iter().collect())
}

pub(super) fn is_there(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
    reaction: Reaction,
) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from reactions where message_id = $1 and principal_id = $2 and reaction = $3) as found",
        params![message.0, principal.0, reaction.name()],
        |row| row.get("found"),
    )
}

/// How many reactions a message has, and how many of them are by the person who answers for `principal` and by their agents.
pub(super) fn count_reactions(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
) -> Result<(i64, i64), DbError> {
    tx.query_one(
        "select count(*) as reactions, count(case when coalesce(other.owner_id, other.id) = (
                 select coalesce(me.owner_id, me.id) from principals me where me.id = $2) then 1 end) as of_owner
         from reactions r join principals other on other.id = r.principal_id where r.message_id = $1",
        params![message.0, principal.0],
        |row| Ok((row.get("reactions")?, row.get("of_owner")?)),
    )
}

/// Whether the principal reacted like that, and in person.
pub(super) fn is_by_person(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
    reaction: Reaction,
) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from reactions where message_id = $1 and principal_id = $2 and reaction = $3
             and is_by_person = 1) as found",
        params![message.0, principal.0, reaction.name()],
        |row| row.get("found"),
    )
}

/// Whether a person approved the message at that time or later.
pub(super) fn is_approved_by_person_after(
    tx: &mut Tx<'_>,
    message: MessageId,
    after: Option<Timestamp>,
) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from reactions where message_id = $1 and reaction = 'approve' and is_by_person = 1
             and created_at >= $2) as found",
        params![message.0, after.map_or(i64::MIN, Timestamp::as_ms)],
        |row| row.get("found"),
    )
}

/// A reaction that is to be added.
#[derive(Debug, Clone, Copy)]
pub struct NewReaction<'a> {
    pub message: MessageId,
    pub principal: PrincipalId,
    pub reaction: Reaction,
    pub metadata: &'a Map<String, Value>,
    /// False for agents, and for programs that act for people.
    pub is_by_person: bool,
}

/// False if there is one of the same principal, or a claim of anybody.
pub(super) fn insert_reaction(tx: &mut Tx<'_>, new: &NewReaction<'_>) -> Result<bool, DbError> {
    let inserted = tx.execute(
        "insert into reactions (message_id, principal_id, reaction, metadata, is_by_person, created_at)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
        params![
            new.message.0,
            new.principal.0,
            new.reaction.name(),
            columns::to_json(new.metadata)?,
            new.is_by_person,
            tx.now_ms()
        ],
    )?;
    Ok(inserted > 0)
}

pub(super) fn delete_reaction(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
    reaction: Reaction,
) -> Result<bool, DbError> {
    let deleted = tx.execute(
        "delete from reactions where message_id = $1 and principal_id = $2 and reaction = $3",
        params![message.0, principal.0, reaction.name()],
    )?;
    Ok(deleted > 0)
}

pub(super) fn list_claimants(
    tx: &mut Tx<'_>,
    messages: &[MessageId],
) -> Result<Vec<(MessageId, PrincipalId)>, DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Parameter::Integer(id.0)));
    tx.query(
        &format!(
            "select message_id, principal_id from reactions where message_id in {list} and reaction = 'in_progress'"
        ),
        &values,
        |row| Ok((MessageId(row.get("message_id")?), PrincipalId(row.get("principal_id")?))),
    )
}

/// Open claims in a conversation with who has them: all, or those of one principal and the agents they own.
pub(super) fn list_claims_in(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    of: Option<PrincipalId>,
    limit: i64,
) -> Result<Vec<(MessageId, PrincipalId)>, DbError> {
    let is_meant = match of {
        Some(_) => {
            "(r.principal_id = $3 or r.principal_id in (select own.id from principals own where own.owner_id = $3))"
        }
        None => "$3 = cast(0 as bigint)",
    };
    tx.query(
        &format!(
            "select r.message_id, r.principal_id from messages m join reactions r on r.message_id = m.id
             where m.is_work = 1 and m.conversation_id = $1 and m.workflow_state = 'in_progress' and r.reaction = 'in_progress'
               and m.deleted_at is null and {is_meant}
             order by r.message_id limit $2"
        ),
        params![conversation.0, limit, of.map_or(0, |of| of.0)],
        |row| Ok((MessageId(row.get("message_id")?), PrincipalId(row.get("principal_id")?))),
    )
}

/// The messages that a principal has claimed and that are still open, the latest claim first.
pub(super) fn list_claims(tx: &mut Tx<'_>, principal: PrincipalId, limit: i64) -> Result<Vec<MessageId>, DbError> {
    tx.query(
        "select r.message_id from reactions r join messages m on m.id = r.message_id
         where r.principal_id = $1 and r.reaction = 'in_progress' and m.workflow_state = 'in_progress'
           and m.deleted_at is null
         order by r.id desc limit $2",
        params![principal.0, limit],
        |row| row.get("message_id").map(MessageId),
    )
}

pub(super) fn delete_of_messages(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<(), DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Parameter::Integer(id.0)));
    for table in ["reactions", "lapsed_approvals"] {
        tx.execute(&format!("delete from {table} where message_id in {list}"), &values)?;
    }
    Ok(())
}

/// Deletes every `approve` and `published` on a message and notes which revision they were about. Returns the deleted reactions.
pub(super) fn lapse_approvals(
    tx: &mut Tx<'_>,
    message: MessageId,
    revision: i64,
) -> Result<Vec<(PrincipalId, Reaction)>, DbError> {
    tx.execute(
        "insert into lapsed_approvals (message_id, revision, principal_id, reaction, reacted_at)
         select message_id, $2, principal_id, reaction, created_at from reactions
         where message_id = $1 and reaction in ('approve', 'published') on conflict do nothing",
        params![message.0, revision],
    )?;
    let lapsed = tx.query(
        "select principal_id, reaction from reactions
         where message_id = $1 and reaction in ('approve', 'published') order by id",
        params![message.0],
        |row| Ok((PrincipalId(row.get("principal_id")?), columns::named(row, "reaction")?)),
    )?;
    tx.execute(
        "delete from reactions where message_id = $1 and reaction in ('approve', 'published')",
        params![message.0],
    )?;
    Ok(lapsed)
}

/// Texts before the present one whose approvals are still of interest.
const LAPSED_REVISIONS: i64 = 20;

/// Who approved or published an earlier text of these messages and has decided nothing since, by name.
pub(super) fn list_lapsed(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<Vec<(MessageId, String)>, DbError> {
    let (list, values) = in_list(1, messages.iter().map(|id| Parameter::Integer(id.0)));
    tx.query(
        &format!(
            "select distinct l.message_id, p.handle from lapsed_approvals l join principals p on p.id = l.principal_id
             where l.message_id in {list} and p.kind in ('user', 'agent') and l.revision > coalesce((
                 select max(v.revision) from message_revisions v where v.message_id = l.message_id), 0) - {LAPSED_REVISIONS}
               and not exists (
                 select 1 from reactions r where r.message_id = l.message_id and r.principal_id = l.principal_id
                     and r.reaction in ('approve', 'published', 'reject'))
             order by l.message_id, p.handle"
        ),
        &values,
        |row| Ok((MessageId(row.get("message_id")?), row.get("handle")?)),
    )
}

/// Approvals of the texts that a message had before, with the revisions they are about.
pub(super) fn list_approvals_before(tx: &mut Tx<'_>, message: MessageId) -> Result<Vec<(i64, ApprovalView)>, DbError> {
    tx.query(
        "select l.revision, l.reaction, l.reacted_at, p.handle from lapsed_approvals l
         join principals p on p.id = l.principal_id where l.message_id = $1 order by l.revision, l.reacted_at, p.handle",
        params![message.0],
        |row| {
            let at = Timestamp::from_ms(row.get("reacted_at")?);
            let approval = ApprovalView { by: row.get("handle")?, reaction: columns::named(row, "reaction")?, at };
            Ok((row.get("revision")?, approval))
        },
    )
}

fn reaction(row: &Row<'_>) -> Result<ReactionRow, DbError> {
    let metadata: String = row.get("metadata")?;
    Ok(ReactionRow {
        message: MessageId(row.get("message_id")?),
        reaction: columns::named(row, "reaction")?,
        from: Author {
            kind: columns::named(row, "kind")?,
            name: row.get("handle")?,
            display_name: row.get("display_name")?,
        },
        // What cannot be read must not take its page with it.
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        created_at: Timestamp::from_ms(row.get("created_at")?),
    })
}
