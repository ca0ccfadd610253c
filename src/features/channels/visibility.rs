//! The one rule of who sees a conversation.
//!
//! A person sees public channels, private ones that they or an agent of theirs is a member of, and DMs
//! with them or an agent of theirs on one side. An agent sees what it is itself a member or a side of,
//! and public channels. Agents own nobody, so "I or one whom I own" says both.

use std::collections::HashSet;

use stoa_db::{DbError, Tx, params};
use stoa_model::{ConversationId, PrincipalId};

use crate::access::Actor;
use crate::access::reach::outside_run_reach;
use crate::error::HubError;

/// SQL that holds for a conversation that the principal in `viewer` (a parameter like `$2`) may see.
/// `conversation` is an expression for its id.
pub fn sql(conversation: &str, viewer: &str) -> String {
    format!(
        "exists (
             select 1 from conversations seen left join channels place on place.conversation_id = seen.id
             where seen.id = {conversation} and place.deleted_at is null and (
                 place.is_public = 1
                 or seen.low_id = {viewer} or seen.high_id = {viewer}
                 or exists (select 1 from channel_members mine
                            where mine.channel_id = place.id and mine.principal_id = {viewer})
                 or exists (select 1 from principals own
                            where own.owner_id = {viewer} and (
                                own.id = seen.low_id or own.id = seen.high_id
                                or exists (select 1 from channel_members theirs
                                           where theirs.channel_id = place.id and theirs.principal_id = own.id)))))"
    )
}

/// Whether the caller may see a conversation, within the reach of their credential.
pub fn is_visible(tx: &mut Tx<'_>, actor: &Actor, conversation: ConversationId) -> Result<bool, DbError> {
    let predicate = sql("c.id", "$2");
    let found = tx.query_optional(
        &format!(
            "select ch.id, ch.is_public from conversations c left join channels ch on ch.conversation_id = c.id
             where c.id = $1 and {predicate}"
        ),
        params![conversation.0, actor.id().0],
        |row| Ok((row.get::<Option<i64>>("id")?, row.get::<Option<bool>>("is_public")?)),
    )?;
    Ok(found.is_some_and(|(channel, is_public)| match channel {
        Some(_) => actor.reads_channel(conversation, is_public == Some(true)),
        None => actor.reaches_dm(conversation),
    }))
}

/// Whether a principal may see a conversation, whatever the credential.
pub fn sees(tx: &mut Tx<'_>, principal: PrincipalId, conversation: ConversationId) -> Result<bool, DbError> {
    let predicate = sql("$1", "$2");
    tx.query_one(
        &format!("select case when {predicate} then 1 else 0 end as sees"),
        params![conversation.0, principal.0],
        |row| row.get("sees"),
    )
}

/// SQL that holds for principals about which the caller may learn more than the name. A run that others have started knows those who take
/// part in its conversation, its agent and the owner. `principal` is an expression for an id.
pub fn known_sql(actor: &Actor, principal: &str) -> String {
    let Some(run) = actor.principal.reach.of_run() else { return "1 = 1".to_owned() };
    let (agent, owner) = (run.agent.0, run.owner.0);
    // No conversation has the id 0.
    let conversation = run.conversation.map_or(0, |conversation| conversation.0);
    format!(
        "({principal} in ({agent}, {owner})
          or exists (select 1 from conversations known
                     where known.id = {conversation} and (known.low_id = {principal} or known.high_id = {principal}))
          or exists (select 1 from channels known join channel_members there on there.channel_id = known.id
                     where known.conversation_id = {conversation} and known.deleted_at is null
                       and there.principal_id = {principal}))"
    )
}

/// The same for one.
pub fn require_known(tx: &mut Tx<'_>, actor: &Actor, principal: PrincipalId) -> Result<(), HubError> {
    if actor.principal.reach.of_run().is_none() {
        return Ok(());
    }
    let is_known: bool = tx.query_one(
        &format!("select case when {} then 1 else 0 end as is_known", known_sql(actor, "cast($1 as bigint)")),
        params![principal.0],
        |row| row.get("is_known"),
    )?;
    if is_known { Ok(()) } else { Err(outside_run_reach()) }
}

/// All conversations that the caller may see, within the reach of their credential, with the names of channels: the same
/// rule, for who has to know before looking.
pub fn list_visible(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<(ConversationId, Option<String>)>, DbError> {
    let mut visible = tx.query(
        "with me (id) as (select cast($1 as bigint) union all select own.id from principals own where own.owner_id = $1)
         select ch.conversation_id as id, ch.name, ch.is_public from channels ch where ch.deleted_at is null and ch.is_public = 1
         union
         select ch.conversation_id as id, ch.name, ch.is_public from me
             join channel_members m on m.principal_id = me.id join channels ch on ch.id = m.channel_id
             where ch.deleted_at is null
         union
         select c.id, null as name, 0 as is_public from me join conversations c on c.low_id = me.id
         union
         select c.id, null as name, 0 as is_public from me join conversations c on c.high_id = me.id",
        params![actor.id().0],
        |row| Ok((ConversationId(row.get("id")?), row.get::<Option<String>>("name")?, row.get::<bool>("is_public")?)),
    )?;
    visible.retain(|(conversation, channel, is_public)| match channel {
        Some(_) => actor.reads_channel(*conversation, *is_public),
        None => actor.reaches_dm(*conversation),
    });
    Ok(visible.into_iter().map(|(conversation, channel, _)| (conversation, channel)).collect())
}

/// Who may see a conversation: the same rule, seen from the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    Everybody,
    Only(HashSet<PrincipalId>),
}

impl Audience {
    pub fn contains(&self, principal: PrincipalId) -> bool {
        match self {
            Audience::Everybody => true,
            Audience::Only(principals) => principals.contains(&principal),
        }
    }
}

/// Everybody who may see a conversation.
pub fn audience(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<Audience, DbError> {
    let is_public = tx.query_optional(
        "select 1 as found from channels where conversation_id = $1 and is_public = 1 and deleted_at is null",
        params![conversation.0],
        |_| Ok(()),
    )?;
    if is_public.is_some() {
        return Ok(Audience::Everybody);
    }
    let mut principals = HashSet::new();
    tx.query_each(
        "select p.id, p.owner_id from channels ch
             join channel_members m on m.channel_id = ch.id join principals p on p.id = m.principal_id
             where ch.conversation_id = $1 and ch.deleted_at is null
         union all
         select p.id, p.owner_id from conversations c join principals p on p.id = c.low_id or p.id = c.high_id
             where c.id = $1",
        params![conversation.0],
        |row| {
            principals.insert(PrincipalId(row.get("id")?));
            principals.extend(row.get::<Option<i64>>("owner_id")?.map(PrincipalId));
            Ok(())
        },
    )?;
    Ok(Audience::Only(principals))
}

/// The name of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationName {
    Channel(String),
    /// A DM, with the handles of its sides.
    Dm([(PrincipalId, String); 2]),
}

impl ConversationName {
    /// The name of its channel.
    pub fn channel(&self) -> Option<&str> {
        match self {
            ConversationName::Channel(name) => Some(name),
            ConversationName::Dm(_) => None,
        }
    }

    /// How `reader` calls it: the channel, or the other side.
    pub fn name_for(&self, reader: PrincipalId) -> &str {
        match self {
            ConversationName::Channel(name) => name,
            ConversationName::Dm([(one, _), (_, other_name)]) if *one == reader => other_name,
            ConversationName::Dm([(_, one_name), _]) => one_name,
        }
    }
}

/// The name of a conversation. A deleted channel keeps its name.
pub fn conversation_name(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<Option<ConversationName>, DbError> {
    let found = tx.query_optional(
        "select ch.name, c.low_id, c.high_id, low.handle as low_handle, high.handle as high_handle
         from conversations c left join channels ch on ch.conversation_id = c.id
         left join principals low on low.id = c.low_id left join principals high on high.id = c.high_id
         where c.id = $1",
        params![conversation.0],
        |row| {
            if let Some(name) = row.get::<Option<String>>("name")? {
                return Ok(Some(ConversationName::Channel(name)));
            }
            let side = |id: &str, handle: &str| {
                let id = row.get::<Option<i64>>(id)?.map(PrincipalId);
                Ok::<_, DbError>(id.zip(row.get::<Option<String>>(handle)?))
            };
            let sides = side("low_id", "low_handle")?.zip(side("high_id", "high_handle")?);
            Ok(sides.map(|(low, high)| ConversationName::Dm([low, high])))
        },
    )?;
    Ok(found.flatten())
}

/// Those who take part themselves: the members of a channel, the sides of a DM.
pub fn participants(tx: &mut Tx<'_>, conversation: ConversationId) -> Result<HashSet<PrincipalId>, DbError> {
    let mut principals = HashSet::new();
    tx.query_each(
        "select m.principal_id from channels ch join channel_members m on m.channel_id = ch.id
             where ch.conversation_id = $1 and ch.deleted_at is null
         union all
         select p.id from conversations c join principals p on p.id = c.low_id or p.id = c.high_id where c.id = $1",
        params![conversation.0],
        |row| {
            principals.insert(PrincipalId(row.get("principal_id")?));
            Ok(())
        },
    )?;
    Ok(principals)
}
