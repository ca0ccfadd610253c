//! Wakes other hubs after a commit, and is woken by them.

use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config};

use super::connect;
use crate::DbError;

const CHANNEL: &str = "stoa_changes";

/// Asks the notify thread to tell other hubs. A NOTIFY inside each command would make commits
/// wait for each other on the server's one queue lock; rung from here, a burst is one NOTIFY.
#[derive(Default)]
pub(super) struct Notifier {
    rung: Mutex<bool>,
    bell: Condvar,
}

impl Notifier {
    pub(super) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_one();
    }

    fn wait(&self, patience: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            self.bell.wait_timeout_while(rung, patience, |rung| !*rung).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

pub(super) fn notify(config: &Config, notifier: &Notifier, writing: &Weak<()>) {
    let mut client: Option<Client> = None;
    loop {
        // Asked before the bell is looked at, so that the last ring of the last writer is heard.
        let is_open = writing.strong_count() > 0;
        if !notifier.wait(if is_open { Duration::from_millis(200) } else { Duration::ZERO }) {
            if is_open {
                continue;
            }
            return;
        }
        if client.is_none() {
            client = connect(config).ok();
        }
        let sent = client.as_mut().is_some_and(|client| client.batch_execute(&format!("notify {CHANNEL}")).is_ok());
        if !sent {
            // Rows are safe in the outbox; only the wake-up of other hubs is late.
            client = None;
            if !is_open {
                return;
            }
            notifier.ring();
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

pub(super) fn listen(config: &Config, alive: &Weak<()>, changes: &tokio::sync::watch::Sender<u64>) {
    while alive.strong_count() > 0 {
        // However it ends, the loop connects again and lets followers look once.
        if let Err(error) = listen_once(config, alive, changes) {
            tracing::warn!(%error, "the LISTEN connection was lost");
            std::thread::sleep(Duration::from_millis(250));
        }
        changes.send_modify(|count| *count += 1);
    }
}

fn listen_once(config: &Config, alive: &Weak<()>, changes: &tokio::sync::watch::Sender<u64>) -> Result<(), DbError> {
    let mut client = connect(config)?;
    client.batch_execute(&format!("listen {CHANNEL}"))?;
    // What came before LISTEN took effect has to be looked for.
    changes.send_modify(|count| *count += 1);
    while alive.strong_count() > 0 {
        let mut notifications = client.notifications();
        if notifications.timeout_iter(Duration::from_millis(200)).next()?.is_some() {
            changes.send_modify(|count| *count += 1);
        }
        drop(notifications);
        if client.is_closed() {
            return Err(DbError::Unavailable("connection closed".to_owned()));
        }
    }
    Ok(())
}
