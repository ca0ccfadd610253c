//! Short commands that the hub itself needs around runs. They are isolated like a run, and end with the hub.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoa_model::RunId;
use stoa_supervisor::{Ended, Limits, Order, Supervised};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::begin::{self, MARK};
use super::isolation::{self, View};
use crate::hub::{Hub, Supervisors, pause};

/// What is read of standard error.
const MAX_ERRORS: u64 = 4096;

/// A command, and what it may use.
pub(super) struct Aside<'a> {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) folder: PathBuf,
    /// A file that becomes standard input.
    pub(super) input: Option<PathBuf>,
    pub(super) view: View<'a>,
    /// Bytes that are kept of the output. The rest is thrown away.
    pub(super) max_output: u64,
    pub(super) limit: Duration,
}

pub(super) struct Finished {
    pub(super) ended: Ended,
    pub(super) output: Vec<u8>,
    pub(super) errors: String,
}

/// Runs a command to its end. None of its processes is left then, also if this is dropped before.
pub(super) async fn run(hub: &Hub, aside: Aside<'_>) -> io::Result<Finished> {
    let limit = aside.limit;
    tokio::select! {
        biased;
        () = hub.stopping() => Err(io::Error::other("the hub stops")),
        finished = finish(hub, aside) => finished,
        () = pause(limit) => Err(io::Error::from(io::ErrorKind::TimedOut)),
    }
}

async fn finish(hub: &Hub, aside: Aside<'_>) -> io::Result<Finished> {
    let settings = &hub.config().runs;
    // No run has this id, so the mark is found after a crash and belongs to no run.
    let mark = (MARK.to_owned(), begin::mark_of(hub, RunId(0)));
    let mut environment = aside.environment;
    environment.extend([mark.clone()]);
    let order = Order {
        program: aside.program,
        arguments: aside.arguments,
        environment,
        wrapper: isolation::sandbox(hub).map(|sandbox| sandbox.wrapper(&aside.folder, &aside.view)),
        folder: aside.folder,
        input: aside.input,
        limits: Limits { file_bytes: settings.disk_mib.saturating_mul(1024 * 1024), ..Limits::default() },
    };
    let mut supervised = Supervised::prepare(&settings.supervisor, &["supervise"], &BTreeMap::from([mark]))?;
    let _noted = Noted::new(hub, supervised.id());
    supervised.start(&order).await?;
    let (output, errors) = (supervised.output.take(), supervised.errors.take());
    let (output, errors, ended) =
        tokio::join!(beginning_of(output, aside.max_output), beginning_of(errors, MAX_ERRORS), supervised.ended());
    Ok(Finished { ended, output, errors: String::from_utf8_lossy(&errors).into_owned() })
}

/// The first bytes of an output. All of it is read, because a full pipe would stop the program.
async fn beginning_of(stream: Option<impl AsyncRead + Unpin>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(mut stream) = stream else { return bytes };
    // What could be read before a fault is enough.
    let _ = (&mut stream).take(limit).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    bytes
}

/// The process that looks after a program: the hub must know its descendants, which may not use the admin socket.
struct Noted(Arc<Supervisors>, Option<u32>);

impl Noted {
    fn new(hub: &Hub, id: Option<u32>) -> Self {
        let supervisors = hub.memory::<Supervisors>();
        if let Some(id) = id {
            supervisors.add(id);
        }
        Self(supervisors, id)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(id) = self.1 {
            self.0.remove(id);
        }
    }
}
