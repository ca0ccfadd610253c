//! The rows that a request with events leaves, through the bare writer: what ingestion is compared with.

use std::sync::Arc;
use std::time::Duration;

use stoa_db::{DbError, Tx, params};

use super::events::{CONFIG, ROUTED, Service, UNROUTED, event_ids, fresh_nonce};
use super::history::insert_trace;
use super::population::Room;
use super::raw_writer::{BODY, RawWriter, WriterRound};

/// How long the hub keeps a nonce.
const NONCE_MS: i64 = 121_000;

/// A service with its row, and the channel that its events go to.
pub(super) struct Sender {
    service: Service,
    principal: i64,
    conversation: i64,
    channel: i64,
}

impl Sender {
    /// The database must have their rows.
    pub(super) async fn find(writer: &RawWriter, service: &Service, room: &Room) -> Result<Self, String> {
        let name = service.principal_id.clone();
        let found = writer.db.read(move |tx| {
            tx.query_one("select id from principals where handle = $1", params![name], |row| row.get("id"))
        });
        let principal = found.await.map_err(|error: DbError| error.to_string())?;
        Ok(Self { service: service.clone(), principal, conversation: room.conversation, channel: room.id })
    }

    /// What one request brings. Its texts are made here, not by the thread that writes.
    fn request(&self, events: usize, is_routed: bool) -> Result<Request, String> {
        let event_type = if is_routed { ROUTED } else { UNROUTED };
        let event = |id: String| NewEvent {
            event: self.service.event(&id, event_type),
            metadata: format!(r#"{{"event":{{"id":"{id}","type":"{event_type}"}}}}"#),
            id,
        };
        Ok(Request {
            principal: self.principal,
            conversation: self.conversation,
            channel: self.channel,
            is_routed,
            event_type,
            key_id: self.service.key_id(),
            nonce: fresh_nonce()?,
            events: event_ids(events)?.map(event).collect(),
        })
    }
}

struct Request {
    principal: i64,
    conversation: i64,
    channel: i64,
    is_routed: bool,
    event_type: &'static str,
    key_id: String,
    nonce: String,
    events: Vec<NewEvent>,
}

struct NewEvent {
    id: String,
    event: String,
    metadata: String,
}

impl Request {
    fn store(&self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let now_ms = tx.now_ms();
        tx.execute(
            "insert into machine_nonces (key_id, nonce, forget_at) values ($1, $2, $3) on conflict do nothing",
            params![self.key_id, self.nonce, now_ms + NONCE_MS],
        )?;
        for event in &self.events {
            let message = if self.is_routed { Some(self.store_message(tx, event)?) } else { None };
            tx.execute(
                "insert into machine_events (principal_id, event_id, type, event, outcome, reason, config_name,
                     config_version, message_id, request_id, received_at)
                 values ($1, $2, $3, $4, $5, null, $6, $7, $8, '01890000-0000-7000-8000-000000000000', $9)",
                params![
                    self.principal,
                    event.id,
                    self.event_type,
                    event.event,
                    if self.is_routed { "routed" } else { "stored" },
                    self.is_routed.then_some(CONFIG),
                    self.is_routed.then_some(1),
                    message,
                    now_ms
                ],
            )?;
        }
        insert_trace(tx, self.principal, self.principal, now_ms)
    }

    fn store_message(&self, tx: &mut Tx<'_>, event: &NewEvent) -> Result<i64, DbError> {
        const PAYLOAD: &str = r#"{"kind":"message_sent","message":1234567,"conversation":123,"channel":12,"channel_name":"room-012","author":123,"from":{"kind":"machine","name":"svc:sense:bench-0012","display_name":"svc:sense:bench-0012"},"recipient":null,"to":null,"reply_to":null,"mention_of":null,"mentioned":[],"depth":0,"no_wake":false}"#;
        let now_ms = tx.now_ms();
        let id = tx.query_one(
            "insert into messages (conversation_id, channel_id, author_id, recipient_id, subject, body, reply_to, thread_id,
                 mention_of, status, priority, metadata, mentions, depth, created_at)
             values ($1, $2, $3, null, null, $4, null, null, null, 'done', 5, $5, '[]', 0, $6) returning id",
            params![self.conversation, self.channel, self.principal, BODY, event.metadata, now_ms],
            |row| row.get("id"),
        )?;
        tx.execute(
            "insert into outbox (at, kind, conversation_id, actor_id, payload) values ($1, 'message_sent', $2, $3, $4)",
            params![now_ms, self.conversation, self.principal, PAYLOAD],
        )?;
        Ok(id)
    }
}

/// Has each client write requests with so many events, as one of the senders.
pub(super) async fn run(
    writer: &RawWriter,
    senders: &Arc<Vec<Sender>>,
    clients: usize,
    events_each: usize,
    is_routed: bool,
    duration: Duration,
) -> Result<WriterRound, String> {
    let senders = senders.clone();
    let prepare = move |client: usize, _: &mut _| {
        let sender = senders.get(client % senders.len().max(1)).ok_or("there is no sender")?;
        let request = sender.request(events_each, is_routed)?;
        Ok(move |tx: &mut Tx<'_>| request.store(tx))
    };
    writer.run_each(clients, duration, events_each as u64, prepare).await
}
