use serde::Deserialize;
use stoa_model::Timestamp;

use super::service::{self, TraceQuery};
use crate::paging::{ListQuery, OffsetQuery};
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceParams {
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    since: Option<Timestamp>,
    #[serde(default)]
    until: Option<Timestamp>,
    #[serde(default)]
    offset: Option<i64>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    cursor: Option<String>,
}

impl TraceParams {
    fn query(&self) -> TraceQuery {
        TraceQuery { agent: self.agent.clone(), action: self.action.clone(), since: self.since, until: self.until }
    }
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("traces.list", |hub, actor, params: TraceParams| async move {
        let list = OffsetQuery { offset: params.offset, limit: params.limit };
        service::list_traces(&hub, &actor, params.query(), params.owner, list).await
    });
    methods.add("traces.stats", |hub, actor, params: TraceParams| async move {
        service::trace_stats(&hub, &actor, params.query(), params.owner).await
    });
    // Pages of all that there was at the first of them, whatever comes in between.
    methods.add("traces.export", |hub, actor, params: TraceParams| async move {
        let (query, list) = (params.query(), ListQuery { limit: params.limit, cursor: params.cursor });
        service::export_page(&hub, &actor, query, params.owner, list).await
    });
}
