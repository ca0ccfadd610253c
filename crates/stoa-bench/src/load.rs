//! The load generator: a process of its own, so that its CPU time is not the server's.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::dice::Dice;
use super::events::{EventOrder, EventSource};
use super::machine::{CpuTimes, WRITER_THREAD};
use super::real_time::{now, pause};
use super::report::{Figure, Latency, Outcome, json, per};
use super::requests::{MCP_PATH, add_mcp_headers};
use super::worker_process::WorkerProcess;

/// How long a process that was asked nothing more may take to become idle.
const SETTLING: Duration = Duration::from_millis(20);
/// The part of a measurement that comes before it and is not counted.
const WARM_UP: f64 = 0.15;

/// What a load process is to do.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) server: u32,
    pub(super) address: SocketAddr,
    /// What is asked, one picked at random each time.
    pub(super) asks: Vec<Ask>,
    /// Signed events to send instead.
    pub(super) events: Option<EventOrder>,
    /// What the requests are to be answered with.
    pub(super) status: u16,
    /// Bearer credentials, for requests that do not name one a random one.
    pub(super) credentials: Vec<String>,
    pub(super) connections: usize,
    pub(super) extent: Extent,
    /// Requests in a second, of all connections together; without one, each sends as soon as it was answered.
    pub(super) rate: Option<f64>,
}

/// One request.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Ask {
    pub(super) path: String,
    /// A JSON body to post; without one, the request is a GET.
    pub(super) body: Option<String>,
    /// The place of the credential to send it with.
    pub(super) credential: Option<usize>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    Seconds(f64),
    /// One request with each credential.
    EachCredential,
}

/// What came of it. Every request was answered with success, or there is no such thing.
#[derive(Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) requests: u64,
    pub(super) seconds: f64,
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) server_cpu_us_per_request: f64,
    /// Of that, what the thread that writes to the database had.
    pub(super) writer_cpu_us_per_request: f64,
}

/// The figures of several loads of the same kind.
#[derive(Serialize)]
pub(super) struct LoadFigures {
    pub(super) requests: u64,
    pub(super) requests_per_second: Figure,
    pub(super) p50_ms: Figure,
    pub(super) p99_ms: Figure,
    pub(super) server_cpu_us_per_request: Figure,
    pub(super) writer_cpu_us_per_request: Figure,
}

impl LoadFigures {
    pub(super) fn of(rounds: &[Load]) -> Self {
        Self {
            requests: rounds.iter().map(|load| load.requests).sum(),
            requests_per_second: Figure::of(rounds.iter().map(|load| load.requests as f64 / load.seconds)),
            p50_ms: Figure::of(rounds.iter().map(|load| load.p50_ms)),
            p99_ms: Figure::of(rounds.iter().map(|load| load.p99_ms)),
            server_cpu_us_per_request: Figure::of(rounds.iter().map(|load| load.server_cpu_us_per_request)),
            writer_cpu_us_per_request: Figure::of(rounds.iter().map(|load| load.writer_cpu_us_per_request)),
        }
    }
}

/// Another process that sends requests. It lives as long as a bench, because starting one for each
/// short measurement would take longer than most of them.
pub(super) struct LoadProcess(WorkerProcess);

impl LoadProcess {
    pub(super) fn start() -> Result<Self, String> {
        WorkerProcess::start("load").map(Self)
    }

    /// Has requests sent, and waits for what comes of it.
    pub(super) async fn send(&mut self, order: &Order) -> Result<Load, String> {
        self.0.carry_out(order).await
    }
}

/// `stoa-bench load`: carries out the orders on standard input, a line each.
pub(super) async fn load() -> Result<Outcome, String> {
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let order: Order = serde_json::from_str(&line).map_err(|error| format!("this is not an order: {error}"))?;
        let load = json(&carry_out(&order).await?)?;
        std::io::stdout().write_all(load.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(Outcome { text: String::new(), code: ExitCode::SUCCESS })
}

async fn carry_out(order: &Order) -> Result<Load, String> {
    let requests = Arc::new(Requests::of(order)?);
    let mut clients = Vec::new();
    for seed in 0..order.connections {
        let mut client = Client::connect(order.address, seed as u64).await?;
        client.pace = order.rate.map(|rate| {
            let every = Duration::from_secs_f64(order.connections as f64 / rate);
            Pace { every, offset: every.mul_f64(seed as f64 / order.connections as f64) }
        });
        client.events = order.events.as_ref().map(|events| events.source(order.address, seed)).transpose()?;
        clients.push(client);
    }
    if let Extent::Seconds(seconds) = order.extent {
        let end = now() + Duration::from_secs_f64(seconds * WARM_UP);
        clients = run(clients, &requests, &Turn::Until(end)).await?.0;
    }
    pause(SETTLING).await;
    let before = CpuTimes::of(order.server)?;
    let started = now();
    let turn = match order.extent {
        Extent::Seconds(seconds) => Turn::Until(started + Duration::from_secs_f64(seconds)),
        Extent::EachCredential => Turn::Each(Arc::default()),
    };
    let (clients, samples) = run(clients, &requests, &turn).await?;
    let seconds = started.elapsed().as_secs_f64();
    pause(SETTLING).await;
    let after = CpuTimes::of(order.server)?;
    // Only now may the connections end: the server would have to do something about it.
    drop(clients);
    let requests = samples.len() as u64;
    let Latency { p50_ms, p99_ms } = Latency::of(samples);
    Ok(Load {
        requests,
        seconds,
        p50_ms,
        p99_ms,
        server_cpu_us_per_request: per(after.since(&before), requests),
        writer_cpu_us_per_request: per(after.since_of(&before, WRITER_THREAD), requests),
    })
}

/// Who sends the next request, if anybody does.
#[derive(Clone)]
enum Turn {
    Until(Instant),
    Each(Arc<AtomicUsize>),
}

/// All requests, ready to be sent.
struct Requests {
    status: StatusCode,
    host: HeaderValue,
    authorization: Vec<HeaderValue>,
    asks: Vec<ReadyAsk>,
}

struct ReadyAsk {
    method: Method,
    uri: Uri,
    body: Bytes,
    credential: Option<usize>,
}

impl Requests {
    fn of(order: &Order) -> Result<Self, String> {
        let header = |text: String| HeaderValue::try_from(text).map_err(|error| error.to_string());
        let credentials = order.credentials.iter();
        let ready = |ask: &Ask| {
            Ok::<_, String>(ReadyAsk {
                method: if ask.body.is_some() { Method::POST } else { Method::GET },
                uri: ask.path.parse().map_err(|error| format!("{}: {error}", ask.path))?,
                body: Bytes::from(ask.body.clone().unwrap_or_default()),
                credential: ask.credential,
            })
        };
        if order.asks.is_empty() && order.events.is_none() {
            return Err("there is nothing to ask".to_owned());
        }
        Ok(Self {
            status: StatusCode::from_u16(order.status).map_err(|error| error.to_string())?,
            host: header(order.address.to_string())?,
            authorization: credentials.map(|key| header(format!("Bearer {key}"))).collect::<Result<_, _>>()?,
            asks: order.asks.iter().map(ready).collect::<Result<_, _>>()?,
        })
    }

    /// The next request, with a credential of the client's choice where it has none of its own.
    fn next(&self, dice: &mut Dice, credential: Option<usize>) -> Request<Full<Bytes>> {
        let ask = &self.asks[dice.below(self.asks.len() as u64) as usize];
        let mut request = Request::new(Full::new(ask.body.clone()));
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = ask.uri.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        if ask.method == Method::POST {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if ask.uri == MCP_PATH {
            add_mcp_headers(headers);
        }
        let place = credential.or(ask.credential);
        let place = place.unwrap_or_else(|| dice.below(self.authorization.len() as u64) as usize);
        if let Some(credential) = self.authorization.get(place) {
            headers.insert(AUTHORIZATION, credential.clone());
        }
        request
    }
}

/// When a client that keeps to a rate sends.
#[derive(Clone, Copy)]
struct Pace {
    every: Duration,
    offset: Duration,
}

/// One connection that is kept open.
pub(super) struct Client {
    sender: SendRequest<Full<Bytes>>,
    dice: Dice,
    pace: Option<Pace>,
    events: Option<EventSource>,
}

impl Client {
    pub(super) async fn connect(address: SocketAddr, seed: u64) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{address} cannot be reached: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        #[expect(clippy::disallowed_methods, reason = "calls only the hub that is measured")]
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        // How the connection ended shows in the request that it was needed for.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, dice: Dice::new(seed), pace: None, events: None })
    }

    /// Sends a request and returns the answer's body.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>, expected: StatusCode) -> Result<Bytes, String> {
        let broken = |error: hyper::Error| format!("a request failed: {error}");
        self.sender.ready().await.map_err(broken)?;
        let response = self.sender.send_request(request).await.map_err(broken)?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
        if status == expected {
            return Ok(body);
        }
        Err(format!("a request was answered with {status}: {}", String::from_utf8_lossy(&body)))
    }

    async fn take_turns(&mut self, requests: &Requests, turn: &Turn) -> Result<Vec<Duration>, String> {
        let mut samples = Vec::new();
        let mut due = self.pace.map(|pace| now() + pace.offset);
        loop {
            // What waits because an earlier answer was late counts from when it should have been sent.
            let started = match due {
                Some(due) => {
                    pause(due.saturating_duration_since(now())).await;
                    due
                }
                None => now(),
            };
            let credential = match turn {
                Turn::Until(end) if started < *end => None,
                Turn::Until(_) => return Ok(samples),
                Turn::Each(next) => match next.fetch_add(1, Ordering::Relaxed) {
                    place if place < requests.authorization.len() => Some(place),
                    _ => return Ok(samples),
                },
            };
            let request = match &mut self.events {
                Some(events) => events.next()?,
                None => requests.next(&mut self.dice, credential),
            };
            let is_tool = request.uri() == MCP_PATH;
            let answer = self.send(request, requests.status).await?;
            if let Some(events) = &self.events {
                events.check(&answer)?;
            }
            samples.push(started.elapsed());
            if is_tool {
                check_tool(&answer)?;
            }
            due = due.zip(self.pace).map(|(due, pace)| due + pace.every);
        }
    }
}

/// A tool that failed is answered with success.
fn check_tool(answer: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(answer);
    let is_done = text.contains(r#""structuredContent""#) && !text.contains(r#""isError":true"#);
    if is_done { Ok(()) } else { Err(format!("a tool failed: {text}")) }
}

/// Lets all clients send at once, and gives them back with how long each request took.
async fn run(
    clients: Vec<Client>,
    requests: &Arc<Requests>,
    turn: &Turn,
) -> Result<(Vec<Client>, Vec<Duration>), String> {
    let mut running = JoinSet::new();
    for mut client in clients {
        let (requests, turn) = (requests.clone(), turn.clone());
        running.spawn(async move {
            let samples = client.take_turns(&requests, &turn).await;
            (client, samples)
        });
    }
    let (mut clients, mut all) = (Vec::new(), Vec::new());
    while let Some(ended) = running.join_next().await {
        let (client, samples) = ended.map_err(|error| error.to_string())?;
        clients.push(client);
        all.extend(samples?);
    }
    Ok((clients, all))
}
