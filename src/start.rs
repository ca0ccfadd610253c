//! From a configuration to a running hub, and back to nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stoa_db::{Database, DbError, Engine, OpenError, Options};
use stoa_model::Secret;
use stoa_schema::MIGRATIONS;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::blobs::{self, BlobStore};
use crate::config::{Config, admin_socket_candidates};
use crate::error::HubError;
use crate::events::{listener, outbox, work};
use crate::features::machines::{self, RegistryError};
use crate::features::{self, attachments, channels, housekeeping, search, streams, traces, users};
use crate::hub::{Extensions, Hub};
use crate::keys::{KeyError, KeyRing};
use crate::metrics::Metrics;
use crate::surfaces::{admin, http};

const ENGINE_FILE: &str = "engine";

/// Why a hub could not start, in a sentence that an operator can act on.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the key is not the one that this database was used with; bring back the key file, or set STOA_KEY")]
    WrongKey,
    #[error("the data folder {path} belongs to a hub on {found}; {advice}")]
    Engine { path: PathBuf, found: String, advice: &'static str },
    #[error("the admin socket {path} cannot be opened: {reason}")]
    AdminSocket { path: PathBuf, reason: String },
    #[error("the base URL {0} must be http:// or https:// and a host, without a path")]
    BaseUrl(String),
    #[error("the redirect URI {uri} of STOA_OAUTH_REDIRECTS {reason}")]
    Redirect { uri: String, reason: String },
    #[error(transparent)]
    Attachments(#[from] blobs::OpenError),
    #[error("{0}")]
    Registry(RegistryError),
    #[error("the hub could not start: {0}")]
    Other(String),
}

impl From<HubError> for StartError {
    fn from(error: HubError) -> Self {
        StartError::Other(error.to_string())
    }
}

impl From<DbError> for StartError {
    fn from(error: DbError) -> Self {
        StartError::Other(error.to_string())
    }
}

/// Runs a hub with all its features until `shutdown` ends.
pub async fn run(
    config: Config,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StartError> {
    run_with(config, features::extensions(), listener, |_| {}, shutdown).await
}

/// Runs a hub with the given planners, listeners and workers. `started` gets the hub as soon as it
/// serves.
pub async fn run_with(
    config: Config,
    extensions: Extensions,
    listener: TcpListener,
    started: impl FnOnce(Hub),
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StartError> {
    let hub = open(config, extensions, &listener).await?;
    let result = serve(&hub, listener, started, shutdown).await;
    hub.db().close().await;
    result
}

async fn serve(
    hub: &Hub,
    listener: TcpListener,
    started: impl FnOnce(Hub),
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StartError> {
    prepare(hub).await?;
    search::prepare(hub).await?;
    machines::begin(hub).await.map_err(StartError::Registry)?;
    let router = http::router(hub)?;
    let admin_socket = bind_admin_socket(hub.config())?;
    if let Some(password) = users::ensure_first_admin(hub).await? {
        (hub.config().show_password)(password.expose());
    }
    channels::ensure_general(hub).await?;
    let traces_written = tokio::spawn(traces::write_batches(hub.clone()));
    let tasks = TaskTracker::new();
    let outbox_end = hub.begin_taps().await?;
    hub.start_followers(&tasks, outbox_end);
    tasks.spawn(streams::keep(hub.clone()));
    tasks.spawn(machines::keep(hub.clone()));
    tasks.spawn(admin::serve(hub.clone(), admin_socket, features::admin_methods()));
    tracing::info!(address = %hub.base_url(), version = env!("CARGO_PKG_VERSION"), "the hub is serving");
    started(hub.clone());
    let serving = http::serve(hub, listener, router);
    tokio::pin!(serving);
    let stopping = async {
        shutdown.await;
        tracing::info!("the hub is stopping");
        // Streams end while the hub still serves, so that no client finds the door closed before it was told.
        streams::close_all(hub).await;
        hub.stop();
    };
    tokio::select! {
        () = &mut serving => {}
        () = stopping => serving.await,
    }
    hub.stop();
    tasks.close();
    tasks.wait().await;
    // Last, when nobody does anything any more that is to be traced.
    hub.traces().close();
    if let Err(error) = traces_written.await {
        tracing::error!(%error, "the last traces could not be written");
    }
    tracing::info!("the hub has stopped");
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

async fn open(config: Config, extensions: Extensions, listener: &TcpListener) -> Result<Hub, StartError> {
    let base_url = match &config.base_url {
        Some(base_url) => checked_base_url(base_url)?,
        None => format!("http://{}", listener.local_addr().map_err(|error| StartError::Other(error.to_string()))?),
    };
    for uri in &config.oauth_redirects {
        features::oauth::check_private_redirect(uri)
            .map_err(|reason| StartError::Redirect { uri: uri.clone(), reason })?;
    }
    let is_everywhere = listener.local_addr().is_ok_and(|address| address.ip().is_unspecified());
    if config.base_url.is_none() && is_everywhere {
        tracing::warn!(%base_url, "others cannot call this hub by the address that it gives out; set STOA_BASE_URL");
    }
    let metrics = Arc::new(Metrics::new().map_err(|error| StartError::Other(error.to_string()))?);
    let observed = metrics.clone();
    let connections = config.database_connections.max(2);
    // On PostgreSQL it is one of the connections, unless there are too few.
    let urgent_readers = usize::from(config.database_url.is_none() || connections >= 4);
    let options = Options {
        postgres_url: config.database_url.as_ref().map(|url| url.expose().to_owned()),
        environment: Arc::new(config.clock.clone()),
        readers: if config.database_url.is_some() { connections / 2 - urgent_readers } else { 4 },
        urgent_readers,
        postgres_writers: connections - connections / 2,
        observer: Some(Arc::new(move |report| {
            #[expect(clippy::cast_precision_loss, reason = "a batch has at most a few hundred commands")]
            observed.commit_commands.observe(report.commands as f64);
            observed.commit_seconds.observe(report.duration.as_secs_f64());
        })),
        companion: Some(search::COMPANION),
        ..Options::new(&config.data)
    };
    let engine = if config.database_url.is_some() { Engine::Postgres } else { Engine::Sqlite };
    require_engine(&config.data, engine)?;
    // Opening waits for the disk, and PostgreSQL's client must not be dropped on an async thread.
    let db = tokio::task::spawn_blocking(move || Database::open(options, MIGRATIONS))
        .await
        .map_err(|error| StartError::Other(error.to_string()))??;
    let keys = match KeyRing::load_or_create(&config.data, config.key.as_ref().map(Secret::expose)) {
        Ok(keys) => keys,
        Err(error) => {
            db.close().await;
            return Err(error.into());
        }
    };
    if let Err(error) = mark_engine(&config.data, engine) {
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
    Ok(Hub::new(config, db, blobs, keys, extensions, metrics, base_url)?)
}

/// A hub on PostgreSQL that is started without its address would begin anew on SQLite, and look empty.
fn require_engine(data: &Path, engine: Engine) -> Result<(), StartError> {
    let Ok(found) = std::fs::read_to_string(data.join(ENGINE_FILE)) else { return Ok(()) };
    let found = found.trim().to_owned();
    if found == engine.name() {
        return Ok(());
    }
    let advice = match engine {
        Engine::Sqlite => "set STOA_DATABASE_URL",
        Engine::Postgres => "start it without STOA_DATABASE_URL, or move it with a backup",
    };
    Err(StartError::Engine { path: data.to_owned(), found, advice })
}

/// Notes in the data folder which engine its hub is on.
pub(crate) fn mark_engine(data: &Path, engine: Engine) -> std::io::Result<()> {
    let file = data.join(ENGINE_FILE);
    if file.exists() { Ok(()) } else { std::fs::write(file, format!("{}\n", engine.name())) }
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
    let (keys, names) = (hub.keys(), hub.listener_names());
    let key_fits = hub
        .write(move |tx| {
            match Hub::meta(tx, "key_check")? {
                Some(stored) if !keys.has_check_value(&stored) => return Ok(false),
                Some(_) => {}
                None => Hub::set_meta(tx, "key_check", &keys.check_value())?,
            }
            outbox::ensure_history(tx)?;
            listener::tidy_at_start(tx, &names)?;
            work::tidy_at_start(tx)?;
            housekeeping::schedule(tx)?;
            attachments::schedule(tx)?;
            Ok::<_, DbError>(true)
        })
        .await?;
    if !key_fits {
        return Err(StartError::WrongKey);
    }
    let owner = hub.write(attachments::ensure_owner).await?;
    Ok(hub.blobs().claim(&owner).await?)
}
