use serde::Deserialize;
use stoa_model::secrets::{SecretScope, SetSecretRequest};

use super::service;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    #[serde(default)]
    scope: Option<SecretScope>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteParams {
    scope: SecretScope,
    name: String,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("secrets.list", |hub, actor, params: ListParams| async move {
        let list = ListQuery { limit: params.limit, cursor: params.cursor };
        service::list_secrets(&hub, &actor, params.scope, list).await
    });
    methods.add("secrets.set", |hub, actor, request: SetSecretRequest| async move {
        service::set_secret(&hub, &actor, request).await
    });
    methods.add("secrets.delete", |hub, actor, params: DeleteParams| async move {
        service::delete_secret(&hub, &actor, params.scope, params.name).await
    });
}
