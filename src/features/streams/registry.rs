//! The streams of this hub: who has one open, and what waits in its queue.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::HttpBody;
use bytes::{Bytes, BytesMut};
use hyper::body::Frame;
use stoa_model::{ConversationId, PrincipalId};
use tokio::sync::{Notify, Semaphore, watch};

use super::room::Room;
use crate::access::Principal;
use crate::error::HubError;
use crate::events::Position;
use crate::features::messages::Unread;
use crate::hub::Hub;

/// Chunks that wait for a client. It is more than one batch of events holds, so that only a client that
/// does not keep up can fill it.
const MAX_QUEUED: usize = 1024;
/// A client that catches up gets no more until it has taken all but this many chunks.
const MAX_QUEUED_BACKLOG: usize = 4;
/// Small chunks that wait are sent together, up to this many bytes.
const JOINED_BYTES: usize = 16 * 1024;
/// How long somebody is still online after their last stream closed: pages are loaded anew.
const GRACE_MS: i64 = 10_000;
/// Clients whose backlog is read at one time.
const BACKLOGS: usize = 32;
const RETRY_SECONDS: u64 = 5;

pub(super) struct Registry {
    /// Held while a batch of events is handed out and while a stream goes live, so that neither meets the
    /// other half-way.
    pub(super) turn: tokio::sync::Mutex<Turn>,
    state: Mutex<State>,
    /// Rung when there is something to do for the keeper.
    pub(super) bell: Notify,
    pub(super) backlogs: Semaphore,
    /// Answers that are under way, also those that are closed here and not yet fetched by their clients.
    answers: watch::Sender<usize>,
}

/// What only the tap needs.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) rooms: HashMap<ConversationId, Arc<Room>>,
    /// About how many rooms and people in them that is.
    pub(super) remembered: usize,
    /// Set while a batch is handed out: who finds it set knows that the last one was not finished.
    pub(super) is_unfinished: bool,
}

impl Turn {
    pub(super) fn remember(&mut self, conversation: ConversationId, room: Room) {
        self.remembered += room.size();
        self.rooms.insert(conversation, Arc::new(room));
    }

    pub(super) fn forget_rooms(&mut self) {
        self.remembered = 0;
        self.rooms.clear();
    }
}

#[derive(Default)]
pub(super) struct State {
    /// Names the history of events; known as soon as there is a stream.
    pub(super) epoch: String,
    /// Everything up to here has been handed out.
    pub(super) position: Position,
    pub(super) principals: HashMap<PrincipalId, Connected>,
    /// Streams by the human behind them.
    humans: HashMap<PrincipalId, usize>,
    streams: usize,
    /// Who goes offline when, in the order of time.
    leaving: VecDeque<(i64, PrincipalId)>,
    /// What is to be told of who came and went.
    presence: Vec<(PrincipalId, String, bool)>,
    is_closing: bool,
}

/// A principal with streams, or one who had some a moment ago.
pub(super) struct Connected {
    handle: String,
    pub(super) streams: Vec<Arc<Stream>>,
    /// What was counted so far; the rest is counted when it is needed.
    pub(super) unread: HashMap<ConversationId, Unread>,
    offline_at: Option<i64>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            turn: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            bell: Notify::new(),
            backlogs: Semaphore::new(BACKLOGS),
            answers: watch::Sender::new(0),
        }
    }
}

impl Registry {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a stream that gets nothing until it [goes live](Self::go_live).
    pub(super) fn open(&self, hub: &Hub, principal: &Arc<Principal>) -> Result<StreamBody, HubError> {
        let mut state = self.state();
        if state.is_closing {
            return Err(HubError::unavailable("The hub is shutting down."));
        }
        let limit = hub.config().max_streams;
        let of_human = state.humans.entry(principal.human).or_default();
        if limit > 0 && *of_human >= limit {
            let detail = format!("A user and their agents can have {limit} open event streams.");
            return Err(
                HubError::rate_limited(detail, RETRY_SECONDS).hint("Close a stream, or share one between pages.")
            );
        }
        *of_human += 1;
        state.streams += 1;
        let stream = Arc::new(Stream { principal: principal.clone(), queue: Mutex::default() });
        match state.principals.get_mut(&principal.id) {
            Some(connected) => {
                connected.offline_at = None;
                connected.streams.push(stream.clone());
            }
            None => {
                let connected = Connected {
                    handle: principal.handle.clone(),
                    streams: vec![stream.clone()],
                    unread: HashMap::new(),
                    offline_at: None,
                };
                state.principals.insert(principal.id, connected);
                state.presence.push((principal.id, principal.handle.clone(), true));
                self.bell.notify_one();
            }
        }
        drop(state);
        self.answers.send_modify(|answers| *answers += 1);
        hub.metrics().streams.inc();
        Ok(StreamBody { hub: hub.clone(), stream })
    }

    /// Lets a stream have everything after `from`, unless some of that was handed out already.
    pub(super) fn go_live(&self, _turn: &Turn, stream: &Stream, from: Position) -> bool {
        let is_in_time = from >= self.state().position;
        if is_in_time {
            stream.queue().live_after = Some(from);
        }
        is_in_time
    }

    /// Takes a stream out. What it is still to get stays in its queue.
    pub(super) fn remove(&self, hub: &Hub, stream: &Arc<Stream>) {
        let mut state = self.state();
        let state = &mut *state;
        let Some(connected) = state.principals.get_mut(&stream.principal.id) else { return };
        let Some(index) = connected.streams.iter().position(|known| Arc::ptr_eq(known, stream)) else { return };
        connected.streams.swap_remove(index);
        state.streams -= 1;
        if let Some(of_human) = state.humans.get_mut(&stream.principal.human) {
            *of_human -= 1;
            if *of_human == 0 {
                state.humans.remove(&stream.principal.human);
            }
        }
        if connected.streams.is_empty() {
            let offline_at = hub.clock().now_ms() + GRACE_MS;
            connected.offline_at = Some(offline_at);
            // Nobody keeps them up to date from here on.
            connected.unread = HashMap::new();
            state.leaving.push_back((offline_at, stream.principal.id));
            self.bell.notify_one();
        }
    }

    /// Ends a stream at once; what waits in its queue is not sent any more.
    pub(super) fn close(&self, hub: &Hub, stream: &Arc<Stream>) {
        stream.close();
        self.remove(hub, stream);
    }

    pub(super) fn all_streams(&self) -> Vec<Arc<Stream>> {
        self.state().principals.values().flat_map(|connected| connected.streams.iter().cloned()).collect()
    }

    /// Lets no stream in any more.
    pub(super) fn begin_closing(&self) {
        self.state().is_closing = true;
    }

    /// Waits until no answer is under way.
    pub(super) async fn all_answered(&self) {
        // The registry holds the sender.
        let _ = self.answers.subscribe().wait_for(|answers| *answers == 0).await;
    }
}

impl State {
    pub(super) fn is_empty(&self) -> bool {
        self.streams == 0
    }

    /// Those who have a stream now.
    pub(super) fn connected_ids(&self) -> Vec<PrincipalId> {
        let connected = self.principals.iter().filter(|(_, connected)| !connected.streams.is_empty());
        connected.map(|(id, _)| *id).collect()
    }

    pub(super) fn is_connected(&self, principal: PrincipalId) -> bool {
        self.principals.get(&principal).is_some_and(|connected| !connected.streams.is_empty())
    }

    /// Says again that somebody is online, after another hub has said that they are not.
    pub(super) fn confirm_online(&mut self, principal: PrincipalId) {
        let connected = self.principals.get(&principal).filter(|connected| !connected.streams.is_empty());
        if let Some(connected) = connected {
            self.presence.push((principal, connected.handle.clone(), true));
        }
    }

    /// When the next one goes offline.
    pub(super) fn next_leave(&self) -> Option<i64> {
        self.leaving.front().map(|(at, _)| *at)
    }

    /// Who came and who has gone, since the last call.
    pub(super) fn take_presence(&mut self, now_ms: i64) -> Vec<(PrincipalId, String, bool)> {
        while let Some((_, principal)) = self.leaving.pop_front_if(|(at, _)| *at <= now_ms) {
            let is_gone = self
                .principals
                .get(&principal)
                .is_some_and(|connected| connected.offline_at.is_some_and(|at| at <= now_ms));
            if is_gone && let Some(connected) = self.principals.remove(&principal) {
                self.presence.push((principal, connected.handle, false));
            }
        }
        std::mem::take(&mut self.presence)
    }

    /// What could not be told is told the next time.
    pub(super) fn give_back_presence(&mut self, mut presence: Vec<(PrincipalId, String, bool)>) {
        presence.append(&mut self.presence);
        self.presence = presence;
    }
}

/// One client's stream.
pub(super) struct Stream {
    pub(super) principal: Arc<Principal>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Bytes>,
    /// Whether the greeting is there, which comes before everything else.
    has_begun: bool,
    /// None while the client is catching up, which is done from the outbox and not from here.
    live_after: Option<Position>,
    phase: Phase,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Default, PartialEq)]
enum Phase {
    #[default]
    Open,
    /// What is in the queue is the rest.
    Ending,
    Closed,
}

/// Readers that have something to read. They are woken when this is dropped, whatever happens before: what several events
/// have put into a stream by then is one write to its client.
#[derive(Default)]
pub(super) struct Woken(Vec<Waker>);

impl Drop for Woken {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

/// What became of a chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Taken,
    /// It is not for this stream, or not any more.
    Passed,
    /// The client reads too slowly; the stream is closed.
    Full,
}

impl Stream {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its credential has run out.
    pub(super) fn is_expired(&self, now_ms: i64) -> bool {
        self.principal.expires_at.is_some_and(|at| at <= now_ms)
    }

    /// Hands a chunk to a stream. With a position, it is an event: only for a live stream that does not have
    /// it yet. Without one, it is about now, and for those who are catching up, too. The client is woken with the others.
    pub(super) fn offer(&self, position: Option<Position>, chunk: &Bytes, woken: &mut Woken) -> Offered {
        let mut queue = self.queue();
        let is_due = match position {
            Some(position) => queue.live_after.is_some_and(|after| position > after),
            None => queue.has_begun,
        };
        if !is_due || queue.phase != Phase::Open {
            return Offered::Passed;
        }
        if queue.chunks.len() >= MAX_QUEUED {
            queue.close();
            return Offered::Full;
        }
        woken.0.extend(queue.push(chunk.clone()));
        Offered::Taken
    }

    /// Whether it is live and has nothing from behind `position`.
    pub(super) fn is_at(&self, position: Position) -> bool {
        self.queue().live_after.is_some_and(|after| after <= position)
    }

    /// Puts a chunk into the queue of a stream that is not live yet.
    pub(super) fn push(&self, chunk: Bytes) {
        let mut queue = self.queue();
        if queue.phase == Phase::Open {
            queue.has_begun = true;
            queue.push(chunk).into_iter().for_each(Waker::wake);
        }
    }

    /// Waits until the client has taken most of what it has got. False when it is gone.
    pub(super) async fn has_room(&self) -> bool {
        std::future::poll_fn(|context| {
            let mut queue = self.queue();
            if queue.phase != Phase::Open {
                return Poll::Ready(false);
            }
            if queue.chunks.len() <= MAX_QUEUED_BACKLOG {
                return Poll::Ready(true);
            }
            queue.writer = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Ends the stream after what waits in its queue and a last chunk.
    pub(super) fn finish(&self, last: Bytes) {
        let mut queue = self.queue();
        if queue.phase == Phase::Open {
            queue.push(last).into_iter().for_each(Waker::wake);
            queue.phase = Phase::Ending;
            queue.wake_writer();
        }
    }

    fn close(&self) {
        self.queue().close();
    }

    fn poll_chunk(&self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = self.queue();
        let Some(first) = queue.chunks.pop_front() else {
            if queue.phase != Phase::Open {
                return Poll::Ready(None);
            }
            queue.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let chunk = queue.join(first);
        if queue.chunks.is_empty() {
            // A burst must not leave every client with a large queue for good.
            queue.chunks.shrink_to(4);
        }
        queue.wake_writer();
        Poll::Ready(Some(chunk))
    }
}

impl Queue {
    /// Adds a chunk, and returns the reader if it waits for one. A reader that has not come for the last chunk yet is on
    /// its way already.
    fn push(&mut self, chunk: Bytes) -> Option<Waker> {
        self.chunks.push_back(chunk);
        self.reader.take()
    }

    fn close(&mut self) {
        self.phase = Phase::Closed;
        self.chunks = VecDeque::new();
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        self.wake_writer();
    }

    fn wake_writer(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }

    /// Adds to a chunk what waits behind it, if that is little. One alone stays as it is, shared by all.
    fn join(&mut self, first: Bytes) -> Bytes {
        let mut length = first.len();
        let more = self.chunks.iter().take_while(|chunk| {
            length += chunk.len();
            length <= JOINED_BYTES
        });
        let more = more.count();
        if more == 0 {
            return first;
        }
        let mut joined = BytesMut::with_capacity(JOINED_BYTES.min(length));
        joined.extend_from_slice(&first);
        for chunk in self.chunks.drain(..more) {
            joined.extend_from_slice(&chunk);
        }
        joined.freeze()
    }
}

/// The body of the answer. Dropping it, as happens when the client goes away, ends the stream.
pub(super) struct StreamBody {
    hub: Hub,
    pub(super) stream: Arc<Stream>,
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.stream.poll_chunk(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

impl Drop for StreamBody {
    fn drop(&mut self) {
        let registry = self.hub.memory::<Registry>();
        registry.close(&self.hub, &self.stream);
        registry.answers.send_modify(|answers| *answers -= 1);
        self.hub.metrics().streams.dec();
    }
}
