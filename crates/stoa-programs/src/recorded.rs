//! What adapters make of outputs that were recorded from real programs. The first line of each file says which program and version it was,
//! how it ended, and what came of it.

use std::fs;
use std::path::Path;

use crate::{Adapter, Exit, Failure, Outcome, Step, Tokens};
use serde::Deserialize;
use stoa_model::agents::HarnessAdapter;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    program: String,
    #[serde(rename = "version")]
    _version: String,
    exit: Option<i32>,
    signal: Option<i32>,
    #[serde(default)]
    errors: String,
    /// `succeeded`, or the kind of failure.
    outcome: String,
    response: Option<String>,
    /// Read, from the cache, written.
    tokens: Option<[i64; 3]>,
    cost_usd: Option<f64>,
    model: Option<String>,
    has_session: bool,
    steps: Vec<String>,
}

fn kind_of(outcome: &Outcome) -> &'static str {
    match outcome.failure {
        None => "succeeded",
        Some(Failure::Error(_)) => "error",
        Some(Failure::NoResult) => "no result",
        Some(Failure::HubUnreachable) => "hub unreachable",
        Some(Failure::TurnLimit) => "turn limit",
        Some(Failure::CostLimit) => "cost limit",
        Some(Failure::Outage { .. }) => "outage",
    }
}

fn shown(steps: &[Step]) -> Vec<String> {
    let line = |step: &Step| {
        format!("{} {}", step.kind.name(), step.text.chars().take(60).collect::<String>().replace('\n', " "))
    };
    steps.iter().map(line).collect()
}

fn read(path: &Path) -> (Head, Outcome, Vec<String>) {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let (head, output) = text.split_once('\n').unwrap();
    let head: Head = serde_json::from_str(head).unwrap();
    let mut adapter = Adapter::new(HarnessAdapter::from_name(&head.program).unwrap()).unwrap();
    let steps: Vec<Step> = output.lines().flat_map(|line| adapter.read_line(line)).collect();
    let exit = head.signal.map_or_else(|| Exit::Code(head.exit.unwrap()), Exit::Signal);
    let outcome = adapter.conclude(exit, &head.errors, 1_794_944_941_000);
    (head, outcome, shown(&steps))
}

#[test]
fn recorded_outputs_are_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 15, "there are recordings");
    for file in files {
        let (head, outcome, steps) = read(&file);
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(kind_of(&outcome), head.outcome, "{name}: {outcome:?}");
        assert_eq!(outcome.response, head.response, "{name}");
        let tokens = head.tokens.map(|[read, cached, written]| Tokens { read, written, cached });
        assert_eq!(outcome.tokens, tokens, "{name}");
        assert_eq!(outcome.cost_usd, head.cost_usd, "{name}");
        assert_eq!(outcome.model, head.model, "{name}");
        assert_eq!(outcome.session_id.is_some(), head.has_session, "{name}");
        assert_eq!(steps, head.steps, "{name}");
    }
}

/// Cut at any byte, broken, or with fields that nobody knows: nothing panics, and a cut output is no success.
#[test]
fn torn_outputs_are_no_successes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let (head, output) = text.split_once('\n').unwrap();
        let head: Head = serde_json::from_str(head).unwrap();
        let end = output.trim_end().rfind('\n').unwrap_or(0);
        for at in (0..end).step_by(97).filter(|at| output.is_char_boundary(*at)) {
            let mut adapter = Adapter::new(HarnessAdapter::from_name(&head.program).unwrap()).unwrap();
            for line in output[..at].lines() {
                adapter.read_line(line);
            }
            let outcome = adapter.conclude(Exit::Code(0), "", 0);
            let is_plain = !outcome.notes.is_empty() && outcome.tokens.is_none();
            assert!(outcome.failure.is_some() || is_plain, "{} cut at {at}: {outcome:?}", path.display());
        }
    }
}

#[test]
fn output_of_another_kind_is_the_answer() {
    for program in [HarnessAdapter::ClaudeCode, HarnessAdapter::Codex, HarnessAdapter::Gemini] {
        let mut adapter = Adapter::new(program).unwrap();
        assert_eq!(shown(&adapter.read_line("All done.")), ["output All done."]);
        let outcome = adapter.conclude(Exit::Code(0), "", 0);
        assert_eq!((kind_of(&outcome), outcome.response.as_deref()), ("succeeded", Some("All done.")));
        assert_eq!(outcome.notes.len(), 1);
        let adapter = Adapter::new(program).unwrap();
        assert_eq!(kind_of(&adapter.conclude(Exit::Code(0), "", 0)), "no result");
        let adapter = Adapter::new(program).unwrap();
        assert_eq!(kind_of(&adapter.conclude(Exit::Code(2), "boom", 0)), "error");
    }
}

/// Writes down what is understood now, for recordings that are new: `STOA_UPDATE=1`. Look at the difference.
#[test]
fn recordings_are_updated_on_demand() {
    if std::env::var_os("STOA_UPDATE").is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (head, output) = text.split_once('\n').unwrap();
        let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(head).unwrap();
        let (_, outcome, steps) = read(&path);
        let tokens = outcome.tokens.map(|tokens| [tokens.read, tokens.cached, tokens.written]);
        fields.insert("outcome".to_owned(), kind_of(&outcome).into());
        fields.insert("response".to_owned(), serde_json::json!(outcome.response));
        fields.insert("tokens".to_owned(), serde_json::json!(tokens));
        fields.insert("cost_usd".to_owned(), serde_json::json!(outcome.cost_usd));
        fields.insert("model".to_owned(), serde_json::json!(outcome.model));
        fields.insert("has_session".to_owned(), outcome.session_id.is_some().into());
        fields.insert("steps".to_owned(), serde_json::json!(steps));
        fs::write(&path, format!("{}\n{output}", serde_json::to_string(&fields).unwrap())).unwrap();
    }
}
