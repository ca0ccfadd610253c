//! The index on SQLite: FTS5 in a file of its own.
//!
//! The words come ready, with blanks between them, so the tokenizer has nothing to decide. FTS5 holds no texts (they are in
//! the messages), and beside it stands what the hits are compared with: a row of four numbers for each message.

use std::collections::BTreeMap;

use stoa_db::{Companion, DbError, Engine, Tx, Value, id_list, is_among, params};
use stoa_model::search::document::mark;
use stoa_model::search::query::Term;

use super::entries::{Entry, MESSAGE};
use super::index::SearchIndex;
use super::plan::{Facts, Plan, Wanted};

/// The file. Whatever changes in what is indexed, or how, makes another version: then it is filled anew.
pub const COMPANION: Companion = Companion {
    name: "search",
    version: 1,
    schema: "
        create virtual table search_documents using fts5 (
            words, bag, content = '', contentless_delete = 1, tokenize = 'ascii');
        insert into search_documents (search_documents, rank) values ('hashsize', 16777216);
        create table search_facts (
            id integer primary key,
            conversation_id integer not null,
            author_id integer not null,
            created_at integer not null
        ) strict;
        -- The first and the last message of each day: ids grow with time, but nobody promised it.
        create table search_days (
            day integer primary key,
            first_id integer not null,
            last_id integer not null
        ) strict;
        create table search_state (
            id integer primary key check (id = 1),
            epoch text not null,
            xid integer not null,
            seq integer not null,
            built_through integer not null
        ) strict",
};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Messages with the words that are looked at, newest first, before it is asked whether there is a shorter way.
const GLANCE: i64 = 50_000;

pub(super) struct SqliteIndex;

impl SearchIndex for SqliteIndex {
    fn find(&self, tx: &mut Tx<'_>, plan: &Plan, limit: i64) -> Result<Vec<i64>, DbError> {
        let expression = render(&plan.wanted());
        let facts = plan.facts();
        let Some((first, last)) = id_range(tx, &facts)? else { return Ok(Vec::new()) };
        if facts.is_empty() {
            return tx.query(
                "select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
                 order by rowid desc limit $4",
                params![expression, first, last, limit],
                |row| row.get("id"),
            );
        }
        let search = Search { expression, facts, first, limit };
        let mut found = search.among_matches(tx, last, Some(GLANCE))?;
        if found.len() as i64 >= limit {
            return Ok(found);
        }
        // Were there more with the words than were looked at?
        let rest: Option<i64> = tx.query_optional(
            "select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
             order by rowid desc limit 1 offset $4",
            params![search.expression, first, last, GLANCE],
            |row| row.get("id"),
        )?;
        if let Some(rest) = rest {
            found.extend(search.rest(tx, rest, found.len() as i64)?);
        }
        Ok(found)
    }

    fn insert(&self, tx: &mut Tx<'_>, entries: &[Entry]) -> Result<(), DbError> {
        let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
        self.remove(tx, &ids)?;
        let mut days: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for entry in entries {
            tx.execute(
                "insert into search_facts (id, conversation_id, author_id, created_at) values ($1, $2, $3, $4)",
                params![entry.id, entry.conversation, entry.author, entry.created_at_ms],
            )?;
            let day = days.entry(entry.created_at_ms.div_euclid(DAY_MS)).or_insert((entry.id, entry.id));
            *day = (day.0.min(entry.id), day.1.max(entry.id));
        }
        for (day, (first, last)) in days {
            tx.execute(
                "insert into search_days (day, first_id, last_id) values ($1, $2, $3)
                 on conflict (day) do update
                 set first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id)",
                params![day, first, last],
            )?;
        }
        // These by themselves: FTS5 writes down what it has gathered whenever another statement might have to be undone.
        for entry in entries {
            tx.execute(
                "insert into search_documents (rowid, words, bag) values ($1, $2, $3)",
                params![entry.id, entry.document.words, entry.document.bag],
            )?;
        }
        Ok(())
    }

    fn remove(&self, tx: &mut Tx<'_>, ids: &[i64]) -> Result<(), DbError> {
        let list = id_list(ids.iter().copied());
        let is_among = is_among(Engine::Sqlite, "$1");
        let known: Vec<i64> =
            tx.query(&format!("select id from search_facts where id {is_among}"), params![list], |row| row.get("id"))?;
        for id in &known {
            tx.execute("delete from search_facts where id = $1", params![id])?;
        }
        for id in &known {
            tx.execute("delete from search_documents where rowid = $1", params![id])?;
        }
        Ok(())
    }
}

/// A search for which words alone are not enough.
struct Search<'p> {
    expression: String,
    facts: Facts<'p>,
    first: i64,
    limit: i64,
}

impl Search<'_> {
    /// The condition on `f`, and the values from `$5` on.
    fn condition(&self) -> (String, Vec<String>, Vec<i64>) {
        let (mut condition, mut lists, mut moments) = (String::new(), Vec::new(), Vec::new());
        let Facts { conversations, authors, after_ms, before_ms } = &self.facts;
        let mut place = 4;
        for (column, ids) in [("conversation_id", conversations), ("author_id", authors)] {
            if let Some(ids) = ids {
                place += 1;
                condition += &format!(" and f.{column} {}", is_among(Engine::Sqlite, &format!("${place}")));
                lists.push(id_list(ids.iter().copied()));
            }
        }
        for (comparison, moment) in [(">=", after_ms), ("<", before_ms)] {
            if let Some(moment) = moment {
                place += 1;
                condition += &format!(" and f.created_at {comparison} ${place}");
                moments.push(*moment);
            }
        }
        (condition, lists, moments)
    }

    fn ask(&self, tx: &mut Tx<'_>, sql: &str, first: [Value<'_>; 4]) -> Result<Vec<i64>, DbError> {
        let (_, lists, moments) = self.condition();
        let mut values = first.to_vec();
        values.extend(lists.iter().map(|list| Value::Text(list)));
        values.extend(moments.into_iter().map(Value::Integer));
        tx.query(sql, &values, |row| row.get("id"))
    }

    /// Those that fit among the messages with the words up to `last`: among the newest ones, or among all.
    fn among_matches(&self, tx: &mut Tx<'_>, last: i64, newest: Option<i64>) -> Result<Vec<i64>, DbError> {
        let (condition, ..) = self.condition();
        let newest = newest.map_or(String::new(), |newest| format!("limit {newest}"));
        // The outer query goes through the inner one as it comes, and so does what it finds.
        let sql = format!(
            "select d.id from (
                 select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
                 order by rowid desc {newest}) d
             cross join search_facts f on f.id = d.id where true {condition} limit $4"
        );
        let first = [
            Value::Text(&self.expression),
            Value::Integer(self.first),
            Value::Integer(last),
            Value::Integer(self.limit),
        ];
        self.ask(tx, &sql, first)
    }

    /// The same for what is left up to `last`, of which most did not fit so far. Who sees little of much is better off
    /// when what they see is gathered first, and the messages with the words are compared with that.
    fn rest(&self, tx: &mut Tx<'_>, last: i64, found: i64) -> Result<Vec<i64>, DbError> {
        let (condition, ..) = self.condition();
        let limit = self.limit - found;
        let range = [Value::Null, Value::Integer(self.first), Value::Integer(last), Value::Integer(GLANCE + 1)];
        let sql = format!(
            "select f.id from search_facts f where $1 is null and +f.id between $2 and $3 {condition} limit $4"
        );
        if self.facts.conversations.is_some() && self.ask(tx, &sql, range)?.len() as i64 <= GLANCE {
            let sql = format!(
                "select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
                 and +rowid in (select f.id from search_facts f where +f.id between $2 and $3 {condition})
                 order by rowid desc limit $4"
            );
            let first = [
                Value::Text(&self.expression),
                Value::Integer(self.first),
                Value::Integer(last),
                Value::Integer(limit),
            ];
            return self.ask(tx, &sql, first);
        }
        let mut found = self.among_matches(tx, last, None)?;
        found.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(found)
    }
}

/// Between which ids the messages are that were written in time; none if there are none.
fn id_range(tx: &mut Tx<'_>, facts: &Facts<'_>) -> Result<Option<(i64, i64)>, DbError> {
    let (after, before) = (facts.after_ms, facts.before_ms);
    if after.is_none() && before.is_none() {
        return Ok(Some((0, i64::MAX)));
    }
    let first_day = after.map_or(i64::MIN, |after| after.div_euclid(DAY_MS));
    let last_day = before.map_or(i64::MAX, |before| before.div_euclid(DAY_MS));
    tx.query_one(
        "select min(first_id) as first, max(last_id) as last from search_days where day between $1 and $2",
        params![first_day, last_day],
        |row| Ok(row.get::<Option<i64>>("first")?.zip(row.get::<Option<i64>>("last")?)),
    )
}

/// The expression that FTS5 understands. Words have no quotation marks in them.
fn render(wanted: &Wanted) -> String {
    let any = |terms: &[Term]| {
        let terms: Vec<String> = terms.iter().map(render_term).collect();
        format!("({})", terms.join(" OR "))
    };
    let all: Vec<String> = wanted.all.iter().map(|terms| any(terms)).collect();
    // There is no "everything but" in FTS5, but there is a mark that everything has.
    let all = if all.is_empty() { format!("\"{}\"", mark(MESSAGE, "")) } else { all.join(" AND ") };
    if wanted.none.is_empty() { all } else { format!("({all}) NOT {}", any(&wanted.none)) }
}

/// A single word may be in the bag; words that follow each other have places.
fn render_term(term: &Term) -> String {
    let column = if term.words.len() > 1 { "words : " } else { "" };
    let star = if term.is_prefix { " *" } else { "" };
    format!("({column}\"{}\"{star})", term.words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str, is_prefix: bool) -> Term {
        Term::of(text, is_prefix).unwrap()
    }

    #[test]
    fn expressions() {
        let wanted = |all: Vec<Vec<Term>>, none: Vec<Term>| render(&Wanted { all, none });
        assert_eq!(wanted(vec![], vec![]), "\"¶m\"");
        assert_eq!(wanted(vec![vec![term("a", false)]], vec![]), "((\"a\"))");
        assert_eq!(
            wanted(vec![vec![term("a b", false)], vec![term("c", true), term("d", false)]], vec![term("x", false)]),
            "(((words : \"a b\")) AND ((\"c\" *) OR (\"d\"))) NOT ((\"x\"))"
        );
    }
}
