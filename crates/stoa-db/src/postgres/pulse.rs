//! The pulse of the server: whether it answers, what time it has, and whether a newer program has changed the tables.
//!
//! A server that is frozen or cut off keeps its connections and says nothing on them. So one thread asks it something again and
//! again. When no answer comes, all who wait for the server are answered at once, and nobody asks it anything until it is back.

use std::sync::Weak;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::Config;

use super::session::{Patience, Session};
use super::{NO_LIMITS, SETTINGS};
use crate::database::Context;
use crate::server::ServerState;
use crate::{DbError, Environment};

/// How long the server may say nothing.
const SILENCE: Duration = Duration::from_millis(2500);
const BETWEEN_BEATS: Duration = Duration::from_millis(500);
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// How long it takes at most to notice that the database is being closed.
const SHORTEST_REST: Duration = Duration::from_millis(50);
/// A difference between two clocks that is not worth a correction.
const TOLERANCE_MS: i64 = 10;
/// A difference that an operator should know of.
const NOTABLE_MS: i64 = 5000;

const SHORT_LOCK: &str = "set lock_timeout = '1s'";

const ASK: &str = "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms,
    (select coalesce(max(number), 0)::bigint from schema_migrations) as schema";

/// Follows the server until the last writer has ended.
pub(super) fn follow(config: &Config, known_schema: i64, context: &Context, writing: &Weak<()>) {
    let mut session = None;
    let mut failing_since = None;
    while writing.strong_count() > 0 {
        #[expect(clippy::disallowed_methods, reason = "measures for how long the server has said nothing")]
        let asked_at = Instant::now();
        let rest = match beat(&mut session, config, &*context.environment) {
            Ok(schema) => {
                failing_since = None;
                tell(&context.server, ServerState::of_schema(schema, known_schema));
                BETWEEN_BEATS
            }
            // Somebody has locked the table: that is an answer, too.
            Err(DbError::Locked(_)) => {
                failing_since = None;
                session = None;
                BETWEEN_BEATS
            }
            Err(error) => {
                session = None;
                let since: Instant = *failing_since.get_or_insert(asked_at);
                if since.elapsed() >= SILENCE && tell(&context.server, ServerState::Silent) {
                    tracing::error!(%error, "PostgreSQL does not answer; every request that needs it is refused until it does");
                }
                BETWEEN_TRIES
            }
        };
        let mut rested = Duration::ZERO;
        while rested < rest && writing.strong_count() > 0 {
            std::thread::sleep(SHORTEST_REST);
            rested += SHORTEST_REST;
        }
    }
}

impl ServerState {
    fn of_schema(found: i64, known: i64) -> Self {
        if found > known { ServerState::Newer { found, known } } else { ServerState::Answers }
    }
}

/// Returns whether that is something new.
fn tell(server: &watch::Sender<ServerState>, state: ServerState) -> bool {
    let is_back = state == ServerState::Answers;
    let is_new = server.send_if_modified(|known| std::mem::replace(known, state) != state);
    if is_new && is_back {
        tracing::info!("PostgreSQL answers again");
    }
    is_new
}

fn beat(session: &mut Option<Session>, config: &Config, environment: &dyn Environment) -> Result<i64, DbError> {
    let session = match session {
        Some(session) => session,
        None => session.insert(Session::connect(config, &[SETTINGS, NO_LIMITS, SHORT_LOCK], Patience::of(SILENCE))?),
    };
    ask(session, environment)
}

/// Asks the server for its schema, and sets the clock by its time.
pub(super) fn ask(session: &mut Session, environment: &dyn Environment) -> Result<i64, DbError> {
    let before = environment.now_ms();
    let mut answer = None;
    session.query_each(ASK, &[], &mut |row| {
        answer = Some((row.try_get::<_, i64>("now_ms")?, row.try_get::<_, i64>("schema")?));
        Ok(())
    })?;
    let after = environment.now_ms();
    let (server_ms, schema) = answer.ok_or(DbError::NoRow)?;
    // The server looked at its clock somewhere between these two.
    let difference = server_ms - before.midpoint(after);
    if difference.abs() > TOLERANCE_MS + (after - before).abs() {
        let correction_ms = environment.correct(difference);
        if correction_ms.abs() > NOTABLE_MS {
            tracing::warn!(
                correction_ms,
                "the clock of this machine differs from that of the database, which is the one that counts; set it right"
            );
        }
    }
    Ok(schema)
}
