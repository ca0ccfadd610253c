//! Evidence: what became of a principal's own events.

use std::collections::HashMap;

use serde::Deserialize;
use stoa_db::Tx;
use stoa_model::machines::{ConfigReference, Evidence, MessageEvidence, ReplyEvidence};
use stoa_model::messages::preview;
use stoa_model::page::Page;
use stoa_model::traces::TraceView;
use stoa_model::{MessageId, Timestamp};
use stoa_registry::Scope;
use utoipa::IntoParams;

use super::gate::require_scope;
use super::store::{self, EventRow};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{messages, runs, traces, webhooks};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// Answers that are shown of each message.
const MAX_REPLIES: i64 = 20;
const MAX_DELIVERIES: i64 = 20;

/// Which events to tell about.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EvidenceQuery {
    /// The id of one event.
    #[serde(default)]
    pub event_id: Option<String>,
    /// Only events received since this time, for example `2026-01-31T09:30:00Z`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    pub since: Option<Timestamp>,
    /// Maximum number of items. Default 50, at most 200.
    #[serde(default)]
    #[param(minimum = 1, default = 50)]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// What became of the caller's events, in the order in which they came in.
pub async fn list_evidence(hub: &Hub, actor: &Actor, query: EvidenceQuery) -> Result<Page<Evidence>, HubError> {
    require_scope(hub, actor, Scope::EvidenceRead)?;
    let since = query.since.map_or(0, Timestamp::as_ms);
    let scope = format!("evidence {:?} {since}", query.event_id);
    let list = ListQuery { limit: query.limit, cursor: query.cursor };
    let after: Position = list.position(hub, actor, &scope)?.unwrap_or((0, 0));
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let rows = hub
        .read(move |tx| {
            let id = actor_in.id();
            let mut rows = match &query.event_id {
                Some(event_id) => {
                    store::find_event(tx, id, event_id)?.into_iter().filter(|row| row.received_at >= since).collect()
                }
                None => store::list_events(tx, id, since, after, limit + 1)?,
            };
            // The one behind the page only tells that there is one.
            let extra = if rows.len() as i64 > limit { rows.pop() } else { None };
            let mut pages = complete(tx, &actor_in, rows)?;
            if let Some(extra) = extra {
                pages.push(((extra.received_at, extra.id), bare(&actor_in, &extra)));
            }
            Ok::<_, HubError>(pages)
        })
        .await?;
    page_of(hub, actor, &scope, rows, limit)
}

/// A place in the list: when the event came in, and its number.
type Position = (i64, i64);

fn complete(tx: &mut Tx<'_>, actor: &Actor, rows: Vec<EventRow>) -> Result<Vec<(Position, Evidence)>, HubError> {
    let ids: Vec<MessageId> = rows.iter().filter_map(|row| row.message).collect();
    let mut shown: HashMap<MessageId, _> =
        messages::find_visible_among(tx, actor, &ids)?.into_iter().map(|message| (message.id, message)).collect();
    // Events of one batch have one request. Its id is the caller's choice, and may come again later.
    let mut noted: HashMap<(String, i64), Vec<TraceView>> = HashMap::new();
    let mut evidence = Vec::with_capacity(rows.len());
    for row in rows {
        let mut told = bare(actor, &row);
        if let Some(message) = row.message.and_then(|id| shown.remove(&id)) {
            let replies = if message.reply_count > 0 {
                messages::first_replies(tx, actor, message.id, MAX_REPLIES)?
            } else {
                Vec::new()
            };
            told.reactions = message.reactions;
            told.runs = runs::list_of_message(tx, message.id)?;
            told.deliveries = webhooks::list_evidence(tx, message.id, MAX_DELIVERIES)?;
            told.message = Some(MessageEvidence {
                id: message.id,
                channel: message.channel,
                status: message.status,
                workflow_state: message.workflow_state,
                created_at: message.created_at,
                deleted_at: message.deleted_at,
                reply_count: message.reply_count,
                replies: replies
                    .into_iter()
                    .map(|reply| ReplyEvidence {
                        id: reply.id,
                        from: reply.from,
                        body: preview(&reply.body),
                        status: reply.status,
                        created_at: reply.created_at,
                    })
                    .collect(),
            });
        }
        if let Some(request_id) = row.request_id {
            let request = (request_id, row.received_at);
            if !noted.contains_key(&request) {
                let found = traces::find_by_request(tx, actor.id(), &request.0, request.1)?;
                noted.insert(request.clone(), found);
            }
            told.traces = noted.get(&request).cloned().unwrap_or_default();
        }
        evidence.push(((row.received_at, row.id), told));
    }
    Ok(evidence)
}

/// What the event's own row tells.
fn bare(actor: &Actor, row: &EventRow) -> Evidence {
    Evidence {
        event_id: row.event_id.clone(),
        event_type: row.event_type.clone(),
        source: actor.principal.handle.clone(),
        received_at: Timestamp::from_ms(row.received_at),
        outcome: row.outcome,
        reason: row.reason.clone(),
        source_config: row.config.clone().map(|(source, version)| ConfigReference { source, version }),
        message: None,
        reactions: Vec::new(),
        runs: Vec::new(),
        deliveries: Vec::new(),
        traces: Vec::new(),
    }
}
