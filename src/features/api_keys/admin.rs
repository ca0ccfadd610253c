use serde::Deserialize;
use stoa_model::ApiKeyId;
use stoa_model::api_keys::CreateApiKeyRequest;

use super::service;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyParams {
    id: ApiKeyId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    owner: String,
    key: CreateApiKeyRequest,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("keys.list", |hub, actor, list: ListQuery| async move { service::list_keys(&hub, &actor, list).await });
    methods.add(
        "keys.show",
        |hub, actor, params: KeyParams| async move { service::get_key(&hub, &actor, params.id).await },
    );
    methods.add("keys.create", |hub, actor, params: CreateParams| async move {
        service::create_key_for(&hub, &actor, Some(params.owner), params.key).await
    });
    methods.add("keys.revoke", |hub, actor, params: KeyParams| async move {
        service::revoke_key(&hub, &actor, params.id).await
    });
}
