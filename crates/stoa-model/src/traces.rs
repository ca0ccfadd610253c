//! Traces: what principals did, call by call, for the human who answers for them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::named::named_enum;
use crate::{ApiKeyId, PrincipalId, Timestamp, TraceId, csv};

/// Longer details are not kept: a trace tells that something was done, not what it was about.
pub const MAX_DETAILS_BYTES: usize = 4096;
/// Longer errors are cut.
pub const MAX_ERROR_CHARACTERS: usize = 500;

/// What is to be remembered of one call.
#[derive(Debug, Clone)]
pub struct NewTrace {
    /// The human who answers for it.
    pub owner: PrincipalId,
    /// The caller.
    pub principal: PrincipalId,
    /// The managed key that was used.
    pub key: Option<ApiKeyId>,
    /// What was done, one of a fixed set of words: it is a label of the metrics too.
    pub action: Arc<str>,
    /// A small object. Never secrets, and nothing that people wrote.
    pub details: Value,
    /// Why it was not done: the code of the problem.
    pub error: Option<String>,
    pub duration: Duration,
    pub request_id: Option<String>,
    pub run_id: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceView {
    pub id: TraceId,
    /// The agent that made the call; null for the owner.
    pub agent: Option<String>,
    /// The action, for example `create_agent`.
    pub action: String,
    #[schema(value_type = Object)]
    pub details: Value,
    /// The error code, for example `name_taken`.
    pub error: Option<String>,
    pub duration_ms: i64,
    pub request_id: Option<String>,
    pub run_id: Option<i64>,
    pub created_at: Timestamp,
}

/// A trace as the operator sees it, among all users' traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OwnedTrace {
    pub owner: String,
    #[serde(flatten)]
    pub trace: TraceView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceStats {
    /// The most frequent action first.
    pub items: Vec<ActionStats>,
    pub total: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActionStats {
    pub action: String,
    pub count: i64,
    /// Number of failed calls.
    pub errors: i64,
    pub average_duration_ms: i64,
    pub longest_duration_ms: i64,
    pub last_at: Timestamp,
}

named_enum! {
    #[derive(Default)]
    pub enum ExportFormat {
        #[default]
        Json = "json",
        Csv = "csv",
    }
}

/// Writes traces as one JSON array or one CSV table, piece by piece.
#[derive(Debug)]
pub struct ExportWriter {
    format: ExportFormat,
    has_owners: bool,
    is_empty: bool,
}

impl ExportWriter {
    /// `has_owners` adds whose trace it is, for the operator.
    pub fn new(format: ExportFormat, has_owners: bool) -> Self {
        Self { format, has_owners, is_empty: true }
    }

    /// What comes before the first trace.
    pub fn begin(&self, text: &mut String) {
        const COLUMNS: [&str; 10] =
            ["owner", "id", "created_at", "agent", "action", "error", "duration_ms", "request_id", "run_id", "details"];
        match self.format {
            ExportFormat::Json => text.push('['),
            ExportFormat::Csv => csv::push_line(text, COLUMNS.into_iter().skip(usize::from(!self.has_owners))),
        }
    }

    pub fn push(&mut self, text: &mut String, owned: &OwnedTrace) -> Result<(), serde_json::Error> {
        match self.format {
            ExportFormat::Json => {
                text.push_str(if self.is_empty { "\n" } else { ",\n" });
                let trace = &owned.trace;
                text.push_str(&if self.has_owners {
                    serde_json::to_string(owned)
                } else {
                    serde_json::to_string(trace)
                }?);
            }
            ExportFormat::Csv => self.push_line(text, owned),
        }
        self.is_empty = false;
        Ok(())
    }

    fn push_line(&self, text: &mut String, OwnedTrace { owner, trace }: &OwnedTrace) {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let cells = [
            owner.clone(),
            trace.id.to_string(),
            trace.created_at.to_string(),
            word(&trace.agent),
            trace.action.clone(),
            word(&trace.error),
            trace.duration_ms.to_string(),
            word(&trace.request_id),
            trace.run_id.map(|id| id.to_string()).unwrap_or_default(),
            trace.details.to_string(),
        ];
        csv::push_line(text, cells.iter().skip(usize::from(!self.has_owners)).map(String::as_str));
    }

    /// What comes after the last one. Without it an export is not complete.
    pub fn end(&self, text: &mut String) {
        if self.format == ExportFormat::Json {
            text.push_str("\n]\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn traces() -> Vec<OwnedTrace> {
        let trace = TraceView {
            id: TraceId(7),
            agent: Some("scout".to_owned()),
            action: "create_agent".to_owned(),
            details: json!({"path": "/api/é\"", "status": 201}),
            error: None,
            duration_ms: 3,
            request_id: Some("-2".to_owned()),
            run_id: None,
            created_at: Timestamp::from_ms(0),
        };
        let second = TraceView { id: TraceId(6), agent: None, error: Some("name_taken".to_owned()), ..trace.clone() };
        [trace, second].map(|trace| OwnedTrace { owner: "ada".to_owned(), trace }).to_vec()
    }

    fn written(format: ExportFormat, has_owners: bool, traces: &[OwnedTrace]) -> String {
        let mut writer = ExportWriter::new(format, has_owners);
        let mut text = String::new();
        writer.begin(&mut text);
        for trace in traces {
            writer.push(&mut text, trace).unwrap();
        }
        writer.end(&mut text);
        text
    }

    #[test]
    fn json_is_one_array() {
        let views: Vec<_> = traces().into_iter().map(|owned| owned.trace).collect();
        let read: Vec<TraceView> = serde_json::from_str(&written(ExportFormat::Json, false, &traces())).unwrap();
        assert_eq!(read, views);
        let read: Vec<OwnedTrace> = serde_json::from_str(&written(ExportFormat::Json, true, &traces())).unwrap();
        assert_eq!(read, traces());
        assert_eq!(serde_json::from_str::<Value>(&written(ExportFormat::Json, false, &[])).unwrap(), json!([]));
    }

    #[test]
    fn csv_is_one_table() {
        let text = written(ExportFormat::Csv, true, &traces());
        let lines: Vec<_> = text.split("\r\n").collect();
        assert_eq!(lines[0], "owner,id,created_at,agent,action,error,duration_ms,request_id,run_id,details");
        let details = r#""{""path"":""/api/é\"""",""status"":201}""#;
        assert_eq!(lines[1], format!("ada,7,1970-01-01T00:00:00.000Z,scout,create_agent,,3,'-2,,{details}"));
        assert_eq!(lines[2], format!("ada,6,1970-01-01T00:00:00.000Z,,create_agent,name_taken,3,'-2,,{details}"));
        assert_eq!(lines[3..], [""]);
        let text = written(ExportFormat::Csv, false, &[]);
        assert_eq!(text, "id,created_at,agent,action,error,duration_ms,request_id,run_id,details\r\n");
    }
}
