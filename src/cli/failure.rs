//! Why a command was not done, and what its caller learns of it.

use std::process::ExitCode;

use serde_json::{Value, json};

/// Why a command was not done. Each kind has its exit code.
pub(super) enum Failure {
    /// What was typed or piped in cannot be meant.
    Usage(String),
    NoHub(String),
    /// The hub said no: `error` of its JSON-RPC answer.
    Hub(Value),
    Other(String),
}

impl Failure {
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::NoHub(_) => ExitCode::from(3),
            // A hub that broke has not refused.
            Failure::Hub(error) if error["data"]["status"].as_u64().is_some_and(|status| status >= 500) => {
                ExitCode::FAILURE
            }
            Failure::Hub(_) => ExitCode::from(4),
            Failure::Other(_) => ExitCode::FAILURE,
        }
    }

    /// What programs get, in the shape in which the hub says no.
    pub(super) fn to_json(&self) -> Value {
        let (code, message) = match self {
            Failure::Hub(error) => return json!({"error": error}),
            Failure::Usage(message) => ("usage", message),
            Failure::NoHub(message) => ("no_hub", message),
            Failure::Other(message) => ("failed", message),
        };
        json!({"error": {"message": message, "data": {"code": code}}})
    }
}
