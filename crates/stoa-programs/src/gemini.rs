//! Gemini CLI: `--output-format stream-json`.

use serde_json::Value;
use stoa_model::runs::StepKind;

use crate::shape::{at, call, count_at, last_line, result_text, short_name, text_of};
use crate::{Exit, Failure, OpenCalls, Outcome, Step, Tokens, outage};

/// What is kept of an answer that comes in pieces.
const MAX_ANSWER: usize = 1024 * 1024;
const EXIT_TURN_LIMIT: i32 = 53;

#[derive(Debug, Default)]
pub(crate) struct Reading {
    session_id: Option<String>,
    model: Option<String>,
    calls: OpenCalls,
    /// What it has said since the last result of a tool, and how much of it was shown.
    answer: String,
    shown: usize,
    result: Option<Value>,
}

impl Reading {
    pub(crate) fn read(&mut self, record: &Value) -> Option<Vec<Step>> {
        let kind = text_of(record, &["type"])?;
        if kind == "message" {
            if text_of(record, &["role"]) == Some("assistant") {
                self.take_words(record);
            }
            return Some(Vec::new());
        }
        let mut steps: Vec<Step> = self.show_words().into_iter().collect();
        match kind {
            "init" => {
                self.session_id = text_of(record, &["session_id"]).map(str::to_owned);
                self.model = text_of(record, &["model"]).map(str::to_owned);
                steps.extend(self.model.as_ref().map(|model| Step::new(StepKind::Turn, format!("model {model}"))));
            }
            "tool_use" => {
                let name = short_name(text_of(record, &["tool_name"]).unwrap_or("tool"));
                self.calls.open(text_of(record, &["tool_id"]).unwrap_or_default(), name);
                steps.push(Step::new(StepKind::ToolCall, call(name, at(record, &["parameters"]))));
            }
            "tool_result" => {
                (self.answer, self.shown) = (String::new(), 0);
                steps.push(self.read_result(record));
            }
            "error" => steps.push(Step::new(StepKind::Note, text_of(record, &["message"]).unwrap_or_default())),
            "result" => self.result = Some(record.clone()),
            _ => return None,
        }
        Some(steps)
    }

    fn take_words(&mut self, record: &Value) {
        let words = text_of(record, &["content"]).unwrap_or_default();
        // Without the mark it is the whole answer and not a piece of it.
        if at(record, &["delta"]).and_then(Value::as_bool) != Some(true) {
            (self.answer, self.shown) = (String::new(), 0);
        }
        if self.answer.len() + words.len() <= MAX_ANSWER {
            self.answer.push_str(words);
        }
    }

    fn show_words(&mut self) -> Option<Step> {
        let words = self.answer.get(self.shown..).unwrap_or_default().trim();
        let step = (!words.is_empty()).then(|| Step::new(StepKind::Text, words));
        self.shown = self.answer.len();
        step
    }

    fn read_result(&mut self, record: &Value) -> Step {
        let name = self.calls.close(text_of(record, &["tool_id"]).unwrap_or_default());
        let name = name.as_deref().unwrap_or("tool");
        let output = at(record, &["output"]).map(result_text).unwrap_or_default();
        let text = match text_of(record, &["status"]) {
            Some("success") | None => format!("{name}: {output}"),
            Some(_) => {
                let said = text_of(record, &["error", "message"]).unwrap_or(&output);
                format!("{name} failed: {said}")
            }
        };
        Step::new(StepKind::ToolResult, text)
    }

    pub(crate) fn conclude(self, exit: Exit, errors: &str) -> Outcome {
        let mut outcome = Outcome { session_id: self.session_id, model: self.model, ..Outcome::nothing() };
        let Some(result) = self.result else {
            outcome.failure = Some(match exit {
                Exit::Code(EXIT_TURN_LIMIT) => Failure::TurnLimit,
                // It ends like this when it is stopped, too.
                Exit::Code(0) => Failure::NoResult,
                Exit::Code(_) | Exit::Signal(_) => Failure::Error(last_line(errors).to_owned()),
            });
            return outcome;
        };
        outcome.tokens = usage(&result);
        let is_success = text_of(&result, &["status"]) == Some("success");
        outcome.failure = if !is_success {
            let message = text_of(&result, &["error", "message"]).unwrap_or_default().to_owned();
            let kind = text_of(&result, &["error", "type"]).unwrap_or_default();
            Some(if kind == "FatalTurnLimitedError" || exit == Exit::Code(EXIT_TURN_LIMIT) {
                Failure::TurnLimit
            } else if outage::is_outage(outage::status_in(&message), &message) {
                Failure::Outage { until_ms: None, detail: message }
            } else {
                Failure::Error(message)
            })
        } else if exit != Exit::Code(0) {
            Some(Failure::Error(last_line(errors).to_owned()))
        } else if is_hub_lost(errors) {
            Some(Failure::HubUnreachable)
        } else {
            None
        };
        if outcome.failure.is_none() {
            outcome.response = Some(self.answer.trim().to_owned()).filter(|answer| !answer.is_empty());
        }
        outcome
    }
}

/// One line on standard error is all that it says about it. The hub is its only MCP server.
fn is_hub_lost(errors: &str) -> bool {
    errors.lines().any(|line| line.starts_with("MCP issues detected"))
}

/// `output_tokens` lacks what the model thought.
fn usage(result: &Value) -> Option<Tokens> {
    let stats = at(result, &["stats"])?;
    let read = count_at(stats, &["input_tokens"])?;
    let total = count_at(stats, &["total_tokens"]).unwrap_or(read);
    Some(Tokens { read, written: (total - read).max(0), cached: count_at(stats, &["cached"]).unwrap_or(0) })
}
