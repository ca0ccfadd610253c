//! The admin socket: JSON-RPC 2.0, one object a line, for whoever runs this hub.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stoa_model::handles::nearest;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use uuid::Uuid;

use crate::access::{Actor, Call};
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub, Supervisors, pause};
use crate::json::{Banned, RESERVED_SAID, has_nul, refuse_banned};

const MAX_REQUEST_BYTES: u64 = 2 * 1024 * 1024;
/// How often a hub tries to lock a folder that another one has locked to lay out its socket, which takes no time.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

type Handler = Box<dyn Fn(Hub, Actor, Value) -> BoxFuture<'static, Result<Value, HubError>> + Send + Sync>;

/// The methods that features offer.
#[derive(Default)]
pub struct Methods(BTreeMap<&'static str, Handler>);

impl Methods {
    /// Adds a method whose parameters are an object that becomes `P`.
    pub fn add<P, R, F, A>(&mut self, name: &'static str, method: F)
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(Hub, Actor, P) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, HubError>> + Send + 'static,
    {
        let handler = move |hub: Hub, actor: Actor, params: Value| -> BoxFuture<'static, Result<Value, HubError>> {
            if has_nul(&params) {
                let error = HubError::invalid_field("", "must not contain NUL characters");
                return Box::pin(async move { Err(error) });
            }
            let params = serde_path_to_error::deserialize(params).map_err(|error| {
                HubError::invalid_field(&error.path().to_string(), format!("is invalid: {}", error.inner()))
            });
            match params.map(|params| method(hub, actor, params)) {
                Ok(running) => {
                    Box::pin(async move { serde_json::to_value(running.await?).map_err(HubError::internal) })
                }
                Err(error) => Box::pin(async move { Err(error) }),
            }
        };
        self.0.insert(name, Box::new(handler));
    }
}

/// An open socket and the file that stands for it.
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// To be locked before the file is removed; none for the data folder, which this hub has locked.
    shared_folder: Option<PathBuf>,
    /// Device and number of the file, to know it again.
    file: (u64, u64),
}

impl Socket {
    /// Takes the file away, unless somebody has put another one in its place.
    fn remove(&self) {
        let Ok(_locked) = self.shared_folder.as_deref().map(lock).transpose() else { return };
        if fs::symlink_metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the socket so that only this user can use it.
pub(crate) fn bind(path: &Path, data: &Path) -> io::Result<Socket> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.exists() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // In a shared place like /tmp somebody could have put a folder or a link there before us.
    if folder != data {
        let found = fs::symlink_metadata(folder)?;
        let own = fs::metadata("/proc/self")?.uid();
        if !found.is_dir() || found.uid() != own || found.mode() & 0o022 != 0 {
            let reason = format!("{} is not a folder that only this user can write to", folder.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
    }
    let shared_folder = (!is_same(folder, data)?).then(|| folder.to_owned());
    let _locked = shared_folder.as_deref().map(lock).transpose()?;
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {
            if std::os::unix::net::UnixStream::connect(path).is_ok() {
                return Err(io::Error::new(io::ErrorKind::AddrInUse, "another hub listens there"));
            }
            fs::remove_file(path)?;
        }
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something that is not a socket")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let file = fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))?;
    Ok(Socket { listener, path: path.to_owned(), shared_folder, file })
}

/// Whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (fs::metadata(one)?, fs::metadata(other)?);
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Between looking for a socket and laying out our own, another hub could do the same and one of
/// the two would lose its socket. So one at a time; the lock goes with the file.
///
/// A hub keeps its data folder locked while it runs, so a socket in the data folder of another hub is refused.
fn lock(folder: &Path) -> io::Result<fs::File> {
    let file = fs::File::open(folder)?;
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, format!("{} is in use by another hub", folder.display())))
}

/// Answers on the socket until the hub stops.
pub(crate) async fn serve(hub: Hub, socket: Socket, mut methods: Methods) {
    methods.add("hub.identify", identify);
    let methods = Arc::new(methods);
    let own = fs::metadata(&socket.path).map(|found| found.uid()).unwrap_or(u32::MAX);
    loop {
        let accepted = tokio::select! {
            accepted = socket.listener.accept() => accepted,
            () = hub.stopping() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, for one; they come back with time.
            pause(Duration::from_millis(20)).await;
            continue;
        };
        // The file's mode keeps others out already; this holds even if somebody changes it.
        let peer = stream.peer_cred().map(|credentials| credentials.uid());
        if !peer.as_ref().is_ok_and(|uid| *uid == own || *uid == 0) {
            tracing::warn!(?peer, "the admin socket refused another user");
            continue;
        }
        // A program that the hub runs for somebody is this user, too, and no operator.
        let pid = stream.peer_cred().ok().and_then(|credentials| credentials.pid());
        if pid.is_some_and(|pid| u32::try_from(pid).is_ok_and(|pid| hub.memory::<Supervisors>().own(pid))) {
            tracing::warn!(pid, "the admin socket refused a program of a run");
            continue;
        }
        let (hub, methods) = (hub.clone(), methods.clone());
        tokio::spawn(async move {
            let stopping = hub.clone();
            tokio::select! {
                _ = converse(&hub, &methods, stream) => {}
                () = stopping.stopping() => {}
            }
        });
    }
    socket.remove();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}

/// Says which hub this is: in a container several may look for each other at the same place.
async fn identify(hub: Hub, _: Actor, _: NoParams) -> Result<Value, HubError> {
    let data = &hub.config().data;
    // Whoever asks compares paths, and may have come by a link.
    let data = fs::canonicalize(data).unwrap_or_else(|_| data.clone());
    let data = data.to_string_lossy();
    Ok(json!({"version": env!("CARGO_PKG_VERSION"), "data": data, "pid": std::process::id()}))
}

async fn converse(hub: &Hub, methods: &Methods, stream: UnixStream) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let read = (&mut reader).take(MAX_REQUEST_BYTES + 1).read_until(b'\n', &mut line).await?;
        if read == 0 {
            return Ok(());
        }
        let answer = if line.len() as u64 > MAX_REQUEST_BYTES {
            Some(failure(&Value::Null, json!({"code": -32600, "message": "The request is too long."})))
        } else {
            answer_line(hub, methods, &line).await
        };
        if let Some(answer) = answer {
            let mut text = answer.to_string();
            text.push('\n');
            writer.write_all(text.as_bytes()).await?;
        }
        if line.last() != Some(&b'\n') {
            return Ok(());
        }
    }
}

async fn answer_line(hub: &Hub, methods: &Methods, line: &[u8]) -> Option<Value> {
    // NUL is refused where it is known which request has it.
    if let Err(Banned(RESERVED_SAID)) = refuse_banned(line) {
        let message = format!("The request {RESERVED_SAID}.");
        return Some(failure(&Value::Null, json!({"code": -32600, "message": message})));
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(requests)) if !requests.is_empty() => {
            let mut answers = Vec::new();
            for request in requests {
                answers.extend(answer_request(hub, methods, request).await);
            }
            (!answers.is_empty()).then_some(Value::Array(answers))
        }
        Ok(request) => answer_request(hub, methods, request).await,
        Err(error) => {
            let message = format!("The request is not JSON: {error}.");
            Some(failure(&Value::Null, json!({"code": -32700, "message": message})))
        }
    }
}

/// None for a notification, which wants no answer.
async fn answer_request(hub: &Hub, methods: &Methods, mut request: Value) -> Option<Value> {
    let id = request.get("id").cloned();
    let answer_id = id.clone().unwrap_or(Value::Null);
    let is_valid = request["jsonrpc"] == "2.0" && request["method"].is_string();
    if !is_valid || !matches!(answer_id, Value::Null | Value::String(_) | Value::Number(_)) {
        let message = "This is not a JSON-RPC 2.0 request.";
        return Some(failure(&Value::Null, json!({"code": -32600, "message": message})));
    }
    let name = request["method"].as_str().unwrap_or_default();
    let Some(handler) = methods.0.get(name) else {
        let near = nearest(name, methods.0.keys().copied());
        let mut data = json!({"code": "not_found"});
        if !near.is_empty() {
            data["hint"] = json!(format!("Did you mean {}?", near.join(", ")));
        }
        let error = json!({"code": -32601, "message": format!("Unknown method {name}."), "data": data});
        return id.map(|id| failure(&id, error));
    };
    let params = match request["params"].take() {
        Value::Null => json!({}),
        params => params,
    };
    let request_id = Uuid::now_v7().to_string();
    let actor = Actor::operator(Arc::new(Call { request_id: request_id.clone(), ..Call::default() }));
    let outcome = handler(hub.clone(), actor, params).await;
    let id = id?;
    Some(match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => {
            if error.cause.is_some() {
                tracing::error!(request_id, %error, "an admin request failed");
            }
            failure(&id, error.to_json_rpc(&request_id))
        }
    })
}

fn failure(id: &Value, error: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}
