use stoa_db::{DbError, Row, Tx, params};
use stoa_model::principals::Card;
use stoa_model::users::Role;
use stoa_model::{ConversationId, PrincipalId, Timestamp, handles};

use crate::access::Actor;
use crate::features::channels::visibility;
use crate::storage::columns;

/// The columns of a card. `$1` is the time now, principals seen after `$2` are online.
const SELECT: &str = "select p.id, p.folded_handle, p.handle, p.kind, p.display_name, p.last_seen_at, p.created_at,
        owner.handle as owner, ag.description, u.role,
        case
            when answering.disabled_at is not null then 'offline'
            when ag.paused_at is not null or ag.quarantined_at is not null then 'paused'
            when ag.id is not null and (
                exists (select 1 from reactive_runs running where running.agent_id = p.id and running.status = 'running')
                or exists (select 1 from messages claimed
                           where claimed.recipient_id = p.id and claimed.status = 'processing' and claimed.lease_until > $1)
                or exists (select 1 from reactions held join messages work on work.id = held.message_id
                           where held.principal_id = p.id and held.reaction = 'in_progress' and work.workflow_state = 'in_progress')
            ) then 'working'
            when p.last_seen_at > $2 then 'online'
            else 'offline'
        end as presence
     from principals p left join principals owner on owner.id = p.owner_id
     left join agents ag on ag.id = p.id left join users u on u.id = p.id
     left join users answering on answering.id = coalesce(p.owner_id, p.id)
     where p.deleted_at is null and p.kind in ('user', 'agent')";

/// A user or an agent, with what only their own page shows.
pub(super) struct PersonRow {
    pub(super) id: PrincipalId,
    pub(super) card: Card,
    pub(super) role: Option<Role>,
    pub(super) created_at: Timestamp,
}

/// A channel that two principals are in.
pub(super) struct SharedChannel {
    pub(super) conversation: ConversationId,
    pub(super) name: String,
    pub(super) is_public: bool,
}

/// Cards by handle, beginning after `after`. `pattern` is a `like` pattern in lower case. Only those that the viewer may know.
pub(super) fn list_cards(
    tx: &mut Tx<'_>,
    pattern: &str,
    after: &str,
    online_since: i64,
    viewer: &Actor,
    limit: i64,
) -> Result<Vec<(String, Card)>, DbError> {
    let is_known = visibility::known_sql(viewer, "p.id");
    tx.query(
        &format!(
            "{SELECT} and p.folded_handle > $3 and {is_known}
               and (p.folded_handle like $4 escape '\\' or p.folded_display_name like $4 escape '\\')
             order by p.folded_handle limit $5"
        ),
        params![tx.now_ms(), online_since, after, pattern, limit],
        |row| Ok((row.get("folded_handle")?, card(row)?)),
    )
}

pub(super) fn find_person(tx: &mut Tx<'_>, name: &str, online_since: i64) -> Result<Option<PersonRow>, DbError> {
    tx.query_optional(
        &format!("{SELECT} and p.folded_handle = $3"),
        params![tx.now_ms(), online_since, handles::fold(name)],
        |row| {
            Ok(PersonRow {
                id: PrincipalId(row.get("id")?),
                card: card(row)?,
                role: columns::named_or_null(row, "role")?,
                created_at: Timestamp::from_ms(row.get("created_at")?),
            })
        },
    )
}

/// Channels that a principal is a member of, and the viewer or one of their agents, too.
pub(super) fn list_shared_channels(
    tx: &mut Tx<'_>,
    of: PrincipalId,
    viewer: PrincipalId,
    limit: i64,
) -> Result<Vec<SharedChannel>, DbError> {
    tx.query(
        "select ch.conversation_id, ch.name, ch.is_public from channel_members member join channels ch on ch.id = member.channel_id
         where member.principal_id = $1 and ch.deleted_at is null
           and exists (select 1 from channel_members mine join principals own on own.id = mine.principal_id
                       where mine.channel_id = ch.id and own.deleted_at is null and (own.id = $2 or own.owner_id = $2))
         order by ch.name limit $3",
        params![of.0, viewer.0, limit],
        |row| {
            Ok(SharedChannel {
                conversation: ConversationId(row.get("conversation_id")?),
                name: row.get("name")?,
                is_public: row.get("is_public")?,
            })
        },
    )
}

fn card(row: &Row<'_>) -> Result<Card, DbError> {
    let description: Option<String> = row.get("description")?;
    Ok(Card {
        name: row.get("handle")?,
        kind: columns::named(row, "kind")?,
        display_name: row.get("display_name")?,
        owner: row.get("owner")?,
        description: description.filter(|description| !description.is_empty()),
        presence: columns::named(row, "presence")?,
        last_seen_at: row.get::<Option<i64>>("last_seen_at")?.map(Timestamp::from_ms),
    })
}
