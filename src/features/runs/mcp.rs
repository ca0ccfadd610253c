use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stoa_model::RunId;
use stoa_model::permissions::Permission;
use stoa_model::runs::{RunDetailsQuery, RunQuery, RunStatus, RunView};

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::surfaces::mcp::{Effect, Offer, ToolSpec, Toolset};

/// Steps that an answer shows: the last ones.
const MAX_SHOWN_STEPS: usize = 50;

pub fn offer(offer: &mut Offer) {
    let spec = |name, description| {
        ToolSpec::new(name, Toolset::Automation, Effect::Reads, Some(Permission::RunsRead), description)
    };
    offer.tools.add(spec("list_runs", "List runs, newest first"), list);
    offer.tools.add(spec("get_run", "Show a run: status, response, error, last steps"), get);
}

#[derive(Deserialize, JsonSchema)]
struct ListArguments {
    agent: Option<String>,
    status: Option<RunStatus>,
    offset: Option<i64>,
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<RunItem>,
    total: i64,
}

#[derive(Serialize, JsonSchema)]
struct RunItem {
    id: i64,
    agent: String,
    status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<i64>,
    depth: i64,
    attempt: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_step: Option<String>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
}

impl From<RunView> for RunItem {
    fn from(view: RunView) -> Self {
        Self {
            id: view.id.0,
            agent: view.agent,
            status: view.status,
            reason: view.reason.map(|reason| reason.name().to_owned()),
            message_id: view.trigger_message_id.map(|id| id.0),
            depth: view.depth,
            attempt: view.attempt,
            last_step: view.last_step,
            created_at: view.created_at.to_string(),
            finished_at: view.finished_at.map(|at| at.to_string()),
        }
    }
}

async fn list(hub: Hub, actor: Actor, arguments: ListArguments) -> Result<Listed, HubError> {
    let query = RunQuery {
        agent: arguments.agent,
        status: arguments.status.map(|status| status.name().to_owned()),
        goal: None,
        offset: arguments.offset,
        limit: arguments.limit,
    };
    let list = service::list_runs(&hub, &actor, query).await?;
    Ok(Listed { items: list.items.into_iter().map(Into::into).collect(), total: list.total })
}

#[derive(Deserialize, JsonSchema)]
struct GetArguments {
    run_id: i64,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    run: RunItem,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    /// The branch with what the run changed in its repository
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outgoing_message_id: Option<i64>,
    covered_message_ids: Vec<i64>,
    /// The last ones
    steps: Vec<StepItem>,
}

#[derive(Serialize, JsonSchema)]
struct StepItem {
    kind: String,
    text: String,
}

async fn get(hub: Hub, actor: Actor, arguments: GetArguments) -> Result<Shown, HubError> {
    let query = RunDetailsQuery { steps: Some(true), after_step: None };
    let details = service::get_run(&hub, &actor, RunId(arguments.run_id), query).await?;
    let harness = details.harness_run;
    let steps = details.steps.unwrap_or_default();
    let first = steps.len().saturating_sub(MAX_SHOWN_STEPS);
    let steps = steps.into_iter().skip(first);
    Ok(Shown {
        run: details.run.into(),
        response: harness.as_ref().and_then(|harness| harness.response.clone()),
        error: harness.as_ref().and_then(|harness| harness.error_log.clone()),
        exit_code: harness.and_then(|harness| harness.exit_code),
        branch: details.workspace.and_then(|workspace| workspace.branch),
        outgoing_message_id: details.outgoing_message.map(|message| message.id.0),
        covered_message_ids: details.covered_message_ids.into_iter().map(|id| id.0).collect(),
        steps: steps.map(|step| StepItem { kind: step.kind.name().to_owned(), text: step.text }).collect(),
    })
}
