//! Isolation: what the program of a run sees of the machine. It sees the folders of the system, which it cannot change, its own folders,
//! and no process but its own. Bubblewrap does it, without privileges.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stoa_supervisor::{Ended, Limits, Order, Supervised, Wrapper};

use super::{execution, folder};
use crate::config::{self, Isolation, Subprocesses};
use crate::hub::folders::{self, real};
use crate::hub::{Hub, StartError, pause};

/// Folders with programs and libraries.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/// What programs need of `/etc`. The rest may hold secrets: private keys of certificates are beside public ones.
const SETTINGS: [&str; 29] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "crypto-policies",
    "fonts",
    "gai.conf",
    "gitconfig",
    "group",
    "host.conf",
    "hostname",
    "hosts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];
const OPTIONS: [&str; 11] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    // The hub may be root.
    "--cap-drop",
    "ALL",
    "--hostname",
    "run",
];
/// Of `/proc`, what belongs to the machine. Its files obey root, even one without capabilities.
const MACHINE: [&str; 4] = ["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs"];
/// What a run can write into memory, in bytes: into its /tmp, and into memory that its processes share.
const MAX_TEMPORARY: &str = "268435456";
/// A folder that hides another one stays empty.
const NOTHING: &str = "4096";
/// How long the trial at the start may take.
const TRIAL: Duration = Duration::from_secs(10);

/// Whether this hub isolates its runs. It is found out once, at the start.
#[derive(Default)]
struct Found(OnceLock<Option<Arc<Sandbox>>>);

/// The surroundings of an isolated run.
#[derive(Debug)]
pub(super) struct Sandbox {
    program: PathBuf,
    /// What can be read: where it is, and where that really is.
    readable: Vec<(PathBuf, PathBuf)>,
    /// Folders of the hub. They may lie in one that can be read.
    hidden: Vec<PathBuf>,
}

/// What a command sees beside the system: the folders that it can write, and those that it can only read. They must exist.
#[derive(Debug, Default, Clone)]
pub(super) struct View<'a> {
    pub(super) writable: Vec<&'a Path>,
    pub(super) readable: Vec<&'a Path>,
}

impl<'a> View<'a> {
    pub(super) fn writing(writable: &[&'a Path]) -> Self {
        Self { writable: writable.to_vec(), readable: Vec::new() }
    }
}

/// None if runs are not isolated.
pub(super) fn sandbox(hub: &Hub) -> Option<Arc<Sandbox>> {
    hub.memory::<Found>().0.get().cloned().flatten()
}

/// Finds out whether isolation works here, and says so.
pub(super) async fn prepare(hub: &Hub) -> Result<(), StartError> {
    let found = match hub.config().runs.isolation {
        Isolation::None => Err("STOA_RUN_ISOLATION is none".to_owned()),
        Isolation::Auto | Isolation::Bubblewrap => try_out(hub).await,
    };
    match &found {
        Ok(_) => tracing::info!("runs are isolated with bubblewrap"),
        Err(why) if hub.config().runs.isolation == Isolation::Bubblewrap => {
            return Err(StartError::Other(format!("STOA_RUN_ISOLATION=bwrap does not work here: {why}")));
        }
        Err(why) if hub.config().runs.subprocesses == Subprocesses::Everyone => {
            let advice = "STOA_SUBPROCESS=everyone needs isolated runs. Install bubblewrap, or use admins";
            return Err(StartError::Other(format!("runs are not isolated: {why}. {advice}")));
        }
        Err(why) => {
            tracing::info!("runs are not isolated, so only its owner's side can start an agent's command: {why}")
        }
    }
    // Nobody else sets it.
    let _ = hub.memory::<Found>().0.set(found.ok().map(Arc::new));
    Ok(())
}

/// Runs something harmless in a sandbox, which must not find the data folder, and must not change the machine.
async fn try_out(hub: &Hub) -> Result<Sandbox, String> {
    let settings = &hub.config().runs;
    let path = format!("{}:{}", settings.path, config::RunSettings::default().path);
    let look_up = |name: &str| execution::look_up(name, &path).ok_or_else(|| format!("{name} is not installed"));
    let sandbox = Sandbox::new(hub, look_up("bwrap")?);
    let program = look_up("test")?;
    let root = folder::root(hub);
    folder::make_root(&root).map_err(|error| format!("{} cannot be used: {error}", root.display()))?;
    let data = folders::absolute(&hub.config().data);
    let inside = fs::read_dir(&data).ok().and_then(|mut entries| entries.next()?.ok()).map(|entry| entry.path());
    let sought = inside.unwrap_or(data).display().to_string();
    let order = Order {
        program,
        arguments: ["!", "-e", &sought, "-a", "!", "-w", "/proc/sys/kernel/core_pattern"].map(str::to_owned).to_vec(),
        environment: Default::default(),
        folder: root.clone(),
        input: None,
        wrapper: Some(sandbox.wrapper(&root, &View::writing(&[&root]))),
        limits: Limits::default(),
    };
    let mut supervised = Supervised::prepare(&settings.supervisor, &["supervise"], &Default::default())
        .map_err(|error| format!("the supervisor cannot be started: {error}"))?;
    supervised.start(&order).await.map_err(|error| format!("the supervisor does not listen: {error}"))?;
    let ended = tokio::select! {
        ended = supervised.ended() => ended,
        () = pause(TRIAL) => return Err("bubblewrap does not end".to_owned()),
    };
    match ended {
        Ended::Exited(0) => Ok(sandbox),
        _ => Err(match supervised.errors.take() {
            Some(errors) => first_line(errors).await,
            None => "bubblewrap fails".to_owned(),
        }),
    }
}

async fn first_line(errors: impl tokio::io::AsyncRead + Unpin) -> String {
    use tokio::io::AsyncReadExt;
    let mut text = Vec::new();
    // What can be read is read; an empty text has its own words.
    let _ = errors.take(1000).read_to_end(&mut text).await;
    let text = String::from_utf8_lossy(&text);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => line.trim().to_owned(),
        None => "bubblewrap fails, or shows too much".to_owned(),
    }
}

impl Sandbox {
    fn new(hub: &Hub, program: PathBuf) -> Self {
        let config = hub.config();
        let own = config.runs.path.split(':').filter(|folder| folder.starts_with('/')).map(PathBuf::from);
        let wanted = SYSTEM.iter().map(PathBuf::from).chain(own).chain(config.runs.readable.iter().cloned());
        let readable = wanted.filter(|path| path.exists()).map(|path| (path.clone(), real(&path))).collect();
        Self { program, readable, hidden: folders::own_folders(config) }
    }

    /// Whether a program can be seen in it.
    pub(super) fn shows(&self, program: &Path, view: &View<'_>) -> bool {
        let program = real(program);
        let is_readable = self.readable.iter().any(|(_, real)| program.starts_with(real));
        let is_hidden = self.hidden.iter().any(|hidden| program.starts_with(hidden));
        (is_readable && !is_hidden)
            || view.writable.iter().chain(&view.readable).any(|own| program.starts_with(real(own)))
    }

    /// Runs a command in a folder.
    pub(super) fn wrapper(&self, folder: &Path, view: &View<'_>) -> Wrapper {
        let text = |path: &Path| path.display().to_string();
        let mut arguments: Vec<String> = OPTIONS.iter().map(|option| (*option).to_owned()).collect();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
        for name in SETTINGS {
            let path = format!("/etc/{name}");
            add(&["--ro-bind-try", &path, &path]);
        }
        add(&["--dev", "/dev", "--size", MAX_TEMPORARY, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
        add(&["--proc", "/proc"]);
        for path in MACHINE {
            add(&["--ro-bind-try", path, path]);
        }
        add(&["--size", MAX_TEMPORARY, "--tmpfs", "/tmp"]);
        for (path, _) in &self.readable {
            add(&["--ro-bind", &text(path), &text(path)]);
        }
        for (path, real) in &self.readable {
            for hidden in self.hidden.iter().filter_map(|hidden| hidden.strip_prefix(real).ok()) {
                add(&["--size", NOTHING, "--tmpfs", &text(&path.join(hidden))]);
            }
        }
        for path in &view.writable {
            add(&["--bind", &text(path), &text(path)]);
        }
        // Some lie in those that can be written.
        for path in &view.readable {
            add(&["--ro-bind", &text(path), &text(path)]);
        }
        add(&["--remount-ro", "/", "--chdir", &text(folder), "--"]);
        Wrapper { program: self.program.clone(), arguments }
    }
}
