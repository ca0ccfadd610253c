use serde::Deserialize;
use stoa_model::GrantId;
use stoa_model::oauth::CreateOauthClientRequest;

use super::{grants, owned};
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    owner: String,
    client: CreateOauthClientRequest,
    #[serde(default)]
    introspects_all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientParams {
    client_id: String,
}

#[derive(Deserialize)]
struct GrantsParams {
    #[serde(default)]
    user: Option<String>,
    #[serde(flatten)]
    list: ListQuery,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantParams {
    id: GrantId,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("oauth.clients.list", |hub, actor, list: ListQuery| async move {
        owned::list_all_clients(&hub, &actor, list).await
    });
    methods.add("oauth.clients.create", |hub, actor, params: CreateParams| async move {
        let CreateParams { owner, client, introspects_all } = params;
        owned::create_client_for(&hub, &actor, Some(owner), client, introspects_all).await
    });
    methods.add("oauth.clients.delete", |hub, actor, params: ClientParams| async move {
        owned::delete_client(&hub, &actor, params.client_id).await
    });
    methods.add("oauth.grants.list", |hub, actor, params: GrantsParams| async move {
        grants::list_grants(&hub, &actor, params.user, params.list).await
    });
    methods.add("oauth.grants.revoke", |hub, actor, params: GrantParams| async move {
        grants::revoke_grant(&hub, &actor, params.id).await
    });
}
