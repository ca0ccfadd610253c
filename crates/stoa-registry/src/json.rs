//! JSON as it was written: properties in their order, with those that are given twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::MAX_DOCUMENT_BYTES;
use crate::finding::{DocumentLocation, Finding, Findings};

/// A value. Numbers have no place in a document, so what they are is forgotten.
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Number,
    String(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Boolean(_) => "a boolean",
            Node::Number => "a number",
            Node::String(_) => "a string",
            Node::Array(_) => "an array",
            Node::Object(_) => "an object",
        }
    }
}

/// Reads one JSON value that is all there is. Deep nesting is refused by the parser, at 128 levels.
pub(crate) fn read(bytes: &[u8]) -> Result<Node, Finding> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Finding::of_document(format!(
            "the document is {} bytes long; at most {MAX_DOCUMENT_BYTES} (1 MiB) are allowed",
            bytes.len()
        )));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(Finding::of_document("the document begins with a byte order mark; save it as UTF-8 without one"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Finding::of_document(format!("the document is not UTF-8: byte {} is wrong", error.valid_up_to()))
    })?;
    if text.trim_ascii().is_empty() {
        return Err(Finding::of_document("the document is empty"));
    }
    serde_json::from_str(text).map_err(|error| Finding::of_document(format!("the document is not JSON: {error}")))
}

/// Notes each property that an object has had before. Most parsers silently keep one of the two, and not all the same.
pub(crate) fn find_repeated_properties(node: &Node, place: DocumentLocation<'_>, faults: &mut Findings) {
    match node {
        Node::Object(properties) => {
            let mut names = HashSet::with_capacity(properties.len());
            for (name, value) in properties {
                let property = DocumentLocation::Property(&place, name);
                if !names.insert(name.as_str()) {
                    faults.add_at(property, || "the property is given more than once".to_owned());
                }
                find_repeated_properties(value, property, faults);
            }
        }
        Node::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_repeated_properties(item, DocumentLocation::Item(&place, index), faults);
            }
        }
        Node::Null | Node::Boolean(_) | Node::Number | Node::String(_) => {}
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Boolean(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut properties = Vec::new();
        while let Some(property) = map.next_entry()? {
            properties.push(property);
        }
        Ok(Node::Object(properties))
    }
}
