//! Who there is in a hub that was filled: people, their agents, and the channels they are in.

use serde::Serialize;
use sha2::{Digest, Sha256};
use stoa_db::{Database, DbError, Tx, params};
use stoa_model::credentials::CredentialKind;

use super::dice::Dice;

/// Channels are of different sizes, and a few are private.
const PRIVATE_EVERY: usize = 4;

/// How much of each there is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) users: usize,
    pub(super) agents: usize,
    pub(super) channels: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { users: 50, agents: 200, channels: 40 }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Person {
    pub(super) id: i64,
    pub(super) name: String,
    /// An agent's key. People have none: nobody knows their passwords.
    pub(super) key: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Room {
    pub(super) id: i64,
    pub(super) conversation: i64,
    pub(super) name: String,
    pub(super) is_public: bool,
    /// Places among the people.
    pub(super) members: Vec<usize>,
}

/// People first, then agents.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Population {
    pub(super) people: Vec<Person>,
    pub(super) first_agent: usize,
    pub(super) rooms: Vec<Room>,
}

impl Population {
    /// Makes everybody, in a database that has none of them.
    pub(super) async fn create(db: &Database, size: Size, seed: u64) -> Result<Self, String> {
        // Once for all: a cost that is right for passwords would take longer than everything else.
        let password =
            bcrypt::hash(format!("nobody knows {}", random_word()?), 4).map_err(|error| error.to_string())?;
        let created = db.write(move |tx| create(tx, size, seed, &password)).await;
        created.map_err(|error: DbError| {
            if error.is_unique_violation() { "this folder was filled before".to_owned() } else { error.to_string() }
        })
    }

    pub(super) fn agents(&self) -> &[Person] {
        &self.people[self.first_agent..]
    }

    /// The keys of all agents.
    pub(super) fn keys(&self) -> Vec<String> {
        self.agents().iter().filter_map(|agent| agent.key.clone()).collect()
    }
}

fn random_word() -> Result<u64, String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(u64::from_be_bytes(bytes))
}

fn create(tx: &mut Tx<'_>, size: Size, seed: u64, password: &str) -> Result<Population, DbError> {
    let mut dice = Dice::new(seed);
    let mut people = Vec::new();
    for number in 0..size.users.max(1) {
        let name = format!("person-{number:04}");
        let id = insert_principal(tx, "user", &name, None)?;
        tx.execute("insert into users (id, password_hash, role) values ($1, $2, 'member')", params![id, password])?;
        people.push(Person { id, name, key: None });
    }
    let first_agent = people.len();
    for number in 0..size.agents.max(2) {
        let (name, owner) = (format!("agent-{number:05}"), people[number % first_agent].id);
        let id = insert_principal(tx, "agent", &name, Some(owner))?;
        tx.execute(
            "insert into agents (id, archetype, trigger_mode, cooldown_seconds, budget, max_trigger_depth, instructions)
             values ($1, 'custom', 'passive', 30, '{\"runs_per_day\":100,\"cost_usd_per_day\":null}', 4, '')",
            params![id],
        )?;
        // Whatever the seed, nobody can guess the keys.
        let key = CredentialKind::AgentKey.render(tx.random_bytes());
        tx.execute(
            "insert into agent_keys (agent_id, token_hash, created_at) values ($1, $2, $3)",
            params![id, <[u8; 32]>::from(Sha256::digest(&key)), tx.now_ms()],
        )?;
        people.push(Person { id, name, key: Some(key) });
    }
    let mut rooms = Vec::new();
    for number in 0..size.channels.max(1) {
        // The first has everybody, the second half of them, the third a third.
        let mut members: Vec<usize> =
            (0..people.len()).filter(|place| number == 0 || place % (number + 1) == dice.below(2) as usize).collect();
        let owner = number % first_agent;
        if !members.contains(&owner) {
            members.push(owner);
        }
        if !members.iter().any(|member| *member >= first_agent) {
            members.push(first_agent + number % (people.len() - first_agent));
        }
        let name = format!("room-{number:03}");
        let room = insert_room(tx, &name, number % PRIVATE_EVERY != PRIVATE_EVERY - 1, &people, owner, members)?;
        rooms.push(room);
    }
    join_general(tx, &people)?;
    Ok(Population { people, first_agent, rooms })
}

fn insert_principal(tx: &mut Tx<'_>, kind: &str, name: &str, owner: Option<i64>) -> Result<i64, DbError> {
    tx.query_one(
        "insert into principals (kind, handle, folded_handle, display_name, folded_display_name, owner_id, created_at)
         values ($1, $2, $2, $2, $2, $3, $4) returning id",
        params![kind, name, owner, tx.now_ms()],
        |row| row.get("id"),
    )
}

/// A channel with these members.
pub(super) fn insert_room(
    tx: &mut Tx<'_>,
    name: &str,
    is_public: bool,
    people: &[Person],
    owner: usize,
    members: Vec<usize>,
) -> Result<Room, DbError> {
    let now = tx.now_ms();
    let conversation: i64 =
        tx.query_one("insert into conversations (created_at) values ($1) returning id", params![now], |row| {
            row.get("id")
        })?;
    let id: i64 = tx.query_one(
        "insert into channels (conversation_id, name, topic, description, is_public, owner_id, created_at)
         values ($1, $2, '', '', $3, $4, $5) returning id",
        params![conversation, name, is_public, people[owner].id, now],
        |row| row.get("id"),
    )?;
    for member in &members {
        tx.execute(
            "insert into channel_members (channel_id, principal_id, joined_at) values ($1, $2, $3)",
            params![id, people[*member].id, now],
        )?;
    }
    Ok(Room { id, conversation, name: name.to_owned(), is_public, members })
}

/// Everybody new is in `#general`. Where there is none yet, the hub makes it with everybody in it.
fn join_general(tx: &mut Tx<'_>, people: &[Person]) -> Result<(), DbError> {
    let general: Option<i64> =
        tx.query_optional("select id from channels where name = 'general' and deleted_at is null", &[], |row| {
            row.get("id")
        })?;
    for person in people.iter().filter(|_| general.is_some()) {
        tx.execute(
            "insert into channel_members (channel_id, principal_id, joined_at) values ($1, $2, $3)",
            params![general, person.id, tx.now_ms()],
        )?;
    }
    Ok(())
}
