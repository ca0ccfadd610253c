//! Collecting everything that is wrong with a request, so that a caller can mend it in one go.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// An error in one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// The field as a path, for example `budget.runs_per_day`.
    pub field: String,
    /// What is wrong with the field.
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

/// For fields with a default: `null` stands for it, as absence does.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// For an optional object: what is derived would take a list of its values as well.
pub fn optional_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(deserializer).map(|object| object.map(|object| object.0))
}

/// The same for a PATCH where `null` clears and absence leaves alone.
pub fn nullable_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    optional_object(deserializer).map(Some)
}

/// The same for a PATCH where there is no `null`.
pub fn present_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Object::deserialize(deserializer).map(|object| Some(object.0))
}

/// A value that is written as an object and in no other way.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(Fields(PhantomData))
    }
}
