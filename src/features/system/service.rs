use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use stoa_db::{Engine, Tx, params};
use stoa_model::system::{DatabaseView, ListenerView, ReadyDetails, ReadyView, SystemView};

use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::events::{lag, listener};
use crate::feature::Features;
use crate::features::{attachments, audit};
use crate::hub::Hub;

const READY_WITHIN: Duration = Duration::from_secs(3);
/// How long figures that are in the database are waited for.
const GAUGES_WITHIN: Duration = Duration::from_secs(2);
const NOTABLE_CORRECTION_MS: u64 = 5000;
/// With less than this the disk counts as full, even if a small message may still fit.
const MIN_FREE_BYTES: u64 = 1024 * 1024;

/// What became of a change of key.
#[derive(Debug, Serialize)]
pub struct KeyRotation {
    pub key_file: bool,
    /// What has to be done by hand.
    pub note: String,
}

pub async fn system(hub: &Hub, actor: &Actor) -> Result<SystemView, HubError> {
    actor.require_admin()?;
    let info = hub.db().info().await?;
    let (users, agents, backlog) =
        hub.read(|tx| Ok::<_, HubError>((count(tx, "user")?, count(tx, "agent")?, listener::backlog(tx)?))).await?;
    Ok(SystemView {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: hub.started_at(),
        base_url: hub.base_url().to_owned(),
        database: DatabaseView {
            engine: info.engine.name().to_owned(),
            engine_version: info.engine_version,
            schema_version: info.schema_version,
            size_bytes: info.size_bytes,
        },
        users,
        agents,
        write_queue_length: hub.db().write_queue_length() as u64,
        listeners: backlog.into_iter().map(|(name, behind)| ListenerView { name, behind }).collect(),
    })
}

fn count(tx: &mut Tx<'_>, kind: &str) -> Result<i64, HubError> {
    Ok(tx.query_one(
        "select count(*) as principals from principals where kind = $1 and deleted_at is null",
        params![kind],
        |row| row.get("principals"),
    )?)
}

/// Whether the hub can do its work: it is not stopping, the database answers, and there is room to write.
pub async fn readiness(hub: &Hub) -> Result<ReadyView, HubError> {
    if hub.is_stopping() {
        return Err(HubError::unavailable("The hub is shutting down."));
    }
    // Whoever asks wants to know now.
    let answer = tokio::time::timeout(READY_WITHIN, can_read_and_write(hub)).await;
    answer.unwrap_or_else(|_| Err(HubError::unavailable("The hub's database does not respond.")))?;
    let (behind, clock_correction_ms) = (lag::lag(hub), hub.clock().correction_ms());
    let mut warnings = Vec::new();
    if behind >= lag::NOTABLE {
        warnings.push(format!("This hub is {} seconds behind: its streams are late.", behind.as_secs()));
    }
    if clock_correction_ms.unsigned_abs() > NOTABLE_CORRECTION_MS {
        warnings.push(format!(
            "The clock of this machine is {clock_correction_ms} ms behind the database's, or ahead of it if that is negative. The hub \
             corrects that; set the clock."
        ));
    }
    warnings.extend(attachments::warning(hub));
    let details = ReadyDetails { event_lag_seconds: behind.as_secs(), clock_correction_ms, warnings };
    Ok(ReadyView { status: "ready".to_owned(), details })
}

async fn can_read_and_write(hub: &Hub) -> Result<(), HubError> {
    hub.read(|tx| Ok::<_, HubError>(tx.query_one("select 1 as one", &[], |row| row.get::<i64>("one")).map(drop)?))
        .await?;
    if hub.db().engine() == Engine::Sqlite {
        let data = hub.config().data.clone();
        let free = tokio::task::spawn_blocking(move || free_bytes(&data)).await.ok().flatten();
        if let Some(free) = free.filter(|free| *free < MIN_FREE_BYTES) {
            return Err(HubError::storage_full("The hub's disk is full.").because(format!("{free} bytes are free")));
        }
    }
    if hub.db().is_full() {
        // A hub that is not ready gets no requests, so nobody else may find out that there is room again.
        hub.write(|tx| {
            let now = tx.now_ms().to_string();
            Hub::set_meta(tx, "last_space_check", &now)
        })
        .await?;
        hub.db().note_room();
    }
    Ok(())
}

/// The space that the file system of a folder has for this user; none if it does not say.
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

/// The figures in the text format of Prometheus.
pub async fn metrics(hub: &Hub) -> Result<String, HubError> {
    let hub_in = hub.clone();
    let update = hub.read(move |tx| {
        let gauges = Features::of(&hub_in).iter().filter_map(|feature| feature.metrics);
        gauges.into_iter().try_for_each(|update| update(&hub_in, tx))
    });
    // Without a database most figures can still be told, and it is then that operators look at them.
    match tokio::time::timeout(GAUGES_WITHIN, update).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) if error.kind == ErrorKind::Unavailable => tracing::debug!(%error, "some figures are old"),
        Ok(Err(error)) => return Err(error),
        Err(_) => tracing::debug!("some figures are old: the database does not answer"),
    }
    hub.metrics().event_lag_seconds.set(lag::lag(hub).as_secs_f64());
    hub.metrics().write_queue_length.set(i64::try_from(hub.db().write_queue_length()).unwrap_or(i64::MAX));
    hub.metrics().body_memory.set(i64::try_from(hub.bodies().held()).unwrap_or(i64::MAX));
    hub.metrics().answer_memory.set(i64::try_from(hub.answers().held()).unwrap_or(i64::MAX));
    hub.metrics().render().map_err(HubError::internal)
}

pub async fn vacuum(hub: &Hub, actor: &Actor) -> Result<DatabaseView, HubError> {
    actor.require_admin()?;
    hub.db().vacuum().await?;
    Ok(system(hub, actor).await?.database)
}

/// Puts a new key into force and seals with it what the old one had sealed.
///
/// A crash in between is harmless: until the database says that the new key is the one, the file
/// holds both.
pub async fn rotate_key(hub: &Hub, actor: &Actor) -> Result<KeyRotation, HubError> {
    actor.require_admin()?;
    let _rotating = hub.begin_key_rotation().await;
    let from_environment = hub.config().key.is_some();
    let ring = if from_environment {
        // The operator has put the new key first; the hub must not invent one that nobody keeps.
        let ring = (*hub.keys()).clone();
        let stored = hub.read(|tx| Hub::meta(tx, Hub::KEY_CHECK)).await?;
        if stored.as_deref() == Some(ring.check_value().as_str()) {
            return Err(HubError::conflict("nothing_to_rotate", "The first key of STOA_KEY is already active.")
                .hint("Put a new key first (STOA_KEY=new,old), restart the hub and retry."));
        }
        ring
    } else {
        let ring = hub.keys().with_new_key().map_err(HubError::internal)?;
        ring.store(&hub.config().data).map_err(HubError::internal)?;
        hub.replace_keys(ring.clone());
        ring
    };
    let (hub_in, actor_in, sealing) = (hub.clone(), actor.clone(), ring.clone());
    hub.write(move |tx| {
        for sealed in Features::of(&hub_in).iter().filter_map(|feature| feature.sealed) {
            (sealed.seal_again)(tx, &sealing)?;
        }
        Hub::set_meta(tx, Hub::KEY_CHECK, &sealing.check_value())?;
        audit::record(tx, &actor_in, "key_file.rotated", None, &json!({}))?;
        Ok::<_, HubError>(())
    })
    .await?;
    if from_environment {
        let note = "The first key of STOA_KEY is active. Remove the others and restart every hub.".to_owned();
        return Ok(KeyRotation { key_file: false, note });
    }
    // The file forgets the old key. This process keeps it in memory until it ends, so that pages
    // that are being read can be read to their end.
    ring.without_old_keys().store(&hub.config().data).map_err(HubError::internal)?;
    let note = "The key file holds the new key. Take a backup, and give the file to every other hub on this database.";
    Ok(KeyRotation { key_file: true, note: note.to_owned() })
}
