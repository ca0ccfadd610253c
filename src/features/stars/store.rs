use stoa_db::{DbError, Tx, params};
use stoa_model::stars::{StarKind, StarView};
use stoa_model::{ConversationId, PrincipalId, handles};

use crate::storage::columns;

pub(super) struct StarRow {
    pub(super) view: StarView,
    /// Of a channel.
    pub(super) conversation: Option<ConversationId>,
}

pub(super) fn list_stars(tx: &mut Tx<'_>, of: PrincipalId) -> Result<Vec<StarRow>, DbError> {
    tx.query(
        "select s.kind, coalesce(ch.name, p.handle) as name, ch.conversation_id from stars s
         left join channels ch on s.kind = 'channel' and ch.id = s.target_id and ch.deleted_at is null
         left join principals p on s.kind = 'dm' and p.id = s.target_id and p.deleted_at is null
         where s.principal_id = $1 and (ch.id is not null or p.id is not null) order by s.kind, name",
        params![of.0],
        |row| {
            Ok(StarRow {
                view: StarView { kind: columns::named(row, "kind")?, name: row.get("name")? },
                conversation: row.get::<Option<i64>>("conversation_id")?.map(ConversationId),
            })
        },
    )
}

pub(super) fn count_stars(tx: &mut Tx<'_>, of: PrincipalId) -> Result<i64, DbError> {
    tx.query_one("select count(*) as stars from stars where principal_id = $1", params![of.0], |row| row.get("stars"))
}

pub(super) fn insert_star(tx: &mut Tx<'_>, of: PrincipalId, kind: StarKind, target: i64) -> Result<(), DbError> {
    tx.execute(
        "insert into stars (principal_id, kind, target_id, created_at) values ($1, $2, $3, $4)
         on conflict (principal_id, kind, target_id) do nothing",
        params![of.0, kind.name(), target, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) fn is_starred(tx: &mut Tx<'_>, of: PrincipalId, kind: StarKind, target: i64) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from stars where principal_id = $1 and kind = $2 and target_id = $3) as starred",
        params![of.0, kind.name(), target],
        |row| row.get("starred"),
    )
}

/// Whether there was such a star.
pub(super) fn delete_by_name(tx: &mut Tx<'_>, of: PrincipalId, target: &StarView) -> Result<bool, DbError> {
    let targets = match target.kind {
        StarKind::Channel => "select id from channels where name = $3",
        StarKind::Dm => "select id from principals where folded_handle = $3",
    };
    let deleted = tx.execute(
        &format!("delete from stars where principal_id = $1 and kind = $2 and target_id in ({targets})"),
        params![of.0, target.kind.name(), handles::fold(&target.name)],
    )?;
    Ok(deleted > 0)
}
