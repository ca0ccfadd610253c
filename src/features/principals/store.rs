use stoa_db::{DbError, Row, ToValue, Tx, Value, in_list, params};
use stoa_model::principals::PrincipalKind;
use stoa_model::{PrincipalId, handles};

use crate::storage::columns;

/// None when the handle is taken. The unique index decides, so that two who want it at once
/// cannot both get it.
pub(super) fn insert_principal(
    tx: &mut Tx<'_>,
    kind: PrincipalKind,
    handle: &str,
    display_name: &str,
    owner: Option<PrincipalId>,
) -> Result<Option<PrincipalId>, DbError> {
    tx.query_optional(
        "insert into principals (kind, handle, folded_handle, display_name, folded_display_name, owner_id, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (folded_handle) do nothing returning id",
        params![
            kind.name(),
            handle,
            handles::fold(handle),
            display_name,
            display_name.to_lowercase(),
            owner.map(|owner| owner.0),
            tx.now_ms()
        ],
        |row| row.get("id").map(PrincipalId),
    )
}

pub(super) fn update_display_name(tx: &mut Tx<'_>, id: PrincipalId, display_name: &str) -> Result<(), DbError> {
    tx.execute(
        "update principals set display_name = $2, folded_display_name = $3 where id = $1",
        params![id.0, display_name, display_name.to_lowercase()],
    )?;
    Ok(())
}

pub(super) fn update_deleted(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    tx.execute("update principals set deleted_at = $2 where id = $1", params![id.0, tx.now_ms()])?;
    Ok(())
}

pub(super) fn update_last_seen(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    tx.execute(
        "update principals set last_seen_at = $2 where id = $1 and (last_seen_at is null or last_seen_at < $2)",
        params![id.0, tx.now_ms()],
    )?;
    Ok(())
}

/// All of them in one statement.
pub(super) fn update_all_last_seen(tx: &mut Tx<'_>, ids: &[PrincipalId]) -> Result<(), DbError> {
    // As many as both engines take.
    for chunk in ids.chunks(16_384) {
        let (list, mut values) = in_list(2, chunk.iter().map(|id| Value::Integer(id.0)));
        values.insert(0, Value::Integer(tx.now_ms()));
        tx.execute(
            &format!(
                "update principals set last_seen_at = $1
                 where id in {list} and (last_seen_at is null or last_seen_at < $1)"
            ),
            &values,
        )?;
    }
    Ok(())
}

pub(super) fn is_handle_taken(tx: &mut Tx<'_>, handle: &str) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from principals where folded_handle = $1) as taken",
        params![handles::fold(handle)],
        |row| row.get("taken"),
    )
}

pub(super) fn is_name_of_user(tx: &mut Tx<'_>, name: &str) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from principals
             where kind in ('user', 'system') and (folded_handle = $1 or folded_display_name = $2)) as taken",
        params![handles::fold(name), name.to_lowercase()],
        |row| row.get("taken"),
    )
}

/// A principal, for features that deal with others.
#[derive(Debug, Clone)]
pub struct PrincipalRow {
    pub id: PrincipalId,
    pub kind: PrincipalKind,
    pub handle: String,
    pub display_name: String,
    pub owner: Option<PrincipalId>,
    pub is_deleted: bool,
    /// Whether the human behind it is shut out.
    pub is_disabled: bool,
    pub last_seen_at: Option<i64>,
}

impl PrincipalRow {
    /// Whether it can be a member of a channel. Messages cannot reach machines, but they may write where they belong.
    pub fn can_be_member(&self) -> bool {
        self.is_reachable() || (self.kind == PrincipalKind::Machine && !self.is_deleted)
    }

    /// Whether messages can reach it.
    pub fn is_reachable(&self) -> bool {
        matches!(self.kind, PrincipalKind::User | PrincipalKind::Agent) && !self.is_deleted && !self.is_disabled
    }
}

const SELECT_KNOWN: &str = "select p.id, p.kind, p.handle, p.display_name, p.owner_id, p.deleted_at, p.last_seen_at,
        u.disabled_at
     from principals p left join users u on u.id = coalesce(p.owner_id, p.id)";

pub(super) fn find_by_handle(tx: &mut Tx<'_>, handle: &str) -> Result<Option<PrincipalRow>, DbError> {
    tx.query_optional(&format!("{SELECT_KNOWN} where p.folded_handle = $1"), params![handles::fold(handle)], known)
}

pub(super) fn find_by_id(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<PrincipalRow>, DbError> {
    tx.query_optional(&format!("{SELECT_KNOWN} where p.id = $1"), params![id.0], known)
}

/// Those among the folded handles that are somebody's.
pub(super) fn find_many(tx: &mut Tx<'_>, folded: &[&str]) -> Result<Vec<PrincipalRow>, DbError> {
    let mut found = Vec::new();
    for chunk in folded.chunks(128) {
        let (list, values) = in_list(1, chunk.iter().map(|handle| handle.to_value()));
        found.extend(tx.query(&format!("{SELECT_KNOWN} where p.folded_handle in {list}"), &values, known)?);
    }
    Ok(found)
}

/// The handles of those who can be written to, at most `limit`.
pub(super) fn list_handles(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<String>, DbError> {
    tx.query(
        "select handle from principals where deleted_at is null and kind in ('user', 'agent') order by id desc limit $1",
        params![limit],
        |row| row.get("handle"),
    )
}

fn known(row: &Row<'_>) -> Result<PrincipalRow, DbError> {
    Ok(PrincipalRow {
        id: PrincipalId(row.get("id")?),
        kind: columns::named(row, "kind")?,
        handle: row.get("handle")?,
        display_name: row.get("display_name")?,
        owner: row.get::<Option<i64>>("owner_id")?.map(PrincipalId),
        is_deleted: row.get::<Option<i64>>("deleted_at")?.is_some(),
        is_disabled: row.get::<Option<i64>>("disabled_at")?.is_some(),
        last_seen_at: row.get("last_seen_at")?,
    })
}

/// Whoever has or had one of the handles.
pub(super) fn list_ids_of(tx: &mut Tx<'_>, handles: &[String]) -> Result<Vec<PrincipalId>, DbError> {
    let folded: Vec<String> = handles.iter().map(|handle| handles::fold(handle)).collect();
    let (list, values) = in_list(1, folded.iter().map(ToValue::to_value));
    tx.query(&format!("select id from principals where folded_handle in {list}"), &values, |row| {
        row.get("id").map(PrincipalId)
    })
}

pub(super) fn find_created_at(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<i64>, DbError> {
    tx.query_optional("select created_at from principals where id = $1", params![id.0], |row| row.get("created_at"))
}
