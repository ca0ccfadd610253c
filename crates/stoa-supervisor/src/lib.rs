//! Starts a command so that none of its processes outlives it, or the program that started it.
//!
//! A command runs below a supervisor: a small process that adopts every orphan among the command's descendants. When the
//! command ends, the supervisor ends what the command left behind. When the program that started it ends, even by SIGKILL,
//! the socket between the two closes, and the supervisor ends everything. Process groups alone do not achieve this:
//! a process leaves its group with `setsid`.
//!
//! The program itself is the supervisor: it calls [`supervise`] in a subcommand of its own, and starts that with
//! [`Supervised::prepare`].

mod client;
mod processes;
mod supervisor;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use client::{Ended, Supervised};
pub use processes::{descends_from, end_marked, is_alive, own_identity};
pub use supervisor::supervise;

/// A command, and what it may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// An absolute path.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// The whole environment. Nothing is inherited.
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
    /// A file that becomes standard input.
    pub input: Option<PathBuf>,
    /// A program that runs the command in surroundings of its own.
    pub wrapper: Option<Wrapper>,
    pub limits: Limits,
}

/// A program that is given its own arguments, then the command and its arguments. It runs the command below a process of its own, and ends
/// when the command does, with its exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapper {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub open_files: u64,
    /// The largest file that a process can write.
    pub file_bytes: u64,
    /// All processes of the command together. More end it.
    pub processes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open_files: 1024, file_bytes: 1024 * 1024 * 1024, processes: 256 }
    }
}

/// What the supervisor is asked for after the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wish {
    /// SIGTERM for all processes.
    Stop,
    /// SIGKILL for all processes.
    Kill,
}

/// Why a command was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    NotFound,
    NotExecutable,
    Other,
}

/// What the supervisor reports, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Report {
    NotStarted(Obstacle),
    /// The command has ended, and none of its processes is left.
    Ended {
        code: Option<i32>,
        signal: Option<i32>,
        had_too_many_processes: bool,
    },
}
