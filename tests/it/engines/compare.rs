//! Carries out each step on every hub, and compares the answers.

use serde_json::Value;

use super::model::Model;
use super::names::Answer;
use super::run::Side;
use super::step::Step;
use crate::support::{Setup, TestHub, on_postgres};

/// Why a sequence failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The number of the step.
    pub(crate) step: usize,
    /// `difference`, for example. A shorter sequence has to fail in the same way.
    pub(crate) kind: &'static str,
    pub(crate) report: String,
}

/// The hubs that get the same sequence.
pub(crate) struct Hubs {
    sides: Vec<Side>,
    model: Model,
}

impl Hubs {
    /// A hub on each engine; where there is no PostgreSQL, one on SQLite.
    pub(crate) async fn start() -> Self {
        let mut hubs = Self::start_one().await;
        if on_postgres() {
            hubs.sides.push(Side::start("PostgreSQL", TestHub::setup()).await);
        }
        hubs
    }

    /// A hub on SQLite alone, which is faster where only the model has to look.
    pub(crate) async fn start_one() -> Self {
        let sides = vec![Side::start("SQLite", Setup::on_sqlite()).await];
        Self { sides, model: Model::new() }
    }

    /// What all hubs answered, if it is the same. None if the step names something that does not exist.
    pub(crate) async fn perform(&mut self, step: &Step) -> Result<Option<Answer>, Failure> {
        let fail = |kind, report| Err(Failure { step: step.number, kind, report });
        let answer = match self.sides.as_mut_slice() {
            [first, second] => {
                let (one, other) = tokio::join!(first.perform(step), second.perform(step));
                if one != other {
                    let names = (first.engine, second.engine);
                    return fail("difference", difference(names, one.as_ref(), other.as_ref()));
                }
                one
            }
            [only] => only.perform(step).await,
            _ => None,
        };
        let Some(answer) = answer else { return Ok(None) };
        if answer.status >= 500 {
            return fail("error", format!("the hub failed: {answer}"));
        }
        let faults = self.model.follow(step, &answer);
        if faults.is_empty() { Ok(Some(answer)) } else { fail("fault", format!("{}\n{answer}", faults.join("\n"))) }
    }

    pub(crate) async fn finish(self) -> Result<(), Failure> {
        let mut report = String::new();
        for side in self.sides {
            let engine = side.engine;
            let failed = side.finish().await;
            if failed > 0.0 {
                report += &format!("{failed} requests failed inside the hub on {engine}\n");
            }
        }
        if report.is_empty() { Ok(()) } else { Err(Failure { step: usize::MAX, kind: "error", report }) }
    }
}

fn difference(names: (&str, &str), one: Option<&Answer>, other: Option<&Answer>) -> String {
    let (Some(one), Some(other)) = (one, other) else {
        let missing = if one.is_none() { names.0 } else { names.1 };
        return format!("only on {missing} the step names something that does not exist");
    };
    let place = first_difference("", &as_value(one), &as_value(other)).unwrap_or_default();
    format!("first difference at {place}\n--- {}\n{one}\n--- {}\n{other}", names.0, names.1)
}

fn as_value(answer: &Answer) -> Value {
    serde_json::json!({"status": answer.status, "headers": answer.headers, "body": answer.body})
}

/// The path to the first place where two values differ, with what is there.
fn first_difference(path: &str, one: &Value, other: &Value) -> Option<String> {
    if one == other {
        return None;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let fields = one.keys().chain(other.keys());
            fields.into_iter().find_map(|field| {
                let value = |fields: &serde_json::Map<_, _>| fields.get(field).cloned().unwrap_or(Value::Null);
                first_difference(&format!("{path}.{field}"), &value(one), &value(other))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(place, (one, other))| first_difference(&format!("{path}[{place}]"), one, other))
        }
        _ => Some(format!("{path}: {one} and {other}")),
    }
}
