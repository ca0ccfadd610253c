//! Codex: `codex exec --json`.

use serde_json::Value;
use stoa_model::runs::StepKind;

use crate::shape::{at, call, count_at, last_line, list_at, result_text, text_of};
use crate::{Exit, Failure, OpenCalls, Outcome, Step, Tokens, outage};

#[derive(Debug, Default)]
pub(crate) struct Reading {
    thread_id: Option<String>,
    /// Items whose beginning was shown.
    calls: OpenCalls,
    answer: Option<String>,
    end: Option<End>,
    last_error: Option<String>,
}

#[derive(Debug)]
enum End {
    Completed(Option<Tokens>),
    Failed(String),
}

impl Reading {
    pub(crate) fn read(&mut self, record: &Value) -> Option<Vec<Step>> {
        match text_of(record, &["type"])? {
            "thread.started" => {
                self.thread_id = text_of(record, &["thread_id"]).map(str::to_owned);
                Some(Vec::new())
            }
            "turn.started" => Some(Vec::new()),
            "item.started" => Some(self.read_started(at(record, &["item"])?)),
            "item.updated" => Some(Vec::new()),
            "item.completed" => Some(self.read_completed(at(record, &["item"])?)),
            "turn.completed" => {
                self.end = Some(End::Completed(usage(record)));
                Some(Vec::new())
            }
            "turn.failed" => {
                let message = text_of(record, &["error", "message"]).unwrap_or_default().to_owned();
                self.end = Some(End::Failed(message));
                Some(Vec::new())
            }
            // It tries again after most of them.
            "error" => {
                let message = text_of(record, &["message"]).unwrap_or_default();
                self.last_error = Some(message.to_owned());
                Some(vec![Step::new(StepKind::Note, message)])
            }
            _ => None,
        }
    }

    fn read_started(&mut self, item: &Value) -> Vec<Step> {
        let Some(called) = called(item) else { return Vec::new() };
        self.calls.open(text_of(item, &["id"]).unwrap_or_default(), "");
        vec![Step::new(StepKind::ToolCall, called)]
    }

    fn read_completed(&mut self, item: &Value) -> Vec<Step> {
        let text = || text_of(item, &["text"]).unwrap_or_default().trim();
        match text_of(item, &["type"]) {
            Some("agent_message") => {
                self.answer = Some(text().to_owned());
                vec![Step::new(StepKind::Text, text())]
            }
            Some("error") => vec![Step::new(StepKind::Note, text_of(item, &["message"]).unwrap_or_default())],
            _ => {
                let Some(called) = called(item) else { return Vec::new() };
                let mut steps = Vec::new();
                if self.calls.close(text_of(item, &["id"]).unwrap_or_default()).is_none() {
                    steps.push(Step::new(StepKind::ToolCall, called));
                }
                steps.extend(returned(item).map(|text| Step::new(StepKind::ToolResult, text)));
                steps
            }
        }
    }

    pub(crate) fn conclude(self, exit: Exit, errors: &str) -> Outcome {
        let mut outcome = Outcome { session_id: self.thread_id, has_session_tokens: true, ..Outcome::nothing() };
        let early = |exit| match exit {
            Exit::Code(0) => Failure::NoResult,
            // What the hub's settings require is said on standard error alone.
            Exit::Code(_) if is_hub_lost(errors) => Failure::HubUnreachable,
            Exit::Code(_) | Exit::Signal(_) => Failure::Error(last_line(errors).to_owned()),
        };
        match self.end {
            Some(End::Completed(tokens)) => {
                outcome.tokens = tokens;
                outcome.response = self.answer.filter(|answer| !answer.is_empty());
                outcome.failure = (exit != Exit::Code(0)).then(|| early(exit));
            }
            Some(End::Failed(message)) => {
                outcome.failure = Some(if is_hub_lost(&message) {
                    Failure::HubUnreachable
                } else if outage::is_outage(outage::status_in(&message), &message) {
                    Failure::Outage { until_ms: None, detail: message }
                } else {
                    Failure::Error(message)
                });
            }
            None => {
                let said = self.last_error.filter(|_| exit != Exit::Code(0));
                outcome.failure = Some(match (early(exit), said) {
                    (Failure::Error(_), Some(said)) => Failure::Error(said),
                    (early, _) => early,
                });
            }
        }
        outcome
    }
}

/// Whether a text says that the hub's MCP server, which is required, did not start.
fn is_hub_lost(text: &str) -> bool {
    text.contains("required MCP servers failed")
        || text.contains("MCP server `stoa`")
        || text.contains("MCP client for `stoa` failed")
}

/// What an item is that does something.
fn called(item: &Value) -> Option<String> {
    Some(match text_of(item, &["type"])? {
        "mcp_tool_call" => {
            let tool = text_of(item, &["tool"]).unwrap_or("tool");
            let server = text_of(item, &["server"]).filter(|server| *server != "stoa");
            let name = server.map_or_else(|| tool.to_owned(), |server| format!("{server} {tool}"));
            call(&name, at(item, &["arguments"]))
        }
        "command_execution" => format!("$ {}", text_of(item, &["command"]).unwrap_or_default()),
        "file_change" => {
            let changed = list_at(item, &["changes"]).iter().map(|change| {
                let kind = text_of(change, &["kind"]).unwrap_or("change");
                format!("{kind} {}", text_of(change, &["path"]).unwrap_or_default())
            });
            format!("files: {}", changed.collect::<Vec<_>>().join(", "))
        }
        "web_search" => format!("web search: {}", text_of(item, &["query"]).unwrap_or_default()),
        _ => return None,
    })
}

/// What came of it.
fn returned(item: &Value) -> Option<String> {
    let has_failed = text_of(item, &["status"]) == Some("failed");
    match text_of(item, &["type"])? {
        "mcp_tool_call" => {
            let tool = text_of(item, &["tool"]).unwrap_or("tool");
            let error = text_of(item, &["error", "message"]).or_else(|| text_of(item, &["error"]));
            let content = at(item, &["result", "content"]).map(result_text).unwrap_or_default();
            let text = error.map_or(content, str::to_owned);
            Some(if has_failed { format!("{tool} failed: {text}") } else { format!("{tool}: {text}") })
        }
        "command_execution" => {
            let code = at(item, &["exit_code"]).and_then(Value::as_i64);
            let output = text_of(item, &["aggregated_output"]).unwrap_or_default().trim();
            match code {
                Some(0) | None => Some(output.to_owned()).filter(|text| !text.is_empty()),
                Some(code) => Some(format!("exit code {code}: {output}")),
            }
        }
        _ => has_failed.then(|| "failed".to_owned()),
    }
}

/// Of the whole thread, with what came from the cache.
fn usage(record: &Value) -> Option<Tokens> {
    let usage = at(record, &["usage"])?;
    Some(Tokens {
        read: count_at(usage, &["input_tokens"])?,
        written: count_at(usage, &["output_tokens"]).unwrap_or(0),
        cached: count_at(usage, &["cached_input_tokens"]).unwrap_or(0),
    })
}
