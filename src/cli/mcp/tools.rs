//! What the hub said of its tools when the client had them listed: which of them only look, and which arguments are headers too.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Default)]
pub(super) struct Tools(HashMap<String, Tool>);

pub(super) struct Tool {
    /// A call can be repeated: it changes nothing.
    pub(super) only_reads: bool,
    pub(super) header_arguments: Vec<HeaderArgument>,
}

/// An argument that is repeated in a header, `x-mcp-header` in the schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeaderArgument {
    /// The names that lead to it.
    pub(super) path: Vec<String>,
    /// What comes behind `Mcp-Param-`.
    pub(super) header: String,
}

#[derive(Deserialize)]
struct Listing {
    tools: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    annotations: Value,
    #[serde(default, rename = "inputSchema")]
    input_schema: Value,
}

impl Tools {
    /// Remembers what the result of `tools/list` says; a later page adds to an earlier one.
    pub(super) fn learn(&mut self, result: &str) {
        let Ok(listing) = serde_json::from_str::<Listing>(result) else { return };
        for listed in listing.tools {
            let mut header_arguments = Vec::new();
            collect(&listed.input_schema, &mut Vec::new(), &mut header_arguments);
            let only_reads = listed.annotations["readOnlyHint"] == true;
            self.0.insert(listed.name, Tool { only_reads, header_arguments });
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<HeaderArgument>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property["x-mcp-header"].as_str().filter(|header| !header.is_empty()) {
            found.push(HeaderArgument { path: path.clone(), header: header.to_owned() });
        }
        collect(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_listing_says_what_can_be_repeated_and_what_is_a_header() {
        let mut tools = Tools::default();
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "place": {"type": "object", "properties": {"zone": {"type": "integer", "x-mcp-header": "Zone"}}},
            "other": {"type": "string"},
        }});
        let listing = json!({"tools": [
            {"name": "look", "inputSchema": schema, "annotations": {"readOnlyHint": true}},
            {"name": "change", "inputSchema": {"type": "object"}},
        ]});
        tools.learn(&listing.to_string());
        tools.learn("nonsense");
        assert!(tools.get("look").unwrap().only_reads && !tools.get("change").unwrap().only_reads);
        assert!(tools.get("else").is_none());
        let mut found = tools.get("look").unwrap().header_arguments.clone();
        found.sort_by(|one, other| one.header.cmp(&other.header));
        let argument = |path: &[&str], header: &str| HeaderArgument {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            header: header.to_owned(),
        };
        assert_eq!(found, [argument(&["region"], "Region"), argument(&["place", "zone"], "Zone")]);
        assert!(tools.get("change").unwrap().header_arguments.is_empty());
    }
}
