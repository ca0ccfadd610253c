use serde::Deserialize;
use stoa_model::automation::Waiting;

use super::service;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnParams {
    waiting: Option<Waiting>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

pub fn add_methods(methods: &mut Methods) {
    methods.add("acting.show", |hub, actor, _: NoParams| async move { service::get_acting(&hub, &actor).await });
    methods.add("acting.off", |hub, actor, _: NoParams| async move { service::turn_off(&hub, &actor).await });
    methods.add("acting.on", |hub, actor, params: OnParams| async move {
        service::turn_on(&hub, &actor, params.waiting.unwrap_or_default()).await
    });
}
