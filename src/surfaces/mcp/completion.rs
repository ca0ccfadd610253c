//! Completing the values of prompts, and the variable parts of addresses, while somebody types them.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use super::Offer;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// Finds values that begin with what has been typed, at most [`MAX_COMPLETIONS`] of them.
pub type Completer = fn(Hub, Actor, String) -> BoxFuture<'static, Result<Vec<String>, HubError>>;

/// The protocol does not allow more.
pub const MAX_COMPLETIONS: usize = CompletionInfo::MAX_VALUES;

/// What completes the value that a client asks about. An error if there is no such value at all.
pub(super) fn find(offer: &Offer, request: &CompleteRequestParams) -> Result<Option<Completer>, ErrorData> {
    let argument = request.argument.name.as_str();
    let found = match &request.r#ref {
        Reference::Prompt(prompt) => {
            let prompt = offer.prompts.find(&prompt.name);
            let value = prompt.and_then(|prompt| prompt.spec.values.iter().find(|value| value.name == argument));
            value.map(|value| value.completer)
        }
        Reference::Resource(resource) => {
            let resource = offer.resources.find_listed(&resource.uri);
            let resource = resource.filter(|resource| resource.spec.variable() == Some(argument));
            resource.map(|resource| resource.spec.completer)
        }
        _ => None,
    };
    found.ok_or_else(|| ErrorData::invalid_params("No prompt or resource has this argument.", None))
}

pub(super) fn answer(values: Vec<String>) -> Result<CompleteResult, ErrorData> {
    let has_more = values.len() > MAX_COMPLETIONS;
    let values: Vec<String> = values.into_iter().take(MAX_COMPLETIONS).collect();
    let mut completion = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
    completion.has_more = Some(has_more);
    Ok(CompleteResult::new(completion))
}
