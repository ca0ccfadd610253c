//! The known programs, and which of them are installed: each is asked for its version, as a run would find it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stoa_model::RunId;
use stoa_model::dispatch::NotWokenReason;
use stoa_model::programs::{ProgramList, ProgramQuery, ProgramView, version_in};
use stoa_programs::{KNOWN_PROGRAMS, KnownProgram, Preset, Settings};
use stoa_supervisor::{Ended, Limits, Order, Supervised};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Mutex;

use super::begin::{self, MARK};
use super::{execution, folder, isolation, wake};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::{agents, secrets};
use crate::hub::{Hub, Supervisors, pause};

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
    Ok(ProgramList {
        items: items.collect(),
        isolated: wake::is_isolated(hub),
        reason: (!is_allowed).then(|| NotWokenReason::SubprocessNotAllowed.name().to_owned()),
    })
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

async fn installed(hub: &Hub, program: KnownProgram) -> Installed {
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

/// What a program prints for `--version`, if it says so in time. All of its processes have ended then.
async fn version_of(hub: &Hub, program: PathBuf) -> Option<String> {
    let asked = ask(hub, &program);
    tokio::select! {
        printed = asked => match printed {
            Ok(printed) => version_in(&printed?),
            Err(error) => {
                tracing::warn!(program = %program.display(), %error, "a program could not be asked for its version");
                None
            }
        },
        () = pause(LONGEST) => None,
        () = hub.stopping() => None,
    }
}

/// None if the program failed.
async fn ask(hub: &Hub, program: &std::path::Path) -> std::io::Result<Option<String>> {
    let settings = &hub.config().runs;
    let root = folder::root(hub);
    let home = tokio::task::spawn_blocking(move || folder::for_versions(&root)).await??;
    // No run has this id, so the mark is found after a crash and belongs to no run.
    let mark = (MARK.to_owned(), begin::mark_of(hub, RunId(0)));
    let home_text = home.display().to_string();
    let own = [
        ("PATH", settings.path.clone()),
        ("HOME", home_text.clone()),
        ("TMPDIR", home_text.clone()),
        ("CODEX_HOME", home_text),
        ("LANG", "C.UTF-8".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
    ];
    let mut environment: BTreeMap<String, String> =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    environment.extend([mark.clone()]);
    let order = Order {
        program: program.to_owned(),
        arguments: vec!["--version".to_owned()],
        environment,
        wrapper: isolation::sandbox(hub).map(|sandbox| sandbox.wrapper(&home, &[])),
        folder: home,
        input: None,
        limits: Limits { file_bytes: settings.disk_mib.saturating_mul(1024 * 1024), ..Limits::default() },
    };
    let mut supervised = Supervised::prepare(&settings.supervisor, &["supervise"], &BTreeMap::from([mark]))?;
    let _noted = Noted::new(hub, supervised.id());
    supervised.start(&order).await?;
    let (output, errors) = (supervised.output.take(), supervised.errors.take());
    let (printed, _, ended) = tokio::join!(beginning_of(output), beginning_of(errors), supervised.ended());
    Ok((ended == Ended::Exited(0)).then_some(printed))
}

/// The first bytes of an output. All of it is read, because a full pipe would stop the program.
async fn beginning_of(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut bytes = Vec::new();
    // What could be read before a fault is enough.
    let _ = (&mut stream).take(MAX_READ).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The process that looks after a program: the hub must know its descendants, which may not use the admin socket.
struct Noted(Arc<Supervisors>, Option<u32>);

impl Noted {
    fn new(hub: &Hub, id: Option<u32>) -> Self {
        let supervisors = hub.memory::<Supervisors>();
        if let Some(id) = id {
            supervisors.add(id);
        }
        Self(supervisors, id)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(id) = self.1 {
            self.0.remove(id);
        }
    }
}
