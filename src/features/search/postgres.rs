//! The index on PostgreSQL: a table of its own with a GIN index.
//!
//! The words come ready here too: the server's own parsers and dictionaries are not asked. Words of the bag all stand at
//! the last place there is, which lies behind every other, so that nothing follows on them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stoa_db::{DbError, Engine, Tx, Value, id_list, is_among, params};
use stoa_model::search::document::Document;
use stoa_model::search::query::Term;

use super::entries::Entry;
use super::index::SearchIndex;
use super::plan::{Facts, Plan, Wanted};

/// Of the places that a tsvector knows, the last.
const PLACE_OF_BAG: usize = 16_383;
/// Rows in one statement.
const ROWS: usize = 50;

pub(super) struct PostgresIndex;

impl SearchIndex for PostgresIndex {
    fn find(&self, tx: &mut Tx<'_>, plan: &Plan, limit: i64) -> Result<Vec<i64>, DbError> {
        // Which way is the shortest depends on the words: how common they are.
        let mut settings = "set local plan_cache_mode = force_custom_plan".to_owned();
        if let Some(left) = tx.time_left() {
            let _ = write!(settings, "; set local statement_timeout = {}", left.as_millis().max(1));
        }
        tx.execute_batch(&settings)?;
        let (expression, Facts { conversations, authors, after_ms, before_ms, standing }) =
            (render(&plan.wanted()), plan.facts());
        let mut values = vec![Value::Integer(limit)];
        let mut conditions = vec!["true".to_owned()];
        if let Some(expression) = &expression {
            values.push(Value::Text(expression));
            conditions.push(format!("d.words @@ ${}::text::tsquery", values.len()));
        }
        let lists = [("conversation_id", conversations), ("author_id", authors)]
            .map(|(column, ids)| (column, ids.map(|ids| id_list(ids.iter().copied()))));
        for (column, list) in &lists {
            if let Some(list) = list {
                values.push(Value::Text(list));
                conditions.push(format!("d.{column} {}", is_among(Engine::Postgres, &format!("${}", values.len()))));
            }
        }
        for (comparison, moment) in [(">=", after_ms), ("<", before_ms)] {
            if let Some(moment) = moment {
                values.push(Value::Integer(moment));
                conditions.push(format!("d.created_at {comparison} ${}", values.len()));
            }
        }
        let list_of_all = standing.as_ref().map(|standing| id_list(standing.conversations.iter().copied()));
        if let Some(standing) = &standing
            && let (Some(states), Some(list)) = (standing.states_sql(), &list_of_all)
        {
            values.push(Value::Text(list));
            let is_among = is_among(Engine::Postgres, &format!("${}", values.len()));
            conditions.push(format!(
                "d.message_id in (select m.id from messages m
                     where m.conversation_id {is_among} and {states})"
            ));
        }
        if let Some(has_reaction) = standing.and_then(|standing| standing.has_reaction) {
            let not = if has_reaction { "" } else { "not " };
            conditions.push(format!("{not}exists (select 1 from reactions r where r.message_id = d.message_id)"));
        }
        let sql = format!(
            "select d.message_id from search_documents d where {} order by d.message_id desc limit $1",
            conditions.join(" and ")
        );
        tx.query(&sql, &values, |row| row.get("message_id"))
    }

    fn insert(&self, tx: &mut Tx<'_>, entries: &[Entry]) -> Result<(), DbError> {
        for rows in entries.chunks(ROWS) {
            let vectors: Vec<String> = rows.iter().map(|entry| vector(&entry.document)).collect();
            let mut values = Vec::with_capacity(5 * rows.len());
            let mut places = String::new();
            for (entry, vector) in rows.iter().zip(&vectors) {
                let first = values.len() + 1;
                let comma = if first == 1 { "" } else { ", " };
                let _ = write!(
                    places,
                    "{comma}(${first}, ${}, ${}, ${}, ${}::text::tsvector)",
                    first + 1,
                    first + 2,
                    first + 3,
                    first + 4
                );
                values.extend([entry.id, entry.conversation, entry.author, entry.created_at_ms].map(Value::Integer));
                values.push(Value::Text(vector));
            }
            tx.execute(
                &format!(
                    "insert into search_documents (message_id, conversation_id, author_id, created_at, words)
                     values {places}
                     on conflict (message_id) do update set words = excluded.words"
                ),
                &values,
            )?;
        }
        Ok(())
    }

    fn remove(&self, tx: &mut Tx<'_>, ids: &[i64]) -> Result<(), DbError> {
        let list = id_list(ids.iter().copied());
        let is_among = is_among(Engine::Postgres, "$1");
        tx.execute(&format!("delete from search_documents where message_id {is_among}"), params![list])?;
        Ok(())
    }
}

/// The words of a document as a tsvector is written.
fn vector(document: &Document) -> String {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, word) in document.places() {
        places.entry(word).or_default().push(place);
    }
    for word in document.bag() {
        places.entry(word).or_default().push(PLACE_OF_BAG);
    }
    let mut vector = String::new();
    for (word, places) in places {
        let places: Vec<String> = places.iter().map(usize::to_string).collect();
        let _ = write!(vector, "{}:{} ", quoted(word), places.join(","));
    }
    vector
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"))
}

/// The expression as a tsquery is written; none if everything fits.
fn render(wanted: &Wanted) -> Option<String> {
    let any = |terms: &[Term]| {
        let terms: Vec<String> = terms.iter().map(render_term).collect();
        format!("({})", terms.join(" | "))
    };
    let mut parts: Vec<String> = wanted.all.iter().map(|terms| any(terms)).collect();
    if !wanted.none.is_empty() {
        parts.push(format!("!{}", any(&wanted.none)));
    }
    (!parts.is_empty()).then(|| parts.join(" & "))
}

fn render_term(term: &Term) -> String {
    let words: Vec<String> = term.words.iter().map(|word| quoted(word)).collect();
    let star = if term.is_prefix { ":*" } else { "" };
    format!("({}{star})", words.join(" <-> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_queries() {
        let document = Document::new(None, "camelCase or case, case", ["¶m".to_owned()]);
        assert_eq!(vector(&document).trim(), "'camel':16383 'camelcase':1 'case':3,4,16383 'or':2 '¶m':16383");
        let term = |text: &str, is_prefix| Term::of(text, is_prefix).unwrap();
        let wanted =
            Wanted { all: vec![vec![term("a b", true)], vec![term("c", false)]], none: vec![term("x", false)] };
        assert_eq!(render(&wanted).unwrap(), "(('a' <-> 'b':*)) & (('c')) & !(('x'))");
        assert_eq!(render(&Wanted { all: vec![], none: vec![] }), None);
    }
}
