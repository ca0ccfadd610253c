//! Running a command: starting it, listening to it, and ending it when its time is over or somebody wants it to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stoa_model::agents::HarnessAdapter;
use stoa_model::runs::{MAX_COST_USD, MAX_LOG_TEXT, MAX_STORED_TEXT, MAX_TOKENS, RunReason, RunStatus, StepKind};
use stoa_model::{RunId, Timestamp};
use stoa_programs::{Adapter, Exit, Failure, Outcome as ProgramOutcome, Tokens};
use stoa_supervisor::{Ended, Limits, Obstacle, Order, Supervised};
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinHandle;

use super::begin::{self, Job, LEASE, MARK};
use super::control::Entry;
use super::finish::{self, Ending, Outage};
use super::folder::{self, NoFolder, PROMPT};
use super::harness_store::{self, Report, SessionTotals};
use super::isolation::View;
use super::output::{self, Collected, Line};
use super::result::{self, ProgramResult};
use super::workspace::{Changes, Place, Wanted};
use super::{progress, remote, store};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::{Hub, pause};

/// How often what was printed is stored, and what else there is to do is looked at.
const TICK: Duration = Duration::from_millis(250);
/// Between two looks whether the run is to end, for what another hub has asked for.
const LOOK_EVERY: u32 = 8;
/// Between two extensions of its lease, and two looks at its folder.
const BEAT_EVERY: u32 = 20;
/// How long a program may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take until all processes are killed. After that the hub does it itself.
const LAST_PATIENCE: Duration = Duration::from_secs(2);
/// How long the last output may take to arrive after the last process has ended.
const LAST_WORDS: Duration = Duration::from_secs(5);
const MAX_QUEUED_LINES: usize = 512;
/// What is said of an error, in characters. All of it is in the log.
const MAX_DETAIL: usize = 500;
/// The name of a model, in bytes.
const MAX_MODEL: usize = 128;

/// What came of a run.
pub(super) enum Outcome {
    Ended(Box<Ending>),
    /// The hub stops, and the run with it.
    HubStopping,
    /// Somebody else has settled it, or will.
    GivenUp,
}

/// Why a run is made to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Stopped(RunReason),
    Timeout,
    DiskLimit,
    HubStopping,
    LeaseLost,
}

/// Runs a job to its end. No process of it is left then.
pub(super) async fn execute(hub: &Hub, job: &Arc<Job>, entry: &Entry) -> Outcome {
    if let Some(call) = &job.call {
        return remote::execute(hub, job, call, entry).await;
    }
    let (supervised, place) = match start(hub, job, entry).await {
        Ok(started) => started,
        Err(outcome) => return outcome,
    };
    let mut running = Running::new(hub, job, supervised);
    let (ended, cause) = running.until_end(entry).await;
    if ended == Ended::Lost {
        end_marked(hub, job.run.id).await;
    }
    let said = running.finish().await;
    match cause {
        Some(Cause::HubStopping) => Outcome::HubStopping,
        Some(Cause::LeaseLost) => Outcome::GivenUp,
        cause => {
            let ending = conclude(hub, job, ended, cause, said).await;
            match place.zip(job.workspace.as_ref()) {
                Some((place, wanted)) => collect(hub, job, entry, &place, wanted, ending).await,
                None => Outcome::Ended(Box::new(ending)),
            }
        }
    }
}

/// Keeps what the run has changed in its workspace, however it ended.
async fn collect(hub: &Hub, job: &Job, entry: &Entry, place: &Place, wanted: &Wanted, mut ending: Ending) -> Outcome {
    let collecting = place.collect(hub, job, wanted);
    tokio::pin!(collecting);
    let collected = loop {
        tokio::select! {
            biased;
            () = hub.stopping() => return Outcome::HubStopping,
            collected = &mut collecting => break collected,
            () = entry.bell.notified() => {}
            () = pause(TICK * BEAT_EVERY) => {
                if !extend(hub, job).await {
                    return Outcome::GivenUp;
                }
            }
        }
        // A program can leave files that git takes long to read.
        if let Some(Cause::Stopped(reason)) = look(hub, job).await.filter(|_| ending.status != RunStatus::Cancelled) {
            (ending.status, ending.reason) = (RunStatus::Cancelled, Some(reason));
            finish::in_words(reason).clone_into(&mut ending.detail);
            break Ok(Changes::none(wanted));
        }
    };
    match collected {
        Ok(changes) => {
            ending.workspace = Some(changes.workspace);
            if let Some(note) = changes.note {
                ending.detail = format!("{} {}", ending.detail, job.masker.mask(&output::cleaned(&note)));
            }
        }
        Err(fault) => {
            let fault = job.masker.mask(&output::cleaned(&fault.0)).into_owned();
            tracing::warn!(run = job.run.id.0, fault, "what a run changed could not be kept");
            let lost = format!(
                "What it changed could not be kept: its workspace {fault}. Its files stay in its folder for a day."
            );
            if ending.status == RunStatus::Succeeded {
                (ending.status, ending.reason) = (RunStatus::Failed, Some(RunReason::WorkspaceUnavailable));
            }
            ending.detail = format!("{} {lost}", ending.detail);
            ending.report.error_log = Some(match ending.report.error_log.take() {
                Some(log) => format!("{lost}\n\n{log}"),
                None => lost,
            });
            ending.workspace = Some(wanted.as_left());
        }
    }
    Outcome::Ended(Box::new(ending))
}

/// Makes the workspace of a run ready, which may take a while.
async fn prepare(hub: &Hub, job: &Job, entry: &Entry, wanted: &Wanted) -> Result<Place, Outcome> {
    let ended = |status, reason, detail: String| {
        let ending = Ending { status, workspace: Some(wanted.as_left()), ..Ending::failed(reason, detail) };
        Err(Outcome::Ended(Box::new(ending)))
    };
    let preparing = wanted.prepare(hub, job);
    tokio::pin!(preparing);
    loop {
        tokio::select! {
            biased;
            () = hub.stopping() => return Err(Outcome::HubStopping),
            prepared = &mut preparing => return match prepared {
                Ok(place) => Ok(place),
                Err(fault) => {
                    let fault = job.masker.mask(&output::cleaned(&fault.0)).into_owned();
                    let reason = RunReason::WorkspaceUnavailable;
                    ended(RunStatus::Failed, reason, format!("The workspace cannot be used: it {fault}."))
                }
            },
            () = entry.bell.notified() => {}
            () = hub.clock().sleep_until(job.deadline_ms) => {
                let reason = RunReason::Timeout;
                return ended(RunStatus::TimedOut, reason, finish::in_words(reason).to_owned());
            }
            () = pause(TICK * BEAT_EVERY) => {
                if !extend(hub, job).await {
                    return Err(Outcome::GivenUp);
                }
            }
        }
        // Somebody may want it to end, here or on another hub.
        if let Some(Cause::Stopped(reason)) = look(hub, job).await {
            return ended(RunStatus::Cancelled, reason, finish::in_words(reason).to_owned());
        }
    }
}

async fn start(hub: &Hub, job: &Arc<Job>, entry: &Entry) -> Result<(Supervised, Option<Place>), Outcome> {
    let settings = &hub.config().runs;
    let failed = |reason: RunReason| Outcome::Ended(Box::new(Ending::failed(reason, finish::in_words(reason))));
    let Some((program, arguments)) = job.command.split_first() else {
        return Err(failed(RunReason::NoHarness));
    };
    let Some(program) = look_up(program, &settings.path) else { return Err(failed(RunReason::CommandNotFound)) };
    if let Some(sandbox) = &job.sandbox {
        // Within the sandbox all of this would be one exit code.
        if !program.exists() {
            return Err(failed(RunReason::CommandNotFound));
        } else if !sandbox.shows(&program, &View::writing(&[&job.home])) {
            return Err(failed(RunReason::CommandNotVisible));
        } else if !is_executable(&program) {
            return Err(failed(RunReason::CommandNotExecutable));
        }
    }
    let (root, job_in) = (folder::root(hub), job.clone());
    let made = tokio::task::spawn_blocking(move || folder::create(&root, &job_in)).await;
    match made.unwrap_or_else(|error| Err(NoFolder::Failed(std::io::Error::other(error)))) {
        Ok(()) => {}
        Err(NoFolder::DiskLow) => return Err(failed(RunReason::DiskLow)),
        Err(NoFolder::Failed(error)) => {
            tracing::error!(run = job.run.id.0, %error, "the folder of a run could not be made");
            return Err(failed(RunReason::StartFailed));
        }
    }
    let place = match &job.workspace {
        Some(wanted) => Some(prepare(hub, job, entry, wanted).await?),
        None => None,
    };
    let work = place.as_ref().map_or(job.folder.as_path(), Place::folder);
    let mut environment = job.environment.clone();
    environment.insert("STOA_WORKSPACE".to_owned(), work.display().to_string());
    let mut view = View::writing(&[&job.home, &job.folder]);
    view.writable.extend(place.as_ref().and_then(Place::writable));
    view.readable.extend(place.as_ref().and_then(Place::readable));
    let order = Order {
        program,
        arguments: arguments.to_vec(),
        environment,
        folder: work.to_owned(),
        input: Some(job.folder.join(PROMPT)),
        wrapper: job.sandbox.as_ref().map(|sandbox| sandbox.wrapper(work, &view)),
        limits: Limits { file_bytes: settings.disk_mib.saturating_mul(1024 * 1024), ..Limits::default() },
    };
    let marks = BTreeMap::from([(MARK.to_owned(), begin::mark_of(hub, job.run.id))]);
    let started = async {
        let mut supervised = Supervised::prepare(&settings.supervisor, &["supervise"], &marks)?;
        // Before the program can do anything.
        entry.note_supervisor(supervised.id());
        supervised.start(&order).await?;
        Ok(supervised)
    };
    let started = started.await.map_err(|error: std::io::Error| {
        tracing::error!(run = job.run.id.0, %error, "the supervisor of a run could not be started");
        failed(RunReason::StartFailed)
    })?;
    Ok((started, place))
}

/// Whether somebody wants the run to end.
async fn look(hub: &Hub, job: &Job) -> Option<Cause> {
    let id = job.run.id;
    let row = hub.read(move |tx| store::find_run(tx, id)).await;
    match row {
        Ok(Some(row)) if row.status != RunStatus::Running => Some(Cause::LeaseLost),
        Ok(Some(row)) => row.stop_reason.map(Cause::Stopped),
        Ok(None) => Some(Cause::LeaseLost),
        // The database is away for a moment.
        Err(_) => None,
    }
}

/// Says that this hub still runs it. False if that is not so.
async fn extend(hub: &Hub, job: &Job) -> bool {
    let (id, instance) = (job.run.id, hub.instance().to_owned());
    let extended = hub.write(move |tx| {
        let until = tx.now_ms() + milliseconds(LEASE);
        store::update_lease(tx, id, &instance, until)
    });
    extended.await.unwrap_or(true)
}

/// Finds a program by its name in the operator's folders; an absolute path stands for itself.
pub(super) fn look_up(program: &str, path: &str) -> Option<PathBuf> {
    if program.starts_with('/') {
        return Some(PathBuf::from(program));
    }
    // A relative path would be one in the run's own folder, where there is nothing yet.
    if program.is_empty() || program.contains('/') {
        return None;
    }
    let folders = path.split(':').filter(|folder| folder.starts_with('/'));
    folders.map(|folder| Path::new(folder).join(program)).find(|candidate| candidate.is_file())
}

fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    program.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Ends what a killed supervisor left behind.
async fn end_marked(hub: &Hub, run: RunId) {
    let mark = begin::mark_of(hub, run);
    let ended = tokio::task::spawn_blocking(move || stoa_supervisor::end_marked(MARK, |found| found == mark)).await;
    if let Ok(Err(error)) = ended {
        tracing::error!(run = run.0, %error, "processes of a run could not be ended");
    }
}

/// A command under way.
struct Running<'a> {
    hub: &'a Hub,
    job: &'a Job,
    supervised: Supervised,
    lines: Receiver<Line>,
    waiting: Vec<(Timestamp, Line)>,
    output: JoinHandle<(Collected, Option<Adapter>)>,
    errors: JoinHandle<(Collected, Option<Adapter>)>,
}

/// All that a program has printed, and what an adapter has understood of it.
#[derive(Default)]
struct Said {
    output: Collected,
    errors: Collected,
    adapter: Option<Adapter>,
}

impl<'a> Running<'a> {
    fn new(hub: &'a Hub, job: &'a Job, mut supervised: Supervised) -> Self {
        let (sender, lines) = mpsc::channel(MAX_QUEUED_LINES);
        let (output, errors) = (supervised.output.take(), supervised.errors.take());
        let (masker, second) = (job.masker.clone(), sender.clone());
        let adapter = Adapter::new(job.adapter);
        let output = tokio::spawn(async move {
            match output {
                Some(stream) => output::collect(stream, StepKind::Output, masker, adapter, sender).await,
                None => Default::default(),
            }
        });
        let masker = job.masker.clone();
        let errors = tokio::spawn(async move {
            match errors {
                Some(stream) => output::collect(stream, StepKind::ErrorOutput, masker, None, second).await,
                None => Default::default(),
            }
        });
        Self { hub, job, supervised, lines, waiting: Vec::new(), output, errors }
    }

    /// Waits until no process is left. Says why it was ended, if it was.
    async fn until_end(&mut self, entry: &Entry) -> (Ended, Option<Cause>) {
        let mut cause: Option<Cause> = None;
        let mut ticks = 0_u32;
        let mut looking: Option<JoinHandle<bool>> = None;
        // Kept while lines come: a program that prints all the time must not keep the clock from ticking.
        let mut tick = Box::pin(pause(TICK));
        loop {
            let mut new_cause = None;
            tokio::select! {
                ended = self.supervised.ended() => {
                    return (ended, cause);
                }
                Some(line) = self.lines.recv(), if self.waiting.len() < MAX_QUEUED_LINES => {
                    self.waiting.push((self.hub.clock().now(), line));
                }
                () = self.hub.clock().sleep_until(self.job.deadline_ms), if cause.is_none() => {
                    new_cause = Some(Cause::Timeout);
                }
                () = entry.bell.notified(), if cause.is_none() => new_cause = look(self.hub, self.job).await,
                () = self.hub.stopping(), if cause.is_none() => new_cause = Some(Cause::HubStopping),
                () = &mut tick => {
                    tick = Box::pin(pause(TICK));
                    ticks = ticks.wrapping_add(1);
                    self.store_lines().await;
                    if cause.is_none() && ticks.is_multiple_of(LOOK_EVERY) {
                        new_cause = look(self.hub, self.job).await;
                    }
                    if ticks.is_multiple_of(BEAT_EVERY) || ticks == 1 {
                        if !extend(self.hub, self.job).await && cause.is_none() {
                            new_cause = Some(Cause::LeaseLost);
                        }
                        if looking.is_none() {
                            looking = Some(self.look_at_folder());
                        }
                    }
                    if looking.as_ref().is_some_and(JoinHandle::is_finished)
                        && let Some(looked) = looking.take()
                        && looked.await.unwrap_or(false) && cause.is_none()
                    {
                        new_cause = Some(Cause::DiskLimit);
                    }
                }
            }
            if let Some(found) = new_cause {
                cause = Some(found);
                return (self.end(found).await, cause);
            }
        }
    }

    /// Asks all processes to end, and makes them end after a while.
    async fn end(&mut self, cause: Cause) -> Ended {
        // A hub that stops has no time, and a run that is no longer ours has no right to it.
        if !matches!(cause, Cause::HubStopping | Cause::LeaseLost) {
            self.supervised.stop().await;
            if let Some(ended) = self.ended_within(PATIENCE).await {
                return ended;
            }
        }
        self.supervised.kill().await;
        if let Some(ended) = self.ended_within(LAST_PATIENCE).await {
            return ended;
        }
        // The program has stopped the process that looks after it.
        self.supervised.destroy().await;
        Ended::Lost
    }

    /// Waits for the end, and keeps what is printed until then. None if it does not come in time.
    async fn ended_within(&mut self, limit: Duration) -> Option<Ended> {
        let patience = pause(limit);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                ended = self.supervised.ended() => return Some(ended),
                Some(line) = self.lines.recv() => self.keep(line),
                () = &mut patience => return None,
            }
        }
    }

    fn keep(&mut self, line: Line) {
        if self.waiting.len() < MAX_QUEUED_LINES {
            self.waiting.push((self.hub.clock().now(), line));
        }
    }

    fn look_at_folder(&self) -> JoinHandle<bool> {
        let (folder, home) = (self.job.folder.clone(), self.job.home.clone());
        let max = self.hub.config().runs.disk_mib.saturating_mul(1024 * 1024);
        tokio::task::spawn_blocking(move || folder::is_too_large(&folder, max) || folder::is_too_large(&home, max))
    }

    async fn store_lines(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.waiting);
        let (run, agent, owner) = (self.job.run.id, self.job.run.agent, self.job.run.owner);
        let hub_in = self.hub.clone();
        let stored = self.hub.write(move |tx| {
            for (at, line) in &lines {
                harness_store::insert_step(tx, run, *at, line.kind, progress::cut(&line.text), None)?;
                progress::trace(&hub_in, tx, run, agent, owner, line.kind);
            }
            progress::tell(&hub_in, tx, run, false)
        });
        let stored: Result<(), HubError> = stored.await;
        if let Err(error) = stored {
            tracing::warn!(run = run.0, %error, "steps of a run could not be stored");
        }
    }

    /// Waits for the last output.
    async fn finish(mut self) -> Said {
        let last_words = pause(LAST_WORDS);
        tokio::pin!(last_words);
        let mut is_late = false;
        loop {
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => self.keep(line),
                    None => break,
                },
                () = &mut last_words => {
                    is_late = true;
                    break;
                }
            }
            if self.waiting.len() >= MAX_QUEUED_LINES {
                self.store_lines().await;
            }
        }
        self.lines.close();
        self.store_lines().await;
        if is_late {
            self.output.abort();
            self.errors.abort();
        }
        let (output, adapter) = self.output.await.unwrap_or_default();
        let (errors, _) = self.errors.await.unwrap_or_default();
        Said { output, errors, adapter }
    }
}

/// What a run has come to.
async fn conclude(hub: &Hub, job: &Job, ended: Ended, cause: Option<Cause>, said: Said) -> Ending {
    let Said { output, errors, adapter } = said;
    let folder = job.folder.clone();
    let found = tokio::task::spawn_blocking(move || folder::read_result(&folder)).await;
    let read = found.unwrap_or(Err("cannot be read"));
    let parsed = read.and_then(|bytes| bytes.map(|bytes| result::parse(&bytes)).transpose());
    let exit_code = match ended {
        Ended::Exited(code) => Some(code),
        Ended::Signalled(signal) => Some(128 + signal),
        Ended::NotStarted(_) | Ended::TooManyProcesses | Ended::Lost => None,
    };
    let (status, reason, mut detail) = verdict(job, ended, cause, parsed.as_ref().err().copied());
    let mut ending = Ending { status, reason, ..Ending::failed(RunReason::Internal, "") };
    let clean = |text: &str| job.masker.mask(&output::cleaned(text)).into_owned();
    match adapter {
        Some(adapter) => {
            let exit = match ended {
                Ended::Signalled(signal) => Exit::Signal(signal),
                _ => Exit::Code(exit_code.unwrap_or(-1)),
            };
            let outcome = adapter.conclude(exit, &errors.last, hub.clock().now_ms());
            // What ended it from outside is the reason, whatever the program made of it.
            if cause.is_none() && matches!(ended, Ended::Exited(_)) {
                (ending.status, ending.reason, detail) = judge(&outcome, exit_code.unwrap_or(0), &clean);
                ending.outage = match outcome.failure {
                    Some(Failure::Outage { until_ms, .. }) => Some(Outage { until_ms }),
                    _ => None,
                };
            }
            ending.answer = outcome.response.as_deref().map(clean);
            ending.report = report_of(hub, job, &outcome, clean);
        }
        None => {
            let parsed: ProgramResult = parsed.ok().flatten().unwrap_or_default();
            ending.answer = match parsed.response.as_deref() {
                Some(response) => Some(clean(response)),
                None => Some(output.text.trim().to_owned()).filter(|text| !text.is_empty()),
            };
            ending.report = Report {
                session_id: parsed.session_id.filter(|id| !job.masker.finds_secret(id)),
                tokens_in: parsed.tokens_in,
                tokens_out: parsed.tokens_out,
                tokens_cached: parsed.tokens_cached,
                cost_usd: parsed.cost_usd,
                ..Report::default()
            };
        }
    }
    let may_be_key = matches!(ending.reason, Some(RunReason::ModelError | RunReason::ExitCode | RunReason::NoResult));
    if let Some(key) = job.missing_key.filter(|_| may_be_key) {
        detail = format!("The key {key} is missing. The Runs tab of the agent says how to set it. {detail}");
    }
    let last_error = errors.last.lines().rev().find(|line| !line.trim().is_empty());
    if let (RunStatus::Failed, Some(line)) = (ending.status, last_error)
        && job.adapter == HarnessAdapter::Generic
    {
        let line: String = line.trim().chars().take(200).collect();
        detail = format!("{detail} Output: {line}");
    }
    if let Some(answer) = &ending.answer {
        let (text, is_cut) = progress::cut_at(answer, MAX_STORED_TEXT);
        ending.report.response = Some(text.to_owned());
        ending.report.is_truncated = is_cut || (output.is_cut && job.adapter == HarnessAdapter::Generic);
    }
    let last_of = |collected: &Collected| {
        let text = progress::last_part(&collected.last, MAX_LOG_TEXT).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    ending.report.exit_code = exit_code.map(i64::from);
    ending.report.logs_excerpt = last_of(&output);
    ending.report.error_log = match (ending.status, last_of(&errors)) {
        (RunStatus::Succeeded, errors) => errors,
        (_, None) => Some(detail.clone()),
        (_, Some(errors)) => Some(format!("{detail}\n\n{errors}")),
    };
    ending.detail = detail;
    ending
}

/// What an adapter has understood, as status, reason and words.
fn judge(
    outcome: &ProgramOutcome,
    code: i32,
    clean: &impl Fn(&str) -> String,
) -> (RunStatus, Option<RunReason>, String) {
    let failed = |reason: RunReason, said: &str| {
        let said: String = clean(said).chars().take(MAX_DETAIL).collect();
        let words = finish::in_words(reason);
        let detail = if said.trim().is_empty() { words.to_owned() } else { format!("{words} {said}") };
        (RunStatus::Failed, Some(reason), detail)
    };
    match &outcome.failure {
        None => {
            let notes = outcome.notes.join(" ");
            let detail = if notes.is_empty() { "Exit code 0.".to_owned() } else { clean(&notes) };
            (RunStatus::Succeeded, None, detail)
        }
        Some(Failure::Error(said)) if said.is_empty() => failed(RunReason::ExitCode, &format!("Exit code {code}.")),
        Some(Failure::Error(said)) => failed(RunReason::ModelError, said),
        Some(Failure::NoResult) => failed(RunReason::NoResult, ""),
        Some(Failure::HubUnreachable) => failed(RunReason::HubUnreachable, ""),
        Some(Failure::TurnLimit) => failed(RunReason::TurnLimit, ""),
        Some(Failure::CostLimit) => failed(RunReason::CostLimit, ""),
        Some(Failure::Outage { detail, .. }) => failed(RunReason::ModelUnavailable, detail),
    }
}

/// The figures of a program, as far as they can be.
fn report_of(hub: &Hub, job: &Job, outcome: &ProgramOutcome, clean: impl Fn(&str) -> String) -> Report {
    let is_count = |tokens: &Tokens| {
        [tokens.read, tokens.written, tokens.cached].iter().all(|count| (0..=MAX_TOKENS).contains(count))
    };
    let tokens = outcome.tokens.filter(is_count);
    let said = outcome.cost_usd.filter(|cost| (0.0..=MAX_COST_USD).contains(cost));
    let model = outcome.model.as_deref().or(job.model.as_deref());
    let estimate = || hub.config().runs.prices.estimate(model?, tokens?);
    Report {
        session_id: outcome.session_id.clone().filter(|id| result::is_session_id(id) && !job.masker.finds_secret(id)),
        tokens_in: tokens.map(|tokens| tokens.read),
        tokens_out: tokens.map(|tokens| tokens.written),
        tokens_cached: tokens.map(|tokens| tokens.cached),
        cost_usd: said.or_else(estimate),
        is_cost_estimated: said.is_none() && estimate().is_some(),
        model: model.map(|model| progress::cut_at(&clean(model), MAX_MODEL).0.to_owned()),
        session: SessionTotals {
            tokens: tokens.filter(|_| outcome.has_session_tokens),
            cost_usd: said.filter(|_| outcome.has_session_cost),
        },
        ..Report::default()
    }
}

fn verdict(
    job: &Job,
    ended: Ended,
    cause: Option<Cause>,
    bad_result: Option<&'static str>,
) -> (RunStatus, Option<RunReason>, String) {
    let failed = |reason: RunReason, detail: String| (RunStatus::Failed, Some(reason), detail);
    let failed_because = |reason: RunReason| failed(reason, finish::in_words(reason).to_owned());
    match (cause, ended) {
        (Some(Cause::Stopped(reason)), _) => (RunStatus::Cancelled, Some(reason), finish::in_words(reason).to_owned()),
        (Some(Cause::Timeout), _) => {
            let detail = format!("The run exceeded its time limit of {} seconds.", job.time_limit.as_secs());
            (RunStatus::TimedOut, Some(RunReason::Timeout), detail)
        }
        (Some(Cause::DiskLimit), _) => failed_because(RunReason::DiskLimit),
        (Some(Cause::HubStopping | Cause::LeaseLost), _) => failed_because(RunReason::HubRestarted),
        (None, Ended::NotStarted(obstacle)) => failed_because(match obstacle {
            Obstacle::NotFound => RunReason::CommandNotFound,
            Obstacle::NotExecutable => RunReason::CommandNotExecutable,
            Obstacle::Other => RunReason::StartFailed,
        }),
        (None, Ended::TooManyProcesses) => failed_because(RunReason::TooManyProcesses),
        (None, Ended::Lost) => failed_because(RunReason::SupervisorLost),
        (None, Ended::Signalled(signal)) => {
            failed(RunReason::Signal, format!("The command was stopped by signal {signal}."))
        }
        (None, Ended::Exited(0)) => match bad_result {
            Some(fault) => failed(RunReason::BadResult, format!("Its result.json {fault}.")),
            None => (RunStatus::Succeeded, None, "Exit code 0.".to_owned()),
        },
        (None, Ended::Exited(code)) => {
            failed(RunReason::ExitCode, format!("The command failed with exit code {code}."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_or_by_path() {
        assert_eq!(look_up("/opt/agent", "/bin"), Some(PathBuf::from("/opt/agent")));
        assert_eq!(look_up("sh", "relative:/nowhere:/bin"), Some(PathBuf::from("/bin/sh")));
        for unknown in ["", "no-such-program", "./sh", "../bin/sh", "bin/sh"] {
            assert_eq!(look_up(unknown, "/usr/bin:/bin"), None, "{unknown}");
        }
    }
}
