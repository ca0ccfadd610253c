//! What the suite has servers do before they answer: tell of progress, write a log, ask the client for something.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, InputResponses,
    ProgressNotificationParam, PromptMessage,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use stoa::surfaces::mcp::{Exchange, Offer, PromptValue, Tools};

use crate::fixtures::{image, no_arguments, prompt_spec, resource, spec, text};

type Call = Exchange<CallToolRequestParams>;
type Ask = Exchange<GetPromptRequestParams>;
type Answer = Result<CallToolResponse, ErrorData>;

pub(crate) fn add(offer: &mut Offer) {
    let tools = &mut offer.tools;
    tools.add_conversing(spec("test_tool_with_progress"), no_arguments(), with_progress);
    tools.add_conversing(spec("test_logging_tool"), no_arguments(), without_log);
    tools.add_conversing(spec("test_missing_capability"), no_arguments(), needing_sampling);
    asking(tools, "test_input_required_result_elicitation", |_| requests(&[("user_name", name())]));
    asking(tools, "test_streaming_elicitation", |_| requests(&[("user_name", name())]));
    asking(tools, "test_input_required_result_sampling", |_| {
        requests(&[("capital_question", sampling("What is the capital of France?"))])
    });
    asking(tools, "test_input_required_result_list_roots", |_| requests(&[("client_roots", roots())]));
    asking(tools, "test_input_required_result_capabilities", |capabilities| {
        let mut wanted = vec![("greeting", sampling("Generate a greeting"))];
        if capabilities.elicitation.is_some() {
            wanted.push(("user_name", name()));
        }
        requests(&wanted)
    });
    for name in [
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_input_required_result_multi_round",
    ] {
        tools.add_conversing(spec(name), no_arguments(), in_rounds);
    }
    offer.prompts.add_conversing(prompt_spec("test_input_required_result_prompt", &[]), with_context);
    offer.prompts.add_conversing(prompt_spec("test_prompt_with_image", &[]), |_| async {
        shown(vec![image(), text("Please analyze the image above.")])
    });
    const URI: &[PromptValue] =
        &[PromptValue { name: "resourceUri", description: "The resource to embed", completer: None }];
    offer.prompts.add_conversing(prompt_spec("test_prompt_with_embedded_resource", URI), with_resource);
}

async fn with_progress(call: Call) -> Answer {
    if let Some(token) = call.context.meta.get_progress_token() {
        for step in [0.0, 50.0, 100.0] {
            let told = ProgressNotificationParam::new(token.clone(), step).with_total(100.0);
            // Who has gone is not told.
            let _ = call.context.peer.notify_progress(told).await;
        }
    }
    said("The work is done.")
}

/// Clients are not sent any log, whether or not they ask for it.
async fn without_log(_: Call) -> Answer {
    said("The work is done.")
}

async fn needing_sampling(call: Call) -> Answer {
    if capabilities(&call).sampling.is_some() {
        return said("The client can sample.");
    }
    let mut needed = ClientCapabilities::default();
    needed.sampling = Some(Default::default());
    Err(ErrorData::missing_required_client_capability(needed))
}

/// Adds a tool that asks until everything it asks for is there.
fn asking(tools: &mut Tools, name: &'static str, wanted: fn(&ClientCapabilities) -> Map<String, Value>) {
    tools.add_conversing(spec(name), no_arguments(), move |call: Call| async move {
        let wanted = wanted(&capabilities(&call));
        match missing(&wanted, call.request.input_responses.as_ref()) {
            true => ask(wanted, None).map(Into::into),
            false => said(&format!("The client said {}.", json!(call.request.input_responses))),
        }
    });
}

/// What the tools that keep their state with the client ask for, one round after the other.
fn rounds(tool: &str) -> Vec<Map<String, Value>> {
    match tool {
        "test_input_required_result_multiple_inputs" => {
            let all = [("user_name", name()), ("greeting", sampling("Generate a greeting")), ("client_roots", roots())];
            vec![requests(&all)]
        }
        "test_input_required_result_multi_round" => vec![
            requests(&[("step1", elicitation("Step 1: What is your name?", "name", "string"))]),
            requests(&[("step2", elicitation("Step 2: What is your favorite color?", "color", "string"))]),
        ],
        _ => vec![requests(&[("confirm", elicitation("Please confirm", "ok", "boolean"))])],
    }
}

async fn in_rounds(call: Call) -> Answer {
    let done = match &call.request.request_state {
        Some(state) => open(state).ok_or_else(|| ErrorData::invalid_params("The state is not one of ours.", None))?,
        None => 0,
    };
    let rounds = rounds(&call.request.name);
    let asked = done.checked_sub(1).and_then(|round| rounds.get(round));
    let next = match asked {
        Some(asked) if missing(asked, call.request.input_responses.as_ref()) => done - 1,
        _ => done,
    };
    match rounds.get(next) {
        Some(wanted) => ask(wanted.clone(), Some(seal(next + 1))).map(Into::into),
        None => said("state-ok"),
    }
}

/// How many rounds are behind us, in a form that nobody else can make.
fn seal(rounds: usize) -> String {
    let tag = Sha256::digest(format!("a key that is no secret, {rounds}"));
    format!("{rounds}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn open(state: &str) -> Option<usize> {
    let rounds = state.split_once('.')?.0.parse().ok()?;
    (seal(rounds) == state).then_some(rounds)
}

async fn with_context(ask_for: Ask) -> Result<GetPromptResponse, ErrorData> {
    let wanted = requests(&[("user_context", elicitation("What context should the prompt use?", "context", "string"))]);
    match missing(&wanted, ask_for.request.input_responses.as_ref()) {
        true => ask(wanted, None).map(Into::into),
        false => shown(vec![text(&format!("In the context {}.", json!(ask_for.request.input_responses)))]),
    }
}

async fn with_resource(ask_for: Ask) -> Result<GetPromptResponse, ErrorData> {
    let uri = ask_for.request.arguments.as_ref().and_then(|arguments| arguments.get("resourceUri")?.as_str());
    let uri = uri.ok_or_else(|| ErrorData::invalid_params("resourceUri is missing.", None))?;
    let embedded = resource(uri, "text/plain", "Embedded resource content for testing.");
    shown(vec![embedded, text("Please process the embedded resource above.")])
}

fn capabilities(call: &Call) -> ClientCapabilities {
    call.context.meta.client_capabilities().unwrap_or_default()
}

fn missing(wanted: &Map<String, Value>, given: Option<&InputResponses>) -> bool {
    let is_given = |key: &String| given.and_then(|given| given.get(key)).is_some_and(Value::is_object);
    !wanted.keys().all(is_given)
}

fn ask(wanted: Map<String, Value>, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": wanted});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    serde_json::from_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn said(text: &str) -> Answer {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn shown(blocks: Vec<Value>) -> Result<GetPromptResponse, ErrorData> {
    let messages: Vec<Value> = blocks.into_iter().map(|block| json!({"role": "user", "content": block})).collect();
    let messages: Vec<PromptMessage> =
        serde_json::from_value(json!(messages)).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(GetPromptResult::new(messages).into())
}

fn requests(wanted: &[(&str, Value)]) -> Map<String, Value> {
    wanted.iter().map(|(key, request)| ((*key).to_owned(), request.clone())).collect()
}

fn name() -> Value {
    elicitation("What is your name?", "name", "string")
}

fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

fn sampling(question: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": question}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
