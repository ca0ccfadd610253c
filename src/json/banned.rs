//! What no JSON from outside may have in it, wherever it comes in.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// By names of this kind serde_json tells itself what to do. A caller who writes one could have a text read as JSON in the
/// middle of a value, deeper than anything that can be read back.
const RESERVED: &str = "$serde_json::private::";
pub(crate) const RESERVED_SAID: &str = "contains a name that is not allowed";
const NUL_SAID: &str = "must not contain NUL characters";

/// Why JSON is not taken, though it is JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Banned(pub(crate) &'static str);

/// Looks through JSON before anything is made of it. What is not JSON at all is for others to find out.
pub(crate) fn refuse_banned(bytes: &[u8]) -> Result<(), Banned> {
    // Neither can be there without one of these: NUL has to be escaped, and so has whatever hides a name.
    if !contains(bytes, b"\\u") && !contains(bytes, RESERVED.as_bytes()) {
        return Ok(());
    }
    match serde_json::from_slice::<Harmless>(bytes) {
        Err(error) => [NUL_SAID, RESERVED_SAID]
            .into_iter()
            .find(|said| error.to_string().starts_with(said))
            .map_or(Ok(()), |said| Err(Banned(said))),
        Ok(Harmless) => Ok(()),
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// How much there is in a text of JSON, told without making anything of it: values and names, and how deep they lie.
pub(crate) fn extent(bytes: &[u8]) -> (usize, usize) {
    let (mut parts, mut depth, mut deepest) = (1, 0usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => {
                (parts, depth) = (parts + 1, depth + 1);
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' | b':' => parts += 1,
            _ => {}
        }
    }
    (parts, deepest)
}

pub(crate) fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// Any JSON without what is banned. Nothing is kept of it.
struct Harmless;

impl<'de> Deserialize<'de> for Harmless {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Look)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Harmless;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Harmless, E> {
        Ok(Harmless)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Harmless, E> {
        Ok(Harmless)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Harmless, E> {
        Ok(Harmless)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Harmless, E> {
        Ok(Harmless)
    }

    fn visit_unit<E>(self) -> Result<Harmless, E> {
        Ok(Harmless)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Harmless, E> {
        if text.contains('\0') { Err(E::custom(NUL_SAID)) } else { Ok(Harmless) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Harmless, A::Error> {
        while items.next_element::<Harmless>()?.is_some() {}
        Ok(Harmless)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Harmless, A::Error> {
        while let Some(Name) = fields.next_key()? {
            fields.next_value::<Harmless>()?;
        }
        Ok(Harmless)
    }
}

/// The name of a field.
struct Name;

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LookAtName;

        impl Visitor<'_> for LookAtName {
            type Value = Name;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                if name.starts_with(RESERVED) {
                    return Err(E::custom(RESERVED_SAID));
                }
                Look.visit_str(name).map(|_| Name)
            }
        }

        deserializer.deserialize_str(LookAtName)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extent_of_a_text() {
        assert_eq!(extent(b"1"), (1, 0));
        assert_eq!(extent(br#"{"a": [1, 2], "b": "[{,:\"[["}"#), (7, 2));
        assert_eq!(extent(&[b'['; 1000]).1, 1000);
        assert_eq!(extent(b"]]]]"), (1, 0));
    }

    #[test]
    fn nul_and_reserved_names_are_found_however_they_are_written() {
        let nul = [r#""\u0000""#, r#"{"a":["x\u0000"]}"#, r#"{"a\u0000":1}"#];
        for text in nul {
            assert_eq!(refuse_banned(text.as_bytes()), Err(Banned(NUL_SAID)), "{text}");
        }
        let reserved = [
            r#"{"$serde_json::private::RawValue":"[]"}"#,
            r#"{"a":[{"\u0024serde_json::private::RawValue":"[]"}]}"#,
            r#"{"$serde_json::priv\u0061te::Number":"1"}"#,
        ];
        for text in reserved {
            assert_eq!(refuse_banned(text.as_bytes()), Err(Banned(RESERVED_SAID)), "{text}");
        }
        for text in [r#"{"a":"\\u0000","b":"\u00e9","c":"$serde_json::private::RawValue"}"#, "{}", "\"\\u12\"", "{", ""]
        {
            assert_eq!(refuse_banned(text.as_bytes()), Ok(()), "{text}");
        }
    }
}
