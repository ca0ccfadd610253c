//! Collecting everything that is wrong with a request, so that a caller can mend it in one go.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// One thing that is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// The field, as a path like `budget.runs_per_day`.
    pub field: String,
    /// What is wrong with it, in words its sender can act on.
    pub message: String,
}

/// All faults found so far.
#[derive(Debug, Default)]
pub struct Faults(Vec<FieldError>);

impl Faults {
    pub fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    /// Adds the message when the check failed, and passes its value on when it did not.
    pub fn check<T>(&mut self, field: &str, outcome: Result<T, impl Into<String>>) -> Option<T> {
        outcome.map_err(|message| self.add(field, message)).ok()
    }

    pub fn require(&mut self, field: &str, holds: bool, message: &str) {
        if !holds {
            self.add(field, message);
        }
    }

    pub fn finish(self) -> Result<(), Vec<FieldError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}

/// For fields of a PATCH where `null` clears and absence leaves alone.
pub fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// For optional fields of a PATCH that have no `null`: it is refused instead of being ignored.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
