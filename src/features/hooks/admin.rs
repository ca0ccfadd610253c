use serde::Deserialize;
use stoa_model::hooks::{CreateHookRequest, UpdateHookRequest};

use super::service;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookParams {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    owner: String,
    hook: CreateHookRequest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateParams {
    id: String,
    changes: UpdateHookRequest,
}

pub fn add_methods(methods: &mut Methods) {
    methods
        .add("hooks.list", |hub, actor, list: ListQuery| async move { service::list_hooks(&hub, &actor, list).await });
    methods.add("hooks.show", |hub, actor, params: HookParams| async move {
        service::get_hook(&hub, &actor, params.id).await
    });
    methods.add("hooks.create", |hub, actor, params: CreateParams| async move {
        service::create_hook(&hub, &actor, Some(params.owner), params.hook).await
    });
    methods.add("hooks.update", |hub, actor, params: UpdateParams| async move {
        service::update_hook(&hub, &actor, params.id, params.changes).await
    });
    methods.add("hooks.delete", |hub, actor, params: HookParams| async move {
        service::delete_hook(&hub, &actor, params.id).await
    });
    methods.add("hooks.requests", |hub, actor, params: HookParams| async move {
        service::list_requests(&hub, &actor, params.id).await
    });
}
