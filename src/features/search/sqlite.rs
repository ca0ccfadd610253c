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
use crate::events::Position;

/// The file. Whatever changes in what is indexed, or how, makes another version: then it is filled anew.
pub const COMPANION: Companion = Companion {
    name: "search",
    version: 4,
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
        create table search_queue (
            message_id integer primary key,
            conversation_id integer not null,
            owner_id integer not null,
            bytes integer not null
        ) strict;
        create table search_state (
            id integer primary key check (id = 1),
            epoch text not null,
            xid integer not null,
            seq integer not null,
            built_through integer not null
        ) strict;
        create table search_origin (
            id integer primary key check (id = 1),
            run text not null,
            seen integer not null
        ) strict",
};

/// Which database the index was made from: the last run of the hub that wrote to the index, and the newest event that was
/// in the database when that run last read messages for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) run: String,
    pub(super) seen: i64,
}

pub(super) fn find_origin(tx: &mut Tx<'_>) -> Result<Option<Origin>, DbError> {
    tx.query_optional("select run, seen from search_origin where id = 1", &[], |row| {
        Ok(Origin { run: row.get("run")?, seen: row.get("seen")? })
    })
}

pub(super) fn update_run(tx: &mut Tx<'_>, run: &str) -> Result<(), DbError> {
    tx.execute("update search_origin set run = $1", params![run])?;
    Ok(())
}

/// In one transaction, so that nobody sees it without its tables, as they would while a damaged file is made anew.
pub(super) fn delete_all(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.execute("delete from search_state", &[])?;
    tx.execute("delete from search_origin", &[])?;
    tx.execute("delete from search_days", &[])?;
    tx.execute("delete from search_queue", &[])?;
    if tx.execute("delete from search_facts", &[])? > 0 {
        tx.execute("insert into search_documents (search_documents) values ('delete-all')", &[])?;
    }
    Ok(())
}

const DAY_MS: i64 = 24 * 3600 * 1000;
pub(super) struct SqliteIndex {
    /// Messages with the words that are looked at, newest first, before it is asked whether there is a shorter way.
    glance: i64,
}

impl SqliteIndex {
    pub(super) const USUAL: Self = Self { glance: 50_000 };
}

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
        let search = Search { expression, facts, first, limit, glance: self.glance };
        if let Some(touched) = search.touched(tx)? {
            return search.among_all(tx, last, limit, &format!("and +search_documents.rowid in ({touched})"));
        }
        let mut found = search.among_newest(tx, last)?;
        if found.len() as i64 >= limit {
            return Ok(found);
        }
        // Were there more with the words than were looked at?
        let rest: Option<i64> = tx.query_optional(
            "select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
             order by rowid desc limit 1 offset $4",
            params![search.expression, first, last, self.glance],
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

    fn begin(&self, tx: &mut Tx<'_>, run: &str) -> Result<(), DbError> {
        tx.execute("delete from search_origin", &[])?;
        tx.execute("insert into search_origin (id, run, seen) values (1, $1, 0)", params![run])?;
        Ok(())
    }

    fn note_seen(&self, tx: &mut Tx<'_>, end: Position) -> Result<(), DbError> {
        tx.execute("update search_origin set seen = max(seen, $1)", params![end.seq])?;
        Ok(())
    }
}

/// A search for which words alone are not enough.
struct Search<'p> {
    expression: String,
    facts: Facts<'p>,
    first: i64,
    limit: i64,
    glance: i64,
}

impl Search<'_> {
    /// The condition on `f`, and the values from `$5` on.
    fn condition(&self) -> (String, Vec<String>, Vec<i64>) {
        let (mut condition, mut lists, mut moments) = (String::new(), Vec::new(), Vec::new());
        let Facts { conversations, authors, after_ms, before_ms, standing } = &self.facts;
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
        if let Some(standing) = standing {
            if let Some(states) = standing.states_sql() {
                condition += &format!(" and exists (select 1 from messages m where m.id = f.id and {states})");
            }
            if let Some(has_reaction) = standing.has_reaction {
                let not = if has_reaction { "" } else { "not " };
                condition += &format!(" and {not}exists (select 1 from reactions r where r.message_id = f.id)");
            }
        }
        (condition, lists, moments)
    }

    fn ask(&self, tx: &mut Tx<'_>, sql: &str, last: i64, limit: i64) -> Result<Vec<i64>, DbError> {
        let (_, lists, moments) = self.condition();
        let mut values = vec![Value::Text(&self.expression)];
        values.extend([self.first, last, limit].map(Value::Integer));
        values.extend(lists.iter().map(|list| Value::Text(list)));
        values.extend(moments.into_iter().map(Value::Integer));
        tx.query(sql, &values, |row| row.get("id"))
    }

    /// A query for the ids of all messages that somebody has reacted to, or of all work in the states, if the search is for those and there
    /// are few of them.
    fn touched(&self, tx: &mut Tx<'_>) -> Result<Option<String>, DbError> {
        let Some(standing) = &self.facts.standing else { return Ok(None) };
        let touched = match standing.states_sql().filter(|_| !standing.has_talk) {
            Some(states) => {
                let ids: Vec<String> = standing.conversations.iter().map(i64::to_string).collect();
                format!("select m.id from messages m where m.conversation_id in ({}) and {states}", ids.join(", "))
            }
            None if standing.has_reaction == Some(true) => "select message_id from reactions".to_owned(),
            None => return Ok(None),
        };
        let sql = format!("select count(*) as touched from (select 1 from ({touched}) limit $1)");
        let count: i64 = tx.query_one(&sql, params![self.glance + 1], |row| row.get("touched"))?;
        Ok((count <= self.glance).then_some(touched))
    }

    /// Those that fit among the newest messages with the words up to `last`.
    fn among_newest(&self, tx: &mut Tx<'_>, last: i64) -> Result<Vec<i64>, DbError> {
        let (condition, ..) = self.condition();
        // Because of its limit the inner query runs by itself, and the outer one goes through it as it comes: newest
        // first, and no further than needed. Sorting again would mean to look at all of them.
        let sql = format!(
            "select d.id from (
                 select rowid as id from search_documents where search_documents match $1 and rowid between $2 and $3
                 order by rowid desc limit {}) d
             cross join search_facts f on f.id = d.id where true {condition} limit $4",
            self.glance
        );
        self.ask(tx, &sql, last, self.limit)
    }

    /// Those that fit among all messages with the words up to `last`, and that are `among` some.
    fn among_all(&self, tx: &mut Tx<'_>, last: i64, limit: i64, among: &str) -> Result<Vec<i64>, DbError> {
        let (condition, ..) = self.condition();
        let sql = format!(
            "select f.id from search_documents cross join search_facts f on f.id = search_documents.rowid
             where search_documents match $1 and search_documents.rowid between $2 and $3 {among} {condition}
             order by search_documents.rowid desc limit $4"
        );
        self.ask(tx, &sql, last, limit)
    }

    /// The same for what is left up to `last`, of which most did not fit so far. Who sees little of much is better off
    /// when what they see is gathered first, and the messages with the words are compared with that.
    fn rest(&self, tx: &mut Tx<'_>, last: i64, found: i64) -> Result<Vec<i64>, DbError> {
        let limit = self.limit - found;
        if let Some(conversations) = self.facts.conversations {
            // By an index of the messages themselves.
            let seen = |place: &str| {
                let is_among = is_among(Engine::Sqlite, place);
                format!("select id from messages where conversation_id {is_among} and id between $2 and $3")
            };
            let count: i64 = tx.query_one(
                &format!("select count(*) as seen from (select 1 from ({}) limit $4)", seen("$1")),
                params![id_list(conversations.iter().copied()), self.first, last, self.glance + 1],
                |row| row.get("seen"),
            )?;
            if count <= self.glance {
                // The list of conversations is what the condition begins with.
                let among = format!("and +search_documents.rowid in ({})", seen("$5"));
                return self.among_all(tx, last, limit, &among);
            }
        }
        self.among_all(tx, last, limit, "")
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
    use stoa_db::{Database, Options};
    use stoa_model::search::document::Document;
    use stoa_schema::MIGRATIONS;

    use super::super::entries::{AUTHOR, CONVERSATION};
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

    /// Whichever way is taken, the same is found.
    #[tokio::test]
    async fn who_sees_little_of_much_finds_the_same() {
        const CONVERSATIONS: i64 = 30;
        let folder = tempfile::tempdir().unwrap();
        let options = Options { companion: Some(COMPANION), ..Options::new(folder.path()) };
        let db = Database::open(options, MIGRATIONS).unwrap();
        let entry = |id: i64| {
            let words = if id % 3 == 0 { "common third" } else { "common" };
            let marks = [mark(CONVERSATION, id % CONVERSATIONS + 1), mark(AUTHOR, 1), mark(MESSAGE, "")];
            let document = Document::new(None, words, marks);
            Entry { id, conversation: id % CONVERSATIONS + 1, author: 1, created_at_ms: id * DAY_MS / 10, document }
        };
        let entries: Vec<Entry> = (1..=600).map(entry).collect();
        let written: Result<(), DbError> = db
            .write(|tx| {
                for _ in 0..CONVERSATIONS {
                    tx.execute("insert into conversations (created_at) values (0)", &[])?;
                }
                for id in 1..=600 {
                    tx.execute(
                        "insert into messages (id, conversation_id, author_id, body, status, priority, metadata, mentions, depth,
                             created_at) values ($1, $2, 1, '', 'done', 5, '{}', '[]', 0, 0)",
                        params![id, id % CONVERSATIONS + 1],
                    )?;
                }
                Ok(())
            })
            .await;
        written.unwrap();
        let indexed: Result<(), DbError> = db.write_companion(move |tx| SqliteIndex::USUAL.insert(tx, &entries)).await;
        indexed.unwrap();
        let term = |text: &str| Term::of(text, false).unwrap();
        for (conversations, required, days, limit) in [
            (1..=12, "common", None, 1000),
            (1..=12, "third", None, 1000),
            (1..=12, "common", Some((10, 40)), 1000),
            (1..=30, "common", None, 100),
            (20..=29, "common", None, 7),
            (1..=3, "common", Some((10, 40)), 1000),
        ] {
            let plan = Plan {
                required: vec![term(required)],
                conversations: conversations.clone().collect(),
                after_ms: days.map(|(first, _)| first * DAY_MS),
                before_ms: days.map(|(_, last)| last * DAY_MS),
                ..Plan::default()
            };
            let fits = |id: &i64| {
                conversations.contains(&(id % CONVERSATIONS + 1))
                    && (required == "common" || id % 3 == 0)
                    && days.is_none_or(|(first, last)| (first * 10..last * 10).contains(id))
            };
            let wanted: Vec<i64> = (1..=600).rev().filter(fits).take(limit).collect();
            for glance in [1, 3, 50, 250, 50_000] {
                let (plan, limit) = (plan.clone(), i64::try_from(limit).unwrap());
                let found: Result<Vec<i64>, DbError> =
                    db.read(move |tx| SqliteIndex { glance }.find(tx, &plan, limit)).await;
                assert_eq!(found.unwrap(), wanted, "{conversations:?} {required} {days:?} {glance}");
            }
        }
        db.close().await;
    }
}
