//! From standard input to the hub and back, everything at the same time.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{AbortHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::exchange::Hub;
use super::lines::{Line, Lines};
use super::message::{Id, Message, NoMessage, error_line};

/// As much as the hub takes.
const MAX_LINE_BYTES: usize = 70 << 20;
/// Each is a connection, of which a process has not many more.
const MAX_RUNNING: usize = 200;
/// How long what is under way may take after the end of the input. No call takes longer than this.
const TIME_TO_FINISH: Duration = Duration::from_secs(60);
const TIME_TO_WRITE: Duration = Duration::from_secs(5);

/// Carries messages until the input ends, nobody reads the output any more, or a signal comes.
pub(super) async fn run(make_hub: impl FnOnce(Sender<String>) -> Hub) -> Result<(), String> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    // Neither can be waited for but by a thread of its own.
    let (input, messages) = mpsc::channel(1);
    spawn_blocking(move || read(&input));
    let (output, lines) = mpsc::channel(16);
    let mut writing = spawn_blocking(move || write(lines));
    let mut bridge = Bridge { hub: Arc::new(make_hub(output)), tasks: JoinSet::new(), running: HashMap::new() };
    let outcome = tokio::select! {
        outcome = bridge.carry_all(messages) => outcome,
        // The client has gone, and its last word was to stop reading.
        _ = &mut writing => return Ok(()),
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    bridge.tasks.shutdown().await;
    // With its last sender gone, the writer finishes.
    drop(bridge);
    let _ = timeout(TIME_TO_WRITE, writing).await;
    outcome
}

/// Reads until the end of the input, or until nobody wants to know.
fn read(input: &Sender<io::Result<Line>>) {
    let mut lines = Lines::new(BufReader::with_capacity(64 * 1024, io::stdin().lock()), MAX_LINE_BYTES);
    while let Some(line) = lines.next().transpose() {
        let is_last = line.is_err();
        if input.blocking_send(line).is_err() || is_last {
            return;
        }
    }
}

/// Writes until there is nothing more to write, or nobody who reads it.
fn write(mut lines: Receiver<String>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        output.write_all(line.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

struct Bridge {
    hub: Arc<Hub>,
    tasks: JoinSet<()>,
    running: HashMap<Id, Running>,
}

struct Running {
    task: AbortHandle,
    /// Only the client can end it, so it ends with the input.
    is_endless: bool,
}

impl Bridge {
    async fn carry_all(&mut self, mut messages: Receiver<io::Result<Line>>) -> Result<(), String> {
        loop {
            tokio::select! {
                line = messages.recv() => match line {
                    Some(line) => {
                        let line = line.map_err(|error| format!("standard input cannot be read: {error}"))?;
                        self.take(line).await;
                    }
                    None => break,
                },
                Some(_) = self.tasks.join_next() => self.forget_finished(),
            }
        }
        for running in self.running.values().filter(|running| running.is_endless) {
            running.task.abort();
        }
        let finishing = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(TIME_TO_FINISH, finishing).await.is_err() {
            tracing::warn!("the input has ended; pending requests are cancelled");
        }
        Ok(())
    }

    async fn take(&mut self, line: Line) {
        let message = match line {
            Line::Whole(line) => Message::parse(line),
            Line::TooLong => {
                let said = format!("The message is longer than {} MiB.", MAX_LINE_BYTES >> 20);
                Err(NoMessage::invalid(None, &said))
            }
        };
        match message {
            // Who cancels makes room.
            Ok(message) if self.tasks.len() < MAX_RUNNING || message.cancelled().is_some() => self.start(message),
            Ok(message) => {
                let said = format!("{MAX_RUNNING} messages are pending. Wait for responses before you send more.");
                let error = json!({"code": -32000, "message": said, "data": {"code": "too_many"}});
                tracing::warn!("{said}");
                if message.id.is_some() {
                    self.hub.say(error_line(message.id.as_ref(), &error)).await;
                }
            }
            Err(NoMessage { id, code, said }) => {
                tracing::warn!("{said}");
                self.hub.say(error_line(id.as_ref(), &json!({"code": code, "message": said}))).await;
            }
        }
    }

    fn start(&mut self, message: Message) {
        // Whoever cancels wants no answer. The hub notices that nobody listens, and hears of it besides.
        if let Some(running) = message.cancelled().and_then(|id| self.running.remove(&id)) {
            running.task.abort();
        }
        let id = message.id.clone();
        let is_endless = message.method == "subscriptions/listen";
        let hub = Arc::clone(&self.hub);
        let task = self.tasks.spawn(async move { hub.carry(&message).await });
        if let Some(id) = id {
            self.running.insert(id, Running { task, is_endless });
        }
    }

    fn forget_finished(&mut self) {
        self.running.retain(|_, running| !running.task.is_finished());
    }
}
