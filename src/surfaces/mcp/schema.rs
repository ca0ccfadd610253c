//! JSON Schemas, as short as they can be: every agent pays for them in every conversation.

use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

pub(super) type Schema = Arc<Map<String, Value>>;

/// What a tool takes: names, types, limits and what each is for.
pub(super) fn of_input<T: JsonSchema>() -> Schema {
    let mut schema = generate::<T>();
    compact(&mut schema);
    let mut fields = into_map(schema);
    fields.entry("properties").or_insert_with(|| json!({}));
    // Said to whoever uses a wrong name, when they do.
    fields.remove("additionalProperties");
    fields.remove("description");
    Arc::new(fields)
}

/// What a tool answers: the names of the outermost fields, and what they are.
pub(super) fn of_output<T: JsonSchema>() -> Schema {
    let mut schema = generate::<T>();
    compact(&mut schema);
    let mut properties = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let outline = match property["type"].as_str() {
            Some(kind) => json!({"type": kind}),
            None => json!({}),
        };
        properties.insert(name.clone(), outline);
    }
    Arc::new(into_map(json!({"type": "object", "properties": properties})))
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn into_map(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Takes out what no model needs to know.
fn compact(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for name in ["$schema", "title", "format"] {
        fields.remove(name);
    }
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    // What may be null may also be left out, and that is enough to know.
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [only] = choices.as_slice() {
            let only = into_map(only.clone());
            fields.remove("anyOf");
            for (name, value) in only {
                fields.entry(name).or_insert(value);
            }
        }
    }
    for (name, value) in fields.iter_mut() {
        match value {
            Value::Object(properties) if name == "properties" => properties.values_mut().for_each(compact),
            Value::Object(_) if name == "items" => compact(value),
            Value::Array(choices) if name == "anyOf" || name == "oneOf" => choices.iter_mut().for_each(compact),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mood {
        Good,
        Bad,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Example {
        /// Whom to greet
        name: String,
        count: Option<i64>,
        mood: Option<Mood>,
        #[serde(default)]
        tags: Vec<String>,
    }

    #[test]
    fn schemas_say_what_is_needed() {
        let schema = Value::Object((*of_input::<Example>()).clone());
        assert_eq!(
            schema,
            json!({"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "Whom to greet"},
                "count": {"type": "integer"},
                "mood": {"type": "string", "enum": ["good", "bad"]},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            }})
        );
        let schema = Value::Object((*of_output::<Example>()).clone());
        assert_eq!(schema["properties"]["tags"], json!({"type": "array"}));
        assert_eq!(schema["properties"]["name"], json!({"type": "string"}));
    }
}
