//! Agent programs that a hub starts by itself: Claude Code, Codex and Gemini CLI.
//!
//! [`Preset`] says how a program is started without a person: its arguments, files and variables. [`Adapter`] reads what it prints, line
//! by line: the steps of its work as they come, and at the end whether it succeeded, its answer, tokens and cost.
//!
//! Nothing here reads files or starts anything. The shapes were taken from real programs; `recorded` has their outputs.

mod claude_code;
mod codex;
mod gemini;
mod known;
mod outage;
mod preset;
mod prices;
#[cfg(test)]
mod recorded;
mod shape;

use std::collections::HashMap;

use serde_json::Value;
use stoa_model::agents::HarnessAdapter;
use stoa_model::runs::StepKind;

pub use known::{KNOWN_PROGRAMS, KnownProgram, default_program, missing_key, model_key};
pub use preset::{Preset, Settings};
pub use prices::{PriceList, Tokens};

use shape::text_of;

/// A line is read as JSON up to this size. Longer ones are shown as they are.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Calls whose results have not come yet.
const MAX_OPEN_CALLS: usize = 1000;

/// One step of a program's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub kind: StepKind,
    pub text: String,
}

impl Step {
    fn new(kind: StepKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// Why a program did not do what it was started for.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The program or its model failed. The text says how.
    Error(String),
    /// It ended without saying whether it succeeded.
    NoResult,
    /// It could not reach the hub, so it could not act.
    HubUnreachable,
    TurnLimit,
    CostLimit,
    /// The provider of its model has no capacity for it now: at the earliest then, in milliseconds since 1970, if it said so.
    Outage {
        until_ms: Option<i64>,
        detail: String,
    },
}

/// What came of a program's work.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// None if it succeeded.
    pub failure: Option<Failure>,
    pub response: Option<String>,
    pub session_id: Option<String>,
    pub model: Option<String>,
    pub tokens: Option<Tokens>,
    /// Whether the tokens are those of the whole session and not of this run.
    pub has_session_tokens: bool,
    /// As the program says.
    pub cost_usd: Option<f64>,
    pub has_session_cost: bool,
    /// What else the owner should know.
    pub notes: Vec<String>,
}

/// Reads what a program prints.
#[derive(Debug)]
pub struct Adapter {
    program: Program,
    /// Records of a known shape.
    understood: usize,
    /// What was printed without a known shape, for a program whose output has changed altogether.
    plain: String,
}

#[derive(Debug)]
enum Program {
    ClaudeCode(claude_code::Reading),
    Codex(codex::Reading),
    Gemini(gemini::Reading),
}

/// What is kept of output that is not understood.
const MAX_PLAIN: usize = 256 * 1024;

impl Adapter {
    /// None for programs that write a `result.json`.
    pub fn new(adapter: HarnessAdapter) -> Option<Self> {
        let program = match adapter {
            HarnessAdapter::Generic => return None,
            HarnessAdapter::ClaudeCode => Program::ClaudeCode(claude_code::Reading::default()),
            HarnessAdapter::Codex => Program::Codex(codex::Reading::default()),
            HarnessAdapter::Gemini => Program::Gemini(gemini::Reading::default()),
        };
        Some(Self { program, understood: 0, plain: String::new() })
    }

    /// Takes a line of standard output.
    pub fn read_line(&mut self, line: &str) -> Vec<Step> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        let record = parse(line);
        let steps = record.as_ref().and_then(|record| match &mut self.program {
            Program::ClaudeCode(reading) => reading.read(record),
            Program::Codex(reading) => reading.read(record),
            Program::Gemini(reading) => reading.read(record),
        });
        match steps {
            Some(steps) => {
                self.understood += 1;
                steps
            }
            // Records of later versions are none of our business.
            None if record.as_ref().is_some_and(|record| text_of(record, &["type"]).is_some()) => Vec::new(),
            None => {
                if self.plain.len() + line.len() < MAX_PLAIN {
                    self.plain.push_str(line);
                    self.plain.push('\n');
                }
                vec![Step::new(StepKind::Output, line)]
            }
        }
    }

    /// What came of it all. `errors` is the end of standard error.
    pub fn conclude(self, exit: Exit, errors: &str, now_ms: i64) -> Outcome {
        // The program prints something else than it used to. What it printed is its answer then, as it is for any other command.
        let answer = self.plain.trim();
        if self.understood == 0 && !answer.is_empty() && exit == Exit::Code(0) {
            let note = "The output was not understood, so all of it is the answer. Tokens and cost are unknown.";
            return Outcome { response: Some(answer.to_owned()), notes: vec![note.to_owned()], ..Outcome::nothing() };
        }
        let mut outcome = match self.program {
            Program::ClaudeCode(reading) => reading.conclude(exit, errors),
            Program::Codex(reading) => reading.conclude(exit, errors),
            Program::Gemini(reading) => reading.conclude(exit, errors),
        };
        if let Some(Failure::Outage { until_ms, detail }) = &mut outcome.failure
            && until_ms.is_none()
        {
            *until_ms = outage::reset_in(detail, now_ms);
        }
        outcome
    }
}

impl Outcome {
    fn nothing() -> Self {
        Self {
            failure: None,
            response: None,
            session_id: None,
            model: None,
            tokens: None,
            has_session_tokens: false,
            cost_usd: None,
            has_session_cost: false,
            notes: Vec::new(),
        }
    }
}

/// A record, if the line is one.
fn parse(line: &str) -> Option<Value> {
    let is_record = line.len() <= MAX_LINE_BYTES && line.trim_start().starts_with('{');
    // serde_json refuses what is nested more than 128 deep.
    is_record.then(|| serde_json::from_str(line).ok()).flatten()
}

/// The names of tools that were called, until their results come.
#[derive(Debug, Default)]
struct OpenCalls(HashMap<String, String>);

impl OpenCalls {
    fn open(&mut self, id: &str, name: &str) {
        if self.0.len() < MAX_OPEN_CALLS {
            self.0.insert(id.to_owned(), name.to_owned());
        }
    }

    fn close(&mut self, id: &str) -> Option<String> {
        self.0.remove(id)
    }
}
