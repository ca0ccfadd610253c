//! A hub to measure: `stoa serve` as it is, in a process and a folder of its own.

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use stoa_registry::Audience;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::hub_program::HubProgram;
use super::progress::show_progress;

/// Admin connections that fill a hub at the same time, so that many agents share a commit.
const FILLERS: usize = 64;
/// Warnings of one hub that are shown, each once.
const MOST_WARNINGS: usize = 30;
/// Hubs on one database need one key. It guards nothing here.
const SHARED_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

pub(super) struct HubProcess {
    process: Child,
    pub(super) pid: u32,
    pub(super) address: SocketAddr,
    socket: PathBuf,
}

impl HubProcess {
    /// Starts a hub and waits until it serves.
    pub(super) async fn start(
        program: &HubProgram,
        folder: &Path,
        has_cache: bool,
        database_url: Option<&str>,
    ) -> Result<Self, String> {
        Self::launch(program, folder, has_cache, |command| {
            if let Some(url) = database_url {
                command.env("STOA_DATABASE_URL", url);
            }
        })
        .await
    }

    /// Starts one of several hubs on a PostgreSQL database.
    pub(super) async fn start_beside(program: &HubProgram, folder: &Path, database_url: &str) -> Result<Self, String> {
        Self::launch(program, folder, true, |command| {
            command.env("STOA_DATABASE_URL", database_url).env("STOA_KEY", SHARED_KEY);
        })
        .await
    }

    /// Starts a hub that lets in who is in the registry.
    pub(super) async fn start_with_registry(
        program: &HubProgram,
        folder: &Path,
        registry: &Path,
        audience: Audience,
    ) -> Result<Self, String> {
        Self::launch(program, folder, true, |command| {
            command.env("STOA_REGISTRY", registry).env("STOA_AUDIENCE", audience.name());
        })
        .await
    }

    /// Starts a hub that may call receivers of webhooks on this machine.
    pub(super) async fn start_calling_this_machine(program: &HubProgram, folder: &Path) -> Result<Self, String> {
        Self::launch(program, folder, true, |command| {
            command.env("STOA_ALLOW_HTTP_WEBHOOKS", "1").env("STOA_ALLOW_PRIVATE_NETWORKS", "127.0.0.0/8");
        })
        .await
    }

    /// Starts a hub that leaves its search index as it is.
    pub(super) async fn start_without_indexing(program: &HubProgram, folder: &Path) -> Result<Self, String> {
        Self::launch(program, folder, true, |command| {
            command.env("STOA_SEARCH_INDEXING", "false");
        })
        .await
    }

    /// Starts a hub with the limits that it has by itself, which gets at most so many bytes of memory for data. Only
    /// 127.0.0.1 is a trusted proxy, so that the other addresses of this machine count as different callers.
    pub(super) async fn start_limited(
        program: &HubProgram,
        folder: &Path,
        database_url: Option<&str>,
        data_bytes: u64,
    ) -> Result<Self, String> {
        let mut command = Command::new("prlimit");
        command.arg(format!("--data={data_bytes}")).arg("--").arg(program.path());
        let settings = ["--trusted-proxies", "127.0.0.1/32", "--log-level", "info"];
        Self::launch_command(command, program, folder, &settings, |command| {
            if let Some(url) = database_url {
                command.env("STOA_DATABASE_URL", url);
            }
        })
        .await
    }

    async fn launch(
        program: &HubProgram,
        folder: &Path,
        has_cache: bool,
        configure: impl FnOnce(&mut Command),
    ) -> Result<Self, String> {
        let cache = if has_cache { "true" } else { "false" };
        let settings = ["--rate-limit", "0", "--bcrypt-cost", "4", "--log-level", "warn,stoa::start=info"];
        let settings = [&settings[..], &["--auth-cache", cache]].concat();
        Self::launch_command(Command::new(program.path()), program, folder, &settings, configure).await
    }

    async fn launch_command(
        mut command: Command,
        program: &HubProgram,
        folder: &Path,
        settings: &[&str],
        configure: impl FnOnce(&mut Command),
    ) -> Result<Self, String> {
        let socket = folder.join("admin.sock");
        // What is set for the developer's own hub is not meant for this one.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("STOA_")) {
            command.env_remove(name);
        }
        configure(&mut command);
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(settings)
            .arg("--data")
            .arg(folder)
            .arg("--admin-socket")
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.path().display()))?;
        let log = process.stderr.take().ok_or("the hub has no log")?;
        let mut log = BufReader::new(log).lines();
        let address = address_in(&mut log).await?;
        // A full pipe would hold the hub up, and warnings may explain a figure.
        tokio::spawn(async move {
            // An attack causes the same warning thousands of times.
            let mut shown = HashSet::new();
            while let Ok(Some(line)) = log.next_line().await {
                if line.contains(r#""level":"INFO""#) {
                    continue;
                }
                let entry: Value = serde_json::from_str(&line).unwrap_or_default();
                let kind = if entry.is_null() { line.clone() } else { entry["message"].to_string() };
                if shown.len() < MOST_WARNINGS && shown.insert(kind) {
                    show_progress(&line);
                }
            }
        });
        let pid = process.id().ok_or("the hub has ended")?;
        Ok(Self { process, pid, address, socket })
    }

    /// Sends SIGTERM and waits until the hub has ended, for `limit` at most: then it is killed. None if it was.
    pub(super) async fn stop_within(mut self, limit: Duration) -> Result<Option<ExitStatus>, String> {
        if let Ok(Some(status)) = self.process.try_wait() {
            return Ok(Some(status));
        }
        self.terminate()?;
        match tokio::time::timeout(limit, self.process.wait()).await {
            Ok(status) => status.map(Some).map_err(|error| error.to_string()),
            Err(_) => {
                self.process.kill().await.map_err(|error| error.to_string())?;
                Ok(None)
            }
        }
    }

    fn terminate(&self) -> Result<(), String> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("the hub has no process id")?;
        kill_process(pid, Signal::TERM).map_err(|error| format!("the hub cannot be stopped: {error}"))
    }

    /// Asks the hub to stop and waits until it has.
    pub(super) async fn stop(mut self) -> Result<(), String> {
        self.terminate()?;
        self.process.wait().await.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// What the hub says about itself.
    pub(super) async fn info(&self) -> Result<Value, String> {
        Admin::connect(&self.socket).await?.call("db.info", json!({})).await
    }

    /// Calls a method of the admin socket.
    pub(super) async fn admin(&self, method: &str, params: Value) -> Result<Value, String> {
        Admin::connect(&self.socket).await?.call(method, params).await
    }

    /// How many commits there were, and how many commands in them.
    pub(super) async fn commits(&self) -> Result<Commits, String> {
        let mut stream = TcpStream::connect(self.address).await.map_err(|error| error.to_string())?;
        let request = format!("GET /metrics HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.map_err(|error| error.to_string())?;
        let metric = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.parse().ok()).ok_or_else(|| format!("the hub does not count {name}"))
        };
        Ok(Commits { commits: metric("stoa_commit_commands_count")?, commands: metric("stoa_commit_commands_sum")? })
    }

    /// Makes that many agents and returns their keys.
    pub(super) async fn fill(&self, agents: usize) -> Result<Vec<String>, String> {
        let next = Arc::new(AtomicUsize::new(0));
        let mut running = JoinSet::new();
        for _ in 0..FILLERS.min(agents) {
            let (next, mut admin) = (next.clone(), Admin::connect(&self.socket).await?);
            running.spawn(async move {
                let mut keys = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= agents {
                        return Ok::<_, String>(keys);
                    }
                    let agent = json!({"name": format!("bench-{number:06}")});
                    let created = admin.call("agents.create", json!({"owner": "admin", "agent": agent})).await?;
                    let key = created["key"].as_str().ok_or_else(|| format!("a new agent has no key: {created}"))?;
                    keys.push(key.to_owned());
                }
            });
        }
        let mut all = Vec::new();
        while let Some(ended) = running.join_next().await {
            all.extend(ended.map_err(|error| error.to_string())??);
        }
        Ok(all)
    }
}

/// A copy of a stopped hub's data.
pub(super) fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Reads the log up to the line that says where the hub listens.
async fn address_in(log: &mut Lines<impl AsyncBufReadExt + Unpin>) -> Result<SocketAddr, String> {
    let mut last = "it said nothing".to_owned();
    while let Some(line) = log.next_line().await.map_err(|error| error.to_string())? {
        let entry: Value = serde_json::from_str(&line).unwrap_or_default();
        let address = entry["address"].as_str().and_then(|address| address.strip_prefix("http://")?.parse().ok());
        if let Some(address) = address {
            return Ok(address);
        }
        last = line;
    }
    Err(format!("a hub did not start: {last}"))
}

#[derive(Clone, Copy)]
pub(super) struct Commits {
    commits: f64,
    commands: f64,
}

impl Commits {
    /// Commands in each commit since `before`.
    pub(super) fn commands_each_since(self, before: Commits) -> f64 {
        (self.commands - before.commands) / (self.commits - before.commits).max(1.0)
    }
}

/// A connection to a hub's admin socket.
struct Admin {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Admin {
    async fn connect(socket: &Path) -> Result<Self, String> {
        let stream = UnixStream::connect(socket).await;
        let stream = stream.map_err(|error| format!("{} cannot be opened: {error}", socket.display()))?;
        let (reader, writer) = stream.into_split();
        Ok(Self { lines: BufReader::new(reader).lines(), writer })
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).await.map_err(|error| error.to_string())?;
        let line = self.lines.next_line().await.map_err(|error| error.to_string())?;
        let mut answer: Value =
            serde_json::from_str(&line.unwrap_or_default()).map_err(|error| format!("{method}: {error}"))?;
        match answer.get("error") {
            Some(error) => Err(format!("{method}: {error}")),
            None => Ok(answer["result"].take()),
        }
    }
}
