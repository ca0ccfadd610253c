use serde::Deserialize;
use stoa_model::RunId;
use stoa_model::runs::{CheckRequest, RunDetailsQuery, RunQuery, RunSecret};

use super::{remote, service};
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunParams {
    id: RunId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowParams {
    id: RunId,
    steps: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentParams {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckParams {
    name: String,
    from: Option<String>,
    channel: Option<String>,
}

pub fn add_methods(methods: &mut Methods) {
    methods
        .add("runs.list", |hub, actor, query: RunQuery| async move { service::list_runs(&hub, &actor, query).await });
    methods.add("runs.show", |hub, actor, params: ShowParams| async move {
        let query = RunDetailsQuery { steps: params.steps, after_step: None };
        service::show_to_operator(&hub, &actor, params.id, query).await
    });
    methods.add("runs.retry", |hub, actor, params: RunParams| async move {
        service::retry_run(&hub, &actor, params.id).await
    });
    methods.add("runs.cancel", |hub, actor, params: RunParams| async move {
        service::cancel_run(&hub, &actor, params.id).await
    });
    methods.add("agents.run_secret", |hub, actor, params: AgentParams| async move {
        remote::new_secret(&hub, &actor, params.name).await.map(|secret| RunSecret { secret })
    });
    methods.add("agents.check", |hub, actor, params: CheckParams| async move {
        let request = CheckRequest { from: params.from, channel: params.channel };
        service::check(&hub, &actor, params.name, request).await
    });
}
