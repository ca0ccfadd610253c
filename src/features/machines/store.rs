use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value as Json};
use stoa_db::{DbError, MOST_AHEAD_MS, Row, ToValue, Tx, Value, in_list, params};
use stoa_model::machines::{
    ComponentSummary, ConfigReference, EventOutcome, Route, RuntimeStatusRequest, SourceConfigRequest,
};
use stoa_model::principals::PrincipalKind;
use stoa_model::{ChannelId, MessageId, PrincipalId, Timestamp};

use super::status::is_stale;
use super::tallies::Tally;
use crate::error::HubError;
use crate::features::principals;
use crate::hub::Hub;
use crate::storage::columns;

/// Rows deleted in one command, so that pruning never holds up the writer.
const PRUNE_BATCH: i64 = 500;

/// The rows of these principals, made where there were none.
pub(super) fn ensure_principals(tx: &mut Tx<'_>, names: &[String]) -> Result<Vec<(String, PrincipalId)>, HubError> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let known = principals::find_or_add_machine(tx, name)?;
        if known.kind != PrincipalKind::Machine {
            return Err(HubError::internal(format!("{name} is already taken by a user or an agent")));
        }
        found.push((name.clone(), known.id));
    }
    Ok(found)
}

/// False if the nonce was there already.
pub(super) fn insert_nonce(tx: &mut Tx<'_>, key_id: &str, nonce: &str, forget_at: i64) -> Result<bool, HubError> {
    let inserted = tx.execute(
        "insert into machine_nonces (key_id, nonce, forget_at) values ($1, $2, $3) on conflict do nothing",
        params![key_id, nonce, forget_at],
    )?;
    Ok(inserted > 0)
}

/// Forgets nonces whose signatures are refused for their age.
pub fn prune_nonces(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    tx.execute(
        "delete from machine_nonces where (key_id, nonce) in (
             select key_id, nonce from machine_nonces where forget_at <= $1 limit $2)",
        params![tx.now_ms(), PRUNE_BATCH],
    )
}

pub(super) fn add_uses(tx: &mut Tx<'_>, principal: PrincipalId, kid: &str, tally: Tally) -> Result<(), DbError> {
    tx.execute(
        "insert into machine_key_uses (principal_id, kid, uses, last_used_at) values ($1, $2, $3, $4)
         on conflict (principal_id, kid) do update set uses = machine_key_uses.uses + excluded.uses,
             last_used_at = case when excluded.last_used_at > machine_key_uses.last_used_at
                            then excluded.last_used_at else machine_key_uses.last_used_at end",
        params![principal.0, kid, tally.count, tally.last_at],
    )?;
    principals::note_seen(tx, principal)
}

pub(super) fn add_refusals(tx: &mut Tx<'_>, principal: PrincipalId, reason: &str, tally: Tally) -> Result<(), DbError> {
    tx.execute(
        "insert into machine_refusals (principal_id, reason, refusals, last_refused_at) values ($1, $2, $3, $4)
         on conflict (principal_id, reason) do update set refusals = machine_refusals.refusals + excluded.refusals,
             last_refused_at = case when excluded.last_refused_at > machine_refusals.last_refused_at
                               then excluded.last_refused_at else machine_refusals.last_refused_at end",
        params![principal.0, reason, tally.count, tally.last_at],
    )?;
    Ok(())
}

/// Each key that was used: how often, and when last.
pub(super) fn list_uses(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<Vec<(String, Tally)>, DbError> {
    tx.query(
        "select kid, uses, last_used_at from machine_key_uses where principal_id = $1 order by kid",
        params![principal.0],
        |row| Ok((row.get("kid")?, Tally { count: row.get("uses")?, last_at: row.get("last_used_at")? })),
    )
}

pub(super) fn list_refusals(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<Vec<(String, Tally)>, DbError> {
    tx.query(
        "select reason, refusals, last_refused_at from machine_refusals where principal_id = $1 order by reason",
        params![principal.0],
        |row| Ok((row.get("reason")?, Tally { count: row.get("refusals")?, last_at: row.get("last_refused_at")? })),
    )
}

/// The names of machine principals that the database knows, after `after`.
pub(super) fn list_known(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<(String, PrincipalId)>, DbError> {
    tx.query(
        "select handle, id from principals where kind = 'machine' and folded_handle > $1
             and folded_handle not like 'hook:%' order by folded_handle limit $2",
        params![after, limit],
        |row| Ok((row.get("handle")?, PrincipalId(row.get("id")?))),
    )
}

#[derive(Debug, Clone)]
pub(super) struct SourceConfigRow {
    pub(super) source: String,
    /// The name of the principal.
    pub(super) principal: String,
    pub(super) version: i64,
    pub(super) description: String,
    pub(super) routes: Vec<Route>,
    /// The channels that the routes name, as they were found when the config was made.
    pub(super) channels: RouteChannels,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// Channels by the names that routes have for them.
pub(super) type RouteChannels = BTreeMap<String, RouteChannel>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RouteChannel {
    pub(super) id: ChannelId,
    pub(super) is_deleted: bool,
}

const SELECT_CONFIG: &str = "select c.name, p.handle, c.version, c.config, c.created_at, c.updated_at
     from machine_source_configs c join principals p on p.id = c.principal_id";

pub(super) fn find_config(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    name: &str,
) -> Result<Option<SourceConfigRow>, DbError> {
    let sql = format!("{SELECT_CONFIG} where c.principal_id = $1 and c.name = $2");
    let Some(mut found) = tx.query_optional(&sql, params![principal.0, name], config)? else { return Ok(None) };
    found.channels = list_route_channels(tx, principal)?.remove(&found.source).unwrap_or_default();
    Ok(Some(found))
}

/// A principal's source configs, by name.
pub(super) fn list_configs(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<Vec<SourceConfigRow>, DbError> {
    let sql = format!("{SELECT_CONFIG} where c.principal_id = $1 order by c.name");
    let mut configs = tx.query(&sql, params![principal.0], config)?;
    let mut channels = list_route_channels(tx, principal)?;
    for config in &mut configs {
        config.channels = channels.remove(&config.source).unwrap_or_default();
    }
    Ok(configs)
}

/// The channels of all configs of a principal, by config.
fn list_route_channels(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<BTreeMap<String, RouteChannels>, DbError> {
    let mut configs: BTreeMap<String, RouteChannels> = BTreeMap::new();
    tx.query_each(
        "select r.config_name, r.channel_name, r.channel_id, c.deleted_at
         from machine_route_channels r join channels c on c.id = r.channel_id where r.principal_id = $1",
        params![principal.0],
        |row| {
            let is_deleted = row.get::<Option<i64>>("deleted_at")?.is_some();
            let channel = RouteChannel { id: ChannelId(row.get("channel_id")?), is_deleted };
            configs.entry(row.get("config_name")?).or_default().insert(row.get("channel_name")?, channel);
            Ok(())
        },
    )?;
    Ok(configs)
}

/// The principals and configs with a route to a channel, at most `limit`.
pub(super) fn list_routes_to(
    tx: &mut Tx<'_>,
    channel: ChannelId,
    limit: i64,
) -> Result<Vec<(String, String)>, DbError> {
    tx.query(
        "select p.handle, r.config_name from machine_route_channels r join principals p on p.id = r.principal_id
         where r.channel_id = $1 order by p.handle, r.config_name limit $2",
        params![channel.0, limit],
        |row| Ok((row.get("handle")?, row.get("config_name")?)),
    )
}

fn config(row: &Row<'_>) -> Result<SourceConfigRow, DbError> {
    let text: String = row.get("config")?;
    // What cannot be read any more routes nothing.
    let config = serde_json::from_str(&text)
        .unwrap_or_else(|_| SourceConfigRequest { description: String::new(), routes: Vec::new() });
    Ok(SourceConfigRow {
        source: row.get("name")?,
        principal: row.get("handle")?,
        version: row.get("version")?,
        description: config.description,
        routes: config.routes,
        channels: RouteChannels::new(),
        created_at: Timestamp::from_ms(row.get("created_at")?),
        updated_at: Timestamp::from_ms(row.get("updated_at")?),
    })
}

pub(super) fn count_configs(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as configs from machine_source_configs where principal_id = $1",
        params![principal.0],
        |row| row.get("configs"),
    )
}

/// The size of all configs of a principal but one.
pub(super) fn count_config_bytes(tx: &mut Tx<'_>, principal: PrincipalId, but: &str) -> Result<i64, DbError> {
    tx.query_one(
        "select cast(coalesce(sum(octet_length(config)), 0) as bigint) as bytes
         from machine_source_configs where principal_id = $1 and name <> $2",
        params![principal.0, but],
        |row| row.get("bytes"),
    )
}

pub(super) fn delete_config(tx: &mut Tx<'_>, principal: PrincipalId, name: &str) -> Result<u64, DbError> {
    tx.execute(
        "delete from machine_route_channels where principal_id = $1 and config_name = $2",
        params![principal.0, name],
    )?;
    tx.execute("delete from machine_source_configs where principal_id = $1 and name = $2", params![principal.0, name])
}

/// Adds a config, or puts the next version in its place.
pub(super) fn upsert_config(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    name: &str,
    version: i64,
    config: &str,
    channels: &BTreeMap<String, ChannelId>,
) -> Result<(), DbError> {
    tx.execute(
        "insert into machine_source_configs (principal_id, name, version, config, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $5)
         on conflict (principal_id, name) do update
         set version = excluded.version, config = excluded.config, updated_at = excluded.updated_at",
        params![principal.0, name, version, config, tx.now_ms()],
    )?;
    tx.execute(
        "delete from machine_route_channels where principal_id = $1 and config_name = $2",
        params![principal.0, name],
    )?;
    for (channel_name, channel) in channels {
        tx.execute(
            "insert into machine_route_channels (principal_id, config_name, channel_name, channel_id)
             values ($1, $2, $3, $4)",
            params![principal.0, name, channel_name, channel.0],
        )?;
    }
    Ok(())
}

pub(super) fn has_component(tx: &mut Tx<'_>, principal: PrincipalId, component: &str) -> Result<bool, DbError> {
    tx.query_one(
        "select exists (select 1 from machine_runtime_status where principal_id = $1 and component = $2) as found",
        params![principal.0, component],
        |row| row.get("found"),
    )
}

pub(super) fn count_components_of(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<i64, DbError> {
    tx.query_one(
        "select count(*) as components from machine_runtime_status where principal_id = $1",
        params![principal.0],
        |row| row.get("components"),
    )
}

pub(super) fn upsert_status(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    component: &str,
    report: &RuntimeStatusRequest,
) -> Result<(), DbError> {
    let details = Json::Object(report.details.clone().unwrap_or_default()).to_string();
    tx.execute(
        "insert into machine_runtime_status
             (principal_id, component, status, message, version, details, reported_at)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (principal_id, component) do update set status = excluded.status, message = excluded.message,
             version = excluded.version, details = excluded.details, reported_at = excluded.reported_at",
        params![principal.0, component, report.status, report.message, report.version, details, tx.now_ms()],
    )?;
    Ok(())
}

pub(super) struct RuntimeStatusRow {
    /// The name of the principal.
    pub(super) principal: String,
    pub(super) component: String,
    pub(super) status: String,
    pub(super) message: Option<String>,
    pub(super) version: Option<String>,
    pub(super) details: Map<String, Json>,
    pub(super) reported_at: Timestamp,
}

const SELECT_STATUS: &str = "select p.handle, s.component, s.status, s.message, s.version, s.details, s.reported_at
     from machine_runtime_status s join principals p on p.id = s.principal_id";

fn status(row: &Row<'_>) -> Result<RuntimeStatusRow, DbError> {
    Ok(RuntimeStatusRow {
        principal: row.get("handle")?,
        component: row.get("component")?,
        status: row.get("status")?,
        message: row.get("message")?,
        version: row.get("version")?,
        details: object(&row.get::<String>("details")?),
        reported_at: Timestamp::from_ms(row.get("reported_at")?),
    })
}

pub(super) fn find_status(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    component: &str,
) -> Result<Option<RuntimeStatusRow>, DbError> {
    let sql = format!("{SELECT_STATUS} where s.principal_id = $1 and s.component = $2");
    tx.query_optional(&sql, params![principal.0, component], status)
}

/// What the components of a principal said last, by name.
pub(super) fn list_status(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<Vec<RuntimeStatusRow>, DbError> {
    let sql = format!("{SELECT_STATUS} where s.principal_id = $1 order by s.component");
    tx.query(&sql, params![principal.0], status)
}

/// The same without what may be long.
pub(super) fn list_component_summaries(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
) -> Result<Vec<ComponentSummary>, DbError> {
    let now = tx.now_ms();
    tx.query(
        "select component, status, reported_at from machine_runtime_status where principal_id = $1 order by component",
        params![principal.0],
        |row| {
            let reported_at: i64 = row.get("reported_at")?;
            Ok(ComponentSummary {
                component: row.get("component")?,
                status: row.get("status")?,
                stale: is_stale(reported_at, now),
                reported_at: Timestamp::from_ms(reported_at),
            })
        },
    )
}

pub(super) fn list_config_references(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<Vec<ConfigReference>, DbError> {
    tx.query(
        "select name, version from machine_source_configs where principal_id = $1 order by name",
        params![principal.0],
        |row| Ok(ConfigReference { source: row.get("name")?, version: row.get("version")? }),
    )
}

pub(super) fn delete_status(tx: &mut Tx<'_>, principal: PrincipalId, component: &str) -> Result<u64, DbError> {
    tx.execute(
        "delete from machine_runtime_status where principal_id = $1 and component = $2",
        params![principal.0, component],
    )
}

/// Forgets components that have said nothing for a week: they are no more.
pub fn prune_status(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    const WEEK_MS: i64 = 7 * 24 * 3600 * 1000;
    tx.execute(
        "delete from machine_runtime_status where (principal_id, component) in (
             select principal_id, component from machine_runtime_status where reported_at < $1 limit $2)",
        params![tx.now_ms() - WEEK_MS, PRUNE_BATCH],
    )
}

fn object(text: &str) -> Map<String, Json> {
    serde_json::from_str(text).unwrap_or_default()
}

/// How many components said something since `since`, by what they said, and how many said nothing since.
pub(super) fn count_status(tx: &mut Tx<'_>, since: i64) -> Result<(Vec<(String, i64)>, i64), DbError> {
    let fresh = tx.query(
        "select status, count(*) as components from machine_runtime_status where reported_at >= $1 group by status",
        params![since],
        |row| Ok((row.get("status")?, row.get("components")?)),
    )?;
    let stale = tx.query_one(
        "select count(*) as components from machine_runtime_status where reported_at < $1",
        params![since],
        |row| row.get("components"),
    )?;
    Ok((fresh, stale))
}

/// An event and what became of it.
pub(super) struct NewEvent<'a> {
    pub(super) event_id: &'a str,
    pub(super) event_type: &'a str,
    pub(super) event: &'a str,
    pub(super) outcome: EventOutcome,
    pub(super) reason: Option<&'a str>,
    pub(super) config: Option<(&'a str, i64)>,
    pub(super) message: Option<MessageId>,
    pub(super) request_id: &'a str,
    pub(super) received_at: i64,
}

/// The receive time for new events: never earlier than that of the principal's latest event, so a client that lists events from
/// a time or a cursor on misses none. An event that is more than a minute ahead came by a wrong clock and does not count. Two requests of one principal that run at once on PostgreSQL conflict here, and one of them
/// runs again.
pub(super) fn next_received_at(tx: &mut Tx<'_>, principal: PrincipalId) -> Result<i64, DbError> {
    let newest: Option<i64> = tx.query_optional(
        "select received_at from machine_events where principal_id = $1 order by received_at desc, id desc limit 1",
        params![principal.0],
        |row| row.get("received_at"),
    )?;
    let now = tx.now_ms();
    Ok(newest.filter(|newest| (now..=now + MOST_AHEAD_MS).contains(newest)).unwrap_or(now))
}

/// The caller has looked before whether it is there. On PostgreSQL another hub may take it in meanwhile: the conflict makes
/// the command run again, where an error of the unique index would end it.
pub(super) fn insert_event(tx: &mut Tx<'_>, principal: PrincipalId, event: &NewEvent<'_>) -> Result<(), HubError> {
    let inserted = tx.execute(
        "insert into machine_events (principal_id, event_id, type, event, outcome, reason, config_name, config_version,
             message_id, request_id, received_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (principal_id, event_id) do nothing",
        params![
            principal.0,
            event.event_id,
            event.event_type,
            event.event,
            event.outcome.name(),
            event.reason,
            event.config.map(|(name, _)| name),
            event.config.map(|(_, version)| version),
            event.message.map(|message| message.0),
            Some(event.request_id).filter(|id| !id.is_empty()),
            event.received_at
        ],
    )?;
    if inserted == 0 { Err(HubError::internal("an event was there that was not there before")) } else { Ok(()) }
}

/// What became of an event, as it is stored.
pub(super) struct EventRow {
    pub(super) id: i64,
    pub(super) event_id: String,
    pub(super) event_type: String,
    pub(super) outcome: EventOutcome,
    pub(super) reason: Option<String>,
    pub(super) config: Option<(String, i64)>,
    pub(super) message: Option<MessageId>,
    pub(super) request_id: Option<String>,
    pub(super) received_at: i64,
}

const SELECT_EVENT: &str = "select id, event_id, type, outcome, reason, config_name, config_version, message_id,
        request_id, received_at
     from machine_events";

fn event(row: &Row<'_>) -> Result<EventRow, DbError> {
    let config = row.get::<Option<String>>("config_name")?.zip(row.get::<Option<i64>>("config_version")?);
    Ok(EventRow {
        id: row.get("id")?,
        event_id: row.get("event_id")?,
        event_type: row.get("type")?,
        outcome: columns::named(row, "outcome")?,
        reason: row.get("reason")?,
        config,
        message: row.get::<Option<i64>>("message_id")?.map(MessageId),
        request_id: row.get("request_id")?,
        received_at: row.get("received_at")?,
    })
}

pub(super) fn find_event(tx: &mut Tx<'_>, principal: PrincipalId, event_id: &str) -> Result<Option<EventRow>, DbError> {
    let sql = format!("{SELECT_EVENT} where principal_id = $1 and event_id = $2");
    tx.query_optional(&sql, params![principal.0, event_id], event)
}

/// Those among the ids that were taken in before.
pub(super) fn find_known(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    event_ids: &[&str],
) -> Result<HashSet<String>, DbError> {
    let mut known = HashSet::new();
    for chunk in event_ids.chunks(512) {
        let (list, mut values) = in_list(2, chunk.iter().map(|id| id.to_value()));
        values.insert(0, Value::Integer(principal.0));
        let sql = format!("select event_id from machine_events where principal_id = $1 and event_id in {list}");
        known.extend(tx.query(&sql, &values, |row| row.get::<String>("event_id"))?);
    }
    Ok(known)
}

/// Events in the order in which they came in, from `since` on and behind `after`.
pub(super) fn list_events(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    since: i64,
    after: (i64, i64),
    limit: i64,
) -> Result<Vec<EventRow>, DbError> {
    let sql = format!(
        "{SELECT_EVENT} where principal_id = $1 and received_at >= $2 and (received_at, id) > ($3, $4)
         order by received_at, id limit $5"
    );
    tx.query(&sql, params![principal.0, since.max(after.0), after.0, after.1, limit], event)
}

/// Forgets events that are older than traces may be.
pub fn prune_events(hub: &Hub, tx: &mut Tx<'_>) -> Result<u64, DbError> {
    let retention = crate::clock::milliseconds(hub.config().trace_retention);
    if retention == 0 {
        return Ok(0);
    }
    tx.execute(
        "delete from machine_events where id in (
             select id from (select id, received_at from machine_events order by id limit $2) oldest
             where received_at < $1)",
        params![tx.now_ms() - retention, PRUNE_BATCH],
    )
}
