//! Agents that wait for messages: what they cost while nothing comes, and how soon they know when something does.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::fill::Filled;
use super::hub_process::HubProcess;
use super::load::Client;
use super::machine::CpuTimes;
use super::real_time::{now, pause};
use super::report::per;
use super::requests::{MCP_PATH, add_mcp_headers, tool_call};

const LONGEST_WAIT_SECONDS: u64 = 50;
const SETTLING: Duration = Duration::from_millis(300);

/// What came of one round.
pub(super) struct WaitRound {
    /// CPU of the hub for each second, with nobody waiting and with all of them.
    pub(super) idle_us_per_second: f64,
    pub(super) parked_us_per_second: f64,
    /// From the answer to the send, which follows the commit, to that of the wait; it may come first.
    pub(super) wake_ms: Vec<f64>,
}

/// Agents with a connection each.
pub(super) struct Waiters {
    hub: u32,
    address: SocketAddr,
    agents: Vec<Waiter>,
    sender: Client,
}

struct Waiter {
    name: String,
    key: String,
    client: Client,
    /// Where its inbox has been seen to the end.
    cursor: Option<String>,
}

impl Waiters {
    pub(super) async fn connect(hub: &HubProcess, filled: &Filled, count: usize) -> Result<Self, String> {
        let mut agents = Vec::new();
        for agent in filled.population.agents().iter().take(count) {
            let (name, key) = (agent.name.clone(), agent.key.clone().ok_or("an agent has no key")?);
            agents.push(Waiter { name, key, client: Client::connect(hub.address, 0).await?, cursor: None });
        }
        if agents.len() < count.max(2) {
            return Err(format!("{count} agents cannot wait: there are {} of them", agents.len()));
        }
        Ok(Self { hub: hub.pid, address: hub.address, agents, sender: Client::connect(hub.address, 0).await? })
    }

    pub(super) async fn measure(&mut self, duration: Duration) -> Result<WaitRound, String> {
        for agent in &mut self.agents {
            agent.read_to_the_end(self.address).await?;
        }
        let idle_us_per_second = self.cpu_for(duration).await?;
        // Their neighbours send, so that nobody is woken by what they wrote themselves.
        let keys: Vec<_> = self.agents.iter().map(|agent| agent.key.clone()).collect();
        let names: Vec<_> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let waiting: Vec<_> = self.agents.drain(..).map(|agent| agent.wait(self.address)).collect();
        let parked_us_per_second = self.cpu_for(duration).await?;
        let mut wake_ms = Vec::new();
        for (place, waiting) in waiting.into_iter().enumerate() {
            let (to, key) = (&names[place], &keys[(place + 1) % keys.len()]);
            let body = json!({"to": to, "body": "wake up"}).to_string();
            let request = post(self.address, "/api/messages", body, key)?;
            self.sender.send(request, StatusCode::CREATED).await?;
            let sent = now();
            let (agent, woken) = waiting.await.map_err(|error| error.to_string())??;
            wake_ms.push(signed_ms(sent, woken));
            self.agents.push(agent);
        }
        Ok(WaitRound { idle_us_per_second, parked_us_per_second, wake_ms })
    }

    /// CPU microseconds that the hub has in a second in which nobody asks for anything.
    async fn cpu_for(&self, duration: Duration) -> Result<f64, String> {
        pause(SETTLING).await;
        let before = CpuTimes::of(self.hub)?;
        pause(duration).await;
        Ok(per(CpuTimes::of(self.hub)?.since(&before), 1) / duration.as_secs_f64())
    }
}

impl Waiter {
    async fn read_to_the_end(&mut self, address: SocketAddr) -> Result<(), String> {
        while self.call(address, 0).await? > 0 {}
        Ok(())
    }

    fn wait(mut self, address: SocketAddr) -> JoinHandle<Result<(Self, Instant), String>> {
        tokio::spawn(async move {
            let items = self.call(address, LONGEST_WAIT_SECONDS).await?;
            let woken = now();
            if items == 1 { Ok((self, woken)) } else { Err(format!("who waited got {items} messages instead of one")) }
        })
    }

    /// Calls `wait_for_messages`, and returns how many there are.
    async fn call(&mut self, address: SocketAddr, seconds: u64) -> Result<usize, String> {
        let arguments = json!({"timeout_seconds": seconds, "cursor": self.cursor});
        let body = tool_call("wait_for_messages", &arguments);
        let mut request = post(address, MCP_PATH, body, &self.key)?;
        add_mcp_headers(request.headers_mut());
        let answer = self.client.send(request, StatusCode::OK).await?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let found = &answer["result"]["structuredContent"];
        let items = found["items"].as_array().ok_or_else(|| format!("this is no inbox: {answer}"))?;
        self.cursor = found["next_cursor"].as_str().map(str::to_owned);
        Ok(items.len())
    }
}

fn post(address: SocketAddr, path: &str, body: String, key: &str) -> Result<Request<Full<Bytes>>, String> {
    Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .header(AUTHORIZATION, format!("Bearer {key}"))
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())
}

fn signed_ms(from: Instant, to: Instant) -> f64 {
    (to.saturating_duration_since(from).as_secs_f64() - from.saturating_duration_since(to).as_secs_f64()) * 1000.0
}
