//! The hub's own writer and the rows of a message, and nothing of the hub: what sends are compared with.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use stoa_db::{Database, DbError, Options, Tx, params};
use stoa_schema::MIGRATIONS;
use tokio::task::JoinSet;

use super::dice::Dice;
use super::fill::Filled;
use super::history::insert_trace;
use super::machine::{CpuTimes, WRITER_THREAD};
use super::real_time::{now, pause};
use super::report::{Figure, Latency, per};

pub(super) const BODY: &str = "The nightly run is green again: the flaky test waited for a clock that nobody moved. \
    I have put the fix up for review, please have a look.";
/// What an event says, no less than the hub's.
pub(super) const PAYLOAD: &str = r#"{"kind":"message_sent","message":1234567,"conversation":123,"channel":12,"channel_name":"room-012","author":123,"from":{"kind":"agent","name":"agent-00123","display_name":"agent-00123"},"recipient":null,"to":null,"reply_to":null,"mention_of":null,"mentioned":[],"depth":0,"no_wake":false}"#;
/// One message in so many goes to somebody instead of a channel.
pub(super) const DM_EVERY: u64 = 6;

#[derive(Serialize)]
pub(super) struct WriterFigures {
    pub(super) clients: usize,
    pub(super) messages: u64,
    pub(super) messages_per_second: Figure,
    pub(super) p50_ms: Figure,
    pub(super) p99_ms: Figure,
    /// Of the whole process: the writer and the clients, which are tasks here.
    pub(super) cpu_us_per_message: Figure,
    pub(super) writer_cpu_us_per_message: Figure,
    pub(super) messages_per_commit: Figure,
}

/// One message as a client sends it.
struct Draft {
    conversation: i64,
    channel: Option<i64>,
    author: i64,
    recipient: Option<i64>,
}

impl Draft {
    fn from(filled: &Filled, pairs: &[(i64, i64, i64)], dice: &mut Dice) -> Self {
        if dice.below(DM_EVERY) == 0
            && let Some((conversation, author, recipient)) = pairs.get(dice.below(pairs.len() as u64) as usize)
        {
            return Self { conversation: *conversation, channel: None, author: *author, recipient: Some(*recipient) };
        }
        let rooms = &filled.population.rooms;
        let room = &rooms[dice.below(rooms.len() as u64) as usize];
        let author = room.members[dice.below(room.members.len() as u64) as usize];
        Self {
            conversation: room.conversation,
            channel: Some(room.id),
            author: filled.population.people[author].id,
            recipient: None,
        }
    }

    /// The rows that a send leaves.
    fn store(&self, tx: &mut Tx<'_>) -> Result<i64, DbError> {
        let now_ms = tx.now_ms();
        let status = if self.recipient.is_some() { "pending" } else { "done" };
        let id: i64 = tx.query_one(
            "insert into messages (conversation_id, channel_id, author_id, recipient_id, subject, body, reply_to, thread_id,
                 mention_of, status, priority, metadata, mentions, depth, created_at)
             values ($1, $2, $3, $4, null, $5, null, null, null, $6, 5, '{}', '[]', 0, $7) returning id",
            params![self.conversation, self.channel, self.author, self.recipient, BODY, status, now_ms],
            |row| row.get("id"),
        )?;
        tx.execute(
            "insert into outbox (at, kind, conversation_id, actor_id, payload) values ($1, 'message_sent', $2, $3, $4)",
            params![now_ms, self.conversation, self.author, PAYLOAD],
        )?;
        insert_trace(tx, self.author, self.author, now_ms)?;
        Ok(id)
    }
}

pub(super) struct RawWriter {
    pub(super) db: Database,
    commits: Arc<AtomicU64>,
    filled: Arc<Filled>,
    /// Conversation, author, recipient.
    pairs: Arc<Vec<(i64, i64, i64)>>,
}

pub(super) struct WriterRound {
    pub(super) messages: u64,
    pub(super) seconds: f64,
    pub(super) latency: Latency,
    pub(super) cpu_us_per_message: f64,
    pub(super) writer_cpu_us_per_message: f64,
    messages_per_commit: f64,
}

impl WriterRound {
    pub(super) fn messages_per_second(&self) -> f64 {
        self.messages as f64 / self.seconds
    }
}

impl RawWriter {
    /// In a folder that was filled.
    pub(super) async fn open(folder: &Path, filled: &Filled) -> Result<Self, String> {
        let commits = Arc::new(AtomicU64::new(0));
        let counted = commits.clone();
        let options = Options {
            observer: Some(Arc::new(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
            })),
            ..Options::new(folder)
        };
        let db = Database::open(options, MIGRATIONS).map_err(|error| error.to_string())?;
        let pairs = db.read(|tx| {
            tx.query("select id, low_id, high_id from conversations where low_id is not null order by id", &[], |row| {
                Ok::<_, DbError>((row.get("id")?, row.get("low_id")?, row.get("high_id")?))
            })
        });
        let pairs = Arc::new(pairs.await.map_err(|error: DbError| error.to_string())?);
        Ok(Self { db, commits, filled: Arc::new(filled.clone()), pairs })
    }

    pub(super) async fn run(&self, clients: usize, duration: Duration) -> Result<WriterRound, String> {
        let (filled, pairs) = (self.filled.clone(), self.pairs.clone());
        self.run_each(clients, duration, 1, move |_, dice| {
            let draft = Draft::from(&filled, &pairs, dice);
            Ok(move |tx: &mut Tx<'_>| draft.store(tx).map(drop))
        })
        .await
    }

    /// Has clients write what `prepare` makes for each, which stores `messages_each` messages at a time.
    pub(super) async fn run_each<P, W>(
        &self,
        clients: usize,
        duration: Duration,
        messages_each: u64,
        prepare: P,
    ) -> Result<WriterRound, String>
    where
        P: Fn(usize, &mut Dice) -> Result<W, String> + Clone + Send + 'static,
        W: Fn(&mut Tx<'_>) -> Result<(), DbError> + Send + 'static,
    {
        let pid = std::process::id();
        let before = CpuTimes::of(pid)?;
        let commits = self.commits.load(Ordering::Relaxed);
        let started = now();
        let end = started + duration;
        let mut running = JoinSet::new();
        for client in 0..clients {
            let (db, mut dice, prepare) = (self.db.clone(), Dice::new(client as u64 + commits), prepare.clone());
            running.spawn(async move {
                let mut samples = Vec::new();
                loop {
                    let sent = now();
                    if sent >= end {
                        return Ok::<_, String>(samples);
                    }
                    let command = prepare(client, &mut dice)?;
                    db.write(command).await.map_err(|error: DbError| error.to_string())?;
                    samples.push(sent.elapsed());
                }
            });
        }
        let mut samples = Vec::new();
        while let Some(ended) = running.join_next().await {
            samples.extend(ended.map_err(|error| error.to_string())??);
        }
        let seconds = started.elapsed().as_secs_f64();
        // Threads that run just now are not counted up to the moment.
        pause(Duration::from_millis(5)).await;
        let after = CpuTimes::of(pid)?;
        let commits = self.commits.load(Ordering::Relaxed) - commits;
        let messages = samples.len() as u64 * messages_each;
        Ok(WriterRound {
            messages,
            seconds,
            latency: Latency::of(samples),
            cpu_us_per_message: per(after.since(&before), messages),
            writer_cpu_us_per_message: per(after.since_of(&before, WRITER_THREAD), messages),
            messages_per_commit: messages as f64 / commits.max(1) as f64,
        })
    }
}

impl WriterFigures {
    pub(super) fn of(clients: usize, rounds: &[WriterRound]) -> Self {
        Self {
            clients,
            messages: rounds.iter().map(|round| round.messages).sum(),
            messages_per_second: Figure::of(rounds.iter().map(WriterRound::messages_per_second)),
            p50_ms: Figure::of(rounds.iter().map(|round| round.latency.p50_ms)),
            p99_ms: Figure::of(rounds.iter().map(|round| round.latency.p99_ms)),
            cpu_us_per_message: Figure::of(rounds.iter().map(|round| round.cpu_us_per_message)),
            writer_cpu_us_per_message: Figure::of(rounds.iter().map(|round| round.writer_cpu_us_per_message)),
            messages_per_commit: Figure::of(rounds.iter().map(|round| round.messages_per_commit)),
        }
    }

    pub(super) const COLUMNS: [&'static str; 7] =
        ["clients", "messages/s", "p50 ms", "p99 ms", "CPU µs/message", "writer µs/message", "messages/commit"];

    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.clients.to_string(),
            self.messages_per_second.show_range(),
            self.p50_ms.show(),
            self.p99_ms.show(),
            self.cpu_us_per_message.show(),
            self.writer_cpu_us_per_message.show(),
            self.messages_per_commit.show(),
        ]
    }
}
