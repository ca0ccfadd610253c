//! The registry that this hub goes by: loaded at the start, watched, and swapped whole or not at all.

use std::collections::HashMap;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::machines::RegistryView;
use stoa_model::validation::FieldError;
use stoa_model::{PrincipalId, Timestamp};
use stoa_registry::{Audience, Finding, Registry, files};

use super::{store, tallies};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};
use crate::features::audit;
use crate::hub::Hub;

const RESTORED_AT: &str = "restored_at";
/// How often the files are looked at. A change must be in force within ten seconds.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// A file that was changed within this time may be changed again without its times telling.
const UNSETTLED: Duration = Duration::from_secs(2);
/// Faults that the audit log quotes, and warnings that are shown.
const QUOTED: usize = 10;
const SHOWN_WARNINGS: usize = 20;
/// A disk that takes longer does not answer.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// Principals that one command makes rows for, so that nobody has to wait long.
const ROWS_AT_ONCE: usize = 200;

/// Why the files cannot be gone by: every reason, one a line.
#[derive(Debug, Clone)]
pub struct RegistryError(pub Vec<Finding>);

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(formatter, "the registry is not valid:\n  {}", faults.join("\n  "))
    }
}

/// A finding with the name of its file and not the whole path, which is nobody's business outside.
fn shown(finding: &Finding) -> String {
    Finding { file: file_name(finding), ..finding.clone() }.to_string()
}

fn file_name(finding: &Finding) -> Option<String> {
    let name = finding.file.as_deref().and_then(|file| Path::new(file).file_name());
    name.map(|name| name.to_string_lossy().into_owned())
}

fn finding(message: &str) -> Finding {
    Finding { file: None, pointer: String::new(), message: message.to_owned() }
}

/// What is in force.
pub(super) struct Loaded {
    pub(super) registry: Registry,
    pub(super) loaded_at: Timestamp,
}

/// What this hub knows of its registry.
#[derive(Default)]
pub(super) struct Memory {
    loaded: RwLock<Option<Arc<Loaded>>>,
    /// The rows of principals in the database, by their name.
    ids: Mutex<HashMap<String, PrincipalId>>,
    watch: tokio::sync::Mutex<Watch>,
    faults: Mutex<Vec<String>>,
    /// When the database was restored from a backup, in UTC milliseconds.
    restored_at: AtomicI64,
}

/// What the files looked like when they were last read.
#[derive(Default)]
struct Watch {
    seen: Option<Vec<Look>>,
}

/// A file as it looks from outside. Whoever changes it changes one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Look {
    path: PathBuf,
    file: (u64, u64),
    mode: u32,
    owner: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Memory {
    pub(super) fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn restored_at(&self) -> i64 {
        self.restored_at.load(Ordering::Relaxed)
    }

    fn known_id(&self, principal_id: &str) -> Option<PrincipalId> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(principal_id).copied()
    }
}

/// Notes that the nonces of the last minutes before this may be missing: they were used after the backup was made.
pub fn note_restored(tx: &mut Tx<'_>) -> Result<(), DbError> {
    Hub::set_meta(tx, RESTORED_AT, &tx.now_ms().to_string())
}

fn unreadable(error: DbError) -> RegistryError {
    RegistryError(vec![finding(&format!("the database cannot be read: {error}"))])
}

/// Loads the registry before anybody is served. One that is not valid keeps the hub from starting.
pub async fn begin(hub: &Hub) -> Result<(), RegistryError> {
    let config = hub.config();
    let Some(path) = config.registry.clone() else {
        if config.audience.is_some() {
            tracing::warn!("STOA_AUDIENCE is set but STOA_REGISTRY is not: this hub knows no machine principals");
        }
        return Ok(());
    };
    if config.audience.is_none() {
        let said = "STOA_AUDIENCE must say which component this hub is: svc-sense, svc-brain or svc-bell";
        return Err(RegistryError(vec![finding(said)]));
    }
    let memory = hub.memory::<Memory>();
    let restored_at = hub.read(|tx| Hub::meta(tx, RESTORED_AT)).await.map_err(unreadable)?;
    let restored_at = restored_at.and_then(|text| text.parse().ok()).unwrap_or(0);
    memory.restored_at.store(restored_at, Ordering::Relaxed);
    let mut watch = memory.watch.lock().await;
    match refresh(hub, &memory, &mut watch, &path, Cause::Start).await {
        Some(Err(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Why the files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Start,
    /// The time to look has come: nothing is done if they look as before.
    Look,
    /// Somebody asked for it.
    Asked,
}

/// Looks at the files from time to time, and writes down what was counted, until the hub stops.
pub async fn keep(hub: Hub) {
    let memory = hub.memory::<Memory>();
    loop {
        tokio::select! {
            () = hub.stopping() => break,
            () = hub.clock().sleep(LOOK_EVERY) => {}
        }
        if let Some(path) = &hub.config().registry {
            let look = async {
                let mut watch = memory.watch.lock().await;
                refresh(&hub, &memory, &mut watch, path, Cause::Look).await
            };
            tokio::select! {
                () = hub.stopping() => break,
                _ = look => {}
            }
        }
        tallies::flush(&hub).await;
    }
    tallies::flush(&hub).await;
}

/// Reads the files now, however they look. The error says everything that is wrong with them.
pub async fn reload(hub: &Hub) -> Result<(), HubError> {
    let Some(path) = &hub.config().registry else { return Err(unavailable()) };
    let memory = hub.memory::<Memory>();
    let mut watch = memory.watch.lock().await;
    match refresh(hub, &memory, &mut watch, path, Cause::Asked).await {
        Some(Err(error)) => Err(refusal(&error)),
        _ => Ok(()),
    }
}

/// The faults of files, for whoever asked for them to be read.
fn refusal(error: &RegistryError) -> HubError {
    let faults = error.0.iter().map(|finding| {
        let pointer = Some(finding.pointer.clone()).filter(|pointer| !pointer.is_empty());
        let place: Vec<String> = file_name(finding).into_iter().chain(pointer).collect();
        FieldError { field: place.join(": "), message: finding.message.clone() }
    });
    HubError::refused("registry_refused", "The registry is invalid.", faults.collect())
        .hint("The previous registry stays active.")
}

pub(super) fn unavailable() -> HubError {
    let detail = "This hub has no registry of machine principals.";
    HubError::new(ErrorKind::Unavailable, "registry_unavailable", detail)
        .hint("The operator can set STOA_REGISTRY and STOA_AUDIENCE.")
}

/// Reads the files, if there is reason to, and puts them into force if they are valid. None if there was no
/// reason, or nothing has changed.
async fn refresh(
    hub: &Hub,
    memory: &Memory,
    watch: &mut Watch,
    path: &Path,
    cause: Cause,
) -> Option<Result<(), RegistryError>> {
    let audience = hub.config().audience?;
    let (folder, seen) = (path.to_owned(), watch.seen.clone());
    // Files may lie on a disk that takes its time.
    let read = tokio::task::spawn_blocking(move || {
        let looks = looks(&folder);
        if cause == Cause::Look && seen.is_some() && seen == looks {
            return None;
        }
        Some((looks, files::load(&folder, audience)))
    });
    let (looks, loaded) = match tokio::time::timeout(READ_WITHIN, read).await {
        Ok(Ok(read)) => read?,
        // Our own mistake; a hub must not start without the registry that it was given.
        Ok(Err(error)) => (None, Err(vec![finding(&format!("the reading of the files failed: {error}"))])),
        Err(_) => (None, Err(vec![finding("the files could not be read within ten seconds")])),
    };
    watch.seen = looks.filter(|looks| is_settled(looks));
    // Whoever empties a folder, or takes it away, does not mean to shut everybody out.
    let is_emptied = |registry: &Registry| {
        registry.documents() == 0 && memory.loaded().is_some_and(|loaded| loaded.registry.documents() > 0)
    };
    let loaded = match loaded {
        Ok(registry) if is_emptied(&registry) => {
            let said = "the folder no longer has a document for this audience; to block everyone, add a document without principals";
            Err(vec![finding(said)])
        }
        loaded => loaded,
    };
    let outcome = match loaded {
        Ok(registry) => accept(hub, memory, registry).await,
        Err(faults) => refuse(hub, memory, faults, cause).await.map(Err),
    };
    if outcome.is_none() && cause == Cause::Asked { Some(Ok(())) } else { outcome }
}

async fn accept(hub: &Hub, memory: &Memory, registry: Registry) -> Option<Result<(), RegistryError>> {
    let was_refused = !std::mem::take(&mut *memory.faults.lock().unwrap_or_else(PoisonError::into_inner)).is_empty();
    hub.metrics().registry_faulty.set(0);
    if memory.loaded().is_some_and(|loaded| loaded.registry == registry) && !was_refused {
        return None;
    }
    let loaded = Arc::new(Loaded { registry, loaded_at: hub.clock().now() });
    *memory.loaded.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded.clone());
    hub.metrics().registry_reloads.with_label_values(&["loaded"]).inc();
    let view = view_of(hub, Some(&loaded), Vec::new());
    for warning in &view.warnings {
        tracing::warn!(warning, "a warning of the registry");
    }
    tracing::info!(
        audience = view.audience,
        principals = view.principals,
        usable_keys = view.usable_keys,
        "the registry was loaded"
    );
    let details = json!({
        "audience": view.audience, "principals": view.principals, "keys": view.keys,
        "usable_keys": view.usable_keys, "warnings": view.warning_count, "hub": hub.instance(),
    });
    // What the files say is in force all the same: a key that was revoked must not live on.
    if let Err(error) = note_loaded(hub, memory, &loaded, details).await {
        tracing::warn!(%error, "the loading of the registry could not be noted");
    }
    Some(Ok(()))
}

/// Makes an entry in the audit log, and rows for principals that have none yet.
async fn note_loaded(hub: &Hub, memory: &Memory, loaded: &Loaded, details: serde_json::Value) -> Result<(), HubError> {
    hub.write(move |tx| audit::record(tx, &Actor::system(), "registry.loaded", None, &details)).await?;
    let names = loaded.registry.principals().iter().map(|principal| principal.principal_id.clone());
    let unknown: Vec<String> = names.filter(|name| memory.known_id(name).is_none()).collect();
    for names in unknown.chunks(ROWS_AT_ONCE) {
        let names = names.to_vec();
        let ids = hub.write(move |tx| store::ensure_principals(tx, &names)).await?;
        memory.ids.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    }
    Ok(())
}

async fn refuse(hub: &Hub, memory: &Memory, findings: Vec<Finding>, cause: Cause) -> Option<RegistryError> {
    let faults: Vec<String> = findings.iter().map(shown).collect();
    let error = RegistryError(findings);
    if cause == Cause::Start {
        return Some(error);
    }
    let before = std::mem::replace(&mut *memory.faults.lock().unwrap_or_else(PoisonError::into_inner), faults.clone());
    if before == faults && cause == Cause::Look {
        return Some(error);
    }
    hub.metrics().registry_reloads.with_label_values(&["refused"]).inc();
    hub.metrics().registry_faulty.set(1);
    for fault in &faults {
        tracing::error!(fault, "the registry is invalid; the previous one stays active");
    }
    let details =
        json!({"faults": faults.iter().take(QUOTED).collect::<Vec<_>>(), "count": faults.len(), "hub": hub.instance()});
    let noted = hub.write(move |tx| audit::record(tx, &Actor::system(), "registry.refused", None, &details)).await;
    if let Err::<(), DbError>(error) = noted {
        tracing::warn!(%error, "the refusal of the registry could not be noted");
    }
    Some(error)
}

/// The row of a principal in the database. It is made when the registry is loaded, or later if the database
/// was away then.
pub(super) async fn principal_row(hub: &Hub, principal_id: &str) -> Result<PrincipalId, HubError> {
    let memory = hub.memory::<Memory>();
    if let Some(id) = memory.known_id(principal_id) {
        return Ok(id);
    }
    let names = vec![principal_id.to_owned()];
    let ids = hub.write(move |tx| store::ensure_principals(tx, &names)).await?;
    let id = ids.first().map(|(_, id)| *id).ok_or_else(|| HubError::internal("a machine principal has no row"))?;
    memory.ids.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
    Ok(id)
}

/// How the files look, and the folder they are in; none if they cannot be found.
fn looks(path: &Path) -> Option<Vec<Look>> {
    let mut paths = files::list(path).ok()?;
    paths.push(path.to_owned());
    Some(paths.into_iter().map(look).collect())
}

fn look(path: PathBuf) -> Look {
    // One that cannot be looked at is a fault, and one that stays the same.
    let Ok(found) = std::fs::metadata(&path) else { return Look { path, ..Look::default() } };
    Look {
        file: (found.dev(), found.ino()),
        mode: found.mode(),
        owner: found.uid(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
        path,
    }
}

/// Whether the next change of a file is sure to show. The system's clock is meant here: it is what files go by.
fn is_settled(looks: &[Look]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "compared with the times of files, which know no manual clock")]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let latest = looks.iter().map(|look| look.changed.0).max().unwrap_or(0);
    i64::try_from(now.as_secs()).unwrap_or(i64::MAX) - latest > i64::try_from(UNSETTLED.as_secs()).unwrap_or(2)
}

pub(super) fn view(hub: &Hub) -> RegistryView {
    let memory = hub.memory::<Memory>();
    let faults = memory.faults.lock().unwrap_or_else(PoisonError::into_inner).clone();
    view_of(hub, memory.loaded().as_deref(), faults)
}

fn view_of(hub: &Hub, loaded: Option<&Loaded>, faults: Vec<String>) -> RegistryView {
    let principals = loaded.map_or(&[][..], |loaded| loaded.registry.principals());
    let keys = || principals.iter().flat_map(|principal| principal.keys.iter().map(move |key| (principal, key)));
    let is_usable = |principal_id: &str, kid: &str| {
        loaded.is_some_and(|loaded| loaded.registry.usable_key(principal_id, kid).is_some())
    };
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let warnings = loaded.map_or(&[][..], |loaded| loaded.registry.warnings());
    RegistryView {
        configured: hub.config().registry.is_some(),
        audience: hub.config().audience.map(Audience::name).map(str::to_owned),
        loaded_at: loaded.map(|loaded| loaded.loaded_at),
        principals: count(principals.len()),
        keys: count(keys().count()),
        usable_keys: count(keys().filter(|(principal, key)| is_usable(&principal.principal_id, &key.kid)).count()),
        warnings: warnings.iter().take(SHOWN_WARNINGS).map(shown).collect(),
        warning_count: count(warnings.len()),
        faults,
    }
}
