//! Clients of an event stream, in a process of their own: they note what they get, and when.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as object};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};

use super::machine::CpuTimes;
use super::real_time::{now, pause};
use super::report::{Latency, Outcome, json, per};
use super::worker_process::WorkerProcess;

/// How long nothing may come before what has not come is lost.
const PATIENCE: Duration = Duration::from_secs(15);
/// Clients that connect at the same time.
const CONNECTING: usize = 64;
/// Connections that send when messages are sent as fast as they go.
const SENDERS: usize = 8;

/// What a process of stream clients is to do next.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StreamOrder {
    Open(Audience),
    Send(Broadcast),
}

#[derive(Serialize, Deserialize)]
pub(super) struct Audience {
    pub(super) server: u32,
    pub(super) address: SocketAddr,
    /// Credentials of those who are to get each message.
    pub(super) members: Vec<String>,
    /// Credentials of those who are to get none.
    pub(super) strangers: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Broadcast {
    pub(super) sender: String,
    pub(super) channel: String,
    pub(super) messages: usize,
    /// Messages a second; without it as many as go.
    pub(super) rate: Option<f64>,
    /// Of this many clients, one hangs up in the middle and comes back for the rest; 0 means that none does.
    pub(super) reconnect_every: usize,
}

/// What came of a broadcast.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Delivered {
    pub(super) messages: u64,
    pub(super) deliveries: u64,
    /// Frames of other kinds.
    pub(super) other_frames: u64,
    pub(super) seconds: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) server_cpu_us_per_delivery: f64,
    /// Clients that came back for the rest.
    pub(super) resumed: u64,
    #[serde(flatten)]
    pub(super) faults: Faults,
}

/// What must not happen.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Faults {
    pub(super) lost: u64,
    pub(super) doubled: u64,
    pub(super) out_of_order: u64,
    /// Messages that strangers got.
    pub(super) leaked: u64,
    /// Clients that were told to begin anew.
    pub(super) resyncs: u64,
}

impl Faults {
    pub(super) fn any(&self) -> bool {
        *self != Self::default()
    }

    pub(super) fn add(&mut self, other: &Faults) {
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.out_of_order += other.out_of_order;
        self.leaked += other.leaked;
        self.resyncs += other.resyncs;
    }
}

/// What one member got, against what was sent, in order.
fn compare(sent: &[i64], got: &[i64]) -> Faults {
    let mut counts: HashMap<i64, u64> = HashMap::new();
    for id in got {
        *counts.entry(*id).or_default() += 1;
    }
    Faults {
        lost: sent.iter().filter(|id| !counts.contains_key(id)).count() as u64,
        doubled: counts.values().map(|count| count - 1).sum(),
        out_of_order: got.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64,
        ..Faults::default()
    }
}

/// Another process with all clients.
pub(super) struct StreamProcess(WorkerProcess);

impl StreamProcess {
    pub(super) fn start() -> Result<Self, String> {
        WorkerProcess::start("streams").map(Self)
    }

    pub(super) async fn order(&mut self, order: &StreamOrder) -> Result<Delivered, String> {
        self.0.carry_out(order).await
    }
}

/// `stoa-bench streams`: carries out the orders on standard input, a line each.
pub(super) async fn streams() -> Result<Outcome, String> {
    let mut clients = None;
    // The clients go on listening while there is nothing to do.
    let next_line = || tokio::task::spawn_blocking(|| std::io::stdin().lines().next());
    while let Some(line) = next_line().await.map_err(|error| error.to_string())? {
        let line = line.map_err(|error| error.to_string())?;
        let order = serde_json::from_str(&line).map_err(|error| format!("this is not an order: {error}"))?;
        let answer = match order {
            StreamOrder::Open(audience) => {
                clients = Some(Clients::open(audience).await?);
                Delivered::default()
            }
            StreamOrder::Send(broadcast) => {
                let clients: &Clients = clients.as_ref().ok_or("nobody is connected")?;
                clients.broadcast(&broadcast).await?
            }
        };
        std::io::stdout().write_all(json(&answer)?.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(Outcome { text: String::new(), code: ExitCode::SUCCESS })
}

/// What one client has got so far.
#[derive(Default)]
struct Received {
    messages: Vec<(i64, Instant)>,
    other_frames: u64,
    resyncs: u64,
    resumed: u64,
    last_id: Option<String>,
    /// Hang up when so many messages have come.
    hang_up_at: Option<usize>,
    failure: Option<String>,
}

type Shared = Arc<Mutex<Received>>;

fn lock(received: &Shared) -> std::sync::MutexGuard<'_, Received> {
    received.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All clients, connected.
pub(super) struct Clients {
    audience: Audience,
    members: Vec<Shared>,
    strangers: Vec<Shared>,
    running: Vec<AbortHandle>,
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.running.iter().for_each(AbortHandle::abort);
    }
}

impl Clients {
    /// Connects everybody and waits until all streams are open.
    pub(super) async fn open(audience: Audience) -> Result<Self, String> {
        let mut clients = Self { members: Vec::new(), strangers: Vec::new(), running: Vec::new(), audience };
        let credentials: Vec<(bool, String)> = {
            let members = clients.audience.members.iter().map(|key| (true, key.clone()));
            members.chain(clients.audience.strangers.iter().map(|key| (false, key.clone()))).collect()
        };
        for some in credentials.chunks(CONNECTING) {
            let mut connecting = JoinSet::new();
            for (is_member, key) in some.iter().cloned() {
                let address = clients.audience.address;
                connecting.spawn(async move { (is_member, connect(address, &key, None).await, key) });
            }
            while let Some(connected) = connecting.join_next().await {
                let (is_member, body, key) = connected.map_err(|error| error.to_string())?;
                let (received, address) = (Shared::default(), clients.audience.address);
                let following = tokio::spawn(follow(address, key, body?, received.clone()));
                clients.running.push(following.abort_handle());
                if is_member { &mut clients.members } else { &mut clients.strangers }.push(received);
            }
        }
        Ok(clients)
    }

    /// Sends messages and waits until everybody has them, or until nothing more comes.
    pub(super) async fn broadcast(&self, order: &Broadcast) -> Result<Delivered, String> {
        let begins: Vec<usize> = self.members.iter().map(|client| lock(client).messages.len()).collect();
        let others: u64 = self.members.iter().map(|client| lock(client).other_frames).sum();
        if order.reconnect_every > 0 {
            for (client, begin) in self.members.iter().zip(&begins).step_by(order.reconnect_every) {
                lock(client).hang_up_at = Some(begin + order.messages / 2);
            }
        }
        let before = CpuTimes::of(self.audience.server)?;
        let started = now();
        let mut sent = send_all(self.audience.address, order).await?;
        let ended = self.wait_for(&begins, sent.len()).await?;
        let seconds = (ended - started).as_secs_f64();
        pause(Duration::from_millis(20)).await;
        let cpu = CpuTimes::of(self.audience.server)?.since(&before);
        sent.sort_unstable_by_key(|(id, _)| *id);
        let ids: Vec<i64> = sent.iter().map(|(id, _)| *id).collect();
        let sent_at: HashMap<i64, Instant> = sent.into_iter().collect();
        let mut delivered = Delivered { messages: ids.len() as u64, seconds, ..Delivered::default() };
        let mut samples = Vec::new();
        for (client, begin) in self.members.iter().zip(&begins) {
            let client = lock(client);
            let got: Vec<i64> = client.messages[*begin..].iter().map(|(id, _)| *id).collect();
            delivered.faults.add(&compare(&ids, &got));
            delivered.faults.resyncs += client.resyncs;
            delivered.deliveries += got.len() as u64;
            delivered.other_frames += client.other_frames;
            delivered.resumed += client.resumed;
            let times = client.messages[*begin..].iter();
            samples.extend(times.filter_map(|(id, at)| Some(at.saturating_duration_since(*sent_at.get(id)?))));
        }
        delivered.other_frames -= others;
        for stranger in &self.strangers {
            delivered.faults.leaked += lock(stranger).messages.len() as u64;
        }
        let Latency { p50_ms, p99_ms } = Latency::of(samples);
        (delivered.p50_ms, delivered.p99_ms) = (p50_ms, p99_ms);
        delivered.server_cpu_us_per_delivery = per(cpu, delivered.deliveries);
        Ok(delivered)
    }

    /// When the last client had everything, or when the last thing came.
    async fn wait_for(&self, begins: &[usize], messages: usize) -> Result<Instant, String> {
        let mut progress = (0, now());
        loop {
            let mut all = 0;
            for (client, begin) in self.members.iter().zip(begins) {
                let client = lock(client);
                if let Some(failure) = &client.failure {
                    return Err(failure.clone());
                }
                all += (client.messages.len() - begin).min(messages);
            }
            let time = now();
            if all > progress.0 {
                progress = (all, time);
            }
            if all >= messages * begins.len() || progress.1.elapsed() > PATIENCE {
                return Ok(progress.1);
            }
            pause(Duration::from_millis(5)).await;
        }
    }
}

async fn handshake<B>(address: SocketAddr) -> Result<SendRequest<B>, String>
where
    B: hyper::body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static,
{
    let failed = |error: &dyn std::fmt::Display| format!("{address} cannot be reached: {error}");
    let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
    stream.set_nodelay(true).map_err(|error| failed(&error))?;
    #[expect(clippy::disallowed_methods, reason = "calls only the hub that is measured")]
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

/// Opens a stream, which goes on after `last_id`.
async fn connect(address: SocketAddr, key: &str, last_id: Option<&str>) -> Result<hyper::body::Incoming, String> {
    let mut request = Request::get("/api/events")
        .header(HOST, address.to_string())
        .header("accept", "text/event-stream")
        .header(AUTHORIZATION, format!("Bearer {key}"));
    if let Some(last_id) = last_id {
        request = request.header("last-event-id", last_id);
    }
    let request = request.body(Empty::<Bytes>::new()).map_err(|error| error.to_string())?;
    let mut sender = handshake(address).await?;
    let answer = sender.send_request(request).await.map_err(|error| format!("a stream failed: {error}"))?;
    let status = answer.status();
    if status.is_success() { Ok(answer.into_body()) } else { Err(format!("a stream was answered with {status}")) }
}

/// Reads a stream to the end of this process, and comes back whenever it ends.
async fn follow(address: SocketAddr, key: String, mut body: hyper::body::Incoming, received: Shared) {
    loop {
        let mut parser = Parser::default();
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            let mut client = lock(&received);
            if parser.feed(&data, &mut client) {
                break;
            }
        }
        let last_id = {
            let mut client = lock(&received);
            client.resumed += 1;
            client.last_id.clone()
        };
        match connect(address, &key, last_id.as_deref()).await {
            Ok(resumed) => body = resumed,
            Err(failure) => {
                lock(&received).failure = Some(failure);
                return;
            }
        }
    }
}

/// Reads an event stream as it comes.
#[derive(Default)]
struct Parser {
    line: Vec<u8>,
    event: String,
    data: String,
    id: Option<String>,
}

impl Parser {
    /// Notes what has come. Returns whether it is time to hang up.
    fn feed(&mut self, bytes: &[u8], client: &mut Received) -> bool {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            if self.take_line(line.trim_end_matches('\r'), client) {
                return true;
            }
        }
        self.line.extend_from_slice(rest);
        false
    }

    fn take_line(&mut self, line: &str, client: &mut Received) -> bool {
        if line.is_empty() {
            return self.dispatch(client);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => self.data.push_str(value),
            "id" => self.id = Some(value.to_owned()),
            // A comment, to keep the connection open.
            _ => {}
        }
        false
    }

    fn dispatch(&mut self, client: &mut Received) -> bool {
        let is_complete = self.id.is_some();
        if let Some(id) = self.id.take() {
            client.last_id = Some(id);
        }
        let (event, data) = (std::mem::take(&mut self.event), std::mem::take(&mut self.data));
        match event.as_str() {
            "new_message" => {
                let id = number_in(&data, "\"message_id\":").unwrap_or(-1);
                client.messages.push((id, now()));
            }
            "resync" => client.resyncs += 1,
            "" if data.is_empty() => {}
            _ => client.other_frames += 1,
        }
        // What happened may be told in several frames, of which the last has the id: whoever hangs up before it
        // is told again.
        let hangs_up = is_complete && client.hang_up_at.is_some_and(|at| client.messages.len() >= at);
        if hangs_up {
            client.hang_up_at = None;
        }
        hangs_up
    }
}

fn number_in(text: &str, name: &str) -> Option<i64> {
    let rest = text[text.find(name)? + name.len()..].trim_start();
    rest[..rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

/// Sends all messages; their ids, and when each was sent.
async fn send_all(address: SocketAddr, order: &Broadcast) -> Result<Vec<(i64, Instant)>, String> {
    let next = Arc::new(AtomicUsize::new(0));
    let senders = if order.rate.is_some() { 1 } else { SENDERS.min(order.messages) };
    let body = object!({"channel": order.channel, "body": "Something that many want to hear of."}).to_string();
    let body = Bytes::from(body);
    let mut running = JoinSet::new();
    for _ in 0..senders {
        let (next, messages, body) = (next.clone(), order.messages, body.clone());
        let authorization = format!("Bearer {}", order.sender);
        let every = order.rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        let mut connection: SendRequest<Full<Bytes>> = handshake(address).await?;
        running.spawn(async move {
            let mut sent = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < messages {
                let request = Request::post("/api/messages")
                    .header(HOST, address.to_string())
                    .header(CONTENT_TYPE, "application/json")
                    .header(AUTHORIZATION, &authorization)
                    .body(Full::new(body.clone()))
                    .map_err(|error| error.to_string())?;
                let at = now();
                connection.ready().await.map_err(|error| error.to_string())?;
                let answer = connection.send_request(request).await.map_err(|error| error.to_string())?;
                let status = answer.status();
                let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                let id = message["id"].as_i64().filter(|_| status.is_success());
                sent.push((id.ok_or_else(|| format!("a send was answered with {status}: {message}"))?, at));
                if let Some(every) = every {
                    pause(every.saturating_sub(at.elapsed())).await;
                }
            }
            Ok::<_, String>(sent)
        });
    }
    let mut all = Vec::new();
    while let Some(ended) = running.join_next().await {
        all.extend(ended.map_err(|error| error.to_string())??);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::broadcast::BareServer;
    use super::*;

    #[test]
    fn a_stream_is_read_as_it_comes() {
        let (mut client, mut parser) = (Received::default(), Parser::default());
        let text = ": heartbeat\n\nevent: new_message\ndata: {\"message_id\":12,\"channel\":\"a\"}\nid: 7.1\n\n\
            event: unread_update\ndata: {}\n\nevent: resync\ndata: {}\n\n";
        for piece in text.as_bytes().chunks(5) {
            assert!(!parser.feed(piece, &mut client));
        }
        assert_eq!(client.messages.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [12]);
        assert_eq!((client.other_frames, client.resyncs, client.last_id.as_deref()), (1, 1, Some("7.1")));
        client.hang_up_at = Some(2);
        assert!(!parser.feed(b"event: new_message\ndata: {\"message_id\": 13}\n\n", &mut client));
        assert!(parser.feed(b"event: unread_update\ndata: {}\nid: 7.2\n\nevent: new_message\n", &mut client));
    }

    #[test]
    fn what_is_missing_doubled_or_late_is_found() {
        let good = Faults::default();
        assert_eq!(compare(&[1, 2, 3], &[1, 2, 3]), good);
        assert_eq!(compare(&[1, 2, 3], &[1, 3]), Faults { lost: 1, ..good });
        assert_eq!(compare(&[1, 2, 3], &[1, 2, 2, 3]), Faults { doubled: 1, ..good });
        assert_eq!(compare(&[1, 2, 3], &[1, 3, 2]), Faults { out_of_order: 1, ..good });
    }

    #[tokio::test]
    async fn everybody_gets_everything_once_also_those_who_come_back() {
        let server = BareServer::start().await.unwrap();
        let keys = |count: usize| (0..count).map(|number| format!("member-{number}")).collect();
        let audience = Audience {
            server: std::process::id(),
            address: server.address,
            members: keys(10),
            strangers: vec!["stranger-1".to_owned()],
        };
        let clients = Clients::open(audience).await.unwrap();
        let order = |rate| Broadcast {
            sender: "sender".to_owned(),
            channel: "stage".to_owned(),
            messages: 40,
            rate,
            reconnect_every: 3,
        };
        for rate in [None, Some(1000.0)] {
            let delivered = clients.broadcast(&order(rate)).await.unwrap();
            assert_eq!((delivered.messages, delivered.deliveries), (40, 400));
            assert_eq!(delivered.faults, Faults::default());
            assert!(delivered.resumed >= 4 && delivered.p50_ms > 0.0);
        }
        // A server that forgets, repeats or tells strangers does not get away with it.
        server.leak();
        let delivered = clients.broadcast(&order(None)).await.unwrap();
        assert!(delivered.faults.leaked > 0 && delivered.faults.lost == 0);
    }
}
