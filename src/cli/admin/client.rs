//! Finding the hub's admin socket and speaking JSON-RPC 2.0 on it, one object a line.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{admin_socket_candidates, shared_admin_socket};
use serde_json::{Value, json};

use super::Failure;

/// How long a socket that we happened to find may take to say which hub it is.
const IDENTIFY_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the hub is, as far as the operator said.
pub(super) struct HubLocation {
    /// Whether somebody said which folder, or it is the usual one.
    pub(super) is_data_named: bool,
    pub(super) socket: Option<PathBuf>,
    pub(super) data: PathBuf,
}

impl HubLocation {
    /// Whether the hub that serves that folder is the one to talk to. If nobody named a folder and there
    /// is none, there is nothing to tell hubs apart by, and the one that answers is it.
    fn is_meant(&self, data: &Path, served: &str) -> bool {
        match fs::canonicalize(data) {
            Ok(own) => own.to_string_lossy() == served,
            Err(error) => error.kind() == ErrorKind::NotFound && !self.is_data_named,
        }
    }

    /// Connects to the socket that was named, or else to the hub of the data folder.
    pub(super) fn connect(&self) -> Result<Client, Failure> {
        match self.socket.as_ref().filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => Client::open(path).map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied => denied(path),
                _ => Failure::NoHub(format!(
                    "no hub listens at {} ({error}); start one with `stoa serve --admin-socket {0}`",
                    path.display()
                )),
            }),
            None => self.discover(),
        }
    }

    fn discover(&self) -> Result<Client, Failure> {
        let data = std::path::absolute(&self.data)
            .map_err(|error| Failure::Other(format!("the data folder {} is no path: {error}", self.data.display())))?;
        let mut candidates = admin_socket_candidates(&data);
        // Root may look after everybody's hub. It is where the owner of the folder would look.
        if own_uid() == Some(0)
            && let Some(owner) = fs::metadata(&data).ok().map(|folder| folder.uid()).filter(|owner| *owner != 0)
        {
            candidates.push(shared_admin_socket(owner));
        }
        let mut refused = None;
        let mut others = Vec::new();
        for path in &candidates {
            if !is_trustworthy(path, &data) {
                continue;
            }
            let found = Client::open(path).and_then(|mut client| client.identify().map(|served| (client, served)));
            match found {
                Ok((client, served)) if self.is_meant(&data, &served) => return Ok(client),
                Ok((_, served)) => others.push(format!("the hub at {} serves {served}", path.display())),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => refused = Some(denied(path)),
                Err(_) => {}
            }
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        let looked_for: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        let mut message = format!(
            "no hub is running for the data folder {0} (looked for {1}); start one with `stoa serve --data {0}`, \
             or name its socket with --admin-socket",
            data.display(),
            looked_for.join(", "),
        );
        for other in others {
            message = format!("{message}; {other}");
        }
        Err(Failure::NoHub(message))
    }
}

/// Whether a socket can only be one of ours. In a shared place like /tmp anybody can lay one out and
/// wait for the passwords that we would send to it.
fn is_trustworthy(path: &Path, data: &Path) -> bool {
    let Some(folder) = path.parent().filter(|folder| *folder != data) else { return true };
    let Ok(found) = fs::symlink_metadata(folder) else { return false };
    let is_owners = own_uid() == Some(0) && fs::metadata(data).is_ok_and(|data| data.uid() == found.uid());
    found.is_dir() && found.mode() & 0o022 == 0 && (own_uid() == Some(found.uid()) || is_owners)
}

fn own_uid() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|process| process.uid())
}

fn denied(path: &Path) -> Failure {
    // The folder may be closed to us, but it says whose it is.
    let owner = fs::symlink_metadata(path)
        .or_else(|_| fs::symlink_metadata(path.parent().unwrap_or(Path::new("/"))))
        .map(|found| user_name(found.uid()))
        .map_or_else(|_| "another user".to_owned(), |name| format!("the user {name}"));
    Failure::NoHub(format!("the admin socket {} is for {owner} only; run this as that user", path.display()))
}

fn user_name(uid: u32) -> String {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| uid.to_string())
}

/// A connection to a hub.
pub(super) struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
    last_id: u64,
}

impl Client {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), stream: BufReader::new(UnixStream::connect(path)?), last_id: 0 })
    }

    /// The data folder of the hub that listens here.
    fn identify(&mut self) -> io::Result<String> {
        self.stream.get_ref().set_read_timeout(Some(IDENTIFY_TIMEOUT))?;
        let answer = self.exchange("hub.identify", &json!({}))?;
        self.stream.get_ref().set_read_timeout(None)?;
        let served = answer["result"]["data"].as_str();
        served
            .map(str::to_owned)
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "it does not say which hub it is"))
    }

    /// Waits for as long as the hub takes: some commands go over the whole database.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Value, Failure> {
        let mut answer = self.exchange(method, params).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => denied(&self.path),
            ErrorKind::InvalidData => {
                Failure::Other(format!("the process at {} is not a hub: {error}", self.path.display()))
            }
            _ => Failure::Other(format!(
                "the hub closed the connection before it responded ({error}); {method} may or may not have been carried out"
            )),
        })?;
        match answer["error"].take() {
            Value::Null => Ok(answer["result"].take()),
            error => Err(Failure::Hub(error)),
        }
    }

    fn exchange(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        self.last_id += 1;
        let mut request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}).to_string();
        request.push('\n');
        // A hub that finds the request too long says so and closes without reading it all.
        let written = self.stream.get_ref().write_all(request.as_bytes());
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => {
                let closed = io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection");
                return Err(self.hung_up(written.err().unwrap_or(closed)));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Err(self.hung_up(error)),
            Err(error) => return Err(error),
        }
        let answer: Value =
            serde_json::from_str(&line).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        // An answer without our id is about a request that could not be read at all.
        let is_ours = answer["id"] == self.last_id || (answer["id"].is_null() && answer["error"].is_object());
        if is_ours {
            Ok(answer)
        } else {
            Err(io::Error::new(ErrorKind::InvalidData, "the answer is to another question"))
        }
    }

    /// Why the connection ended without a word. A hub hangs up at once on users who are not its own.
    fn hung_up(&self, otherwise: io::Error) -> io::Error {
        let is_foreign =
            own_uid().is_some_and(|own| own != 0 && fs::metadata(&self.path).is_ok_and(|socket| socket.uid() != own));
        if is_foreign { io::Error::from(ErrorKind::PermissionDenied) } else { otherwise }
    }
}
