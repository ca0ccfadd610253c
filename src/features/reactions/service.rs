use std::collections::{HashMap, HashSet};

use stoa_db::{DbError, Tx};
use stoa_model::reactions::{ApprovalView, MAX_REACTIONS, MAX_REACTIONS_OF_OWNER, Reaction, ReactionView};
use stoa_model::{ConversationId, MessageId, PrincipalId, Timestamp};

use super::store::{self, NewReaction, ReactionRow};

/// Names that a message carries of those who approved an earlier text.
const MAX_LAPSED: usize = 20;

/// What became of a reaction that was to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    Added,
    /// The same principal has reacted like that before.
    AlreadyThere,
    /// Somebody else has claimed the message.
    Claimed,
    TooMany,
    /// The same person and their agents have reacted often enough.
    TooManyOfOwner,
}

impl From<ReactionRow> for ReactionView {
    fn from(row: ReactionRow) -> Self {
        Self { reaction: row.reaction, from: row.from, metadata: row.metadata, created_at: row.created_at }
    }
}

/// The reactions on each of the messages that have any, in the order in which they were made.
pub fn of(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashMap<MessageId, Vec<ReactionView>>, DbError> {
    let mut found: HashMap<MessageId, Vec<ReactionView>> = HashMap::new();
    if !messages.is_empty() {
        for row in store::list_reactions(tx, messages)? {
            found.entry(row.message).or_default().push(row.into());
        }
    }
    Ok(found)
}

/// Those of the messages that somebody has reacted to.
pub fn reacted_among(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashSet<MessageId>, DbError> {
    store::list_reacted(tx, messages)
}

/// Adds a reaction, unless the message has it, is claimed by somebody else or has enough of them.
pub fn add(tx: &mut Tx<'_>, new: &NewReaction<'_>) -> Result<Added, DbError> {
    let (all, of_owner) = store::count_reactions(tx, new.message, new.principal)?;
    if all >= MAX_REACTIONS {
        return Ok(Added::TooMany);
    } else if of_owner >= MAX_REACTIONS_OF_OWNER {
        return Ok(Added::TooManyOfOwner);
    }
    // A second claim must lose even when two claim at once, so the unique index decides. Looking first would leave a
    // gap between the look and the insert.
    if store::insert_reaction(tx, new)? {
        return Ok(Added::Added);
    }
    let is_there = store::is_there(tx, new.message, new.principal, new.reaction)?;
    Ok(if is_there { Added::AlreadyThere } else { Added::Claimed })
}

/// Whether a principal reacted like that in person.
pub fn is_by_person(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
    reaction: Reaction,
) -> Result<bool, DbError> {
    store::is_by_person(tx, message, principal, reaction)
}

/// Whether a person approved the message, not before `after` if that is given: earlier versions of the hub left approvals of edited texts.
pub fn is_approved_by_person(tx: &mut Tx<'_>, message: MessageId, after: Option<Timestamp>) -> Result<bool, DbError> {
    store::is_approved_by_person_after(tx, message, after)
}

/// Whether there was such a reaction.
pub fn remove(
    tx: &mut Tx<'_>,
    message: MessageId,
    principal: PrincipalId,
    reaction: Reaction,
) -> Result<bool, DbError> {
    store::delete_reaction(tx, message, principal, reaction)
}

/// An approval is of one text: takes back all approvals of a message whose text has changed. `revision` is the text that they were
/// about.
pub fn lapse_approvals(
    tx: &mut Tx<'_>,
    message: MessageId,
    revision: i64,
) -> Result<Vec<(PrincipalId, Reaction)>, DbError> {
    store::lapse_approvals(tx, message, revision)
}

/// For each of the messages, those who approved or published an earlier text and have decided nothing since.
pub fn lapsed_among(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashMap<MessageId, Vec<String>>, DbError> {
    let mut found: HashMap<MessageId, Vec<String>> = HashMap::new();
    if !messages.is_empty() {
        for (message, name) in store::list_lapsed(tx, messages)? {
            let names = found.entry(message).or_default();
            if names.len() < MAX_LAPSED {
                names.push(name);
            }
        }
    }
    Ok(found)
}

/// Who approved or published which text of a message; `current` is the revision that it has now.
pub fn approvals_of(
    tx: &mut Tx<'_>,
    message: MessageId,
    current: i64,
) -> Result<HashMap<i64, Vec<ApprovalView>>, DbError> {
    let mut found: HashMap<i64, Vec<ApprovalView>> = HashMap::new();
    for (revision, approval) in store::list_approvals_before(tx, message)? {
        found.entry(revision).or_default().push(approval);
    }
    let now = of(tx, &[message])?.remove(&message).unwrap_or_default();
    let approvals = now.into_iter().filter(|view| matches!(view.reaction, Reaction::Approve | Reaction::Published));
    let approvals =
        approvals.map(|view| ApprovalView { by: view.from.name, reaction: view.reaction, at: view.created_at });
    found.entry(current).or_default().extend(approvals);
    Ok(found)
}

/// Who has claimed each of the messages that are claimed.
pub fn claimants(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashMap<MessageId, PrincipalId>, DbError> {
    let mut claimants = HashMap::new();
    for chunk in messages.chunks(512) {
        claimants.extend(store::list_claimants(tx, chunk)?);
    }
    Ok(claimants)
}

/// The open messages that a principal has claimed, the latest claim first.
pub fn list_claims(tx: &mut Tx<'_>, principal: PrincipalId, limit: i64) -> Result<Vec<MessageId>, DbError> {
    store::list_claims(tx, principal, limit)
}

/// Open claims in a conversation with who has them: all, or those of one principal and the agents they own.
pub fn list_claims_in(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    of: Option<PrincipalId>,
    limit: i64,
) -> Result<Vec<(MessageId, PrincipalId)>, DbError> {
    store::list_claims_in(tx, conversation, of, limit)
}

/// Takes away the reactions on messages that are deleted for good.
pub fn purge(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<(), DbError> {
    store::delete_of_messages(tx, messages)
}
