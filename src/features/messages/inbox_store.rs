//! SQL of the inbox: what waits, what is claimed, and for how long.

use stoa_db::{DbError, Tx, Value as Parameter, in_list, params};
use stoa_model::messages::{InboxStatus, MAX_CLAIM, MessageStatus};
use stoa_model::{MessageId, PrincipalId};

use super::store::{Bodies, LEAST_JSON, MessageRow, PAGE_BYTES, cut_to_fit, find_messages, page, within_bytes};
use crate::access::Actor;

/// A text can be this many times as long in JSON.
const MOST_GROWTH: i64 = 6;

/// A recipient's messages after an id, oldest first.
pub(super) fn list_inbox(
    tx: &mut Tx<'_>,
    recipient: &Actor,
    status: InboxStatus,
    after: MessageId,
    limit: i64,
    bodies: Bodies,
) -> Result<(Vec<MessageRow>, bool), DbError> {
    // Each begins with the condition of the index that it is meant to use.
    const OPEN: &str = "m.status in ('pending', 'processing') and $4 > cast(0 as bigint)";
    const SETTLED: &str = "m.status in ('done', 'failed') and $4 > cast(0 as bigint)";
    let conditions = match status {
        InboxStatus::Pending => {
            vec!["m.status in ('pending', 'processing') and (m.status = 'pending' or m.lease_until <= $4)"]
        }
        InboxStatus::Processing => {
            vec!["m.status in ('pending', 'processing') and m.status = 'processing' and m.lease_until > $4"]
        }
        InboxStatus::Done => vec!["m.status in ('done', 'failed') and m.status = 'done' and $4 > cast(0 as bigint)"],
        InboxStatus::Failed => {
            vec!["m.status in ('done', 'failed') and m.status = 'failed' and $4 > cast(0 as bigint)"]
        }
        InboxStatus::All => vec![OPEN, SETTLED],
    };
    let now = tx.now_ms();
    // A key that does not reach a channel does not work on what was said there.
    let is_in_reach = recipient.principal.reach.sql_of_inbox("m", "o");
    let recipient = recipient.id();
    let (mut rows, mut end) = (Vec::new(), None);
    for condition in conditions {
        let condition =
            format!("m.recipient_id = $1 and m.id > $2 and {is_in_reach} and {condition} order by m.id limit $3");
        let (found, is_cut) = page(tx, &condition, params![recipient.0, after.0, limit, now], bodies)?;
        if let Some(last) = found.last().filter(|_| is_cut) {
            end = Some(end.unwrap_or(last.id).min(last.id));
        }
        rows.extend(found);
    }
    rows.sort_by_key(|row: &MessageRow| row.id);
    // What lies behind the end of a part that was cut comes with a later page.
    rows.retain(|row| end.is_none_or(|end| row.id <= end));
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    Ok((rows, end.is_some()))
}

/// When the next of a recipient's claims runs out. One that has run out already may lie before the cursor
/// of who asks: to them nothing comes of it, however often they look.
pub(super) fn find_next_lease_end(tx: &mut Tx<'_>, recipient: PrincipalId) -> Result<Option<i64>, DbError> {
    tx.query_one(
        "select min(lease_until) as ends from messages
         where recipient_id = $1 and status in ('pending', 'processing') and status = 'processing'
           and lease_until > $2",
        params![recipient.0, tx.now_ms()],
        |row| row.get("ends"),
    )
}

/// Which of a recipient's messages to claim.
pub(super) enum Wanted<'a> {
    /// The most urgent and oldest.
    Next(i64),
    /// These, as far as they are free.
    Free(&'a [MessageId]),
    /// These, as far as they are claimed.
    Claimed(&'a [MessageId]),
}

/// Claims messages, as many as make up an answer of bearable size. They are locked before they are looked at, so
/// two claimers never both win: SQLite has one writer, on PostgreSQL rows that another one holds are passed over.
pub(super) fn update_claimed(
    tx: &mut Tx<'_>,
    recipient: &Actor,
    wanted: &Wanted<'_>,
    lease_until: i64,
) -> Result<Vec<MessageId>, DbError> {
    const FREE: &str = "m.status in ('pending', 'processing') and (m.status = 'pending' or m.lease_until <= $2)";
    const CLAIMED: &str = "m.status in ('pending', 'processing') and m.status = 'processing' and m.lease_until > $2";
    let skip_locked = match tx.engine() {
        stoa_db::Engine::Sqlite => "",
        stoa_db::Engine::Postgres => "for update of m skip locked",
    };
    let now = tx.now_ms();
    let is_in_reach = recipient.principal.reach.sql_of_inbox("m", "o");
    let recipient = recipient.id();
    let mut values = params![recipient.0, now].to_vec();
    let (condition, order) = match wanted {
        Wanted::Next(limit) => {
            values.push(Parameter::Integer(*limit));
            (FREE.to_owned(), "order by m.priority desc, m.id limit $3")
        }
        Wanted::Free(ids) | Wanted::Claimed(ids) => {
            let (list, ids) = in_list(3, ids.iter().map(|id| Parameter::Integer(id.0)));
            values.extend(ids);
            let state = if matches!(wanted, Wanted::Free(_)) { FREE } else { CLAIMED };
            (format!("{state} and m.id in {list}"), "order by m.id")
        }
    };
    let sized = tx.query(
        &format!(
            "select m.id, {LEAST_JSON} as bytes from messages m left join messages o on o.id = m.mention_of
             where m.recipient_id = $1 and {is_in_reach} and o.deleted_at is null and {condition} {order} {skip_locked}"
        ),
        &values,
        |row| Ok((MessageId(row.get("id")?), row.get::<i64>("bytes")?)),
    )?;
    let mut ids = within_bytes(&sized);
    if ids.is_empty() {
        return Ok(ids);
    }
    let least = sized.iter().filter(|(id, _)| ids.contains(id)).map(|(_, bytes)| bytes).sum::<i64>();
    if least > PAGE_BYTES / MOST_GROWTH {
        // They may grow beyond a page in JSON, so it takes a look at the texts.
        let mut rows = find_messages(tx, &ids, Bodies::Whole)?;
        rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
        cut_to_fit(&mut rows, MessageRow::json_bytes);
        ids = rows.iter().map(|row| row.id).collect();
    }
    let (list, ids) = in_list(4, ids.iter().map(|id| Parameter::Integer(id.0)));
    // Who extends a claim has had it before.
    let since = (!matches!(wanted, Wanted::Claimed(_))).then_some(now);
    let mut values = params![lease_until, recipient.0, since].to_vec();
    values.extend(ids);
    let mut claimed = tx.query(
        &format!(
            "update messages set status = 'processing', lease_until = $1,
                 status_since = coalesce(cast($3 as bigint), status_since)
             where recipient_id = $2 and status in ('pending', 'processing') and id in {list} returning id"
        ),
        &values,
        |row| row.get("id").map(MessageId),
    )?;
    claimed.sort();
    Ok(claimed)
}

pub(super) fn update_status(tx: &mut Tx<'_>, id: MessageId, status: MessageStatus) -> Result<(), DbError> {
    tx.execute(
        "update messages set status = $2, lease_until = null, status_since = $3 where id = $1",
        params![id.0, status.name(), tx.now_ms()],
    )?;
    Ok(())
}

/// Frees a message whose claim has run out. It has been free since then, whenever that is noticed.
pub(super) fn update_expired(tx: &mut Tx<'_>, id: MessageId) -> Result<(), DbError> {
    tx.execute(
        "update messages set status = 'pending', status_since = lease_until, lease_until = null where id = $1",
        params![id.0],
    )?;
    Ok(())
}

/// Claims that have run out, the oldest first.
pub(super) fn list_expired(tx: &mut Tx<'_>) -> Result<Vec<MessageId>, DbError> {
    tx.query(
        "select id from messages where status = 'processing' and lease_until <= $1 order by lease_until limit $2",
        params![tx.now_ms(), MAX_CLAIM],
        |row| row.get("id").map(MessageId),
    )
}
