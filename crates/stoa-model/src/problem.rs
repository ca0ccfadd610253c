//! The one shape in which Stoa says no: problem details of RFC 9457.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::validation::FieldError;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// A page about this kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// A stable error code for clients.
    pub code: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    pub request_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<FieldError>,
}
