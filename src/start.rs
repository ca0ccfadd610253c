//! From a configuration to a running hub, and back to nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stoa_db::{Database, DbError, Engine, OpenError, Options, ServerState};
use stoa_model::Secret;
use stoa_schema::MIGRATIONS;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, admin_socket_candidates};
use crate::events::{followers, listener, outbox, work};
use crate::feature::{Feature, Features, LifeStep};
use crate::features;
use crate::hub::{Hub, HubAddress, StartError, engine_mark, pause};
use crate::metrics::Metrics;
use crate::storage::blobs::BlobStore;
use crate::storage::keys::KeyRing;
use crate::surfaces::{admin, http};

/// How long the hub takes to stop at most. The process needs a little more: see `cli/serve.rs`.
const STOP_WITHIN: Duration = Duration::from_millis(7500);
/// The part of it that work in the background has after the last request.
const TASKS_WITHIN: Duration = Duration::from_secs(2);

/// Runs a hub with all its features until `shutdown` ends.
pub async fn run(
    config: Config,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StartError> {
    run_with(config, features::all(), listener, |_| {}, shutdown).await
}

/// Runs a hub with the given features. `started` gets the hub as soon as it serves.
///
/// Once it is asked to stop, it ends within `STOP_WITHIN`, whatever is under way. Nothing that was answered is lost by that: an
/// answer follows the sync of its commit, and what was not answered was not promised. So leaving without the rest of the work is as
/// safe as a crash, and a crash is safe.
pub async fn run_with(
    config: Config,
    features: Features,
    listener: TcpListener,
    started: impl FnOnce(Hub),
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StartError> {
    let stop = Stop::default();
    let running = async {
        let hub = open(config, features, &listener).await?;
        let result = serve(&hub, listener, started, &stop).await;
        hub.db().close().await;
        result
    };
    let overdue = async {
        tokio::select! {
            () = shutdown => stop.asked.cancel(),
            () = stop.asked.cancelled() => {}
        }
        pause(STOP_WITHIN).await;
    };
    tokio::select! {
        biased;
        outcome = running => outcome.and_then(|()| stop.result()),
        () = overdue => {
            tracing::warn!("the hub did not come to an end in time and leaves; nothing that was answered is lost");
            stop.result()
        }
    }
}

/// How the hub is asked to stop.
#[derive(Default)]
struct Stop {
    asked: CancellationToken,
    /// Why it asked itself.
    upgraded: OnceLock<OpenError>,
}

impl Stop {
    fn result(self) -> Result<(), StartError> {
        self.upgraded.into_inner().map_or(Ok(()), |newer| Err(newer.into()))
    }
}

async fn serve(hub: &Hub, listener: TcpListener, started: impl FnOnce(Hub), stop: &Stop) -> Result<(), StartError> {
    let features = Features::of(hub);
    prepare(hub).await?;
    each_step(hub, |feature| feature.prepare).await?;
    let router = http::router(hub, features.routes(hub.config()), features.offer())?;
    let admin_socket = bind_admin_socket(hub.config())?;
    each_step(hub, |feature| feature.start).await?;
    let tasks = TaskTracker::new();
    let outbox_end = followers::begin_taps(hub).await?;
    followers::start(hub, &tasks, outbox_end);
    for run in features.iter().filter_map(|feature| feature.background) {
        tasks.spawn(run(hub.clone()));
    }
    tasks.spawn(admin::serve(hub.clone(), admin_socket, features.admin_methods()));
    tracing::info!(address = %hub.base_url(), version = env!("CARGO_PKG_VERSION"), "the hub is serving");
    started(hub.clone());
    let serving = http::serve(hub, listener, router);
    tokio::pin!(serving);
    let mut server = hub.db().server();
    let stopping = async {
        tokio::select! {
            () = stop.asked.cancelled() => {}
            newer = newer_schema(&mut server) => {
                tracing::error!("{newer}");
                let _ = stop.upgraded.set(newer);
                stop.asked.cancel();
            }
        }
        tracing::info!("the hub is stopping");
        // Features notify their clients while the hub still serves, so that no connection ends without a word.
        for stop in features.iter().filter_map(|feature| feature.stop) {
            stop(hub).await;
        }
        hub.stop();
    };
    tokio::select! {
        () = &mut serving => {}
        () = stopping => serving.await,
    }
    hub.stop();
    tasks.close();
    // One that waits for a disk or a server must not keep the others from writing down the rest.
    if tokio::time::timeout(TASKS_WITHIN, tasks.wait()).await.is_err() {
        tracing::warn!("some work in the background did not end in time; the next hub does it again");
    }
    for close in features.iter().filter_map(|feature| feature.close) {
        close(hub).await;
    }
    tracing::info!("the hub has stopped");
    Ok(())
}

/// Ends when a newer program has changed the tables. This one would read and write them wrongly.
async fn newer_schema(server: &mut watch::Receiver<ServerState>) -> OpenError {
    match server.wait_for(|state| matches!(state, ServerState::Newer { .. })).await.map(|state| *state) {
        Ok(ServerState::Newer { found, known }) => OpenError::Newer { found, known },
        _ => std::future::pending().await,
    }
}

/// Takes a step of every feature's life, one after another in floor order.
async fn each_step(hub: &Hub, step: fn(&Feature) -> Option<LifeStep>) -> Result<(), StartError> {
    for step in Features::of(hub).iter().filter_map(step) {
        step(hub).await?;
    }
    Ok(())
}

fn bind_admin_socket(config: &Config) -> Result<admin::Socket, StartError> {
    let candidates = match &config.admin_socket {
        Some(path) => vec![path.clone()],
        None => admin_socket_candidates(&config.data),
    };
    let mut failure = StartError::Other("there is no place for the admin socket".to_owned());
    for path in candidates {
        match admin::bind(&path, &config.data) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = StartError::AdminSocket { path, reason: error.to_string() },
        }
    }
    Err(failure)
}

async fn open(config: Config, features: Features, listener: &TcpListener) -> Result<Hub, StartError> {
    let listens_on = listener.local_addr().map_err(|error| StartError::Other(error.to_string()))?;
    let base_url = match &config.base_url {
        Some(base_url) => checked_base_url(base_url)?,
        None => format!("http://{listens_on}"),
    };
    for check in features.iter().filter_map(|feature| feature.check) {
        check(&config)?;
    }
    if config.base_url.is_none() && listens_on.ip().is_unspecified() {
        tracing::warn!(%base_url, "others cannot call this hub by the address that it gives out; set STOA_BASE_URL");
    }
    let metrics = Arc::new(Metrics::new().map_err(|error| StartError::Other(error.to_string()))?);
    let observed = metrics.clone();
    let connections = config.database_connections.max(3);
    // On PostgreSQL it is one of the connections, unless there are too few.
    let urgent_readers = usize::from(config.database_url.is_none() || connections >= 4);
    let options = Options {
        postgres_url: config.database_url.as_ref().map(|url| url.expose().to_owned()),
        environment: Arc::new(config.clock.clone()),
        readers: if config.database_url.is_some() { connections / 2 - urgent_readers } else { 4 },
        urgent_readers,
        cache_kib: config.cache_mib.saturating_mul(1024),
        // Two more run commands that share a transaction.
        postgres_writers: (connections - connections / 2).saturating_sub(2).max(1),
        observer: Some(Arc::new(move |report| {
            #[expect(clippy::cast_precision_loss, reason = "a batch has at most a few hundred commands")]
            observed.commit_commands.observe(report.commands as f64);
            observed.commit_seconds.observe(report.duration.as_secs_f64());
        })),
        // A little less than a request has, so that what is dropped is said to be dropped.
        begin_within: config.request_timeout / 10 * 9,
        companion: features.iter().find_map(|feature| feature.companion),
        ..Options::new(&config.data)
    };
    let engine = if config.database_url.is_some() { Engine::Postgres } else { Engine::Sqlite };
    engine_mark::require(&config.data, engine)?;
    if engine == Engine::Sqlite {
        require_database(&config.data)?;
    }
    // Opening waits for the disk, and PostgreSQL's client must not be dropped on an async thread.
    let db = tokio::task::spawn_blocking(move || Database::open(options, MIGRATIONS))
        .await
        .map_err(|error| StartError::Other(error.to_string()))??;
    // A new key would hide that the right one is missing.
    let has_key = config.key.is_some() || KeyRing::path(&config.data).exists();
    if !has_key && db.read(|tx| Hub::meta(tx, Hub::KEY_CHECK)).await?.is_some() {
        db.close().await;
        return Err(StartError::MissingKey(KeyRing::path(&config.data)));
    }
    let keys = match KeyRing::load_or_create(&config.data, config.key.as_ref().map(Secret::expose)) {
        Ok(keys) => keys,
        Err(error) => {
            db.close().await;
            return Err(error.into());
        }
    };
    if let Err(error) = engine_mark::write(&config.data, engine) {
        db.close().await;
        return Err(StartError::Other(format!("the data folder cannot be marked: {error}")));
    }
    let blobs = match BlobStore::open(config.attachments_url.as_deref(), &config.data) {
        Ok(blobs) => blobs,
        Err(error) => {
            db.close().await;
            return Err(error.into());
        }
    };
    let address = HubAddress {
        base_url,
        is_on_loopback: listens_on.ip().to_canonical().is_loopback(),
        local_url: local_url(listens_on),
        listens_on: listens_on.ip().to_canonical(),
    };
    Ok(Hub::new(config, db, blobs, keys, features.into_parts(), metrics, address)?)
}

/// How programs on this machine call a hub that listens on this address.
fn local_url(listens_on: SocketAddr) -> String {
    let local = match listens_on.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(local, listens_on.port()))
}

/// Refuses a folder whose database is missing. SQLite would create an empty one, and the hub would start as if it were new.
fn require_database(data: &Path) -> Result<(), StartError> {
    let file = data.join("stoa.db");
    if std::fs::metadata(&file).is_ok_and(|found| !found.is_file() || found.len() > 0) {
        return Ok(());
    }
    let is_used = |name: &str| {
        let path = data.join(name);
        match std::fs::read_dir(&path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => std::fs::metadata(&path).is_ok_and(|found| found.len() > 0),
        }
    };
    let beside: Vec<_> =
        ["key", "engine", "attachments", "stoa.db-wal"].into_iter().filter(|name| is_used(name)).collect();
    if beside.is_empty() { Ok(()) } else { Err(StartError::MissingDatabase { file, beside }) }
}

fn checked_base_url(base_url: &str) -> Result<String, StartError> {
    let trimmed = base_url.trim_end_matches('/');
    let host = trimmed.strip_prefix("https://").or_else(|| trimmed.strip_prefix("http://"));
    let is_good = host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    });
    if is_good { Ok(trimmed.to_owned()) } else { Err(StartError::BaseUrl(base_url.to_owned())) }
}

/// Brings the database's bookkeeping in order: what a crash left behind is mended here.
async fn prepare(hub: &Hub) -> Result<(), StartError> {
    let (keys, names) = (hub.keys(), followers::listener_names(hub));
    let key_fits = hub
        .write(move |tx| {
            match Hub::meta(tx, Hub::KEY_CHECK)? {
                Some(stored) if !keys.has_check_value(&stored) => return Ok(false),
                Some(_) => {}
                None => Hub::set_meta(tx, Hub::KEY_CHECK, &keys.check_value())?,
            }
            outbox::ensure_history(tx)?;
            listener::tidy_at_start(tx, &names)?;
            work::tidy_at_start(tx)?;
            Ok::<_, DbError>(true)
        })
        .await?;
    if key_fits { Ok(()) } else { Err(StartError::WrongKey) }
}
