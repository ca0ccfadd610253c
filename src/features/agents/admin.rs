use serde::Deserialize;
use stoa_model::agents::{CreateAgentRequest, McpAuth, McpClient, UpdateAgentRequest};

use super::connect::{self, ConnectQuery};
use super::service;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameParams {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    owner: String,
    agent: CreateAgentRequest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateParams {
    name: String,
    changes: UpdateAgentRequest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectParams {
    name: String,
    #[serde(default)]
    client: McpClient,
    #[serde(default)]
    auth: Option<McpAuth>,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add(
        "agents.list",
        |hub, actor, list: ListQuery| async move { service::list_agents(&hub, &actor, list).await },
    );
    methods.add("agents.show", |hub, actor, params: NameParams| async move {
        service::get_agent(&hub, &actor, params.name).await.map(|revised| revised.agent)
    });
    methods.add("agents.create", |hub, actor, params: CreateParams| async move {
        service::create_agent_for(&hub, &actor, Some(params.owner), params.agent).await
    });
    methods.add("agents.update", |hub, actor, params: UpdateParams| async move {
        service::update_agent(&hub, &actor, params.name, None, params.changes).await.map(|revised| revised.agent)
    });
    methods.add("agents.pause", |hub, actor, params: NameParams| async move {
        service::pause_agent(&hub, &actor, params.name).await.map(|revised| revised.agent)
    });
    methods.add("agents.resume", |hub, actor, params: NameParams| async move {
        service::resume_agent(&hub, &actor, params.name).await.map(|revised| revised.agent)
    });
    methods.add("agents.unquarantine", |hub, actor, params: NameParams| async move {
        service::unquarantine_agent(&hub, &actor, params.name).await.map(|revised| revised.agent)
    });
    methods.add("agents.rotate_key", |hub, actor, params: NameParams| async move {
        service::rotate_key(&hub, &actor, params.name).await
    });
    methods.add("agents.mcp_config", |hub, actor, params: ConnectParams| async move {
        let query = ConnectQuery { client: params.client, auth: params.auth, api_key: None };
        connect::mcp_config(&hub, &actor, params.name, query).await
    });
    methods.add("agents.delete", |hub, actor, params: NameParams| async move {
        service::delete_agent(&hub, &actor, params.name).await
    });
}
