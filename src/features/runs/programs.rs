//! The known programs, and which of them are installed: each is asked for its version, as a run would find it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use stoa_model::dispatch::NotWokenReason;
use stoa_model::programs::{ProgramList, ProgramQuery, ProgramView, version_in};
use stoa_programs::{KNOWN_PROGRAMS, KnownProgram, Preset, Settings};
use stoa_supervisor::Ended;
use tokio::sync::Mutex;

use super::aside::{self, Aside};
use super::isolation::View;
use super::{execution, folder, wake};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::{agents, secrets};
use crate::hub::{Hub, folders};

/// How long an answer holds. Installing a program is not a matter of seconds.
const KEPT_FOR: Duration = Duration::from_secs(180);
/// A program that was not found is soon looked for again: somebody may be installing it.
const MISSING_KEPT_FOR: Duration = Duration::from_secs(5);
/// Programs that need Node take seconds to start on a busy machine.
const LONGEST: Duration = Duration::from_secs(15);
/// What is read of the output. The rest is thrown away.
const MAX_READ: u64 = 4096;

/// What is known of one program.
#[derive(Debug, Clone, Default)]
struct Installed {
    is_found: bool,
    version: Option<String>,
}

/// What was found, and until when that holds. The lock is held while a program is asked, so that many callers start it once.
type Entry = Arc<Mutex<Option<(i64, Installed)>>>;

/// What was found lately, by the name of the command.
#[derive(Default)]
struct Known(std::sync::Mutex<HashMap<&'static str, Entry>>);

impl Known {
    fn entry(&self, command: &'static str) -> Entry {
        let mut entries = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        entries.entry(command).or_default().clone()
    }
}

/// The programs that the hub knows. Whether they are installed is for people whose agents may start them.
pub(super) async fn list_programs(hub: &Hub, actor: &Actor, query: ProgramQuery) -> Result<ProgramList, HubError> {
    actor.require_session()?;
    query.check()?;
    let (hub_in, owner, agent) = (hub.clone(), actor.id(), query.agent.clone());
    let (is_allowed, keys) = hub
        .read(move |tx| {
            let agent = agent.as_ref().map(|name| agents::require_owned(tx, owner, name)).transpose()?;
            let keys = secrets::list_model_keys(tx, owner, agent)?;
            Ok::<_, HubError>((agents::may_start_subprocess(&hub_in, tx, owner)?, keys))
        })
        .await?;
    let [first, second, third] = KNOWN_PROGRAMS;
    let installed = if is_allowed {
        let (first, second, third) = tokio::join!(installed(hub, first), installed(hub, second), installed(hub, third));
        [Some(first), Some(second), Some(third)]
    } else {
        [None, None, None]
    };
    let items = KNOWN_PROGRAMS.iter().zip(installed).map(|(program, installed)| {
        let preset = preset_of(hub, program, &query);
        let key_names: Vec<String> = program.key_names.iter().map(|name| (*name).to_owned()).collect();
        ProgramView {
            adapter: program.adapter,
            name: program.name.to_owned(),
            command: program.command.to_owned(),
            arguments: preset.iter().flat_map(|preset| preset.command.iter().skip(1).cloned()).collect(),
            files: preset.iter().flat_map(|preset| preset.files.iter().map(|(path, _)| (*path).to_owned())).collect(),
            found: installed.as_ref().map(|installed| installed.is_found),
            version: installed.and_then(|installed| installed.version),
            keys_found: key_names.iter().filter(|name| keys.contains(*name)).cloned().collect(),
            key_names,
            models: program.models.iter().map(|model| (*model).to_owned()).collect(),
        }
    });
    let hub_in = hub.clone();
    let repositories = tokio::task::spawn_blocking(move || folders::list_repositories(hub_in.config()));
    let data_folder = folders::absolute(&hub.config().data).display().to_string();
    Ok(ProgramList {
        items: items.collect(),
        isolated: wake::is_isolated(hub),
        workspaces: if is_allowed { allowed_workspaces(hub) } else { Vec::new() },
        repositories: if is_allowed { repositories.await.unwrap_or_default() } else { Vec::new() },
        data_folder: actor.is_admin().then_some(data_folder),
        reason: (!is_allowed).then(|| NotWokenReason::SubprocessNotAllowed.name().to_owned()),
    })
}

fn allowed_workspaces(hub: &Hub) -> Vec<String> {
    hub.config().runs.workspaces.iter().map(|folder| folder.display().to_string()).collect()
}

/// How a program is started with these settings. The home stands for that of the agent.
fn preset_of(hub: &Hub, program: &KnownProgram, query: &ProgramQuery) -> Option<Preset> {
    let mcp_url = format!("{}/mcp", hub.local_url());
    let settings = Settings {
        command: &[],
        model: query.model.as_deref(),
        tools: query.tools.unwrap_or_default(),
        max_turns: query.max_turns,
        max_cost_usd: query.max_cost_usd,
        instructions: "",
        mcp_url: &mcp_url,
        home: "$HOME",
        resume: None,
        is_isolated: wake::is_isolated(hub),
    };
    Preset::of(program.adapter, &settings)
}

/// What is known of a program, or is found out now: to the end, even if the caller does not wait, so that callers who hang up do not
/// have it started again and again.
async fn installed(hub: &Hub, program: KnownProgram) -> Installed {
    let hub = hub.clone();
    tokio::spawn(async move { find_out(&hub, program).await }).await.unwrap_or_default()
}

async fn find_out(hub: &Hub, program: KnownProgram) -> Installed {
    let entry = hub.memory::<Known>().entry(program.command);
    let mut known = entry.lock().await;
    let now = hub.clock().now_ms();
    if let Some((until, installed)) = known.as_ref()
        && now < *until
    {
        return installed.clone();
    }
    let (path, command) = (hub.config().runs.path.clone(), program.command);
    let found = tokio::task::spawn_blocking(move || execution::look_up(command, &path)).await.ok().flatten();
    let installed = match found {
        Some(file) => Installed { is_found: true, version: version_of(hub, file).await },
        None => Installed::default(),
    };
    let kept_for = if installed.is_found { KEPT_FOR } else { MISSING_KEPT_FOR };
    *known = Some((hub.clock().now_ms() + milliseconds(kept_for), installed.clone()));
    installed
}

/// What a program prints for `--version`, if it says so in time.
async fn version_of(hub: &Hub, program: PathBuf) -> Option<String> {
    match ask(hub, &program).await {
        Ok(printed) => version_in(&printed?),
        Err(error) => {
            tracing::warn!(program = %program.display(), %error, "a program could not be asked for its version");
            None
        }
    }
}

/// None if the program failed.
async fn ask(hub: &Hub, program: &Path) -> io::Result<Option<String>> {
    let root = folder::root(hub);
    let home = tokio::task::spawn_blocking(move || folder::for_versions(&root)).await??;
    let home_text = home.display().to_string();
    let own = [
        ("PATH", hub.config().runs.path.clone()),
        ("HOME", home_text.clone()),
        ("TMPDIR", home_text.clone()),
        ("CODEX_HOME", home_text),
        ("LANG", "C.UTF-8".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
    ];
    let asked = Aside {
        program: program.to_owned(),
        arguments: vec!["--version".to_owned()],
        environment: own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        folder: home.clone(),
        input: None,
        view: View::writing(&[&home]),
        max_output: MAX_READ,
        limit: LONGEST,
    };
    let finished = aside::run(hub, asked).await?;
    let is_fine = finished.ended == Ended::Exited(0);
    Ok(is_fine.then(|| String::from_utf8_lossy(&finished.output).into_owned()))
}
