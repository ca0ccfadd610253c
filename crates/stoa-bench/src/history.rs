//! Messages that a hub could have had: who says what to whom, in which order, and who has read it.
//!
//! They leave the rows that sends leave, but are written thousands at a time, with ids drawn here: the
//! data folder is locked, so nobody else draws any.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use stoa_db::{Database, DbError, Engine, Tx, params};

use super::dice::Dice;
use super::population::Population;

/// Messages in one command.
const BATCH: u64 = 5_000;
/// The last of these have rows in the outbox, and some of their DMs are still to be done: the rest was long ago.
const RECENT: u64 = 5_000;
/// The time over which they were sent.
const SPAN_MS: i64 = 90 * 24 * 3600 * 1000;
/// How far back traces go.
const TRACED_MS: i64 = 30 * 24 * 3600 * 1000;
/// What a hub traces of a send.
pub(super) const TRACE: &str = r#"{"method":"POST","path":"/api/messages","status":201}"#;
/// Partners that one exchanges DMs with.
const PARTNERS: u64 = 8;
/// Latest messages of a conversation that can be answered.
const REMEMBERED: usize = 16;
const WORDS: usize = 20_000;
/// Words that are said as often however many messages there are, spread evenly over the public channels: how a search for
/// them is called, the word, and how often.
pub(super) const PLANTED: [(&str, &str, u64); 2] = [("100 hits", "quokka", 100), ("3000 hits", "pangolin", 3_000)];

/// What was said, and where to look for it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct History {
    pub(super) messages: u64,
    /// Of each room, a message in its middle.
    pub(super) middles: Vec<i64>,
    /// Messages of public rooms that were answered.
    pub(super) answered: Vec<i64>,
    /// Pairs of places among the people who exchanged DMs; the first is an agent.
    pub(super) pairs: Vec<(usize, usize)>,
}

/// Texts whose words are as unevenly used as those of a language.
pub(super) struct Writer {
    words: Vec<String>,
}

impl Writer {
    pub(super) fn new() -> Self {
        const COMMON: &str = "the of to and in is that it for was on are with this be as have from at not \
            we you but run test build can will has fix review please deploy log done";
        const SYLLABLES: [&str; 24] = [
            "ba", "cor", "den", "el", "fi", "gra", "hu", "in", "ka", "lo", "mer", "no", "or", "pel", "qui", "ra",
            "sto", "ta", "un", "ver", "wi", "xa", "yo", "ze",
        ];
        let mut dice = Dice::new(7);
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        let mut known: HashSet<String> = words.iter().cloned().collect();
        while words.len() < WORDS {
            let syllables = 1 + dice.below(4);
            let word: String = (0..syllables).map(|_| SYLLABLES[dice.below(24) as usize]).collect();
            // A word has one rank.
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        Self { words }
    }

    /// The most common ones first.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// About 25 words. The word of rank n is drawn with a probability of about 1/n.
    pub(super) fn text(&self, dice: &mut Dice) -> String {
        let count = 10 + dice.below(31);
        let mut text = String::with_capacity(200);
        for _ in 0..count {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&self.words[dice.rank(self.words.len())]);
        }
        text.push('.');
        text
    }
}

/// A message that can be answered.
#[derive(Clone, Copy)]
struct Said {
    id: i64,
    thread: Option<i64>,
    depth: i64,
}

#[derive(Default)]
struct Conversation {
    count: u64,
    latest: Vec<Said>,
}

/// One row to come, with what hangs on it.
struct Row {
    id: i64,
    conversation: i64,
    channel: Option<i64>,
    author: i64,
    recipient: Option<i64>,
    body: String,
    reply_to: Option<i64>,
    thread: Option<i64>,
    mention_of: Option<i64>,
    status: &'static str,
    metadata: String,
    mentions: String,
    depth: i64,
    created_at: i64,
    /// What it said before it was edited.
    earlier: Option<String>,
    /// Who answers for its author, if what they did is still remembered.
    traced_for: Option<i64>,
    event: Option<String>,
}

struct Pair {
    id: i64,
    low: i64,
    high: i64,
    created_at: i64,
}

#[derive(Default)]
struct Batch {
    pairs: Vec<Pair>,
    rows: Vec<Row>,
}

struct Teller<'p> {
    population: &'p Population,
    writer: Writer,
    dice: Dice,
    total: u64,
    now_ms: i64,
    next_message: i64,
    next_conversation: i64,
    pairs: HashMap<(usize, usize), i64>,
    conversations: HashMap<i64, Conversation>,
    middles: HashMap<i64, i64>,
    answered: Vec<i64>,
    batch: Batch,
    told: u64,
    /// How often each of the planted words was said.
    planted: [u64; PLANTED.len()],
}

/// Writes `total` messages.
pub(super) async fn tell(
    db: &Database,
    population: &Population,
    total: u64,
    seed: u64,
    progress: impl Fn(u64),
) -> Result<History, String> {
    let fault = |error: DbError| error.to_string();
    let last = |table: &'static str| {
        move |tx: &mut Tx<'_>| {
            tx.query_one(&format!("select coalesce(max(id), 0) as last from {table}"), &[], |row| row.get("last"))
        }
    };
    let (message, conversation): (i64, i64) =
        (db.read(last("messages")).await.map_err(fault)?, db.read(last("conversations")).await.map_err(fault)?);
    let now_ms = db.write(begin_outbox).await.map_err(fault)?;
    let mut teller = Teller {
        population,
        writer: Writer::new(),
        dice: Dice::new(seed ^ 0xface),
        total,
        now_ms,
        next_message: message + 1,
        next_conversation: conversation + 1,
        pairs: HashMap::new(),
        conversations: HashMap::new(),
        middles: HashMap::new(),
        answered: Vec::new(),
        batch: Batch::default(),
        told: 0,
        planted: [0; PLANTED.len()],
    };
    teller.introduce();
    // The next batch is thought out while the last one is written.
    let mut writing: Option<tokio::task::JoinHandle<Result<(), DbError>>> = None;
    while teller.told < total {
        let end = total.min(teller.told + BATCH);
        while teller.told < end {
            teller.say_something(end);
        }
        let batch = Arc::new(std::mem::take(&mut teller.batch));
        if let Some(writing) = writing.take() {
            writing.await.map_err(|error| error.to_string())?.map_err(fault)?;
        }
        progress(teller.told);
        let db = db.clone();
        writing = Some(tokio::spawn(async move { db.write(move |tx| store(tx, &batch)).await }));
    }
    if let Some(writing) = writing {
        writing.await.map_err(|error| error.to_string())?.map_err(fault)?;
    }
    let reads = Arc::new(teller.reads());
    db.write(move |tx| store_reads(tx, &reads)).await.map_err(fault)?;
    Ok(teller.history())
}

/// Has PostgreSQL continue after the numbers that were drawn here. SQLite does so by itself.
pub(super) async fn continue_numbers(db: &Database) -> Result<(), String> {
    if db.engine() == Engine::Sqlite {
        return Ok(());
    }
    let continued = db.write(|tx| {
        for (table, key) in [("messages", "id"), ("conversations", "id"), ("outbox", "seq")] {
            let sql = format!(
                "select setval(pg_get_serial_sequence('{table}', '{key}'), coalesce(max({key}), 0) + 1) as last from {table}"
            );
            tx.query_one(&sql, &[], |row| row.get::<i64>("last"))?;
        }
        Ok(())
    });
    continued.await.map_err(|error: DbError| error.to_string())
}

/// What comes into the outbox now does not follow on what was there: listeners that have come to its end are to
/// find out that they missed something, as they do after a pruning. Returns the time.
fn begin_outbox(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    let last: i64 = tx.query_one("select coalesce(max(seq), 0) as last from outbox", &[], |row| row.get("last"))?;
    let gap = last + 1;
    tx.execute(
        "insert into outbox (seq, at, kind, payload) values ($1, $2, 'message_sent', '{}')",
        params![gap, tx.now_ms()],
    )?;
    tx.execute("delete from outbox where seq <= $1", params![gap])?;
    tx.execute(
        "insert into meta (name, value) values ('outbox_pruned_through', $1)
         on conflict (name) do update set value = excluded.value",
        params![format!("0.{gap}")],
    )?;
    Ok(tx.now_ms())
}

impl Teller<'_> {
    /// Everybody writes to each of their partners once, so that these are the same however many messages follow.
    fn introduce(&mut self) {
        let people = self.population.people.len();
        if self.total < people as u64 * PARTNERS * 2 {
            return;
        }
        for author in 0..people {
            for distance in 1..=PARTNERS as usize {
                let body = self.writer.text(&mut self.dice);
                self.add_dm(author, (author + distance) % people, body, None);
            }
        }
    }

    fn say_something(&mut self, end: u64) {
        let is_agent = self.dice.below(10) < 7;
        match self.dice.below(100) {
            0..70 => self.post(is_agent, false),
            // A mention is a message more.
            70..76 if self.told + 2 <= end => self.post(is_agent, true),
            _ => {
                let author = self.somebody(is_agent);
                let partner = self.partner_of(author);
                let body = self.writer.text(&mut self.dice);
                self.add_dm(author, partner, body, None);
            }
        }
    }

    /// Somebody who writes to others, the first ones most: the one of rank n has about 1/n of it.
    fn somebody(&mut self, is_agent: bool) -> usize {
        let (first, all) = (self.population.first_agent, self.population.people.len());
        if is_agent { first + self.dice.rank(all - first) } else { self.dice.rank(first) }
    }

    /// One of the few that somebody writes to, some of them often.
    fn partner_of(&mut self, author: usize) -> usize {
        let distance = 1 + self.dice.below(PARTNERS).min(self.dice.below(PARTNERS));
        (author + distance as usize) % self.population.people.len()
    }

    fn post(&mut self, is_agent: bool, is_mention: bool) {
        let population = self.population;
        // The channel of rank n has about 1/n of what is said.
        let place = self.dice.rank(population.rooms.len());
        let room = &population.rooms[place];
        let mut author = room.members[self.dice.below(room.members.len() as u64) as usize];
        if is_agent && author < population.first_agent {
            author = room.members[self.dice.below(room.members.len() as u64) as usize];
        }
        // Those whom one writes to anyway: with everybody, lists of partners would grow with the number of messages.
        let mentioned = self.partner_of(author);
        let mut body = self.writer.text(&mut self.dice);
        let is_mention = is_mention && mentioned != author && (room.is_public || room.members.contains(&mentioned));
        let name = population.people[mentioned].name.clone();
        if is_mention {
            body = format!("@{name} {body}");
        }
        if room.is_public {
            self.plant(&mut body);
        }
        let said =
            self.add(author, None, room.conversation, Some(place), body.clone(), is_mention.then_some(mentioned), None);
        if self.told <= self.total / 2 {
            self.middles.insert(room.conversation, said.id);
        }
        if is_mention {
            self.add_dm(author, mentioned, body, Some((said, place)));
        }
    }

    /// Says the planted words as often as it is their turn.
    fn plant(&mut self, body: &mut String) {
        for ((_, word, count), planted) in PLANTED.iter().zip(&mut self.planted) {
            if *planted * self.total < count * self.told {
                *planted += 1;
                body.push(' ');
                body.push_str(word);
            }
        }
    }

    fn add_dm(&mut self, author: usize, recipient: usize, body: String, mention: Option<(Said, usize)>) {
        if author == recipient {
            return;
        }
        let pair = (author.min(recipient), author.max(recipient));
        let conversation = match self.pairs.get(&pair) {
            Some(known) => *known,
            None => {
                let id = self.next_conversation;
                self.next_conversation += 1;
                let created_at = self.time_of(self.told);
                let (one, other) = (self.population.people[pair.0].id, self.population.people[pair.1].id);
                self.batch.pairs.push(Pair { id, low: one.min(other), high: one.max(other), created_at });
                self.pairs.insert(pair, id);
                id
            }
        };
        self.add(author, Some(recipient), conversation, None, body, None, mention);
    }

    fn time_of(&self, told: u64) -> i64 {
        self.now_ms - SPAN_MS + (SPAN_MS as f64 * told as f64 / self.total.max(1) as f64) as i64
    }

    #[expect(clippy::too_many_arguments, reason = "a message has as many sides")]
    fn add(
        &mut self,
        author: usize,
        recipient: Option<usize>,
        conversation: i64,
        room: Option<usize>,
        body: String,
        mentioned: Option<usize>,
        mention_of: Option<(Said, usize)>,
    ) -> Said {
        let population = self.population;
        let id = self.next_message;
        self.next_message += 1;
        let created_at = self.time_of(self.told);
        let is_recent = self.told + RECENT >= self.total;
        self.told += 1;
        let place = self.conversations.entry(conversation).or_default();
        let parent = match mention_of {
            Some((origin, _)) => Some(origin),
            None if self.dice.below(4) == 0 && !place.latest.is_empty() => {
                Some(place.latest[self.dice.below(place.latest.len() as u64) as usize])
            }
            None => None,
        };
        let is_agent = author >= population.first_agent;
        let human = if is_agent { (author - population.first_agent) % population.first_agent } else { author };
        let is_traced = mention_of.is_none() && created_at > self.now_ms - TRACED_MS;
        let depth = match (mention_of, parent) {
            (Some((origin, _)), _) => origin.depth,
            (None, Some(parent)) if is_agent => parent.depth + 1,
            _ => 0,
        };
        let said = Said { id, thread: parent.map(|parent| parent.thread.unwrap_or(parent.id)), depth };
        if mention_of.is_none() {
            place.count += 1;
            if place.latest.len() < REMEMBERED {
                place.latest.push(said);
            } else {
                place.latest[(place.count % REMEMBERED as u64) as usize] = said;
            }
        }
        let room = room.map(|place| &population.rooms[place]);
        if let (Some(parent), Some(room)) = (parent, room)
            && room.is_public
            && self.answered.len() < 1000
        {
            self.answered.push(parent.id);
        }
        let is_edited = self.dice.below(50) == 0;
        // A DM that tells of a mention has no text of its own.
        let body = if mention_of.is_some() { String::new() } else { body };
        let earlier = (is_edited && mention_of.is_none()).then(|| format!("{} Or not?", &body));
        let status = match recipient {
            Some(_) if is_recent && self.dice.below(2) == 0 => "pending",
            _ => "done",
        };
        let metadata = match mention_of {
            Some((origin, place)) => {
                let channel = &population.rooms[place].name;
                format!(r#"{{"mention":{{"channel":"{channel}","message_id":{}}}}}"#, origin.id)
            }
            None => "{}".to_owned(),
        };
        let mentions = mentioned.map_or("[]".to_owned(), |place| format!(r#"["{}"]"#, population.people[place].name));
        let (author, recipient) = (&population.people[author], recipient.map(|place| &population.people[place]));
        let event = is_recent.then(|| {
            let kind = if is_agent { "agent" } else { "user" };
            let event = json!({
                "kind": "message_sent",
                "message": id,
                "conversation": conversation,
                "channel": room.map(|room| room.id),
                "channel_name": room.map(|room| &room.name),
                "author": author.id,
                "from": {"kind": kind, "name": author.name, "display_name": author.name},
                "recipient": recipient.map(|person| person.id),
                "to": recipient.map(|person| &person.name),
                "reply_to": parent.map(|parent| parent.id),
                "mention_of": mention_of.map(|(origin, _)| origin.id),
                "mentioned": mentioned.map(|place| population.people[place].id).into_iter().collect::<Vec<_>>(),
                "depth": depth,
                "no_wake": false,
            });
            event.to_string()
        });
        self.batch.rows.push(Row {
            id,
            conversation,
            channel: room.map(|room| room.id),
            author: author.id,
            recipient: recipient.map(|person| person.id),
            body,
            reply_to: parent.map(|parent| parent.id),
            thread: said.thread,
            mention_of: mention_of.map(|(origin, _)| origin.id),
            status,
            metadata,
            mentions,
            depth,
            created_at,
            earlier,
            traced_for: is_traced.then_some(population.people[human].id),
            event,
        });
        said
    }

    /// How far each has read: agents nearly everything, some people were never there.
    fn reads(&mut self) -> Vec<(i64, i64, i64)> {
        let mut reads = Vec::new();
        let rooms = self.population.rooms.iter().map(|room| (room.conversation, room.members.clone()));
        let mut all: Vec<_> = rooms.chain(self.pairs.iter().map(|((a, b), id)| (*id, vec![*a, *b]))).collect();
        // The order of a map is another one each time; the dice must not care.
        all.sort_by_key(|(conversation, _)| *conversation);
        for (conversation, members) in all {
            let Some(place) = self.conversations.get(&conversation).filter(|place| !place.latest.is_empty()) else {
                continue;
            };
            for member in members {
                if member >= self.population.first_agent || self.dice.below(3) > 0 {
                    let read = place.latest[self.dice.below(place.latest.len() as u64) as usize].id;
                    reads.push((self.population.people[member].id, conversation, read));
                }
            }
        }
        reads
    }

    fn history(self) -> History {
        let first_agent = self.population.first_agent;
        let mut pairs: Vec<_> = self.pairs.keys().copied().collect();
        pairs.sort_unstable();
        let sided = |(one, other): (usize, usize)| if one >= first_agent { (one, other) } else { (other, one) };
        let pairs = pairs.into_iter().map(sided).filter(|(one, _)| *one >= first_agent).collect();
        let middle = |room: &super::population::Room| self.middles.get(&room.conversation).copied().unwrap_or(i64::MAX);
        History {
            messages: self.told,
            middles: self.population.rooms.iter().map(middle).collect(),
            answered: self.answered,
            pairs,
        }
    }
}

fn store(tx: &mut Tx<'_>, batch: &Batch) -> Result<(), DbError> {
    for pair in &batch.pairs {
        tx.execute(
            "insert into conversations (id, low_id, high_id, created_at) values ($1, $2, $3, $4)",
            params![pair.id, pair.low, pair.high, pair.created_at],
        )?;
    }
    for row in &batch.rows {
        let edited_at = row.earlier.as_ref().map(|_| row.created_at + 60_000);
        tx.execute(
            "insert into messages (id, conversation_id, channel_id, author_id, recipient_id, body, reply_to, thread_id,
                 mention_of, status, priority, metadata, mentions, depth, created_at, edited_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 5, $11, $12, $13, $14, $15)",
            params![
                row.id,
                row.conversation,
                row.channel,
                row.author,
                row.recipient,
                row.body,
                row.reply_to,
                row.thread,
                row.mention_of,
                row.status,
                row.metadata,
                row.mentions,
                row.depth,
                row.created_at,
                edited_at
            ],
        )?;
        if let Some(earlier) = &row.earlier {
            tx.execute(
                "insert into message_revisions (message_id, revision, body, written_at) values ($1, 1, $2, $3)",
                params![row.id, earlier, row.created_at],
            )?;
        }
        if let Some(owner) = row.traced_for {
            insert_trace(tx, owner, row.author, row.created_at)?;
        }
        if let Some(event) = &row.event {
            tx.execute(
                "insert into outbox (at, kind, conversation_id, actor_id, payload) values ($1, 'message_sent', $2, $3, $4)",
                params![row.created_at, row.conversation, row.author, event],
            )?;
        }
    }
    Ok(())
}

/// What is remembered of a send.
pub(super) fn insert_trace(tx: &mut Tx<'_>, owner: i64, principal: i64, at: i64) -> Result<(), DbError> {
    tx.execute(
        "insert into traces (owner_id, principal_id, action, details, duration_ms, request_id, created_at)
         values ($1, $2, 'send_message', $3, 1, '01890000-0000-7000-8000-000000000000', $4)",
        params![owner, principal, TRACE, at],
    )?;
    Ok(())
}

fn store_reads(tx: &mut Tx<'_>, reads: &[(i64, i64, i64)]) -> Result<(), DbError> {
    for (reader, conversation, message) in reads {
        tx.execute(
            "insert into read_cursors (principal_id, conversation_id, message_id) values ($1, $2, $3)",
            params![reader, conversation, message],
        )?;
    }
    Ok(())
}
