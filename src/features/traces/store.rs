use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::Value as Json;
use stoa_db::{DbError, Row, ToValue, Tx, Value, params};
use stoa_model::principals::PrincipalKind;
use stoa_model::traces::ActionStats;
use stoa_model::{ApiKeyId, PrincipalId, Timestamp, TraceId, handles};

/// Rows deleted in one command, so that pruning never holds up the writer.
const PRUNE_BATCH: i64 = 1000;

/// A trace as it is stored.
pub(super) struct NewRow {
    pub(super) owner: PrincipalId,
    pub(super) principal: PrincipalId,
    /// The managed key that was used.
    pub(super) key: Option<i64>,
    pub(super) action: std::sync::Arc<str>,
    pub(super) details: String,
    pub(super) error: Option<String>,
    pub(super) duration_ms: i64,
    pub(super) request_id: Option<String>,
    pub(super) run_id: Option<i64>,
    pub(super) created_at: i64,
}

const COLUMNS: usize = 10;

/// Statements for so many rows. There are few, so that each is prepared once; rows of a statement that
/// are not needed are null and fall through.
static INSERTS: LazyLock<[(usize, String); 4]> = LazyLock::new(|| [1, 4, 16, 64].map(|rows| (rows, insert_sql(rows))));

fn insert_sql(rows: usize) -> String {
    const TYPES: [&str; COLUMNS] =
        ["bigint", "bigint", "bigint", "text", "text", "text", "bigint", "text", "bigint", "bigint"];
    let mut values = String::new();
    for row in 0..rows {
        values.push_str(if row == 0 { "(" } else { "), (" });
        for (column, kind) in TYPES.iter().enumerate() {
            let separator = if column == 0 { "" } else { ", " };
            let number = row * COLUMNS + column + 1;
            // PostgreSQL takes the types of all rows from the first.
            let _ = match row {
                0 => write!(values, "{separator}cast(${number} as {kind})"),
                _ => write!(values, "{separator}${number}"),
            };
        }
    }
    let names = "owner_id, principal_id, key_id, action, details, error, duration_ms, request_id, run_id, created_at";
    format!(
        "with batch ({names}) as (values {values}))
         insert into traces ({names}) select {names} from batch where owner_id is not null"
    )
}

/// Inserts rows with one statement for every 64.
pub(super) fn insert_traces(tx: &mut Tx<'_>, rows: &[NewRow]) -> Result<(), DbError> {
    let largest = INSERTS[INSERTS.len() - 1].0;
    for rows in rows.chunks(largest) {
        let Some((size, sql)) = INSERTS.iter().find(|(size, _)| *size >= rows.len()) else { continue };
        let mut values = Vec::with_capacity(size * COLUMNS);
        for row in rows {
            values.extend_from_slice(params![
                row.owner.0,
                row.principal.0,
                row.key,
                *row.action,
                row.details,
                row.error,
                row.duration_ms,
                row.request_id,
                row.run_id,
                row.created_at
            ]);
        }
        values.resize(size * COLUMNS, Value::Null);
        tx.execute(sql, &values)?;
    }
    Ok(())
}

/// Which traces somebody asks for, of those that are theirs to see.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// None is for the operator: everybody's.
    pub(super) owner: Option<PrincipalId>,
    pub(super) principal: Option<PrincipalId>,
    /// Only what was done with this key.
    pub(super) key: Option<ApiKeyId>,
    pub(super) action: Option<String>,
    /// From this moment on.
    pub(super) since: i64,
    /// Before this moment.
    pub(super) until: i64,
}

impl Filter {
    /// Conditions for exactly what is asked for, so that the index of it is used.
    fn conditions(&self) -> (String, Vec<Value<'_>>) {
        let mut sql = "created_at >= $1 and created_at < $2".to_owned();
        let mut values = vec![self.since.to_value(), self.until.to_value()];
        let of = |id: PrincipalId| id.0;
        let ids = [
            ("owner_id", self.owner.map(of)),
            ("principal_id", self.principal.map(of)),
            ("key_id", self.key.map(|key| key.0)),
        ];
        let ids = ids.into_iter().filter_map(|(column, id)| id.map(|id| (column, Value::Integer(id))));
        for (column, value) in ids.chain(self.action.iter().map(|action| ("action", action.to_value()))) {
            values.push(value);
            let _ = write!(sql, " and {column} = ${}", values.len());
        }
        (sql, values)
    }
}

/// A place in the list: newest first, and by number where times are equal.
pub(super) type Position = (i64, i64);

pub(super) struct TraceRow {
    pub(super) id: TraceId,
    /// The name of the owner.
    pub(super) owner: String,
    pub(super) agent: Option<String>,
    pub(super) action: String,
    pub(super) details: Json,
    pub(super) error: Option<String>,
    pub(super) duration_ms: i64,
    pub(super) request_id: Option<String>,
    pub(super) run_id: Option<i64>,
    pub(super) created_at: Timestamp,
}

const SELECT_TRACE: &str =
    "select t.id, t.action, t.details, t.error, t.duration_ms, t.request_id, t.run_id, t.created_at,
        owner.handle as owner, agent.handle as agent
     from traces t join principals owner on owner.id = t.owner_id
        left join principals agent on agent.id = t.principal_id and agent.kind = 'agent'";

/// A page, newest first. Its rows are looked up only when it is clear which they are: what is passed over
/// costs a step in an index.
pub(super) fn list_traces(tx: &mut Tx<'_>, filter: &Filter, offset: i64, limit: i64) -> Result<Vec<TraceRow>, DbError> {
    let (conditions, mut values) = filter.conditions();
    values.extend([offset.to_value(), limit.to_value()]);
    let (offset, limit) = (values.len() - 1, values.len());
    let sql = format!(
        "{SELECT_TRACE} where t.id in (select id from traces where {conditions}
            order by created_at desc, id desc limit ${limit} offset ${offset})
         order by t.created_at desc, t.id desc"
    );
    tx.query(&sql, &values, trace)
}

pub(super) fn count_traces(tx: &mut Tx<'_>, filter: &Filter) -> Result<i64, DbError> {
    let (conditions, values) = filter.conditions();
    let sql = format!("select count(*) as traces from traces where {conditions}");
    tx.query_one(&sql, &values, |row| row.get("traces"))
}

/// The next ones below `below`, newest first, of those that there were when the newest was `newest`.
pub(super) fn list_traces_below(
    tx: &mut Tx<'_>,
    filter: &Filter,
    newest: i64,
    below: Position,
    limit: i64,
) -> Result<Vec<(Position, TraceRow)>, DbError> {
    // The bound stands where the index is entered. Next to the end of the range that was asked for, one of
    // the two would be used and the other checked row by row, from the beginning for each page.
    let filter = Filter { until: filter.until.min(below.0.saturating_add(1)), ..filter.clone() };
    let (conditions, mut values) = filter.conditions();
    let first = values.len() + 1;
    values.extend([newest.to_value(), below.0.to_value(), below.1.to_value(), limit.to_value()]);
    let sql = format!(
        "{SELECT_TRACE} where t.id in (select id from traces where {conditions}
            and id <= ${first} and (created_at < ${} or id < ${})
            order by created_at desc, id desc limit ${})
         order by t.created_at desc, t.id desc",
        first + 1,
        first + 2,
        first + 3
    );
    tx.query(&sql, &values, |row| Ok(((row.get("created_at")?, row.get("id")?), trace(row)?)))
}

/// What was noted of one request, between two moments.
pub(super) fn list_of_request(
    tx: &mut Tx<'_>,
    filter: &Filter,
    request_id: &str,
    limit: i64,
) -> Result<Vec<TraceRow>, DbError> {
    let (conditions, mut values) = filter.conditions();
    values.extend([request_id.to_value(), limit.to_value()]);
    let (request_id, limit) = (values.len() - 1, values.len());
    let sql = format!(
        "{SELECT_TRACE} where t.id in (select id from traces where {conditions} and request_id = ${request_id}
            order by created_at, id limit ${limit})
         order by t.created_at, t.id"
    );
    tx.query(&sql, &values, trace)
}

/// The highest number there is, or 0.
pub(super) fn newest_id(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    tx.query_one("select coalesce(max(id), 0) as id from traces", &[], |row| row.get("id"))
}

pub(super) fn list_stats(tx: &mut Tx<'_>, filter: &Filter) -> Result<Vec<ActionStats>, DbError> {
    let (conditions, values) = filter.conditions();
    let sql = format!(
        "select action, count(*) as traces, count(error) as errors, cast(sum(duration_ms) as bigint) as duration_ms,
            max(duration_ms) as longest_ms, max(created_at) as last_at
         from traces where {conditions} group by action order by count(*) desc, action"
    );
    tx.query(&sql, &values, |row| {
        let (count, duration_ms): (i64, i64) = (row.get("traces")?, row.get("duration_ms")?);
        Ok(ActionStats {
            action: row.get("action")?,
            count,
            errors: row.get("errors")?,
            average_duration_ms: duration_ms / count.max(1),
            longest_duration_ms: row.get("longest_ms")?,
            last_at: Timestamp::from_ms(row.get("last_at")?),
        })
    })
}

pub(super) struct Named {
    pub(super) id: PrincipalId,
    pub(super) owner: Option<PrincipalId>,
}

/// Whose name it is, or was: what a deleted agent did stays.
pub(super) fn find_named(tx: &mut Tx<'_>, kind: PrincipalKind, name: &str) -> Result<Option<Named>, DbError> {
    tx.query_optional(
        "select id, owner_id from principals where folded_handle = $1 and kind = $2",
        params![handles::fold(name), kind.name()],
        |row| {
            let owner = row.get::<Option<i64>>("owner_id")?.map(PrincipalId);
            Ok(Named { id: PrincipalId(row.get("id")?), owner })
        },
    )
}

/// Deletes a batch of traces from before `cutoff`. Returns how many.
pub(super) fn delete_before(tx: &mut Tx<'_>, cutoff: i64) -> Result<u64, DbError> {
    tx.execute(
        "delete from traces where id in (select id from traces where created_at < $1 order by created_at, id limit $2)",
        params![cutoff, PRUNE_BATCH],
    )
}

fn trace(row: &Row<'_>) -> Result<TraceRow, DbError> {
    let details: String = row.get("details")?;
    Ok(TraceRow {
        owner: row.get("owner")?,
        id: TraceId(row.get("id")?),
        agent: row.get("agent")?,
        action: row.get("action")?,
        details: serde_json::from_str(&details).unwrap_or_default(),
        error: row.get("error")?,
        duration_ms: row.get("duration_ms")?,
        request_id: row.get("request_id")?,
        run_id: row.get("run_id")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
    })
}
