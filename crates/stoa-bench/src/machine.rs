//! What is measured on, and the CPU time of a process.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

/// The thread that commits to SQLite, in the hub as in the bare writer.
pub(super) const WRITER_THREAD: &str = "stoa-db-write";

/// The facts without which figures cannot be compared.
#[derive(Serialize)]
pub(super) struct Machine {
    pub(super) stoa: &'static str,
    /// `release` or `debug`. Figures of a debug build say nothing.
    pub(super) build: &'static str,
    pub(super) cores: usize,
    pub(super) cpu: String,
    pub(super) kernel: String,
    /// Processes that wanted a core in the minute before: how much the machine is shared.
    pub(super) load_average: f64,
    pub(super) folder: String,
    pub(super) filesystem: String,
}

impl Machine {
    pub(super) fn with_folder(folder: &Path) -> Self {
        let system = rustix::system::uname();
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            stoa: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: model.map_or("unknown", |(_, name)| name).to_owned(),
            kernel: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            load_average: load.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0),
            folder: folder.display().to_string(),
            filesystem: filesystem(folder),
        }
    }

    pub(super) fn heading(&self, bench: &str, engine: &str) -> String {
        let Machine { build, cores, kernel, cpu, load_average, folder, filesystem, .. } = self;
        let mut heading = format!(
            "stoa-bench {bench}: {build} build, {cores} cores ({cpu}), {kernel}, load {load_average}, {engine}\n\
             in {folder} ({filesystem})\n"
        );
        if *build == "debug" {
            heading += "This is a debug build: only the shape of these figures means anything.\n";
        }
        if filesystem == "tmpfs" {
            heading += "This folder is in memory: commits cost nothing here. Choose a disk with --data.\n";
        }
        heading
    }
}

fn filesystem(folder: &Path) -> String {
    let Ok(found) = rustix::fs::statfs(folder) else { return "unknown".to_owned() };
    match u64::try_from(found.f_type).unwrap_or_default() {
        0x0102_1994 => "tmpfs".to_owned(),
        0xef53 => "ext4".to_owned(),
        0x5846_5342 => "xfs".to_owned(),
        0x9123_683e => "btrfs".to_owned(),
        0x2fc1_2fc1 => "zfs".to_owned(),
        0x794c_7630 => "overlayfs".to_owned(),
        other => format!("{other:#x}"),
    }
}

/// The memory of a process that is really there, in bytes.
pub(super) fn resident_bytes(pid: u32) -> Result<u64, String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| format!("the memory of process {pid} cannot be read"))
}

/// The CPU time that each thread of a process has had.
///
/// From the scheduler, in nanoseconds: the sum in `/proc/<pid>/stat` counts in hundredths of a
/// second. A thread that runs just now is a tick behind, so this is read when the process is idle.
pub(super) struct CpuTimes(HashMap<String, ThreadTime>);

struct ThreadTime {
    name: String,
    nanoseconds: u64,
}

impl CpuTimes {
    pub(super) fn of(pid: u32) -> Result<Self, String> {
        let folder = format!("/proc/{pid}/task");
        let unreadable = |error: std::io::Error| format!("the CPU time of process {pid} cannot be read: {error}");
        let mut threads = HashMap::new();
        for thread in fs::read_dir(&folder).map_err(unreadable)? {
            let thread = thread.map_err(unreadable)?;
            // A thread may end while we look; what it did before is lost, which is little.
            let Ok(times) = fs::read_to_string(thread.path().join("schedstat")) else { continue };
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            let nanoseconds = times.split(' ').next().and_then(|first| first.parse().ok());
            let nanoseconds = nanoseconds.ok_or_else(|| format!("{folder} has no CPU times: {times:?}"))?;
            let time = ThreadTime { name: name.trim_end().to_owned(), nanoseconds };
            threads.insert(thread.file_name().to_string_lossy().into_owned(), time);
        }
        Ok(Self(threads))
    }

    /// What all threads together had since `before`.
    pub(super) fn since(&self, before: &CpuTimes) -> Duration {
        self.since_by(before, |_| true)
    }

    /// What the threads of that name had since `before`.
    pub(super) fn since_of(&self, before: &CpuTimes, name: &str) -> Duration {
        self.since_by(before, |thread| thread == name)
    }

    fn since_by(&self, before: &CpuTimes, counts: impl Fn(&str) -> bool) -> Duration {
        let counted = self.0.iter().filter(|(_, thread)| counts(&thread.name));
        let nanoseconds = counted.map(|(id, thread)| {
            let earlier = before.0.get(id).map_or(0, |earlier| earlier.nanoseconds);
            thread.nanoseconds.saturating_sub(earlier)
        });
        Duration::from_nanos(nanoseconds.sum())
    }
}
