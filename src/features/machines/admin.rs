use serde::Deserialize;

use super::overview;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowParams {
    principal_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

pub fn add_methods(methods: &mut Methods) {
    methods.add("principals.list", |hub, actor, list: ListQuery| async move {
        overview::list_principals(&hub, &actor, list).await
    });
    methods.add("principals.show", |hub, actor, params: ShowParams| async move {
        overview::get_principal(&hub, &actor, params.principal_id).await
    });
    methods.add("principals.reload", |hub, actor, _: NoParams| async move { overview::reload(&hub, &actor).await });
}
