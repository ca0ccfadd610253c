//! The side that starts a supervisor and listens to it.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::processes::end_below;
use crate::{Obstacle, Order, Report, Wish};

/// Room for what a command printed and nobody has read yet. More needs a privilege on most systems.
const PIPE_BYTES: usize = 1024 * 1024;

/// How a command ended. In all cases but the last none of its processes is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    NotStarted(Obstacle),
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    TooManyProcesses,
    /// The supervisor was killed. Look for its processes with [`crate::end_marked`].
    Lost,
}

/// A command under way. All of its processes end when this is dropped.
pub struct Supervised {
    // Reaped by tokio, whether somebody waits for it or not.
    process: Child,
    reports: Lines<BufReader<OwnedReadHalf>>,
    wishes: OwnedWriteHalf,
    pub output: Option<ChildStdout>,
    pub errors: Option<ChildStderr>,
}

impl Supervised {
    /// Starts a supervisor, which is `program` with these arguments. It gets no environment but `marks`, by which its processes can be
    /// found, and waits for its order.
    pub fn prepare(program: &Path, arguments: &[&str], marks: &BTreeMap<String, String>) -> io::Result<Self> {
        let (own, other) = UnixStream::pair()?;
        let other = other.into_std()?;
        // The supervisor reads it as an ordinary program does.
        other.set_nonblocking(false)?;
        let mut process = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(marks)
            .stdin(Stdio::from(OwnedFd::from(other)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (read, wishes) = own.into_split();
        let (output, errors) = (process.stdout.take(), process.stderr.take());
        if let Some(output) = &output {
            // Some programs end without waiting until all they printed was taken from the pipe. It is theirs to lose then, so there is room
            // for much of it. Where the system allows less, it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(output, PIPE_BYTES);
        }
        Ok(Self { process, reports: BufReader::new(read).lines(), wishes, output, errors })
    }

    /// Has the supervisor start its command. Does not wait until it runs: a command can stop its supervisor before that is reported.
    pub async fn start(&mut self, order: &Order) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.wishes.write_all(&line).await
    }

    /// The process id of the supervisor.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Asks all processes to end, with SIGTERM.
    pub async fn stop(&mut self) {
        self.wish(Wish::Stop).await;
    }

    /// Ends all processes, with SIGKILL.
    pub async fn kill(&mut self) {
        self.wish(Wish::Kill).await;
    }

    /// Ends all processes without the supervisor's help, and the supervisor itself: it does not answer, because somebody has stopped it.
    pub async fn destroy(&mut self) {
        if let Some(id) = self.process.id().and_then(|id| i32::try_from(id).ok()) {
            end_below(id);
        }
        // It cannot be killed only if it has ended.
        let _ = self.process.kill().await;
    }

    /// Waits until the command has ended and no process of it is left. Cancel safe.
    pub async fn ended(&mut self) -> Ended {
        match self.next_report().await {
            Some(Report::NotStarted(obstacle)) => Ended::NotStarted(obstacle),
            Some(Report::Ended { had_too_many_processes: true, .. }) => Ended::TooManyProcesses,
            Some(Report::Ended { code: Some(code), .. }) => Ended::Exited(code),
            Some(Report::Ended { signal: Some(signal), .. }) => Ended::Signalled(signal),
            Some(Report::Ended { .. }) | None => Ended::Lost,
        }
    }

    async fn next_report(&mut self) -> Option<Report> {
        let line = self.reports.next_line().await.ok().flatten()?;
        serde_json::from_str(&line).ok()
    }

    async fn wish(&mut self, wish: Wish) {
        let mut line = serde_json::to_vec(&wish).unwrap_or_default();
        line.push(b'\n');
        // A supervisor that has ended needs no wishes. `ended` reports it.
        let _ = self.wishes.write_all(&line).await;
    }
}
