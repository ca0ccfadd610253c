//! Beginning a run: one last look whether it may, and all that its program is given.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use stoa_db::Tx;
use stoa_model::agents::{AgentView, Harness, HarnessAdapter, HarnessBackend};
use stoa_model::credentials::CredentialKind;
use stoa_model::masking::Masker;
use stoa_model::messages::MessageView;
use stoa_model::prompts::{self, MAX_THREAD_MESSAGES, PromptParts, Said};
use stoa_model::reactions::Reaction;
use stoa_model::runs::{DEFAULT_TIMEOUT_SECONDS, MAX_STORED_TEXT, RunReason, RunStatus, StepKind};
use stoa_model::{MessageId, PrincipalId, RunId, Secret, Timestamp};
use stoa_programs::{Preset, Settings};

use super::finish::{self, Ending};
use super::isolation::{self, Sandbox};
use super::remote::{self, Call};
use super::store::{self, Begun, RunRow};
use super::workspace::Wanted;
use super::{control, folder, harness_store, pending, progress, wake, workspace_store};
use crate::access::Actor;
use crate::access::identity::credential_hash;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::{agents, messages, principals, secrets, users, workflow};
use crate::hub::Hub;
use crate::storage::tarball::hex;

/// Messages that a prompt shows. A run may cover more, which the program finds in its inbox.
const MAX_SHOWN: i64 = 100;
const MAX_SHOWN_BYTES: usize = 512 * 1024;
/// How long a hub is believed to run something without a word from it.
pub(super) const LEASE: Duration = Duration::from_secs(30);
/// Found in the environment of every process of a run.
pub(super) const MARK: &str = "STOA_RUN_MARK";

/// What is found when a run's turn has come.
pub(super) enum Begin {
    /// There is nothing to do: it has ended, or waits for a switch.
    Nothing,
    /// Another hub says that it runs it. Whether that is still so shows then.
    Later(i64),
    Go(Box<Job>),
}

/// All that the program of a run is given.
pub(super) struct Job {
    pub(super) run: RunRow,
    pub(super) command: Vec<String>,
    pub(super) adapter: HarnessAdapter,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) folder: PathBuf,
    pub(super) home: PathBuf,
    /// Names and contents of what is put into its folder, and into its home.
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) home_files: Vec<(&'static str, String)>,
    /// The model that the owner has chosen.
    pub(super) model: Option<String>,
    pub(super) prompt: String,
    pub(super) masker: Arc<Masker>,
    /// Set if its agent runs elsewhere. Then there is no command.
    pub(super) call: Option<Call>,
    /// None if it is not isolated.
    pub(super) sandbox: Option<Arc<Sandbox>>,
    /// A key of its model that is not set.
    pub(super) missing_key: Option<&'static str>,
    /// None if the program works in the run's own folder.
    pub(super) workspace: Option<Wanted>,
    pub(super) deadline_ms: i64,
    pub(super) time_limit: Duration,
}

/// Looks at a run whose turn has come, and marks it as running.
pub(super) fn begin(hub: &Hub, tx: &mut Tx<'_>, id: RunId) -> Result<Begin, HubError> {
    let Some(mut run) = store::find_run(tx, id)? else { return Ok(Begin::Nothing) };
    match run.status {
        RunStatus::Queued => {}
        RunStatus::Deferred => {
            if let Some(until) = run.deferred_until.filter(|until| *until > tx.now_ms()) {
                return Ok(Begin::Later(until));
            }
        }
        RunStatus::Running if !hub.memory::<control::UnderWay>().contains(id) => {
            if let Some(until) = run.lease_until.filter(|until| *until > tx.now_ms()) {
                return Ok(Begin::Later(until));
            }
            settle_lost(hub, tx, &run)?;
            return Ok(Begin::Nothing);
        }
        _ => return Ok(Begin::Nothing),
    }
    let end = |tx: &mut Tx<'_>, status, reason| {
        finish::end_unstarted(hub, tx, &run, status, reason)?;
        Ok(Begin::Nothing)
    };
    let Some(runnable) = agents::find_runnable(tx, run.agent)? else {
        return end(tx, RunStatus::Cancelled, RunReason::AgentDeleted);
    };
    if !users::is_enabled(tx, run.owner)? {
        return end(tx, RunStatus::Cancelled, RunReason::OwnerDisabled);
    }
    match wake::halt_of(hub, tx, &runnable)?.and_then(control::reason_of) {
        // It stays in its line, which begins to move again when the switch is turned on.
        Some(RunReason::ActingOff) => return Ok(Begin::Nothing),
        Some(reason) => return end(tx, RunStatus::Cancelled, reason),
        None => {}
    }
    // The command may have been set after a stranger's message was let in.
    if run.is_foreign && wake::is_for_owners_side(hub, &runnable.agent) {
        return end(tx, RunStatus::Cancelled, RunReason::Sender);
    }
    if run.status == RunStatus::Deferred {
        pending::join(tx, &run, &runnable)?;
        run = store::find_run(tx, id)?.ok_or_else(|| HubError::not_found("run"))?;
    }
    // What is asked of it is read as the agent sees it now.
    let reader = Actor::agent_itself(run.agent, &run.agent_name, run.owner);
    let mut shown = Vec::new();
    let mut bytes = 0;
    for message in messages::list_covered(tx, id, MAX_SHOWN)? {
        let found = messages::show(tx, &reader, message)?.filter(|message| message.deleted_at.is_none());
        bytes += found.as_ref().map_or(0, |message| message.body.len());
        shown.extend(found);
        // The rest is in its inbox.
        if bytes > MAX_SHOWN_BYTES {
            break;
        }
    }
    if shown.is_empty() {
        finish::end_unstarted(hub, tx, &run, RunStatus::Cancelled, RunReason::MessageDeleted)?;
        return Ok(Begin::Nothing);
    }
    let harness = match fitting_harness(hub, tx, &runnable.agent, run.owner)? {
        Ok(harness) => harness,
        Err(reason) => {
            // It counts as begun, so that its message shows that it failed.
            store::update_begun(tx, id, &unstarted(hub, tx))?;
            finish::settle(hub, tx, &run, &Ending::failed(reason, finish::in_words(reason)))?;
            return Ok(Begin::Nothing);
        }
    };
    let job = prepare(hub, tx, run, &runnable.agent, harness, &reader, &shown)?;
    Ok(Begin::Go(Box::new(job)))
}

fn unstarted<'a>(hub: &'a Hub, tx: &Tx<'_>) -> Begun<'a> {
    Begun { token_hash: None, hub: hub.instance(), lease_until: tx.now_ms() + milliseconds(LEASE) }
}

/// How the agent is run, or why it cannot be run.
fn fitting_harness(
    hub: &Hub,
    tx: &mut Tx<'_>,
    agent: &AgentView,
    owner: PrincipalId,
) -> Result<Result<Harness, RunReason>, HubError> {
    let Some(harness) = agent.harness.clone() else { return Ok(Err(RunReason::NoHarness)) };
    if harness.backend == HarnessBackend::Kubernetes {
        return Ok(Err(RunReason::BackendUnavailable));
    }
    if harness.backend == HarnessBackend::Subprocess && !agents::may_start_subprocess(hub, tx, owner)? {
        return Ok(Err(RunReason::SubprocessNotAllowed));
    }
    // It may have been stored before the name became reserved.
    if !harness.reserved_variables().is_empty() {
        return Ok(Err(RunReason::ReservedVariable));
    }
    Ok(Ok(harness))
}

fn prepare(
    hub: &Hub,
    tx: &mut Tx<'_>,
    run: RunRow,
    agent: &AgentView,
    harness: Harness,
    reader: &Actor,
    shown: &[MessageView],
) -> Result<Job, HubError> {
    let settings = &hub.config().runs;
    let run_secrets = secrets::secrets_of_run(hub, tx, run.agent, run.is_foreign)?;
    let masker = Arc::new(run_secrets.masker());
    let token = CredentialKind::RunToken.render(tx.random_bytes());
    let mark = hex(&tx.random_bytes::<16>());
    let name = hex(&tx.random_bytes::<16>());
    let sandbox = isolation::sandbox(hub);
    let (folder, home) = (folder::of_run(hub, &name), folder::home_of(hub, run.agent, run.is_foreign.then_some(&name)));

    let thread = match run.trigger_message.map(|id| messages::find(tx, id)).transpose()?.flatten() {
        Some(trigger) => messages::list_earlier(tx, reader, &trigger, MAX_THREAD_MESSAGES)?,
        None => Vec::new(),
    };
    let shown_ids: Vec<MessageId> = shown.iter().map(|message| message.id).collect();
    let thread: Vec<MessageView> = thread.into_iter().filter(|message| !shown_ids.contains(&message.id)).collect();
    let said = said_in(tx, shown)?;
    let earlier = said_in(tx, &thread)?;
    let folder_text = folder.display().to_string();
    let parts = PromptParts {
        agent: &agent.name,
        display_name: &agent.display_name,
        owner: &agent.owner,
        archetype: agent.archetype.name(),
        instructions: &agent.instructions,
        run: run.id,
        attempt: run.attempt,
        folder: &folder_text,
        workspace: harness.workspace.as_ref(),
        is_elsewhere: harness.backend == HarnessBackend::Webhook,
        hub_url: hub.local_url(),
        messages: &said,
        thread: &earlier,
        mark: &mark,
    };
    let prompt = prompts::render(harness.prompt_template.as_deref(), &parts);
    let files = files_of(hub, &run, agent, shown, &earlier, &mark, &token);
    let left = workspace_store::find(tx, run.id)?;
    let workspace = Wanted::of(&run, agent, left).filter(|_| harness.backend == HarnessBackend::Subprocess);
    let adapter = harness.adapter.unwrap_or(HarnessAdapter::Generic);
    let resume = session_to_resume(tx, &run, &harness, shown)?;
    let home_text = home.display().to_string();
    let mcp_url = format!("{}/mcp", hub.local_url());
    let preset = Preset::of(
        adapter,
        &Settings {
            command: harness.command.as_deref().unwrap_or_default(),
            model: harness.model.as_deref(),
            tools: harness.tools.unwrap_or_default(),
            max_turns: harness.max_turns,
            max_cost_usd: harness.max_cost_usd,
            instructions: &agent.instructions,
            mcp_url: &mcp_url,
            home: &home_text,
            resume: resume.as_deref(),
            is_isolated: sandbox.is_some(),
        },
    );
    let mut environment = environment_of(hub, &run, &harness, &run_secrets.variables, &folder, &home, &token);
    let missing_key = stoa_programs::missing_key(adapter, |name| environment.contains_key(name));
    let (command, home_files) = match preset {
        Some(preset) => {
            environment.extend(preset.environment.into_iter().map(|(name, value)| (name.to_owned(), value)));
            (preset.command, preset.files)
        }
        None => (harness.command.unwrap_or_default(), Vec::new()),
    };

    let seconds = harness.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS).min(settings.max_seconds);
    let time_limit = Duration::from_secs(u64::from(seconds));
    let call = match (harness.backend, &harness.url) {
        (HarnessBackend::Webhook, Some(url)) => {
            let body = call_of(hub, tx, &run, agent, shown, &earlier, &prompt, &token, time_limit);
            Some(Call::new(hub, tx, run.agent, url, body)?)
        }
        _ => None,
    };
    let mut begun = Begun { token_hash: Some(&credential_hash(&token)), ..unstarted(hub, tx) };
    if call.is_some() {
        begun.lease_until = remote::call_until(tx.now_ms());
    }
    store::update_begun(tx, run.id, &begun)?;
    // An agent that the hub starts need not call it to have been here.
    principals::note_seen(tx, run.agent)?;
    let masked = masker.mask(&prompt);
    let (stored, is_truncated) = progress::cut_at(&masked, MAX_STORED_TEXT);
    harness_store::insert_harness_run(tx, run.id, harness.backend, stored, is_truncated)?;
    let actor = finish::actor_of(&run);
    if let Some(trigger) = run.trigger_message {
        workflow::clear_reaction(hub, tx, &actor, trigger, Reaction::Reject)?;
        workflow::set_reaction(hub, tx, &actor, trigger, Reaction::InProgress)?;
    }
    let program = match &call {
        Some(call) => format!("a call of {}", call.host()),
        None => command.first().cloned().unwrap_or_default(),
    };
    let at = Timestamp::from_ms(tx.now_ms());
    let text = format!("{} with {} in its prompt", masker.mask(&program), count_of(shown.len(), "message"));
    progress::add_step(hub, tx, run.id, at, StepKind::Started, &text)?;
    progress::tell(hub, tx, run.id, true)?;
    Ok(Job {
        deadline_ms: tx.now_ms() + milliseconds(time_limit),
        run,
        command,
        adapter,
        environment,
        folder,
        home,
        files,
        home_files,
        model: harness.model,
        prompt,
        masker,
        call,
        sandbox,
        workspace,
        missing_key,
        time_limit,
    })
}

/// What an agent that runs elsewhere is sent.
#[expect(clippy::too_many_arguments, reason = "the receiver gets all of it")]
fn call_of(
    hub: &Hub,
    tx: &Tx<'_>,
    run: &RunRow,
    agent: &AgentView,
    shown: &[MessageView],
    earlier: &[Said],
    prompt: &str,
    token: &str,
    time_limit: Duration,
) -> Value {
    let thread: Vec<Value> = earlier
        .iter()
        .map(|said| json!({"id": said.id, "from": said.from, "channel": said.channel, "created_at": said.at, "body": said.text}))
        .collect();
    json!({
        "id": format!("run_{}_{}", run.id, run.attempt),
        "type": "run.requested",
        "timestamp": Timestamp::from_ms(tx.now_ms()),
        "agent": agent.name,
        "depth": run.depth,
        "data": {
            "run_id": run.id, "attempt": run.attempt, "foreign": run.is_foreign, "trigger_message_id": run.trigger_message,
            "messages": shown, "thread": thread, "instructions": agent.instructions, "prompt": prompt,
            "token": token, "expires_at": Timestamp::from_ms(tx.now_ms() + milliseconds(time_limit)),
            "mcp_url": format!("{}/mcp", hub.base_url()),
            "result_url": format!("{}/api/runs/{}/result", hub.base_url(), run.id),
        },
    })
}

/// The session that a run goes on with. Runs that others started have none.
fn session_to_resume(
    tx: &mut Tx<'_>,
    run: &RunRow,
    harness: &Harness,
    shown: &[MessageView],
) -> Result<Option<String>, HubError> {
    // Gemini CLI finds a session only in the folder where it began, and each run has its own.
    let can_resume = matches!(harness.adapter, Some(HarnessAdapter::ClaudeCode | HarnessAdapter::Codex));
    let is_wanted = harness.resume == Some(true) && can_resume && !run.is_foreign;
    let trigger = run.trigger_message.filter(|_| is_wanted).map(|id| messages::find(tx, id)).transpose()?.flatten();
    let conversation =
        trigger.map(|message| message.conversation_id).or_else(|| shown.last().map(|one| one.conversation_id));
    match conversation.filter(|_| is_wanted) {
        Some(conversation) => Ok(harness_store::find_session(tx, run.agent, conversation, run.id)?),
        None => Ok(None),
    }
}

fn count_of(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Who said what.
fn said_in(tx: &mut Tx<'_>, views: &[MessageView]) -> Result<Vec<Said>, HubError> {
    let mut said = Vec::new();
    for view in views {
        let author = principals::find(tx, &view.from.name)?;
        let owner =
            author.and_then(|author| author.owner).map(|id| principals::find_by_id(tx, id)).transpose()?.flatten();
        let mention = view.metadata.get("mention");
        let channel =
            view.channel.clone().or_else(|| mention.and_then(|mention| mention["channel"].as_str()).map(str::to_owned));
        let origin = mention.and_then(|mention| mention["message_id"].as_i64()).map(MessageId);
        said.push(Said {
            id: origin.unwrap_or(view.id),
            from: view.from.name.clone(),
            kind: view.from.kind,
            owner: owner.map(|owner| owner.handle),
            channel,
            at: view.created_at,
            text: view.body.clone(),
            files: view.attachments.iter().map(|file| file.filename.clone()).collect(),
        });
    }
    Ok(said)
}

fn files_of(
    hub: &Hub,
    run: &RunRow,
    agent: &AgentView,
    shown: &[MessageView],
    earlier: &[Said],
    mark: &str,
    token: &str,
) -> Vec<(&'static str, String)> {
    let message = json!({
        "run_id": run.id, "attempt": run.attempt, "agent": agent.name, "foreign": run.is_foreign,
        "trigger_message_id": run.trigger_message, "messages": shown,
    });
    let thread: Vec<String> = earlier.iter().map(|said| prompts::fenced(said, mark)).collect();
    let mcp = json!({"mcpServers": {"stoa": {
        "type": "http", "url": format!("{}/mcp", hub.local_url()),
        "headers": {"Authorization": format!("Bearer {token}")},
    }}});
    let pretty = |value: &Value| format!("{value:#}\n");
    let mut files =
        vec![("message.json", pretty(&message)), ("thread.md", thread.join("\n")), (".mcp.json", pretty(&mcp))];
    if !agent.instructions.trim().is_empty() {
        files.push(("AGENTS.md", agent.instructions.clone()));
    }
    files
}

fn environment_of(
    hub: &Hub,
    run: &RunRow,
    harness: &Harness,
    secrets: &BTreeMap<String, Secret>,
    folder: &std::path::Path,
    home: &std::path::Path,
    token: &str,
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = harness.env.clone().unwrap_or_default();
    environment.extend(secrets.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
    let own = [
        ("PATH", hub.config().runs.path.clone()),
        ("HOME", home.display().to_string()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TMPDIR", folder.join("tmp").display().to_string()),
        ("STOA_RUN_FOLDER", folder.display().to_string()),
        ("STOA_URL", hub.local_url().to_owned()),
        ("STOA_MCP_URL", format!("{}/mcp", hub.local_url())),
        ("STOA_MCP_KEY", token.to_owned()),
        ("STOA_AGENT", run.agent_name.clone()),
        ("STOA_RUN_ID", run.id.to_string()),
        (MARK, mark_of(hub, run.id)),
    ];
    environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
    environment
}

/// What all processes of a run have in their environment.
pub(super) fn mark_of(hub: &Hub, run: RunId) -> String {
    format!("{run} {} {}", stoa_supervisor::own_identity(), folder::root(hub).display())
}

/// Ends a run whose hub was lost. It is repeated once if it has done nothing that a second time would do again.
pub(super) fn settle_lost(hub: &Hub, tx: &mut Tx<'_>, run: &RunRow) -> Result<(), HubError> {
    use stoa_model::agents::{HarnessTools, WorkspaceKind};
    // Somebody may have stopped it since it was looked at.
    let Some(run) = &store::find_run(tx, run.id)?.filter(|run| !run.status.is_final()) else { return Ok(()) };
    if let Some(reason) = run.stop_reason {
        let ending = Ending { status: RunStatus::Cancelled, ..Ending::failed(reason, finish::in_words(reason)) };
        return finish::settle(hub, tx, run, &ending);
    }
    if run.is_taken_on {
        return remote::time_out(hub, tx, run);
    }
    let harness = store::find_snapshot(tx, run.id)?.and_then(|agent| agent.harness);
    let tools = harness.as_ref().and_then(|harness| harness.tools).unwrap_or_default();
    let workspace = harness.and_then(|harness| harness.workspace).unwrap_or_default();
    // A copy of a repository is thrown away with what was changed in it.
    let has_changed = tools != HarnessTools::Hub || workspace.kind == WorkspaceKind::Folder;
    let is_harmless = !has_changed && !messages::has_sent(tx, run.id)?;
    if is_harmless && !run.is_repeated {
        store::update_repeated(tx, run.id)?;
        hub.identities().forget_after(tx);
        super::worker::cancel(tx, run.id)?;
        super::worker::enqueue(tx, run.agent, run.id)?;
        let at = Timestamp::from_ms(tx.now_ms());
        progress::add_step(hub, tx, run.id, at, StepKind::Finished, "The hub was restarted. The run starts again.")?;
        return progress::tell(hub, tx, run.id, true);
    }
    let reason = RunReason::HubRestarted;
    finish::settle(hub, tx, run, &Ending::failed(reason, finish::in_words(reason)))
}
