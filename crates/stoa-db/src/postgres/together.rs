//! Commands that share a transaction.
//!
//! Each runs from its beginning until it asks something. What they all ask goes to the server at once; then they run again and
//! find their answers. So a batch needs as many round trips as the longest of its commands. Rows are added at the end, with one
//! statement for each table.
//!
//! That is right only for commands that do not change what the others read. They may [append](crate::Tx::append) rows. They may
//! also change what they [hold](crate::Tx::hold), which only one of a batch can. Another one that wants the same, or one that does
//! more, is run alone afterwards.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::Row;

use super::course::{Answer, Course, NewRow, Question, State, Table, key_of};
use super::order;
use super::session::{Answered, CommitError, Request, Session, Values};
use super::worker::BEGIN;
use crate::insert::Numbered;
use crate::job::Job;
use crate::tx::{Connection, Effects, Moment};
use crate::{DbError, OwnedValue, ToValue, Tx, Value};

/// So many questions of one kind are worth a statement of their own.
const LEAST_SET: usize = 3;

/// A command of a batch.
pub(super) struct Member {
    job: Box<dyn Job>,
    moment: Moment,
    may_change: bool,
    course: Course,
    /// Whether its last run ended well.
    keep: bool,
    effects: Effects,
}

pub(super) enum MemberOutcome {
    Committed,
    Undone,
    Alone,
}

impl Member {
    pub(super) fn new(job: Box<dyn Job>, moment: Moment, may_change: bool) -> Self {
        Self { job, moment, may_change, course: Course::new(may_change), keep: false, effects: Effects::default() }
    }

    /// Begins again, as if nothing had been asked.
    pub(super) fn forget(&mut self) {
        self.course = Course::new(self.may_change);
    }

    pub(super) fn outcome(&self) -> MemberOutcome {
        match &self.course.state {
            State::Done(_) if self.keep => MemberOutcome::Committed,
            State::Done(_) => MemberOutcome::Undone,
            State::Asks(_) | State::Alone | State::Ready => MemberOutcome::Alone,
        }
    }

    pub(super) fn into_job(self) -> Box<dyn Job> {
        self.job
    }

    /// Whether it appends rows.
    pub(super) fn appends(&self) -> bool {
        matches!(&self.course.state, State::Done(rows) if !rows.is_empty())
    }

    /// The job, and what follows from it now that it is committed.
    pub(super) fn into_parts(self) -> (Box<dyn Job>, Effects) {
        (self.job, if self.keep { self.effects } else { Effects::default() })
    }

    /// Runs it as far as its answers go.
    fn run(&mut self) {
        self.course.restart();
        let mut tx = Tx::new(Connection::Shared(&mut self.course), self.moment);
        self.keep = self.job.run(&mut tx);
        self.effects = std::mem::take(&mut tx.effects);
    }

    fn question(&self) -> Option<&Question> {
        match &self.course.state {
            State::Asks(question) => Some(question),
            State::Done(_) | State::Alone | State::Ready => None,
        }
    }

    /// Whether it waits for the answer to a statement.
    fn asks_statement(&self) -> bool {
        matches!(self.question(), Some(Question::Query { .. } | Question::Change { .. }))
    }
}

/// Runs all commands and commits them, but for those that have to be run alone.
pub(super) fn commit(session: &mut Session, members: &mut [Member]) -> Result<(), CommitError> {
    session.begin(BEGIN.into());
    members.iter_mut().for_each(Member::run);
    let mut held = HashMap::new();
    let mut has_order = false;
    loop {
        grant(members, &mut held);
        let mut asking: Vec<&mut Member> = members.iter_mut().filter(|member| member.asks_statement()).collect();
        if asking.is_empty() {
            // Numbers come last, because other hubs wait from the first number to the commit.
            asking = members.iter_mut().filter(|member| member.question().is_some()).collect();
            if asking.is_empty() {
                break;
            }
            draw_numbers(session, &mut asking, has_order).map_err(CommitError::Undone)?;
            has_order = true;
        } else {
            answer_statements(session, &mut asking).map_err(CommitError::Undone)?;
        }
        asking.into_iter().for_each(Member::run);
    }
    // What one of them has changed can only be undone with the whole batch.
    let is_spoilt =
        |member: &Member| member.course.has_changed && !matches!(member.outcome(), MemberOutcome::Committed);
    if members.iter().any(is_spoilt) {
        return Err(CommitError::Undone(DbError::Conflict(
            "a command failed after it had changed something".to_owned(),
        )));
    }
    let rows: Vec<NewRow> = members.iter_mut().filter(|member| member.keep).flat_map(take_rows).collect();
    session.commit(&rows, has_order)
}

/// Runs reads up to their second question, outside of a transaction.
pub(super) fn read(session: &mut Session, members: &mut [Member]) -> Result<(), DbError> {
    members.iter_mut().for_each(Member::run);
    let mut asking: Vec<&mut Member> = members.iter_mut().filter(|member| member.asks_statement()).collect();
    if !asking.is_empty() {
        answer_statements(session, &mut asking)?;
        asking.into_iter().for_each(Member::run);
    }
    Ok(())
}

/// Gives each what it wants to hold, unless another one has it.
fn grant(members: &mut [Member], held: &mut HashMap<Vec<u8>, usize>) {
    for (number, member) in members.iter_mut().enumerate() {
        while let Some(Question::Hold(key)) = member.question() {
            if *held.entry(key.clone()).or_insert(number) == number {
                member.course.answer(Answer::Held);
                member.run();
            } else {
                member.course.state = State::Alone;
            }
        }
    }
}

fn take_rows(member: &mut Member) -> Vec<NewRow> {
    match &mut member.course.state {
        State::Done(rows) => std::mem::take(rows),
        State::Asks(_) | State::Alone | State::Ready => Vec::new(),
    }
}

/// Asks all at once what they wait for.
fn answer_statements(session: &mut Session, asking: &mut [&mut Member]) -> Result<(), DbError> {
    // What several of them query is asked once: they all see the same. Each change is made.
    let mut distinct: Vec<(&Question, &str, &[OwnedValue])> = Vec::new();
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut answers_of = Vec::with_capacity(asking.len());
    for member in asking.iter() {
        let Some(question) = member.question() else { continue };
        let place = match question {
            Question::Query { sql, values } => *places.entry(key_of(sql, values)).or_insert_with(|| {
                distinct.push((question, sql, values));
                distinct.len() - 1
            }),
            Question::Change { sql, values } => {
                distinct.push((question, sql, values));
                distinct.len() - 1
            }
            Question::Number(_) | Question::Hold(_) => continue,
        };
        answers_of.push(place);
    }
    let answers: Vec<_> =
        ask(session, &distinct)?.into_iter().map(|answered| (Arc::new(answered.rows), answered.changed)).collect();
    for (member, place) in asking.iter_mut().zip(answers_of) {
        let (rows, changed) = &answers[place];
        let is_change = matches!(member.question(), Some(Question::Change { .. }));
        let answer = if is_change { Answer::Changed(rows.clone(), *changed) } else { Answer::Rows(rows.clone()) };
        member.course.answer(answer);
    }
    Ok(())
}

/// Asks all questions at once, and queries that differ in nothing but their values in one statement.
fn ask(session: &mut Session, questions: &[(&Question, &str, &[OwnedValue])]) -> Result<Vec<Answered>, DbError> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: HashMap<&str, usize> = HashMap::new();
    for (place, (question, sql, _)) in questions.iter().enumerate() {
        let next = groups.len();
        let group = match question {
            Question::Query { .. } => *group_of.entry(sql).or_insert(next),
            Question::Change { .. } | Question::Number(_) | Question::Hold(_) => next,
        };
        if group == next {
            groups.push(Vec::new());
        }
        groups[group].push(place);
    }
    if questions.iter().any(|(question, ..)| matches!(question, Question::Change { .. })) {
        // A change that follows a failed beginning would be a transaction of its own.
        session.send_beginning()?;
    }
    let mut requests = Vec::with_capacity(questions.len());
    // For each request the questions that it answers.
    let mut asked: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        let (_, sql, values) = questions[group[0]];
        if group.len() < LEAST_SET || values.is_empty() {
            for place in group {
                let values = questions[place].2.iter().map(ToValue::to_value).collect();
                requests.push(Request { statement: session.statement(sql)?, values: Values::Each(values) });
                asked.push(vec![place]);
            }
            continue;
        }
        let list = |parameter: usize| group.iter().map(|place| questions[*place].2[parameter].to_value()).collect();
        let lists = (0..values.len()).map(list).collect();
        requests.push(Request { statement: session.set_statement(sql)?, values: Values::Lists(lists) });
        asked.push(group);
    }
    let mut answers: Vec<Answered> = questions.iter().map(|_| Answered::default()).collect();
    for (asked, answered) in asked.iter().zip(session.query_all(&requests)?) {
        if let [only] = asked[..] {
            answers[only] = answered;
            continue;
        }
        for row in answered.rows {
            let question = usize::try_from(row.try_get::<_, i64>("question")?).unwrap_or(0);
            let place = question.checked_sub(1).and_then(|index| asked.get(index)).ok_or(DbError::NoRow)?;
            answers[*place].rows.push(row);
        }
    }
    Ok(answers)
}

/// Draws a number for each that asks for one, in the order of commits.
fn draw_numbers(session: &mut Session, asking: &mut [&mut Member], has_order: bool) -> Result<(), DbError> {
    let mut tables: Vec<(Table, i64)> = Vec::new();
    let mut now_ms = 0;
    for member in asking.iter() {
        let Some(Question::Number(table)) = member.question() else { continue };
        now_ms = now_ms.max(member.moment.now_ms);
        match tables.iter_mut().find(|(known, _)| known == table) {
            Some((_, count)) => *count += 1,
            None => tables.push((*table, 1)),
        }
    }
    let mut requests = Vec::new();
    if !has_order {
        requests.push(Request { statement: session.statement(order::TAKE)?, values: Values::Each(Vec::new()) });
    }
    let first = requests.len();
    for (Table(insert), count) in &tables {
        let statement = session.statement(&order::draw(insert))?;
        let values = vec![Value::Integer(*count), Value::Integer(now_ms)];
        requests.push(Request { statement, values: Values::Each(values) });
    }
    let answers = session.query_all(&requests)?;
    for ((table, _), answered) in tables.iter().zip(&answers[first..]) {
        let numbered =
            |row: &Row| Ok::<_, DbError>(Numbered { number: row.try_get("number")?, at_ms: row.try_get("at")? });
        let mut numbers = answered.rows.iter().map(numbered);
        for member in asking.iter_mut() {
            let is_asked = matches!(member.question(), Some(Question::Number(asked)) if asked == table);
            if is_asked {
                let numbered = numbers.next().ok_or(DbError::NoRow)??;
                member.course.answer(Answer::Number(numbered));
            }
        }
    }
    Ok(())
}
