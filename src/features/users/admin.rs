use serde::Deserialize;
use stoa_model::Secret;
use stoa_model::users::{CreateUserRequest, InviteRequest, Role};

use super::{invitations, service};
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameParams {
    username: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasswordParams {
    username: String,
    password: Secret,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleParams {
    username: String,
    role: Role,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IdParams {
    id: i64,
}

pub fn add_methods(methods: &mut Methods) {
    methods
        .add("users.list", |hub, actor, list: ListQuery| async move { service::list_users(&hub, &actor, list).await });
    methods.add("users.create", |hub, actor, request: CreateUserRequest| async move {
        service::create_user(&hub, &actor, request).await
    });
    methods.add("users.invite", |hub, actor, request: InviteRequest| async move {
        invitations::invite(&hub, &actor, request).await
    });
    methods.add("users.invitations", |hub, actor, list: ListQuery| async move {
        invitations::list(&hub, &actor, list).await
    });
    methods.add("users.revoke_invitation", |hub, actor, params: IdParams| async move {
        invitations::revoke(&hub, &actor, params.id).await
    });
    methods.add("users.passwd", |hub, actor, params: PasswordParams| async move {
        service::set_user_password(&hub, &actor, params.username, params.password).await
    });
    methods.add("users.disable", |hub, actor, params: NameParams| async move {
        service::set_disabled(&hub, &actor, params.username, true).await
    });
    methods.add("users.enable", |hub, actor, params: NameParams| async move {
        service::set_disabled(&hub, &actor, params.username, false).await
    });
    methods.add("users.role", |hub, actor, params: RoleParams| async move {
        service::set_role(&hub, &actor, params.username, params.role).await
    });
    methods.add("users.end_sessions", |hub, actor, params: NameParams| async move {
        service::end_user_sessions(&hub, &actor, params.username).await
    });
}
