//! The tools, resources and prompts that the conformance suite of MCP knows by name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use stoa::access::Actor;
use stoa::error::HubError;
use stoa::hub::Hub;
use stoa::surfaces::mcp::{
    Effect, Offer, PromptSpec, PromptValue, PromptValues, ResourceSpec, ToolSpec, Tools, Toolset,
};
use stoa_model::permissions::Permission;

use crate::conversations;

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

pub(crate) fn add(offer: &mut Offer) {
    let tools = &mut offer.tools;
    answering(tools, "test_simple_text", || vec![text("This is a simple text response for testing.")]);
    answering(tools, "test_image_content", || vec![image()]);
    answering(tools, "test_audio_content", || vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]);
    answering(tools, "test_embedded_resource", || {
        vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
    });
    answering(tools, "test_multiple_content_types", || {
        let embedded = resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
        vec![text("Multiple content types test:"), image(), embedded]
    });
    tools.add_with_content(spec("test_error_handling"), no_arguments(), |_, _, _| async {
        Err(HubError::conflict("test", "This tool intentionally returns an error for testing."))
    });
    tools.add_with_content(spec("json_schema_2020_12_tool"), schema_of_2020(), echo);
    tools.add_with_content(spec("test_x_mcp_header"), with_header(), echo);

    offer.resources.add(resource_spec("test://static-text", "static-text"), |_, _, _| async {
        Ok(json!("This is the content of the static text resource."))
    });
    offer.resources.add_bytes(resource_spec("test://static-binary", "static-binary"), "image/png", |_, _, _| async {
        STANDARD.decode(PNG).map_err(HubError::internal)
    });
    offer.resources.add(resource_spec("test://template/{id}/data", "template"), |_, _, id| async move {
        Ok(json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}))
    });
    offer.prompts.add(prompt_spec("test_simple_prompt", &[]), |_, _, _| async {
        Ok("This is a simple prompt for testing.".to_owned())
    });
    const VALUES: &[PromptValue] = &[
        PromptValue { name: "arg1", description: "First test argument", completer: None },
        PromptValue { name: "arg2", description: "Second test argument", completer: None },
    ];
    offer.prompts.add(prompt_spec("test_prompt_with_arguments", VALUES), with_arguments);
    conversations::add(offer);
}

pub(crate) fn spec(name: &'static str) -> ToolSpec {
    ToolSpec::new(name, Toolset::Core, Effect::Reads, None, "A tool of the conformance suite")
}

fn resource_spec(uri: &'static str, name: &'static str) -> ResourceSpec {
    ResourceSpec::new(uri, name, &[Permission::MessagesRead], "A resource of the conformance suite")
}

pub(crate) fn prompt_spec(name: &'static str, values: &'static [PromptValue]) -> PromptSpec {
    PromptSpec { name, description: "A prompt of the conformance suite", values, permissions: &[] }
}

/// Adds a tool that takes nothing and always says the same.
fn answering(tools: &mut Tools, name: &'static str, content: fn() -> Vec<Value>) {
    tools.add_with_content(spec(name), no_arguments(), move |_, _, _| async move { Ok(content()) });
}

async fn echo(_: Hub, _: Actor, arguments: Value) -> Result<Vec<Value>, HubError> {
    Ok(vec![text(&arguments.to_string())])
}

async fn with_arguments(_: Hub, _: Actor, values: PromptValues) -> Result<String, HubError> {
    let value = |name| values.get(name).map(String::as_str).unwrap_or_default();
    Ok(format!("Prompt with arguments: arg1='{}', arg2='{}'", value("arg1"), value("arg2")))
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

pub(crate) fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

pub(crate) fn no_arguments() -> Map<String, Value> {
    object(json!({"type": "object", "properties": {}}))
}

fn with_header() -> Map<String, Value> {
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    object(json!({"type": "object", "properties": {"region": region}, "required": ["region"]}))
}

fn schema_of_2020() -> Map<String, Value> {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    }))
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
