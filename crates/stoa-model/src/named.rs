//! Enums whose variants have a word each, the same on every surface and in the database.

use schemars::Schema;
use serde_json::{Map, Value};

/// An enum made by `named_enum!`. Storage reads and writes every one of them through this trait.
pub trait Named: Copy + 'static {
    const ALL: &'static [Self];

    /// The word that clients and columns have for it.
    fn name(self) -> &'static str;

    fn from_name(name: &str) -> Option<Self>;
}

/// Declares an enum with a word for each variant: `InProgress = "in_progress"`.
///
/// The words are its form in JSON, in OpenAPI, in the schemas of MCP tools and in the database. `ALL`, `name()` and
/// `from_name()` come with it. The words are matched as `tt`, because utoipa reads only plain literals.
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        pub enum $enum:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $word:tt,)+
        }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        $(#[$attribute])*
        pub enum $enum {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)+
        }

        impl $enum {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::named::Named for $enum {
            const ALL: &'static [Self] = &<$enum>::ALL;

            fn name(self) -> &'static str {
                <$enum>::name(self)
            }

            fn from_name(name: &str) -> Option<Self> {
                <$enum>::from_name(name)
            }
        }

        // Written out, because the derived schema repeats the comments on variants, and every agent pays for these.
        impl schemars::JsonSchema for $enum {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($enum).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::named::schema_of(&[$($word),+])
            }
        }
    };
}

pub(crate) use named_enum;

/// The JSON Schema of one of these words.
pub(crate) fn schema_of(words: &[&str]) -> Schema {
    let words = words.iter().copied().map(Value::from).collect();
    Map::from_iter([("type".to_owned(), Value::from("string")), ("enum".to_owned(), Value::Array(words))]).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    named_enum! {
        /// How somebody feels.
        #[derive(Default)]
        pub enum Mood {
            /// Most of the time.
            #[default]
            Good = "good",
            VeryBad = "very_bad",
        }
    }

    #[test]
    fn every_form_uses_the_same_words() {
        for mood in Mood::ALL {
            assert_eq!(serde_json::to_value(mood).unwrap(), mood.name());
            assert_eq!(serde_json::from_value::<Mood>(json!(mood.name())).unwrap(), mood);
            assert_eq!(Mood::from_name(mood.name()), Some(mood));
        }
        assert_eq!(<Mood as Named>::ALL, [Mood::Good, Mood::VeryBad]);
        assert_eq!(Mood::from_name("Good"), None);
        assert!(serde_json::from_value::<Mood>(json!("Good")).is_err());
        assert_eq!(schemars::schema_for!(Mood).get("enum"), Some(&json!(["good", "very_bad"])));
        let openapi = serde_json::to_value(<Mood as utoipa::PartialSchema>::schema()).unwrap();
        assert_eq!(openapi["enum"], json!(["good", "very_bad"]));
    }
}
