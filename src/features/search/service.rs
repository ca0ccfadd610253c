//! Searching.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stoa_db::{DbError, Tx};
use stoa_model::messages::WorkflowState;
use stoa_model::permissions::Permission;
use stoa_model::search::query::{Names, Parameters, Query};
use stoa_model::search::snippet::{Excerpt, excerpt};
use stoa_model::search::{MAX_SEARCH_OFFSET, MAX_TOTAL};
use stoa_model::{ConversationId, MessageId};
use utoipa::IntoParams;

use super::entries;
use super::index::{self, COMPLETE, IndexProgress};
use super::listener::{report_damage, touched, usable};
use super::plan::{Judge, Plan};
use super::{queue, turns};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::outbox;
use crate::features::channels::visibility;
use crate::features::{messages, principals};
use crate::hub::Hub;
use crate::paging::OffsetQuery;

/// Messages that a search looks through by itself where the index does not have them.
const MAX_UNINDEXED: i64 = 5_000;
/// Events behind the index that a search looks at by itself.
const MAX_BEHIND: i64 = 50_000;
/// Bytes of texts that a search looks through by itself.
const MAX_TAIL_BYTES: i64 = 1024 * 1024;
/// Longer texts get at most half of these bytes, so that the short ones are found whatever else is written.
const LONG_BYTES: i64 = 32 * 1024;
/// What a message costs beside its text.
const BYTES_PER_MESSAGE: i64 = 100;
/// Texts in the queue that a search looks for by itself.
const MAX_QUEUED: i64 = 1_000;
/// Messages that are looked through at once.
const CHUNK: usize = 50;

/// What to look for. Each parameter narrows it, and so does each operator in `q`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words, "phrases", `begin*`, `-without`, and the operators `from: in: before: after: has: is:`. Without `q`, all messages that match the other parameters.
    #[serde(default)]
    #[param(max_length = 1000)]
    pub q: Option<String>,
    /// Comma-separated channels; `-name` excludes one.
    #[serde(default)]
    pub channel: Option<String>,
    /// Comma-separated authors (agents or people); `-name` excludes one.
    #[serde(default)]
    pub agent: Option<String>,
    /// Start, as a time or a date.
    #[serde(default)]
    pub after: Option<String>,
    /// End (exclusive), as a time or a date.
    #[serde(default)]
    pub before: Option<String>,
    /// Comma-separated workflow states; `-state` excludes one.
    #[serde(default)]
    pub state: Option<String>,
    /// Comma-separated: `attachment`, `image`, `pdf`, `text`, `link`, `reaction`, `mention`; `-link` excludes messages with a link.
    #[serde(default)]
    pub has: Option<String>,
}

/// A message that was found, and where in it.
pub struct Found {
    pub message: stoa_model::messages::MessageView,
    pub excerpt: Excerpt,
}

/// What was found, newest first.
pub struct FoundPage {
    pub items: Vec<Found>,
    pub total: i64,
    pub total_capped: bool,
    pub offset: i64,
    /// Whether there are texts that neither the index has nor the search has looked through.
    pub is_indexing: bool,
}

/// Finds messages among those that the caller may see.
pub async fn search(hub: &Hub, actor: &Actor, search: SearchQuery, list: OffsetQuery) -> Result<FoundPage, HubError> {
    actor.require(Permission::SearchRead)?;
    let query = Query::parse(&Parameters {
        q: search.q.as_deref(),
        channel: search.channel.as_deref(),
        agent: search.agent.as_deref(),
        state: search.state.as_deref(),
        has: search.has.as_deref(),
        after: search.after.as_deref(),
        before: search.before.as_deref(),
    })?;
    let limit = usize::try_from(list.limit()?).unwrap_or(0);
    let offset = list.offset.unwrap_or(0);
    if !(0..=MAX_SEARCH_OFFSET).contains(&offset) {
        return Err(HubError::invalid_field("offset", format!("must be from 0 to {MAX_SEARCH_OFFSET}")));
    }
    let _turn = turns::take(hub, actor.principal.human).await?;
    let (actor_in, timeout) = (actor.clone(), hub.config().search_timeout);
    let found = hub.read_long(timeout, move |tx| find(tx, &actor_in, &query, offset, limit, timeout)).await;
    match found {
        Err(Refusal::Database(DbError::Late)) => {
            Err(turns::busy("The search takes too long, or too many searches run at the same time."))
        }
        Err(Refusal::Database(DbError::Damaged(reason))) => {
            tracing::error!(reason, "the search index is damaged and will be rebuilt");
            report_damage(hub).await?;
            Err(building())
        }
        // While the index is emptied to be made anew, its file has no tables for a moment.
        Err(Refusal::Database(DbError::Statement(reason))) if reason.contains("no such table") => {
            tracing::info!(reason, "the search index is being rebuilt");
            Err(building())
        }
        found => Ok(found?),
    }
}

/// Why there is no answer. What is wrong with the database has to be known in detail.
enum Refusal {
    Database(DbError),
    Other(HubError),
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        Refusal::Database(error)
    }
}

impl From<HubError> for Refusal {
    fn from(error: HubError) -> Self {
        Refusal::Other(error)
    }
}

impl From<Refusal> for HubError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Database(error) => error.into(),
            Refusal::Other(error) => error,
        }
    }
}

fn building() -> HubError {
    HubError::not_yet("search_index_building", "The search index is still being built.", 2)
        .hint("Retry in a moment. Everything else works.")
}

fn find(
    tx: &mut Tx<'_>,
    actor: &Actor,
    query: &Query,
    offset: i64,
    limit: usize,
    timeout: Duration,
) -> Result<FoundPage, Refusal> {
    // First of all: on SQLite the index is another file, and must not be newer than what is read after it.
    let state = index::find_state(tx)?;
    let state = usable(tx, state)?;
    let plan = plan(tx, actor, query)?;
    if query.is_unfindable || plan.is_hopeless() {
        return Ok(FoundPage { items: Vec::new(), total: 0, total_capped: false, offset, is_indexing: false });
    }
    let wanted = MAX_TOTAL.max(offset + i64::try_from(limit).unwrap_or(0)) + 1;
    let (ids, is_indexing) = find_ids(tx, &plan, state.as_ref(), wanted, timeout)?;
    let total = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    let page: Vec<MessageId> =
        ids.into_iter().skip(usize::try_from(offset).unwrap_or(0)).take(limit).map(MessageId).collect();
    let messages = if page.is_empty() { Vec::new() } else { messages::list_whole(tx, actor, &page)? };
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        if tx.time_left().is_some_and(|left| left.is_zero()) {
            return Err(DbError::Late.into());
        }
        items.push(Found { excerpt: excerpt(message.subject.as_deref(), &message.body, &query.required), message });
    }
    Ok(FoundPage { items, total: total.min(MAX_TOTAL), total_capped: total > MAX_TOTAL, offset, is_indexing })
}

/// The newest that fit, newest first: what the index knows, corrected by what has happened since. And whether something is
/// missing, because it would take too long to look through it.
fn find_ids(
    tx: &mut Tx<'_>,
    plan: &Plan,
    state: Option<&IndexProgress>,
    limit: i64,
    timeout: Duration,
) -> Result<(Vec<i64>, bool), Refusal> {
    let unindexed = unindexed(tx, state)?;
    let mut ids = match state {
        Some(_) => {
            let more = i64::try_from(unindexed.len()).unwrap_or(i64::MAX);
            index::of(tx.engine()).find(tx, plan, limit.saturating_add(more))?
        }
        None => Vec::new(),
    };
    if !unindexed.is_empty() {
        ids.retain(|id| !unindexed.contains(&MessageId(*id)));
    }
    let mut is_cut = false;
    if !unindexed.is_empty() || state.is_some_and(|state| state.has_queue) {
        let judge = plan.judge();
        let tail = tail(tx, plan, &judge, &unindexed)?;
        is_cut = tail.is_cut;
        'tail: for chunk in tail.ids.chunks(CHUNK) {
            for (source, standing) in entries::load_with_standing(tx, chunk)? {
                // Half of the time is for what comes after it.
                if tx.time_left().is_some_and(|left| left < timeout / 2) {
                    is_cut = true;
                    break 'tail;
                }
                let entry = source.into_entry();
                if judge.fits(&entry, &standing) {
                    ids.push(entry.id);
                }
            }
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
    }
    ids.truncate(usize::try_from(limit).unwrap_or(0));
    Ok((ids, is_cut))
}

/// The messages that a search looks through by itself.
struct Tail {
    /// Newest first.
    ids: Vec<MessageId>,
    /// Whether there are more.
    is_cut: bool,
}

fn tail(tx: &mut Tx<'_>, plan: &Plan, judge: &Judge<'_>, unindexed: &BTreeSet<MessageId>) -> Result<Tail, DbError> {
    let mut sizes: BTreeMap<MessageId, i64> = queue::list_newest(tx, &plan.conversations, MAX_QUEUED + 1)?;
    let mut is_cut = sizes.len() as i64 > MAX_QUEUED;
    if !unindexed.is_empty() {
        let ids: Vec<MessageId> = unindexed.iter().copied().collect();
        let visible = messages::list_sizes(tx, &ids)?.into_iter().filter(|size| judge.is_in(size.conversation.0));
        sizes.extend(visible.map(|size| (size.id, size.bytes)));
    }
    let mut used = 0;
    let mut ids = Vec::with_capacity(sizes.len());
    for (id, bytes) in sizes.into_iter().rev() {
        let room = if bytes > LONG_BYTES { MAX_TAIL_BYTES / 2 } else { MAX_TAIL_BYTES };
        if used + bytes + BYTES_PER_MESSAGE > room {
            is_cut = true;
        } else {
            used += bytes + BYTES_PER_MESSAGE;
            ids.push(id);
        }
    }
    Ok(Tail { ids, is_cut })
}

/// The messages of which the index does not know, or not what became of them.
fn unindexed(tx: &mut Tx<'_>, state: Option<&IndexProgress>) -> Result<BTreeSet<MessageId>, Refusal> {
    let mut unindexed = BTreeSet::new();
    let built_through = state.map_or(0, |state| state.built_through);
    if built_through != COMPLETE {
        let to_come = messages::list_ids_after(tx, MessageId(built_through), MAX_UNINDEXED + 1)?;
        if to_come.len() as i64 > MAX_UNINDEXED {
            return Err(building().into());
        }
        unindexed.extend(to_come);
    }
    if let Some(state) = state {
        let page = outbox::events_after(tx, state.position, MAX_BEHIND + 1)?;
        if page.rows() as i64 > MAX_BEHIND {
            return Err(building().into());
        }
        unindexed.extend(page.events.iter().flat_map(|stored| touched(&stored.event)));
    }
    Ok(unindexed)
}

/// Finds out what the names mean to this caller.
fn plan(tx: &mut Tx<'_>, actor: &Actor, query: &Query) -> Result<Plan, DbError> {
    let conversations = conversations(visibility::list_visible(tx, actor)?, &query.channels);
    let mut authors: Option<HashSet<i64>> = None;
    for names in &query.authors.any_of {
        let these = ids_of(tx, names)?;
        authors = Some(authors.map_or(these.clone(), |before| before.intersection(&these).copied().collect()));
    }
    let authors_not = ids_of(tx, &query.authors.none_of)?;
    let fits =
        |state: &WorkflowState| query.states.iter().all(|any| any.contains(state)) && !query.states_not.contains(state);
    let states: Vec<WorkflowState> = WorkflowState::ALL.into_iter().filter(fits).collect();
    Ok(Plan {
        required: query.required.clone(),
        excluded: query.excluded.clone(),
        conversations,
        authors: authors.map(|authors| authors.into_iter().filter(|author| !authors_not.contains(author)).collect()),
        authors_not: authors_not.into_iter().collect(),
        states: (!query.states.is_empty() || !query.states_not.is_empty()).then_some(states),
        has_talk: query.states.is_empty(),
        has: query.has.clone(),
        has_not: query.has_not.clone(),
        after_ms: query.after.map(|after| after.as_ms()),
        before_ms: query.before.map(|before| before.as_ms()),
    })
}

fn ids_of(tx: &mut Tx<'_>, names: &[String]) -> Result<HashSet<i64>, DbError> {
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    Ok(principals::find_ever(tx, names)?.into_iter().map(|id| id.0).collect())
}

/// Those of the visible conversations that were asked for. A name that the caller cannot see means nothing to them.
fn conversations(visible: Vec<(ConversationId, Option<String>)>, channels: &Names) -> Vec<i64> {
    let is_named = |channel: Option<&str>, names: &[String]| {
        channel.is_some_and(|channel| names.iter().any(|name| name.eq_ignore_ascii_case(channel)))
    };
    let fits = |channel: Option<&str>| {
        channels.any_of.iter().all(|names| is_named(channel, names)) && !is_named(channel, &channels.none_of)
    };
    visible.into_iter().filter(|(_, channel)| fits(channel.as_deref())).map(|(id, _)| id.0).collect()
}
