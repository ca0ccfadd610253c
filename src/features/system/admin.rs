use serde::Deserialize;

use super::service;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

pub fn add_methods(methods: &mut Methods) {
    methods.add("db.info", |hub, actor, _: NoParams| async move { service::system(&hub, &actor).await });
    methods.add("db.vacuum", |hub, actor, _: NoParams| async move { service::vacuum(&hub, &actor).await });
    methods.add("db.rotate_key", |hub, actor, _: NoParams| async move { service::rotate_key(&hub, &actor).await });
}
