//! A thread with a connection of its own, which runs commands or reads.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError};
use tokio_postgres::Config;

use super::notifier::Notifier;
use super::session::{CommitError, Patience, Session};
use super::{Kind, connect_patiently, order, together};
use crate::database::{CommitReport, Context, NextRead, ReadQueue, WriterTask};
use crate::job::Job;
use crate::tx::{Connection as TxConnection, Effects, Moment};
use crate::{DbError, Tx};

/// How long the hub retries a command that loses races, before it answers the caller with "unavailable". This is a time and not
/// a count, because a race takes longer on a busy machine.
const RACE_PATIENCE: Duration = Duration::from_secs(4);
/// The same for a command that needs a lock which somebody else holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);
/// The attempt after which the pauses no longer grow.
const LONGEST_PAUSE_AT: u32 = 30;

/// After a batch of so many commands the next one waits a little for company.
const LINGERS_AFTER: usize = 4;
const LONGEST_LINGER: Duration = Duration::from_micros(2500);

/// How often a batch that lost a race is tried again, before each of its commands is run alone.
const MOST_RACES: u64 = 3;

/// Urgent reads that are sent to the server at once, at most.
const URGENT_BATCH: usize = 64;

pub(super) const BEGIN: &str = "begin isolation level serializable";
const BEGIN_READ: &str = "begin isolation level repeatable read read only";

/// A thread's own connection, made when first needed and again when it is lost.
pub(super) struct Worker {
    // Closed before the context is dropped, which tells `close` that this thread has ended.
    session: Option<Session>,
    config: Config,
    kind: Kind,
    context: Context,
}

/// A command that is under way.
pub(super) struct Started {
    job: Box<dyn Job>,
    /// Each try has the same time and randomness.
    moment: Moment,
    since: Instant,
    attempts: u32,
}

/// How one try at a command ended.
enum Attempt {
    Committed(Effects),
    Undone,
    /// Nothing was stored, and another try may succeed.
    Repeat(DbError),
    Failed(DbError),
}

impl Worker {
    pub(super) fn new(config: &Config, kind: Kind, context: &Context) -> Self {
        Self { session: None, config: config.clone(), kind, context: context.clone() }
    }

    pub(super) fn run_commands(
        mut self,
        commands: &Receiver<WriterTask>,
        locked_out: &Sender<Started>,
        notifier: &Notifier,
    ) {
        while let Ok(task) = commands.recv() {
            match task {
                WriterTask::Vacuum(reply) => {
                    let _ = reply.send(self.vacuum());
                }
                WriterTask::Command(job) => self.run_command(job, locked_out, notifier),
            }
        }
    }

    /// Runs commands that need a lock which somebody else holds. They wait for it here, where they keep nobody from working.
    pub(super) fn run_locked_out(mut self, locked_out: &Receiver<Started>, notifier: &Notifier) {
        let mut waiting = VecDeque::new();
        while let Some(started) = waiting.pop_front().or_else(|| locked_out.recv().ok()) {
            // Many may wait, and each try takes its time: nobody counts on what comes too late.
            if started.since.elapsed() >= LOCK_PATIENCE {
                started.job.answer(Some(DbError::Locked("it was held for too long".to_owned())));
            } else {
                waiting.extend(self.settle(started, notifier));
            }
            waiting.extend(locked_out.try_iter());
            if waiting.is_empty() {
                // The connection is one more than the operator allows, so it is kept only while it is needed.
                self.session = None;
            }
        }
    }

    fn vacuum(&self) -> Result<(), DbError> {
        let patience = Patience::endless().with(self.context.server.subscribe());
        connect_patiently(&self.config, super::NO_LIMITS, &patience)?.batch_execute("vacuum (analyze)")
    }

    fn run_command(&mut self, job: Box<dyn Job>, locked_out: &Sender<Started>, notifier: &Notifier) {
        if job.is_late() {
            return job.answer(Some(DbError::Late));
        }
        let moment = match self.context.moment() {
            Ok(moment) => moment,
            Err(error) => return job.answer(Some(error)),
        };
        #[expect(clippy::disallowed_methods, reason = "measures a duration, for the metrics and for patience")]
        let since = Instant::now();
        if let Some(started) = self.settle(Started { job, moment, since, attempts: 0 }, notifier)
            && let Err(TrySendError::Full(started) | TrySendError::Disconnected(started)) = locked_out.try_send(started)
        {
            started.job.answer(Some(DbError::Busy));
        }
    }

    /// Runs a command until it is answered. Gives it back if it needs a lock which somebody else holds.
    fn settle(&mut self, mut started: Started, notifier: &Notifier) -> Option<Started> {
        loop {
            started.attempts += 1;
            let waited = started.since.elapsed();
            let overruled = match self.try_command(&mut *started.job, started.moment) {
                Attempt::Repeat(DbError::Locked(_)) if waited < LOCK_PATIENCE => {
                    self.free_order();
                    return Some(started);
                }
                Attempt::Repeat(DbError::Conflict(_) | DbError::Unavailable(_)) if waited < RACE_PATIENCE => {
                    // Spread by the command's own randomness, so that two losers do not meet again.
                    let jitter = u64::from(started.moment.seed[started.attempts as usize % 32]);
                    let pause = (100 + 8 * jitter) * u64::from(started.attempts.min(LONGEST_PAUSE_AT));
                    std::thread::sleep(Duration::from_micros(pause));
                    continue;
                }
                Attempt::Repeat(error) | Attempt::Failed(error) => {
                    self.context.note_failure(Some(&error));
                    Some(error)
                }
                Attempt::Undone => None,
                Attempt::Committed(effects) => {
                    notifier.ring(self.context.carry_out(effects));
                    let duration = started.since.elapsed();
                    self.context.observe(&CommitReport { commands: 1, undone: 0, duration });
                    None
                }
            };
            started.job.answer(overruled);
            return None;
        }
    }

    fn try_command(&mut self, job: &mut dyn Job, moment: Moment) -> Attempt {
        let session = match self.session() {
            Ok(session) => session,
            Err(error) => return Attempt::Failed(error),
        };
        session.begin(BEGIN.into());
        let mut tx = Tx::new(TxConnection::Postgres(session), moment);
        let keep = job.run(&mut tx);
        let failure = tx.failure().cloned();
        let (effects, appended, has_order) =
            (std::mem::take(&mut tx.effects), std::mem::take(&mut tx.appended), tx.has_order);
        drop(tx);
        self.context.note_failure(failure.as_ref());
        let Some(session) = self.session.as_mut() else { return Attempt::Failed(DbError::Closed) };
        if !keep {
            // One that has answered nothing died while it was idle.
            let was_dead = matches!(failure, Some(DbError::Unavailable(_))) && !session.was_answered();
            let is_lost = was_dead || session.rollback().is_err();
            if is_lost {
                self.session = None;
            }
            return match failure {
                Some(error @ (DbError::Conflict(_) | DbError::Locked(_))) => Attempt::Repeat(error),
                Some(error @ DbError::Unavailable(_)) if is_lost => Attempt::Repeat(error),
                _ => Attempt::Undone,
            };
        }
        match session.commit(&appended, has_order) {
            Ok(()) => Attempt::Committed(effects),
            Err(CommitError::Undone(error @ (DbError::Conflict(_) | DbError::Locked(_)))) => Attempt::Repeat(error),
            // The connection was dead before anything was asked of it.
            Err(CommitError::Undone(error @ DbError::Unavailable(_))) => {
                self.session = None;
                Attempt::Repeat(error)
            }
            Err(CommitError::Undone(error)) => Attempt::Failed(error),
            // The server may have stored it. The caller gets an error; an idempotency key makes a retry safe.
            Err(CommitError::Unknown(error)) => {
                self.session = None;
                Attempt::Failed(error)
            }
        }
    }

    /// Takes the order of commits from a hub that is stuck.
    fn free_order(&mut self) {
        let freed = self.session().and_then(order::free);
        if let Err(error) = freed {
            tracing::warn!(%error, "the holder of the order of commits could not be found");
        }
    }

    /// Runs commands that may share a transaction: whatever came in while the last one was under way. Those that turn out to need
    /// one of their own go to the others.
    pub(super) fn run_together(
        mut self,
        jobs: &Receiver<Box<dyn Job>>,
        limit: usize,
        alone: &Sender<WriterTask>,
        locked_out: &Sender<Started>,
        notifier: &Notifier,
    ) {
        let mut linger = Duration::ZERO;
        while let Ok(first) = jobs.recv() {
            let mut batch = vec![first];
            // Who was just answered is about to ask again. The fewer and larger the batches, the less each command costs.
            std::thread::sleep(linger);
            batch.extend(jobs.try_iter().take(limit.saturating_sub(1)));
            // One by itself has nobody to share with. It needs fewer round trips than a batch does, too.
            if batch.len() == 1 {
                batch.into_iter().for_each(|job| self.run_command(job, locked_out, notifier));
                linger = Duration::ZERO;
                continue;
            }
            #[expect(clippy::disallowed_methods, reason = "measures how long a batch takes")]
            let (commands, since) = (batch.len(), Instant::now());
            for job in self.commit_together(batch, notifier) {
                if let Err(TrySendError::Full(WriterTask::Command(job))) = alone.try_send(WriterTask::Command(job)) {
                    job.answer(Some(DbError::Busy));
                }
            }
            let is_busy = commands >= LINGERS_AFTER;
            linger = if is_busy { (since.elapsed() / 3).min(LONGEST_LINGER) } else { Duration::ZERO };
        }
    }

    /// Returns those that have to be run alone.
    fn commit_together(&mut self, batch: Vec<Box<dyn Job>>, notifier: &Notifier) -> Vec<Box<dyn Job>> {
        #[expect(clippy::disallowed_methods, reason = "measures a duration, for the metrics and for patience")]
        let since = Instant::now();
        let mut members = Vec::with_capacity(batch.len());
        for job in batch {
            match self.context.moment() {
                _ if job.is_late() => job.answer(Some(DbError::Late)),
                Ok(moment) => members.push(together::Member::new(job, moment, matches!(self.kind, Kind::Holding))),
                Err(error) => job.answer(Some(error)),
            }
        }
        let mut races = 0;
        loop {
            let session = match self.session() {
                Ok(session) => session,
                Err(error) => return answer_all(members, &error),
            };
            let error = match together::commit(session, &mut members) {
                Ok(()) => break,
                Err(CommitError::Undone(error)) => error,
                Err(CommitError::Unknown(error)) => {
                    self.session = None;
                    return answer_all(members, &error);
                }
            };
            if matches!(error, DbError::Unavailable(_)) || session.rollback().is_err() {
                self.session = None;
            }
            let is_locked = matches!(error, DbError::Locked(_));
            if is_locked {
                self.free_order();
            }
            // They take no lock but the order of commits. Each by itself would wait for it just as long.
            let is_for_order = is_locked && matches!(self.kind, Kind::Together);
            // Who lost a race to another transaction may win the next one. Each by itself would meet more of them.
            let is_race = matches!(error, DbError::Conflict(_)) && races < MOST_RACES;
            if is_race {
                races += 1;
                std::thread::sleep(Duration::from_millis(races));
            } else if !is_for_order {
                let commands = members.len();
                tracing::debug!(%error, commands, "commands that shared a transaction are run one by one");
                return members.into_iter().map(together::Member::into_job).collect();
            } else if since.elapsed() >= LOCK_PATIENCE {
                return answer_all(members, &error);
            }
            members.iter_mut().for_each(together::Member::forget);
        }
        let mut alone = Vec::new();
        let mut effects = Effects::default();
        let (mut commands, mut undone, mut answered) = (0, 0, Vec::new());
        for member in members {
            match member.outcome() {
                together::MemberOutcome::Alone => {
                    alone.push(member.into_job());
                    continue;
                }
                together::MemberOutcome::Committed => {}
                together::MemberOutcome::Undone => undone += 1,
            }
            commands += 1;
            let (job, of_member) = member.into_parts();
            effects.signals |= of_member.signals;
            effects.after_commit.extend(of_member.after_commit);
            answered.push(job);
        }
        notifier.ring(self.context.carry_out(effects));
        self.context.observe(&CommitReport { commands, undone, duration: since.elapsed() });
        for job in answered {
            job.answer(None);
        }
        alone
    }

    pub(super) fn run_reads(mut self, reads: &ReadQueue) {
        while let Some(read) = reads.next() {
            match read {
                NextRead::Other(job) => self.run_read(job),
                NextRead::Urgent(job) => {
                    let batch = std::iter::once(job).chain(reads.more_urgent(URGENT_BATCH - 1));
                    for job in self.read_together(batch.filter(|job| !job.is_abandoned()).collect()) {
                        self.run_read(job);
                    }
                }
            }
        }
    }

    fn run_read(&mut self, mut job: Box<dyn Job>) {
        if job.is_abandoned() {
            return;
        }
        if job.is_late() {
            return job.answer(Some(DbError::Late));
        }
        let overruled = self.read(&mut *job).err();
        job.answer(overruled);
        // Afterwards, so that nobody waits for it.
        if self.session.as_mut().is_some_and(|session| session.rollback().is_err()) {
            self.session = None;
        }
    }

    fn read(&mut self, job: &mut dyn Job) -> Result<(), DbError> {
        let moment = self.context.moment()?;
        let mut has_reconnected = false;
        loop {
            let session = self.session()?;
            session.begin(beginning_of_read(job.limit()));
            let mut tx = Tx::new(TxConnection::Postgres(session), moment);
            tx.limit(job.limit());
            job.run(&mut tx);
            let failure = tx.failure().cloned();
            if !tx.appended.is_empty() {
                return Err(append_in_read());
            }
            // A statement that was cut off says nothing about the connection.
            let is_over = tx.is_over();
            drop(tx);
            // The connection died while it was idle.
            let was_dead = matches!(failure, Some(DbError::Unavailable(_))) && !session.was_answered() && !is_over;
            if !was_dead || has_reconnected {
                return Ok(());
            }
            has_reconnected = true;
            self.session = None;
        }
    }

    /// Runs reads that are one query each, which needs no transaction to be a snapshot. Returns those that turn out to be more.
    fn read_together(&mut self, batch: Vec<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
        let mut members = Vec::with_capacity(batch.len());
        for job in batch {
            match self.context.moment() {
                Ok(moment) => members.push(together::Member::new(job, moment, false)),
                Err(error) => job.answer(Some(error)),
            }
        }
        let is_answered = self.session().and_then(|session| together::read(session, &mut members)).is_ok();
        if !is_answered {
            // The connection may have died while it was idle. On a new one each runs alone; without a server each of them would
            // wait for a connection, one after the other.
            self.session = None;
            return match self.session() {
                Ok(_) => members.into_iter().map(together::Member::into_job).collect(),
                Err(error) => answer_all(members, &error),
            };
        }
        members.into_iter().filter_map(answer_read).collect()
    }

    fn session(&mut self) -> Result<&mut Session, DbError> {
        if self.session.as_ref().is_some_and(Session::is_closed) {
            self.session = None;
        }
        if self.session.is_none() {
            let patience = Patience::of(self.kind.limit()).with(self.context.server.subscribe());
            self.session = Some(connect_patiently(&self.config, self.kind.settings(), &patience)?);
        }
        self.session.as_mut().ok_or(DbError::Closed)
    }
}

/// No statement of a read may take longer than the read itself.
fn beginning_of_read(limit: Option<Duration>) -> Cow<'static, str> {
    match limit {
        Some(limit) => format!("{BEGIN_READ}; set local statement_timeout = {}", limit.as_millis().max(1)).into(),
        None => BEGIN_READ.into(),
    }
}

/// Answers every command with the same error.
fn answer_all(members: Vec<together::Member>, error: &DbError) -> Vec<Box<dyn Job>> {
    for member in members {
        member.into_job().answer(Some(error.clone()));
    }
    Vec::new()
}

/// Answers a read that is done. Gives it back if it has to be run alone.
fn answer_read(member: together::Member) -> Option<Box<dyn Job>> {
    match member.outcome() {
        together::MemberOutcome::Alone => Some(member.into_job()),
        together::MemberOutcome::Committed | together::MemberOutcome::Undone => {
            let overruled = member.appends().then(append_in_read);
            member.into_job().answer(overruled);
            None
        }
    }
}

/// Appended rows are written with the commit, which a read does not have.
fn append_in_read() -> DbError {
    DbError::Statement("a read cannot append rows".to_owned())
}
