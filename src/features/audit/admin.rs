use serde::Deserialize;

use super::service::{self, AuditQuery};
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    #[serde(default)]
    actor: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    cursor: Option<String>,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("audit.list", |hub, actor, params: ListParams| async move {
        let query = AuditQuery { actor: params.actor, action: params.action };
        service::list_entries(&hub, &actor, query, ListQuery { limit: params.limit, cursor: params.cursor }).await
    });
}
