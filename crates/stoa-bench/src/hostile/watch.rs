//! What the hub uses while it is attacked: memory and CPU time, looked at many times a second.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::real_time::pause;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Linux counts CPU time in hundredths of a second for every program.
const TICKS_PER_SECOND: f64 = 100.0;

/// What a process uses at one moment.
#[derive(Clone, Copy)]
pub(super) struct Usage {
    pub(super) resident_bytes: u64,
    /// What `prlimit --data` limits.
    pub(super) data_bytes: u64,
    pub(super) cpu_seconds: f64,
}

impl Usage {
    /// None if the process has ended.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
        };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program may have spaces in it; the fields begin after its bracket.
        let (_, fields) = stat.rsplit_once(") ")?;
        let ticks: Vec<u64> = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
        Some(Self {
            // A process that has ended and was not waited for has no memory.
            resident_bytes: bytes("VmRSS:")?,
            data_bytes: bytes("VmData:")?,
            cpu_seconds: ticks.iter().sum::<u64>() as f64 / TICKS_PER_SECOND,
        })
    }
}

impl Usage {
    fn raise(&mut self, now: Usage) {
        self.resident_bytes = self.resident_bytes.max(now.resident_bytes);
        self.data_bytes = self.data_bytes.max(now.data_bytes);
        self.cpu_seconds = now.cpu_seconds;
    }
}

/// The most that a process had of each since the watch began.
pub(super) struct Watch {
    pid: u32,
    before: Usage,
    most: Arc<Mutex<Usage>>,
    looking: JoinHandle<()>,
}

impl Watch {
    pub(super) fn begin(pid: u32) -> Result<Self, String> {
        let before = Usage::of(pid).ok_or("the hub has ended before the attack")?;
        let most = Arc::new(Mutex::new(before));
        let shared = most.clone();
        let looking = tokio::spawn(async move {
            while let Some(now) = Usage::of(pid) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).raise(now);
                pause(LOOK_EVERY).await;
            }
        });
        Ok(Self { pid, before, most, looking })
    }

    pub(super) fn is_alive(&self) -> bool {
        !self.looking.is_finished()
    }

    pub(super) fn before(&self) -> Usage {
        self.before
    }

    pub(super) fn most(&self) -> Usage {
        *self.most.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None if the process has ended.
    pub(super) fn now(&self) -> Option<Usage> {
        Usage::of(self.pid)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

/// The bytes of all files in a folder.
pub(super) fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.filter_map(Result::ok).map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
