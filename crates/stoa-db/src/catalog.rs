//! What tables there are, in an order in which rows can be inserted again.

use std::collections::{BTreeMap, BTreeSet};

use crate::{DbError, Engine, Tx, params};

/// A table as the engine's catalogue describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    /// Without columns that the engine computes.
    pub columns: Vec<String>,
    /// The column that the engine numbers, if there is one.
    pub identity: Option<String>,
}

/// All tables but the migration runner's own, each after the tables it refers to. PostgreSQL's unlogged tables are none:
/// what may be gone after a crash can be made again from the others.
pub fn table_order(tx: &mut Tx<'_>) -> Result<Vec<Table>, DbError> {
    let (names, columns, references, identity) = match tx.engine() {
        Engine::Sqlite => (
            "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
            "select name from pragma_table_info($1) order by cid",
            "select distinct \"table\" as name from pragma_foreign_key_list($1)",
            "select info.name from pragma_table_info($1) info join sqlite_master master on master.name = $1
             where info.pk = 1 and master.sql like '%autoincrement%'",
        ),
        Engine::Postgres => (
            "select c.relname::text as name from pg_class c join pg_namespace space on space.oid = c.relnamespace
             where space.nspname = current_schema() and c.relkind in ('r', 'p') and c.relpersistence <> 'u'
             order by c.relname::text collate \"C\"",
            "select column_name::text as name from information_schema.columns
             where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER'
             order by ordinal_position",
            "select distinct target.relname::text as name from pg_constraint c
             join pg_class source on source.oid = c.conrelid join pg_class target on target.oid = c.confrelid
             join pg_namespace space on space.oid = source.relnamespace
             where c.contype = 'f' and space.nspname = current_schema() and source.relname = $1::text",
            "select column_name::text as name from information_schema.columns
             where table_schema = current_schema() and table_name = $1 and is_identity = 'YES'",
        ),
    };
    let mut tables = BTreeMap::new();
    let mut waiting: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in tx.query(names, &[], |row| row.get::<String>("name"))? {
        if name == "schema_migrations" {
            continue;
        }
        let columns = tx.query(columns, params![name], |row| row.get("name"))?;
        let mut referred: BTreeSet<String> =
            tx.query(references, params![name], |row| row.get("name"))?.into_iter().collect();
        // A row refers to rows of its own table that are older, so inserting in order is enough.
        referred.remove(&name);
        let identity = tx.query_optional(identity, params![name], |row| row.get("name"))?;
        waiting.insert(name.clone(), referred);
        tables.insert(name.clone(), Table { name, columns, identity });
    }
    let mut ordered = Vec::with_capacity(tables.len());
    while !waiting.is_empty() {
        let ready = waiting
            .iter()
            .find(|(_, referred)| referred.iter().all(|name| !waiting.contains_key(name)))
            .map(|(name, _)| name.clone())
            .ok_or_else(|| DbError::Statement("tables refer to each other in a circle".to_owned()))?;
        waiting.remove(&ready);
        ordered.extend(tables.remove(&ready));
    }
    Ok(ordered)
}
