//! The one error type. It knows what went wrong, not which surface will say so.

use std::fmt;

use serde_json::json;
use stoa_db::DbError;
use stoa_model::problem::Problem;
use stoa_model::validation::FieldError;

const TRY_AGAIN: &str = "Retry in a moment, with the same Idempotency-Key if you sent one.";

/// How an error is classed. Each surface has one way to say each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Malformed,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    Conflict,
    PreconditionFailed,
    PreconditionRequired,
    TooLarge,
    UnsupportedMediaType,
    RangeNotSatisfiable,
    Misdirected,
    Invalid,
    RateLimited,
    Unavailable,
    TimedOut,
    Internal,
}

impl ErrorKind {
    pub fn status(self) -> u16 {
        match self {
            ErrorKind::Malformed => 400,
            ErrorKind::Unauthenticated => 401,
            ErrorKind::Forbidden => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::MethodNotAllowed => 405,
            ErrorKind::NotAcceptable => 406,
            ErrorKind::TimedOut => 408,
            ErrorKind::Conflict => 409,
            ErrorKind::PreconditionFailed => 412,
            ErrorKind::TooLarge => 413,
            ErrorKind::UnsupportedMediaType => 415,
            ErrorKind::RangeNotSatisfiable => 416,
            ErrorKind::Misdirected => 421,
            ErrorKind::Invalid => 422,
            ErrorKind::PreconditionRequired => 428,
            ErrorKind::RateLimited => 429,
            ErrorKind::Internal => 500,
            ErrorKind::Unavailable => 503,
        }
    }

    fn title(self) -> &'static str {
        match self {
            ErrorKind::Malformed => "Bad Request",
            ErrorKind::Unauthenticated => "Unauthorized",
            ErrorKind::Forbidden => "Forbidden",
            ErrorKind::NotFound => "Not Found",
            ErrorKind::MethodNotAllowed => "Method Not Allowed",
            ErrorKind::NotAcceptable => "Not Acceptable",
            ErrorKind::TimedOut => "Request Timeout",
            ErrorKind::Conflict => "Conflict",
            ErrorKind::PreconditionFailed => "Precondition Failed",
            ErrorKind::TooLarge => "Content Too Large",
            ErrorKind::UnsupportedMediaType => "Unsupported Media Type",
            ErrorKind::RangeNotSatisfiable => "Range Not Satisfiable",
            ErrorKind::Misdirected => "Misdirected Request",
            ErrorKind::Invalid => "Unprocessable Content",
            ErrorKind::PreconditionRequired => "Precondition Required",
            ErrorKind::RateLimited => "Too Many Requests",
            ErrorKind::Internal => "Internal Server Error",
            ErrorKind::Unavailable => "Service Unavailable",
        }
    }
}

/// Why something was not done, in words for whoever asked.
#[derive(Debug, Clone)]
pub struct HubError(
    // Boxed, so that the results of services stay small where all goes well.
    Box<ErrorDetails>,
);

/// What an error says. A cause that is none of the caller's business is kept apart: it goes to the
/// log and nowhere else.
#[derive(Debug, Clone)]
pub struct ErrorDetails {
    pub kind: ErrorKind,
    pub code: &'static str,
    pub detail: String,
    pub hint: Option<String>,
    pub errors: Vec<FieldError>,
    pub retry_after_seconds: Option<u64>,
    /// The inner cause of an internal or unavailable error, for the log.
    pub cause: Option<String>,
}

impl HubError {
    pub fn new(kind: ErrorKind, code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let (hint, errors, retry_after_seconds, cause) = (None, Vec::new(), None, None);
        Self(Box::new(ErrorDetails { kind, code, detail, hint, errors, retry_after_seconds, cause }))
    }

    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, "malformed_request", detail)
    }

    pub fn unauthenticated(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unauthenticated, code, detail)
    }

    pub fn forbidden(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, code, detail)
    }

    /// Also for what exists but is not the caller's to see.
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorKind::NotFound, "not_found", format!("No such {what}."))
    }

    pub fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, code, detail)
    }

    /// For a request that was sent to a host name that is not the hub's.
    pub fn misdirected(has_base_url: bool) -> Self {
        let detail = "This hub does not serve the host in the Host header.";
        let error = Self::new(ErrorKind::Misdirected, "misdirected_request", detail);
        if has_base_url {
            error.hint("Use the address that the hub's operator gave you.")
        } else {
            error.hint("Use localhost or 127.0.0.1, or ask the operator to set STOA_BASE_URL to the public address.")
        }
    }

    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let is_sentence = |message: &str| message.starts_with(|first: char| first.is_uppercase() || first == '`');
        let detail = match errors.as_slice() {
            // A message that is a sentence stands alone. Others continue the name of the field.
            [only] if is_sentence(&only.message) => format!("{}.", only.message),
            [only] if only.field.is_empty() => format!("The request {}.", only.message),
            [only] => format!("{} {}.", only.field, only.message),
            several => format!("{} fields are invalid.", several.len()),
        };
        let mut error = Self::new(ErrorKind::Invalid, "validation_failed", detail);
        error.0.errors = errors;
        error
    }

    /// What was handed in is refused whole, for all of these reasons.
    pub fn refused(code: &'static str, detail: impl Into<String>, errors: Vec<FieldError>) -> Self {
        let mut error = Self::new(ErrorKind::Invalid, code, detail);
        error.0.errors = errors;
        error
    }

    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { field: field.to_owned(), message: message.into() }])
    }

    pub fn too_large(limit_bytes: usize) -> Self {
        let detail = format!("Request bodies can be up to {limit_bytes} bytes.");
        Self::new(ErrorKind::TooLarge, "payload_too_large", detail)
    }

    pub fn file_too_large(limit_bytes: u64) -> Self {
        let detail = format!("Files can be up to {} MB.", limit_bytes / (1024 * 1024));
        Self::new(ErrorKind::TooLarge, "payload_too_large", detail)
    }

    pub fn rate_limited(detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        Self::new(ErrorKind::RateLimited, "rate_limited", detail).retry_after(retry_after_seconds)
    }

    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, "unavailable", detail).retry_after(1)
    }

    /// Nothing can be stored until somebody makes room.
    pub fn storage_full(detail: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, "storage_full", detail)
            .hint("Tell the operator, and retry when there is free space.")
    }

    /// What will be possible in a moment.
    pub fn not_yet(code: &'static str, detail: impl Into<String>, retry_after_seconds: u64) -> Self {
        Self::new(ErrorKind::Unavailable, code, detail).retry_after(retry_after_seconds)
    }

    /// For what could not be done now, and of which nothing is stored.
    pub fn busy(detail: impl Into<String>) -> Self {
        Self::not_yet("busy", detail, 1).hint(TRY_AGAIN)
    }

    /// For a call that took longer than calls may take.
    pub fn too_late() -> Self {
        let detail = "The hub could not respond in time. The request may still be carried out.";
        Self::new(ErrorKind::Unavailable, "timeout", detail).retry_after(1).hint(TRY_AGAIN)
    }

    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, "internal", "Something went wrong inside the hub.")
            .because(cause)
            .hint("Send the request id to the operator. The log shows the cause.")
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_seconds = Some(seconds);
        self
    }

    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Problem details, the shape in which REST says it.
    pub fn to_problem(&self, base_url: &str, request_id: &str) -> Problem {
        Problem {
            kind: format!("{base_url}/problems/{}", self.code),
            title: self.kind.title().to_owned(),
            status: self.kind.status(),
            detail: self.detail.clone(),
            code: self.code.to_owned(),
            hint: self.hint.clone(),
            request_id: request_id.to_owned(),
            errors: self.errors.clone(),
        }
    }

    /// `error` of a JSON-RPC 2.0 answer, the shape in which the admin socket says it.
    pub fn to_json_rpc(&self, request_id: &str) -> serde_json::Value {
        let number = match self.kind {
            ErrorKind::Malformed | ErrorKind::Invalid => -32602,
            ErrorKind::Internal => -32603,
            // The range that JSON-RPC leaves to servers; `data.code` has the word.
            _ => -32000,
        };
        json!({"code": number, "message": self.detail, "data": self.to_data(Some(request_id))})
    }

    /// A failed tool call, the shape in which MCP says it: one sentence for the model, and
    /// `_meta["stoa/error"]` for programs.
    pub fn to_mcp(&self) -> serde_json::Value {
        let text = match &self.hint {
            Some(hint) => format!("{} {hint}", self.detail),
            None => self.detail.clone(),
        };
        json!({
            "isError": true,
            "content": [{"type": "text", "text": text}],
            "_meta": {"stoa/error": self.to_data(None)},
        })
    }

    fn to_data(&self, request_id: Option<&str>) -> serde_json::Value {
        let mut data = json!({"code": self.code});
        if let Some(hint) = &self.hint {
            data["hint"] = json!(hint);
        }
        if !self.errors.is_empty() {
            data["errors"] = json!(self.errors);
        }
        if let Some(request_id) = request_id {
            data["status"] = json!(self.kind.status());
            data["request_id"] = json!(request_id);
        }
        data
    }
}

impl std::ops::Deref for HubError {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl fmt::Display for HubError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(formatter, "{}: {} ({cause})", self.code, self.detail),
            None => write!(formatter, "{}: {}", self.code, self.detail),
        }
    }
}

impl std::error::Error for HubError {}

impl From<DbError> for HubError {
    fn from(error: DbError) -> Self {
        let detail = match &error {
            DbError::Busy | DbError::Late => {
                return Self::busy("The hub is overloaded. Nothing was stored.").because(&error);
            }
            DbError::Locked(_) => {
                let detail = "Another transaction holds a lock that this change needs. Nothing was stored.";
                return Self::busy(detail).because(&error);
            }
            DbError::Conflict(_) => {
                return Self::busy("Other changes kept coming first. Nothing was stored.").because(&error);
            }
            DbError::Closed => "The hub is shutting down.",
            DbError::Full => {
                return Self::storage_full("The hub's disk is full. Nothing can be stored.").because(&error);
            }
            _ if error.is_unavailable() => "The hub's database is unavailable.",
            _ => return Self::internal(error),
        };
        Self::unavailable(detail).because(&error).hint(TRY_AGAIN)
    }
}

impl From<Vec<FieldError>> for HubError {
    fn from(errors: Vec<FieldError>) -> Self {
        Self::invalid(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> HubError {
        HubError::conflict("owner_cannot_leave", "Owners cannot leave their channel.").hint("Delete it instead.")
    }

    #[test]
    fn each_surface_has_its_shape() {
        let problem = example().to_problem("http://hub", "r1");
        assert_eq!(problem.kind, "http://hub/problems/owner_cannot_leave");
        assert_eq!((problem.status, problem.code.as_str()), (409, "owner_cannot_leave"));

        let rpc = example().to_json_rpc("r1");
        assert_eq!(rpc["code"], -32000);
        assert_eq!(rpc["data"]["code"], "owner_cannot_leave");
        assert_eq!(rpc["data"]["request_id"], "r1");

        let mcp = example().to_mcp();
        assert_eq!(mcp["isError"], true);
        assert_eq!(mcp["content"][0]["text"], "Owners cannot leave their channel. Delete it instead.");
        assert_eq!(mcp["_meta"]["stoa/error"]["hint"], "Delete it instead.");
    }

    #[test]
    fn an_inner_cause_reaches_no_surface() {
        let error = HubError::internal("no such table: secrets_of_the_house");
        let shown = [
            serde_json::to_string(&error.to_problem("http://hub", "r1")).unwrap(),
            error.to_json_rpc("r1").to_string(),
            error.to_mcp().to_string(),
        ];
        assert!(shown.iter().all(|text| !text.contains("secrets_of_the_house")), "{shown:?}");
        assert!(error.to_string().contains("secrets_of_the_house"));
    }
}
