//! One message to the hub, and what comes back for it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use axum::http::{HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;
use stoa_outbound::{Client, Request, Streamed, StreamedBody};
use tokio::sync::mpsc::Sender;
use tokio::time::Instant;

use super::event_stream::EventStream;
use super::fault::{Fault, Repeat};
use super::headers;
use super::message::{Message, ServerMessage, ServerMessageKind, error_line};
use super::tools::Tools;

/// The hub lets nobody wait for longer than 50 seconds, and streams say something every few.
const SILENCE: Duration = Duration::from_secs(120);
/// The longest answers have files in them.
const MAX_ANSWER_BYTES: usize = 128 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(3);
/// A hub that says that it failed is asked so many times more.
const MAX_REPEATS_OF_FAILURE: u32 = 2;

/// The hub, as the bridge knows it.
pub(super) struct Hub {
    client: Client,
    url: String,
    key: HeaderValue,
    patience: Duration,
    clock: Clock,
    output: Sender<String>,
    learned: Mutex<Learned>,
}

/// What went by and is needed for later messages.
#[derive(Default)]
struct Learned {
    /// The revision that `initialize` agreed on.
    version: Option<String>,
    tools: Tools,
}

#[derive(Deserialize)]
struct Initialized {
    #[serde(rename = "protocolVersion")]
    version: String,
}

/// How an attempt ended that did not answer.
struct Failed {
    fault: Fault,
    /// The hub had begun to answer.
    was_heard: bool,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self { fault, was_heard: false }
    }
}

impl Hub {
    pub(super) fn new(
        client: Client,
        url: String,
        key: HeaderValue,
        patience: Duration,
        output: Sender<String>,
    ) -> Self {
        Self { client, url, key, patience, clock: Clock::system(), output, learned: Mutex::default() }
    }

    /// Brings a message to the hub and its answers to the client. A hub that is not there is waited for, but nothing is said
    /// to it twice that could be done twice.
    pub(super) async fn carry(&self, message: &Message) {
        let (mut pause, mut failures) = (FIRST_PAUSE, 0);
        let mut since: Option<Instant> = None;
        loop {
            let Err(Failed { fault, was_heard }) = Box::pin(self.attempt(message)).await else { return };
            // A stream that lasted for hours was not an attempt of hours.
            since = since.filter(|_| !was_heard);
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            let may_repeat = match fault.repeat {
                Repeat::Never => false,
                Repeat::Always => true,
                Repeat::IfHarmless => self.is_harmless(message),
                Repeat::IfHarmlessAndNotOften => {
                    failures += 1;
                    failures <= MAX_REPEATS_OF_FAILURE && self.is_harmless(message)
                }
            };
            if !may_repeat || waited + pause > self.patience {
                let fault = if self.is_harmless(message) { fault } else { fault.with_doubt() };
                return self.give_up(message, &fault).await;
            }
            tracing::info!(method = message.method, "{} Retrying.", fault.said);
            self.clock.sleep(pause).await;
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }

    async fn give_up(&self, message: &Message, fault: &Fault) {
        tracing::warn!(method = message.method, "{}", fault.said);
        if message.id.is_some() {
            self.say(error_line(message.id.as_ref(), &fault.to_error())).await;
        }
    }

    /// Whether it does no harm if the hub does this twice.
    fn is_harmless(&self, message: &Message) -> bool {
        match message.method.as_str() {
            "tools/call" => {
                let name = message.subject().unwrap_or_default();
                let only_reads = self.learned().tools.get(&name).is_some_and(|tool| tool.only_reads);
                // The hub does what has this key once, however often it is asked to.
                only_reads || message.arguments().get("idempotency_key").is_some_and(Value::is_string)
            }
            "initialize"
            | "ping"
            | "server/discover"
            | "completion/complete"
            | "prompts/get"
            | "logging/setLevel"
            | "subscriptions/listen" => true,
            method => method.starts_with("resources/") || method.ends_with("/list") || message.id.is_none(),
        }
    }

    fn request(&self, message: &Message) -> Request {
        let json = HeaderValue::from_static("application/json");
        let both = HeaderValue::from_static("application/json, text/event-stream");
        let request = Request::post(self.url.clone(), message.text.clone())
            .header(header::AUTHORIZATION, self.key.clone())
            .header(header::CONTENT_TYPE, json)
            .header(header::ACCEPT, both);
        let learned = self.learned();
        let tool = if message.method == "tools/call" { message.subject() } else { None };
        let tool = tool.and_then(|name| learned.tools.get(&name));
        let headers = headers::of_message(message, learned.version.as_deref(), tool);
        headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    async fn attempt(&self, message: &Message) -> Result<(), Failed> {
        let opened = self.client.open(self.request(message), SILENCE).await;
        let answer = opened.map_err(|error| Fault::of_call(&self.url, &error))?;
        let kind = answer.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if answer.status == StatusCode::OK && kind.starts_with("text/event-stream") {
            return self.follow(message, answer.body).await.map_err(|fault| Failed { fault, was_heard: true });
        }
        Ok(self.take_whole(message, answer).await?)
    }

    /// Passes on what a stream says, until it has said the answer.
    async fn follow(&self, message: &Message, mut body: StreamedBody) -> Result<(), Fault> {
        let mut events = EventStream::new(MAX_ANSWER_BYTES);
        while let Some(piece) = body.next().await.map_err(|error| Fault::of_call(&self.url, &error))? {
            let data = events.push(&piece).map_err(|_| Fault::too_long(&self.url, MAX_ANSWER_BYTES))?;
            for data in data {
                match ServerMessage::parse(&data) {
                    Some(said) if self.pass_on(message, &said).await => return Ok(()),
                    Some(_) => {}
                    None => tracing::warn!("the hub sent an event that is not a message"),
                }
            }
        }
        // A stream without a request may end without an answer.
        if message.id.is_some() { Err(Fault::cut_short(&self.url)) } else { Ok(()) }
    }

    async fn take_whole(&self, message: &Message, mut answer: Streamed) -> Result<(), Fault> {
        let mut body = Vec::new();
        while let Some(piece) = answer.body.next().await.map_err(|error| Fault::of_call(&self.url, &error))? {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(Fault::too_long(&self.url, MAX_ANSWER_BYTES));
            }
            body.extend_from_slice(&piece);
        }
        // A refusal of the protocol is an answer, whatever status it comes with.
        if let Some(said) = ServerMessage::parse(&body)
            && (self.pass_on(message, &said).await || message.id.is_none())
        {
            return Ok(());
        }
        match answer.status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT if message.id.is_none() => Ok(()),
            status if status.is_success() => Err(Fault::no_answer(&self.url)),
            status => Err(Fault::of_status(&self.url, status, &answer.headers, &body)),
        }
    }

    /// Gives the client what the hub said. Says whether it was the answer to the message.
    async fn pass_on(&self, message: &Message, said: &ServerMessage<'_>) -> bool {
        let line = match (&said.kind, &message.id) {
            (ServerMessageKind::News, _) => {
                self.say(said.to_line()).await;
                return false;
            }
            (ServerMessageKind::Result { id, result }, Some(_)) if *id == message.id => {
                self.learn(message, result);
                said.to_line()
            }
            (ServerMessageKind::Error { id, .. }, Some(_)) if *id == message.id => said.to_line(),
            // The hub refused before it had read whose it is; the bridge knows.
            (ServerMessageKind::Error { id: None, error }, Some(id)) => {
                error_line(Some(id), &serde_json::from_str(error).unwrap_or_default())
            }
            (ServerMessageKind::Error { error, .. }, None) => {
                tracing::warn!(method = message.method, error, "the hub refused a message");
                return false;
            }
            _ => {
                tracing::warn!(method = message.method, "the hub answered something else");
                return false;
            }
        };
        self.say(line).await;
        true
    }

    fn learn(&self, message: &Message, result: &str) {
        match message.method.as_str() {
            "initialize" => {
                self.learned().version = serde_json::from_str::<Initialized>(result).ok().map(|result| result.version);
            }
            "tools/list" => self.learned().tools.learn(result),
            _ => {}
        }
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn say(&self, line: String) {
        // Without anybody to read it, the bridge ends; see `bridge::run`.
        let _ = self.output.send(line).await;
    }
}
