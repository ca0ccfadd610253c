//! Wakes other hubs after a commit, and is woken by them.

use std::future::poll_fn;
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Config, Connection, NoTls};

use super::session::{Patience, Session};
use super::{SETTINGS, tls};
use crate::DbError;
use crate::database::Context;
use crate::signals::{Bells, Signals};

const CHANNEL: &str = "stoa_changes";
/// How long the server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// How long it takes at most to notice that the database is being closed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
const BETWEEN_NOTICES: Duration = Duration::from_millis(4);

/// Asks the notify thread to tell other hubs. A NOTIFY inside each command would make commits
/// wait for each other on the server's one queue lock; rung from here, a burst is one NOTIFY.
pub(super) struct Notifier {
    rung: Mutex<Signals>,
    bell: Condvar,
    /// Names this process, which has heard of its own commits already.
    origin: String,
}

impl Notifier {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        let origin = seed[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { rung: Mutex::default(), bell: Condvar::new(), origin }
    }

    pub(super) fn ring(&self, signals: Signals) {
        if signals.is_any() {
            *self.rung.lock().unwrap_or_else(PoisonError::into_inner) |= signals;
            self.bell.notify_one();
        }
    }

    fn wait(&self, patience: Duration) -> Signals {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) =
            self.bell.wait_timeout_while(rung, patience, |rung| !rung.is_any()).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }

    /// What is said to other processes.
    fn statement(&self, signals: Signals) -> String {
        format!("notify {CHANNEL}, '{} {}'", self.origin, signals.letter())
    }

    /// What others have said; none if it was this process.
    fn heard(&self, payload: &str) -> Option<Signals> {
        match payload.split_once(' ') {
            Some((origin, _)) if origin == self.origin => None,
            Some((_, letter)) => Some(Signals::from_letter(letter)),
            None => Some(Signals::ALL),
        }
    }
}

pub(super) fn notify(config: &Config, notifier: &Notifier, patience: &Patience, writing: &Weak<()>) {
    let mut session: Option<Session> = None;
    loop {
        // Asked before the bell is looked at, so that the last ring of the last writer is heard.
        let is_open = writing.strong_count() > 0;
        let signals = notifier.wait(if is_open { Duration::from_millis(200) } else { Duration::ZERO });
        if !signals.is_any() {
            if is_open {
                continue;
            }
            return;
        }
        if session.is_none() {
            session = Session::connect(config, &[SETTINGS], patience.clone()).ok();
        }
        let sent = session.as_mut().is_some_and(|session| session.batch_execute(&notifier.statement(signals)).is_ok());
        if sent {
            // One notice then covers all commits of that time.
            std::thread::sleep(BETWEEN_NOTICES);
        } else {
            // Rows are safe in the outbox; only the wake-up of other hubs is late.
            session = None;
            if !is_open {
                return;
            }
            notifier.ring(signals);
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

pub(super) fn listen(config: &Config, alive: &Weak<()>, notifier: &Notifier, context: &Context) {
    let bells = &context.bells;
    while alive.strong_count() > 0 {
        // There is nothing to hear from a server that does not answer.
        if context.server.borrow().fault().is_some() {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        // However it ends, the loop connects again and lets followers look once.
        if let Err(error) = listen_once(config, alive, notifier, bells) {
            tracing::warn!(%error, "the LISTEN connection was lost");
            std::thread::sleep(Duration::from_millis(250));
        }
        bells.ring(Signals::ALL);
    }
}

fn listen_once(config: &Config, alive: &Weak<()>, notifier: &Notifier, bells: &Bells) -> Result<(), DbError> {
    let fault = |error: std::io::Error| DbError::Unavailable(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
    runtime.block_on(async {
        let (sender, heard) = mpsc::unbounded_channel();
        let client = match config.get_ssl_mode() {
            SslMode::Require => {
                let (client, connection) = in_time(config.connect(tls()?)).await?;
                tokio::spawn(carry(connection, sender));
                client
            }
            _ => {
                let (client, connection) = in_time(config.connect(NoTls)).await?;
                tokio::spawn(carry(connection, sender));
                client
            }
        };
        in_time(client.batch_execute(&format!("listen {CHANNEL}"))).await?;
        hear(heard, alive, notifier, bells).await
    })
}

/// What the server is asked once has to be answered soon: nothing else would end the wait.
async fn in_time<T>(answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, DbError> {
    let answer = tokio::time::timeout(ANSWER_LIMIT, answer).await;
    Ok(answer.map_err(|_| DbError::Unavailable("the server does not answer".to_owned()))??)
}

/// Passes on what the server says by itself, until the connection ends.
async fn carry<S, T>(mut connection: Connection<S, T>, heard: mpsc::UnboundedSender<String>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message
            && heard.send(notification.payload().to_owned()).is_err()
        {
            return;
        }
    }
}

async fn hear(
    mut heard: mpsc::UnboundedReceiver<String>,
    alive: &Weak<()>,
    notifier: &Notifier,
    bells: &Bells,
) -> Result<(), DbError> {
    // What came before LISTEN took effect has to be looked for.
    bells.ring(Signals::ALL);
    while alive.strong_count() > 0 {
        match tokio::time::timeout(BETWEEN_LOOKS, heard.recv()).await {
            Ok(Some(payload)) => bells.ring(notifier.heard(&payload).unwrap_or_default()),
            Ok(None) => return Err(DbError::Unavailable("connection closed".to_owned())),
            Err(_) => {}
        }
    }
    Ok(())
}
