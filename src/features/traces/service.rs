use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stoa_db::{DbError, Tx};
use stoa_model::page::{CountedPage, Page};
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::traces::{OwnedTrace, TraceStats, TraceView};
use stoa_model::{PrincipalId, Timestamp};
use utoipa::IntoParams;

use super::store::{self, Filter, Position, TraceRow};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::{Hub, pause};
use crate::paging::{ListQuery, OffsetQuery, page_of};

/// Traces that an export reads at once.
const EXPORT_PAGE: i64 = 500;
/// For each moment that a page takes, an export rests this many.
const RESTS: u32 = 9;
/// The trace of a request comes within this time of what it did.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);
const MAX_OF_REQUEST: i64 = 20;
const LONGEST_REST: Duration = Duration::from_millis(100);

/// Which traces to look at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TraceQuery {
    /// Only calls of this agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// Only this action, for example `create_agent`.
    #[serde(default)]
    pub action: Option<String>,
    /// Start, as a time or a date.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    pub since: Option<Timestamp>,
    /// End (exclusive), as a time or a date.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    pub until: Option<Timestamp>,
}

/// Deletes a batch of traces that are older than the operator wants them. Returns how many.
pub fn prune(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, DbError> {
    let retention = hub.config().trace_retention;
    if retention.is_zero() {
        return Ok(0);
    }
    store::delete_before(tx, tx.now_ms() - milliseconds(retention))
}

/// What the caller may see of what they ask for; none if it is nothing. People see what they and their agents did, agents what they did
/// themselves, a key that is limited to channels what was done with it, the operator sees everything.
fn visible(
    tx: &mut Tx<'_>,
    actor: &Actor,
    query: &TraceQuery,
    owner: Option<&str>,
) -> Result<Option<Filter>, HubError> {
    let principal = &actor.principal;
    let mut filter = Filter {
        owner: Some(principal.human),
        principal: (principal.kind != PrincipalKind::User).then_some(principal.id),
        key: principal.limited_key(),
        action: query.action.clone(),
        since: query.since.map_or(0, Timestamp::as_ms),
        until: query.until.map_or(i64::MAX, Timestamp::as_ms),
    };
    if actor.is_operator() {
        filter.principal = None;
        filter.owner = owner.map(|name| find_user(tx, name)).transpose()?;
    }
    if let Some(agent) = &query.agent {
        let Some(agent) = store::find_named(tx, PrincipalKind::Agent, agent)? else { return Ok(None) };
        let is_foreign = filter.owner.is_some_and(|owner| agent.owner != Some(owner))
            || filter.principal.is_some_and(|principal| agent.id != principal);
        if is_foreign {
            return Ok(None);
        }
        (filter.owner, filter.principal) = (agent.owner, Some(agent.id));
    }
    Ok(Some(filter))
}

/// Whoever answers for traces: a person, or a machine, which answers for itself.
fn find_user(tx: &mut Tx<'_>, name: &str) -> Result<PrincipalId, HubError> {
    for kind in [PrincipalKind::User, PrincipalKind::Machine] {
        if let Some(found) = store::find_named(tx, kind, name)? {
            return Ok(found.id);
        }
    }
    Err(HubError::not_found("user"))
}

/// What was noted of a request that a principal made for itself at about this moment.
pub fn find_by_request(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    request_id: &str,
    at_ms: i64,
) -> Result<Vec<TraceView>, DbError> {
    let (owner, principal) = (Some(principal), Some(principal));
    let until = at_ms.saturating_add(milliseconds(LONGEST_REQUEST));
    let filter = Filter { owner, principal, key: None, action: None, since: at_ms, until };
    let found = store::list_of_request(tx, &filter, request_id, MAX_OF_REQUEST)?;
    Ok(found.into_iter().map(|row| OwnedTrace::from(row).trace).collect())
}

impl From<TraceRow> for OwnedTrace {
    fn from(row: TraceRow) -> Self {
        let trace = TraceView {
            id: row.id,
            agent: row.agent,
            action: row.action,
            details: row.details,
            error: row.error,
            duration_ms: row.duration_ms,
            request_id: row.request_id,
            run_id: row.run_id,
            created_at: row.created_at,
        };
        Self { owner: row.owner, trace }
    }
}

/// A page of traces, newest first. `owner` is for the operator, who sees those of all.
pub async fn list_traces(
    hub: &Hub,
    actor: &Actor,
    query: TraceQuery,
    owner: Option<String>,
    list: OffsetQuery,
) -> Result<CountedPage<OwnedTrace>, HubError> {
    actor.require(Permission::TracesRead)?;
    let (offset, limit) = (list.offset()?, list.limit()?);
    let actor = actor.clone();
    hub.read(move |tx| {
        let Some(filter) = visible(tx, &actor, &query, owner.as_deref())? else {
            return Ok(CountedPage { items: Vec::new(), total: 0, offset });
        };
        let total = store::count_traces(tx, &filter)?;
        let items = store::list_traces(tx, &filter, offset, limit)?;
        Ok(CountedPage { items: items.into_iter().map(Into::into).collect(), total, offset })
    })
    .await
}

/// How often each thing was done.
pub async fn trace_stats(
    hub: &Hub,
    actor: &Actor,
    query: TraceQuery,
    owner: Option<String>,
) -> Result<TraceStats, HubError> {
    actor.require(Permission::TracesRead)?;
    let actor = actor.clone();
    let items = hub
        .read(move |tx| match visible(tx, &actor, &query, owner.as_deref())? {
            Some(filter) => Ok::<_, HubError>(store::list_stats(tx, &filter)?),
            None => Ok(Vec::new()),
        })
        .await?;
    let total = items.iter().map(|item| item.count).sum();
    Ok(TraceStats { items, total })
}

/// All traces that there were when it began, newest first, page by page. Each page is a read of its own:
/// however slow the reader is, no snapshot is held open for them.
pub struct Export {
    hub: Hub,
    actor: Actor,
    filter: Option<Filter>,
    newest: i64,
    below: Position,
    /// How long to rest before the next page.
    rest: Duration,
}

const BEGINNING: Position = (i64::MAX, i64::MAX);

pub async fn export_traces(hub: &Hub, actor: &Actor, query: TraceQuery) -> Result<Export, HubError> {
    actor.require(Permission::TracesRead)?;
    let actor_in = actor.clone();
    let (filter, newest) =
        hub.read(move |tx| Ok::<_, HubError>((visible(tx, &actor_in, &query, None)?, store::newest_id(tx)?))).await?;
    Ok(Export { hub: hub.clone(), actor: actor.clone(), filter, newest, below: BEGINNING, rest: Duration::ZERO })
}

impl Export {
    /// The next traces; none after the last.
    pub async fn next_page(&mut self) -> Result<Vec<OwnedTrace>, HubError> {
        let Some(filter) = self.filter.clone() else { return Ok(Vec::new()) };
        let (actor, newest, below) = (self.actor.clone(), self.newest, self.below);
        // An export is never urgent. Without a rest it would take a processor to itself, and everybody's
        // messages would wait for it.
        pause(self.rest).await;
        #[expect(clippy::disallowed_methods, reason = "measures how much it takes from others")]
        let started = Instant::now();
        let rows = self
            .hub
            .read(move |tx| {
                // An export may take long: time enough to lose the right to it.
                actor.require_still_valid(tx)?;
                Ok::<_, HubError>(store::list_traces_below(tx, &filter, newest, below, EXPORT_PAGE)?)
            })
            .await?;
        if let Some((position, _)) = rows.last() {
            self.below = *position;
        }
        self.rest = (started.elapsed() * RESTS).min(LONGEST_REST);
        Ok(rows.into_iter().map(|(_, row)| row.into()).collect())
    }
}

/// The same for the operator, who comes back for each page with a cursor.
pub async fn export_page(
    hub: &Hub,
    actor: &Actor,
    query: TraceQuery,
    owner: Option<String>,
    list: ListQuery,
) -> Result<Page<OwnedTrace>, HubError> {
    actor.require(Permission::TracesRead)?;
    let scope = format!("traces {query:?} {owner:?}");
    let position: Option<(i64, Position)> = list.position(hub, actor, &scope)?;
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let rows = hub
        .read(move |tx| {
            let (newest, below) = match position {
                Some(position) => position,
                None => (store::newest_id(tx)?, BEGINNING),
            };
            let Some(filter) = visible(tx, &actor_in, &query, owner.as_deref())? else { return Ok(Vec::new()) };
            let rows = store::list_traces_below(tx, &filter, newest, below, limit + 1)?;
            Ok::<_, HubError>(rows.into_iter().map(|(position, row)| ((newest, position), row)).collect::<Vec<_>>())
        })
        .await?;
    let rows = rows.into_iter().map(|(position, row)| (position, row.into())).collect();
    page_of(hub, actor, &scope, rows, limit)
}
