//! The rows of a message put into PostgreSQL by one statement, and nothing of the hub: what sends there are compared with.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_postgres::{Client, Config, NoTls};

use super::dice::Dice;
use super::fill::Filled;
use super::history::TRACE;
use super::raw_writer::{BODY, PAYLOAD};
use super::real_time::now;
use super::report::Latency;

const INSERT: &str = "with message as (
        insert into messages (conversation_id, channel_id, author_id, recipient_id, subject, body, reply_to, thread_id,
            mention_of, status, priority, metadata, mentions, depth, created_at)
        values ($1, $2, $3, null, null, $4, null, null, null, 'done', 5, '{}', '[]', 0, $5) returning id
    ), event as (
        insert into outbox (at, kind, conversation_id, actor_id, payload) values ($5, 'message_sent', $1, $3, $6)
    ), trace as (
        insert into traces (owner_id, principal_id, action, details, duration_ms, request_id, created_at)
        values ($3, $3, 'send_message', $7, 1, '01890000-0000-7000-8000-000000000000', $5)
    )
    select id from message";

/// Two databases of the bench's own on a server, one for hubs and one for bare inserts. They go with [`drop`](Self::drop_both).
pub(super) struct BenchDatabases {
    server: Config,
    url: String,
    name: String,
}

impl BenchDatabases {
    pub(super) async fn create(url: &str) -> Result<Self, String> {
        let server: Config = url.parse().map_err(|_| "the address is not of the form postgres://user@host/database")?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        let name = format!("stoa_bench_{:016x}", u64::from_le_bytes(bytes));
        let databases = Self { server, url: url.to_owned(), name };
        databases.execute(&format!("create database {}", databases.name)).await?;
        Ok(databases)
    }

    /// Where hubs find theirs.
    pub(super) fn url(&self) -> Result<String, String> {
        let (path, query) = self.url.split_once('?').map_or((self.url.as_str(), ""), |(path, query)| (path, query));
        let (host, _) = path.rsplit_once('/').ok_or("the address names no database")?;
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        Ok(format!("{host}/{}{query}", self.name))
    }

    /// Makes the other one, as it is now. Nobody may be connected.
    pub(super) async fn copy(&self) -> Result<(), String> {
        self.execute(&format!("create database {0}_bare template {0}", self.name)).await
    }

    pub(super) async fn drop_both(&self) -> Result<(), String> {
        self.execute(&format!("drop database if exists {}_bare with (force)", self.name)).await?;
        self.execute(&format!("drop database {} with (force)", self.name)).await
    }

    async fn execute(&self, statement: &str) -> Result<(), String> {
        connect(&self.server).await?.batch_execute(statement).await.map_err(|error| describe(&error))
    }

    /// How large the database of hubs is.
    pub(super) async fn bytes(&self) -> Result<u64, String> {
        let row =
            connect(&self.server).await?.query_one("select pg_database_size($1::text::name)", &[&self.name]).await;
        let bytes: i64 = row.and_then(|row| row.try_get(0)).map_err(|error| describe(&error))?;
        Ok(bytes.unsigned_abs())
    }

    pub(super) async fn server_version(&self) -> Result<String, String> {
        let row = connect(&self.server).await?.query_one("select current_setting('server_version')", &[]).await;
        row.and_then(|row| row.try_get(0)).map_err(|error| describe(&error))
    }
}

async fn connect(config: &Config) -> Result<Client, String> {
    let (client, connection) = config.connect(NoTls).await.map_err(|error| describe(&error))?;
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

fn describe(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// What bare inserts came to.
pub(super) struct BareRound {
    pub(super) messages: u64,
    pub(super) seconds: f64,
    pub(super) latency: Latency,
}

impl BareRound {
    pub(super) fn messages_per_second(&self) -> f64 {
        self.messages as f64 / self.seconds
    }
}

/// Connections to the database for bare inserts.
pub(super) struct BareInserts {
    clients: Vec<Arc<Client>>,
    filled: Arc<Filled>,
}

impl BareInserts {
    pub(super) async fn connect(
        databases: &BenchDatabases,
        filled: &Filled,
        connections: usize,
    ) -> Result<Self, String> {
        let mut config = databases.server.clone();
        config.dbname(format!("{}_bare", databases.name));
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(Arc::new(connect(&config).await?));
        }
        Ok(Self { clients, filled: Arc::new(filled.clone()) })
    }

    /// Has so many connections insert one message after another.
    pub(super) async fn run(&self, connections: usize, duration: Duration) -> Result<BareRound, String> {
        let started = now();
        let end = started + duration;
        let mut running = JoinSet::new();
        for (place, client) in self.clients.iter().take(connections).enumerate() {
            let (client, filled, mut dice) = (client.clone(), self.filled.clone(), Dice::new(place as u64 + 17));
            running.spawn(async move {
                let statement = client.prepare(INSERT).await.map_err(|error| describe(&error))?;
                let mut samples = Vec::new();
                loop {
                    let sent = now();
                    if sent >= end {
                        return Ok::<_, String>(samples);
                    }
                    let rooms = &filled.population.rooms;
                    let room = &rooms[dice.below(rooms.len() as u64) as usize];
                    let author = room.members[dice.below(room.members.len() as u64) as usize];
                    let author = filled.population.people[author].id;
                    let at = 1_800_000_000_000_i64;
                    client
                        .query_one(&statement, &[&room.conversation, &room.id, &author, &BODY, &at, &PAYLOAD, &TRACE])
                        .await
                        .map_err(|error| describe(&error))?;
                    samples.push(sent.elapsed());
                }
            });
        }
        let mut samples = Vec::new();
        while let Some(ended) = running.join_next().await {
            samples.extend(ended.map_err(|error| error.to_string())??);
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(BareRound { messages: samples.len() as u64, seconds, latency: Latency::of(samples) })
    }
}
