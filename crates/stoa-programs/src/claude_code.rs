//! Claude Code: `--output-format stream-json --verbose`.

use serde_json::Value;
use stoa_model::runs::StepKind;

use crate::shape::{at, call, count_at, list_at, result_text, short_name, text_of};
use crate::{Exit, Failure, OpenCalls, Outcome, Step, Tokens, outage};

/// It writes this as the model of what it says itself.
const SYNTHETIC: &str = "<synthetic>";

#[derive(Debug, Default)]
pub(crate) struct Reading {
    session_id: Option<String>,
    model: Option<String>,
    /// Whether its connection to the hub failed.
    is_hub_lost: bool,
    calls: OpenCalls,
    /// When the provider takes requests again, as it said in a record of its own.
    reset_ms: Option<i64>,
    result: Option<Value>,
}

impl Reading {
    pub(crate) fn read(&mut self, record: &Value) -> Option<Vec<Step>> {
        if let Some(id) = text_of(record, &["session_id"]) {
            self.session_id = Some(id.to_owned());
        }
        match text_of(record, &["type"])? {
            "system" if text_of(record, &["subtype"]) == Some("init") => Some(self.read_init(record)),
            "assistant" => Some(self.read_assistant(record)),
            "user" => Some(self.read_results(record)),
            "rate_limit_event" => {
                let is_refused = text_of(record, &["rate_limit_info", "status"]) == Some("rejected");
                if is_refused && let Some(seconds) = count_at(record, &["rate_limit_info", "resetsAt"]) {
                    self.reset_ms = Some(outage::as_ms(seconds));
                }
                Some(Vec::new())
            }
            "result" => {
                self.result = Some(record.clone());
                Some(Vec::new())
            }
            _ => None,
        }
    }

    fn read_init(&mut self, record: &Value) -> Vec<Step> {
        self.model = text_of(record, &["model"]).map(str::to_owned);
        let hub = list_at(record, &["mcp_servers"]).iter().find(|server| text_of(server, &["name"]) == Some("stoa"));
        let status = hub.and_then(|server| text_of(server, &["status"]));
        // "pending" becomes "connected" later, which is not told.
        self.is_hub_lost = matches!(status, Some("failed" | "needs-auth" | "disabled"));
        match &self.model {
            Some(model) => vec![Step::new(StepKind::Turn, format!("model {model}"))],
            None => Vec::new(),
        }
    }

    fn read_assistant(&mut self, record: &Value) -> Vec<Step> {
        let is_own_words = text_of(record, &["message", "model"]) == Some(SYNTHETIC);
        let mut steps = Vec::new();
        for block in list_at(record, &["message", "content"]) {
            match text_of(block, &["type"]) {
                Some("text") => {
                    let text = text_of(block, &["text"]).unwrap_or_default().trim();
                    let kind = if is_own_words { StepKind::Note } else { StepKind::Text };
                    if !text.is_empty() {
                        steps.push(Step::new(kind, text));
                    }
                }
                Some("tool_use") => {
                    let name = short_name(text_of(block, &["name"]).unwrap_or("tool"));
                    self.calls.open(text_of(block, &["id"]).unwrap_or_default(), name);
                    steps.push(Step::new(StepKind::ToolCall, call(name, at(block, &["input"]))));
                }
                _ => {}
            }
        }
        steps
    }

    fn read_results(&mut self, record: &Value) -> Vec<Step> {
        let mut steps = Vec::new();
        for block in list_at(record, &["message", "content"]) {
            if text_of(block, &["type"]) != Some("tool_result") {
                continue;
            }
            let name = self.calls.close(text_of(block, &["tool_use_id"]).unwrap_or_default());
            let name = name.as_deref().unwrap_or("tool");
            let has_failed = at(block, &["is_error"]).and_then(Value::as_bool) == Some(true);
            let text = at(block, &["content"]).map(result_text).unwrap_or_default();
            let said = if has_failed { format!("{name} failed: {text}") } else { format!("{name}: {text}") };
            steps.push(Step::new(StepKind::ToolResult, said));
        }
        steps
    }

    pub(crate) fn conclude(self, exit: Exit, errors: &str) -> Outcome {
        let mut outcome =
            Outcome { session_id: self.session_id, model: self.model, has_session_cost: true, ..Outcome::nothing() };
        let Some(result) = self.result else {
            outcome.failure = Some(ended_early(exit, errors));
            return outcome;
        };
        outcome.response = text_of(&result, &["result"]).map(str::to_owned).filter(|text| !text.trim().is_empty());
        outcome.cost_usd = at(&result, &["total_cost_usd"]).and_then(Value::as_f64);
        outcome.tokens = usage(&result);
        if outcome.model.is_none() {
            let models = at(&result, &["modelUsage"]).and_then(Value::as_object);
            outcome.model = models.and_then(|models| models.keys().next().cloned());
        }
        let refused: Vec<&str> = list_at(&result, &["permission_denials"])
            .iter()
            .filter_map(|denial| text_of(denial, &["tool_name"]).map(short_name))
            .collect();
        if !refused.is_empty() {
            outcome.notes.push(format!("The settings of the agent did not allow it to use: {}.", refused.join(", ")));
        }
        // It says "success" for errors of the model, too; only this tells.
        let is_error = at(&result, &["is_error"]).and_then(Value::as_bool) != Some(false);
        outcome.failure = if is_error {
            // What it says of an error is no answer.
            let said = outcome.response.take();
            Some(failure_of(&result, said, self.reset_ms))
        } else if exit != Exit::Code(0) {
            Some(ended_early(exit, errors))
        } else if self.is_hub_lost {
            Some(Failure::HubUnreachable)
        } else {
            None
        };
        outcome
    }
}

/// Without cache reads and writes in its own count of what was read.
fn usage(result: &Value) -> Option<Tokens> {
    let usage = at(result, &["usage"])?;
    let fresh = count_at(usage, &["input_tokens"])?;
    let written_to_cache = count_at(usage, &["cache_creation_input_tokens"]).unwrap_or(0);
    let cached = count_at(usage, &["cache_read_input_tokens"]).unwrap_or(0);
    Some(Tokens {
        read: fresh.saturating_add(written_to_cache).saturating_add(cached),
        written: count_at(usage, &["output_tokens"]).unwrap_or(0),
        cached,
    })
}

fn failure_of(result: &Value, said: Option<String>, reset_ms: Option<i64>) -> Failure {
    match text_of(result, &["terminal_reason"]).or_else(|| text_of(result, &["subtype"])) {
        Some("max_turns" | "error_max_turns") => return Failure::TurnLimit,
        Some("budget_exhausted" | "error_max_budget_usd") => return Failure::CostLimit,
        _ => {}
    }
    let errors: Vec<&str> = list_at(result, &["errors"]).iter().filter_map(Value::as_str).collect();
    let detail = said.unwrap_or_else(|| errors.join(" "));
    let status = count_at(result, &["api_error_status"]);
    if outage::is_outage(status, &detail) || reset_ms.is_some() {
        return Failure::Outage { until_ms: reset_ms, detail };
    }
    Failure::Error(detail)
}

fn ended_early(exit: Exit, errors: &str) -> Failure {
    match exit {
        Exit::Code(0) => Failure::NoResult,
        Exit::Code(_) | Exit::Signal(_) => Failure::Error(crate::shape::last_line(errors).to_owned()),
    }
}
