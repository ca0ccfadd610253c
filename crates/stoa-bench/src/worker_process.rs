//! Another process of this program, which carries out orders. Each order is a line of JSON, and so is its answer.

use std::process::Stdio;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::report::json;

pub(super) struct WorkerProcess {
    command: &'static str,
    _process: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl WorkerProcess {
    /// Starts this program with a hidden command.
    pub(super) fn start(command: &'static str) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut process = Command::new(program)
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("`stoa-bench {command}` cannot be started: {error}"))?;
        let no_pipe = || format!("`stoa-bench {command}` has no pipe");
        let orders = process.stdin.take().ok_or_else(no_pipe)?;
        let answers = process.stdout.take().ok_or_else(no_pipe)?;
        Ok(Self { command, _process: process, orders, answers: BufReader::new(answers).lines() })
    }

    /// Sends an order and waits for the answer.
    pub(super) async fn carry_out<A: DeserializeOwned>(&mut self, order: &impl Serialize) -> Result<A, String> {
        let command = self.command;
        let failed = || format!("`stoa-bench {command}` failed");
        self.orders.write_all(json(order)?.as_bytes()).await.map_err(|_| failed())?;
        let line = self.answers.next_line().await.map_err(|error| error.to_string())?.ok_or_else(failed)?;
        serde_json::from_str(&line)
            .map_err(|error| format!("the answer of `stoa-bench {command}` is not valid: {error}"))
    }
}
