use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::agents::{
    AgentSettings, AgentView, Archetype, Budget, CreateAgentRequest, CreatedAgent, DEFAULT_COOLDOWN_SECONDS,
    DEFAULT_TRIGGER_DEPTH, Harness, HarnessBackend, PauseReason, TriggerMode, UpdateAgentRequest, WorkspaceKind,
};
use stoa_model::credentials::CredentialKind;
use stoa_model::dispatch::{DEFAULT_MAX_ROUND_TRIPS, ForeignReach, NotWokenReason, TriggerFrom};
use stoa_model::page::{MAX_LIMIT, Page};
use stoa_model::permissions::{Permission, PermissionSet};
use stoa_model::principals::PrincipalKind;
use stoa_model::users::{MeView, Role};
use stoa_model::{PrincipalId, Secret};

use super::store::{self, AgentRow};
use crate::access::auth_log::{self, AuthEvent};
use crate::access::identity::{CredentialForm, CredentialStore, Door, FoundIdentity, credential_hash};
use crate::access::{Actor, Credential, Principal, Reach};
use crate::clock::milliseconds;
use crate::config::Subprocesses;
use crate::error::{ErrorKind, HubError};
use crate::events::{self, PrincipalEvent};
use crate::features::{audit, principals, users};
use crate::hub::idempotency::Replayed;
use crate::hub::{Hub, Way};
use crate::paging::{ListQuery, page_with};

/// More than anybody could look through.
const MAX_CHOICES: i64 = 1000;
/// An agent is active when it was seen within this time.
const ACTIVE_WITHIN: Duration = Duration::from_secs(5 * 60);

/// An agent and the revision of its settings, which clients send back as `If-Match`.
#[derive(Debug, Serialize, Deserialize)]
pub struct RevisedAgent {
    pub agent: AgentView,
    pub revision: i64,
}

impl Replayed for RevisedAgent {
    type Kept = (PrincipalId,);

    fn kept(&self) -> Self::Kept {
        (self.agent.id,)
    }

    fn again(tx: &mut Tx<'_>, _: &Actor, (id,): Self::Kept) -> Result<Self, HubError> {
        let agent = store::find_agent_by_id(tx, id)?.ok_or_else(|| HubError::not_found("agent"))?;
        Ok(Self { revision: agent.revision, agent: agent.into() })
    }
}

impl Replayed for CreatedAgent {
    type Kept = (PrincipalId, Secret);

    fn kept(&self) -> Self::Kept {
        (self.agent.id, self.key.clone())
    }

    fn again(tx: &mut Tx<'_>, _: &Actor, (id, key): Self::Kept) -> Result<Self, HubError> {
        let agent = store::find_agent_by_id(tx, id)?.ok_or_else(|| HubError::not_found("agent"))?;
        Ok(Self { agent: agent.into(), key })
    }
}

impl From<AgentRow> for AgentView {
    fn from(row: AgentRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            display_name: row.display_name,
            owner: row.owner,
            description: row.description,
            archetype: row.archetype,
            trigger_mode: row.trigger_mode,
            cooldown_seconds: row.cooldown_seconds,
            budget: row.budget,
            max_trigger_depth: row.max_trigger_depth,
            trigger_from: row.trigger_from,
            trigger_allow: row.trigger_allow,
            foreign_reach: row.foreign_reach,
            max_round_trips: row.max_round_trips,
            k8s_image: row.k8s_image,
            harness: row.harness,
            instructions: row.instructions,
            pending_work: row.pending_work,
            paused_at: row.paused_at,
            pause_reason: row.pause_reason,
            quarantined_at: row.quarantined_at,
            last_seen_at: row.last_seen_at,
            created_at: row.created_at,
        }
    }
}

/// An agent, and the name at which a later page goes on.
fn named_view(row: AgentRow) -> (String, AgentView) {
    (row.name.clone(), row.into())
}

/// Whose agent key this is.
pub fn find_by_key_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<FoundIdentity>, DbError> {
    let found = store::find_key(tx, hash)?;
    Ok(found.map(|found| FoundIdentity {
        principal: Principal {
            id: found.agent,
            kind: PrincipalKind::Agent,
            handle: found.name,
            human: found.owner,
            role: Role::Member,
            credential: Credential::AgentKey,
            permissions: PermissionSet::ALL,
            reach: Reach::Everything,
            expires_at: None,
            proof: None,
        },
        seen_at: found.last_used_at,
    }))
}

fn note_key_use(tx: &mut Tx<'_>, principal: &Principal) -> Result<(), DbError> {
    principals::note_seen(tx, principal.id)?;
    store::update_key_used(tx, principal.id)
}

pub(super) const AGENT_KEY: CredentialStore = CredentialStore {
    form: CredentialForm::Bearer(CredentialKind::AgentKey),
    doors: &[Door::RestBearer, Door::McpBearer],
    find: find_by_key_hash,
    note_use: note_key_use,
};

/// The id of an agent that `owner` owns; anybody else's does not exist for them.
pub fn require_owned(tx: &mut Tx<'_>, owner: PrincipalId, name: &str) -> Result<PrincipalId, HubError> {
    let agent = store::find_agent(tx, name)?.filter(|agent| agent.owner_id == owner);
    Ok(agent.ok_or_else(|| HubError::not_found("agent"))?.id)
}

/// The agent of this name, if it is the caller's, or the caller is the operator.
pub fn require_managed(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<PrincipalId, HubError> {
    if !actor.is_operator() {
        return require_owned(tx, actor.id(), name);
    }
    Ok(store::find_agent(tx, name)?.ok_or_else(|| HubError::not_found("agent"))?.id)
}

/// The agents among which a person can choose: name, display name and archetype of each.
pub fn list_choices(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<Vec<(String, String, String)>, DbError> {
    store::list_choices(tx, owner, MAX_CHOICES)
}

/// Why a message does not wake this agent, whatever the message is. The first reason of the chain that holds.
pub fn sleep_reason(hub: &Hub, tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Option<NotWokenReason>, DbError> {
    let Some(halts) = store::find_halts(tx, agent)? else { return Ok(None) };
    let reasons = [
        (halts.is_stopped || !hub.config().acting, NotWokenReason::ActingOff),
        (halts.is_quarantined, NotWokenReason::Quarantined),
        (halts.is_paused, NotWokenReason::Paused),
        (halts.mode == TriggerMode::Passive, NotWokenReason::Passive),
        (halts.mode == TriggerMode::Disabled, NotWokenReason::Disabled),
    ];
    Ok(reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason)))
}

/// Whether nothing may set an agent in motion now: it is paused or quarantined, or its owner has stopped everything.
pub fn is_halted(hub: &Hub, tx: &mut Tx<'_>, agent: PrincipalId) -> Result<bool, DbError> {
    use NotWokenReason::{ActingOff, Paused, Quarantined};
    Ok(matches!(sleep_reason(hub, tx, agent)?, Some(ActingOff | Paused | Quarantined)))
}

pub fn count_active(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    store::count_seen_since(tx, tx.now_ms() - milliseconds(ACTIVE_WITHIN))
}

/// Who is logged in, and the first of their agents by name.
pub async fn me(hub: &Hub, actor: &Actor) -> Result<MeView, HubError> {
    actor.require_session()?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let (agents, _) = store::list_agents(tx, actor.id(), "", i64::from(MAX_LIMIT))?;
        let agents = agents.into_iter().map(Into::into).collect();
        Ok(MeView { user: users::current_user(tx, &actor)?, agents })
    })
    .await
}

/// Makes an agent for the caller.
pub async fn create_agent(hub: &Hub, actor: &Actor, request: CreateAgentRequest) -> Result<CreatedAgent, HubError> {
    actor.require_session()?;
    create_agent_for(hub, actor, None, request).await
}

/// Makes an agent for the user of that name, or for the caller.
pub async fn create_agent_for(
    hub: &Hub,
    actor: &Actor,
    owner: Option<String>,
    request: CreateAgentRequest,
) -> Result<CreatedAgent, HubError> {
    if owner.is_some() {
        actor.require_admin()?;
    }
    let (name, settings) = request.into_settings(hub.config().trigger_from)?;
    refuse_reserved_variables(settings.harness.as_ref())?;
    check_receiver(hub, actor, settings.harness.as_ref())?;
    check_workspace(hub, actor, settings.harness.as_ref()).await?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let created = hub
        .command_replayed(actor, Way::Alone, move |tx| {
            let owner = match &owner {
                Some(owner) => users::find_user_id(tx, owner)?,
                None => actor_in.id(),
            };
            require_subprocess_allowed(&hub_in, tx, owner, settings.harness.as_ref())?;
            require_known(tx, &settings.trigger_allow)?;
            insert_agent(&hub_in, tx, &actor_in, owner, &name, &settings)
        })
        .await?;
    let detail = format!("key of agent {}", created.agent.name);
    auth_log::record(AuthEvent::TokenIssued, &actor.call, Some(actor.id().0), actor.audit_name(), Some(&detail));
    Ok(created)
}

fn refuse_reserved_variables(harness: Option<&Harness>) -> Result<(), HubError> {
    let faults = harness.map(Harness::reserved_variables).unwrap_or_default();
    let Some(first) = faults.first() else { return Ok(()) };
    let name = first.field.rsplit('.').next().unwrap_or_default();
    let detail = format!("The variable {name} is reserved.");
    let hint = "Choose another name, for example one that ends with _KEY, _TOKEN, _SECRET or _PASSWORD.";
    Err(HubError::refused("reserved_variable", detail, faults).hint(hint))
}

/// Whether the owner of an agent may have programs started on the hub's machine.
pub fn may_start_subprocess(hub: &Hub, tx: &mut Tx<'_>, owner: PrincipalId) -> Result<bool, DbError> {
    match hub.config().runs.subprocesses {
        Subprocesses::Off => Ok(false),
        Subprocesses::Admins => users::is_admin(tx, owner),
        Subprocesses::Everyone => Ok(true),
    }
}

/// Programs run with the rights of the hub, so not everybody's agents may have one.
fn require_subprocess_allowed(
    hub: &Hub,
    tx: &mut Tx<'_>,
    owner: PrincipalId,
    harness: Option<&Harness>,
) -> Result<(), HubError> {
    let is_subprocess = harness.is_some_and(|harness| harness.backend == HarnessBackend::Subprocess);
    if !is_subprocess || may_start_subprocess(hub, tx, owner)? {
        return Ok(());
    }
    let hint = match hub.config().runs.subprocesses {
        Subprocesses::Off => "The operator has disabled commands (STOA_SUBPROCESS).",
        Subprocesses::Admins | Subprocesses::Everyone => "Admins' agents can. Ask an admin, or use another backend.",
    };
    let detail = "This owner's agents are not allowed to run commands on the server.";
    Err(HubError::forbidden("subprocess_not_allowed", detail).hint(hint))
}

/// An agent that runs elsewhere must be at an address that the hub calls. It is asked again with each call.
fn check_receiver(hub: &Hub, actor: &Actor, harness: Option<&Harness>) -> Result<(), HubError> {
    match harness.and_then(|harness| harness.url.as_deref()) {
        Some(url) => {
            let checked = hub.check_receiver(&actor.call.base_url, "harness.url", url)?;
            // The token of the run is in the call.
            if checked.starts_with("http://") && !is_on_this_machine(&checked) {
                return Err(HubError::invalid_field("harness.url", "must be an https address"));
            }
            Ok(())
        }
        None => Ok(()),
    }
}

/// A workspace must be in a folder that the operator allows. It is asked again with each run.
async fn check_workspace(hub: &Hub, actor: &Actor, harness: Option<&Harness>) -> Result<(), HubError> {
    let workspace = harness.and_then(|harness| harness.workspace.as_ref());
    let Some((kind, path)) = workspace.and_then(|workspace| Some((workspace.kind, workspace.path.as_deref()?))) else {
        return Ok(());
    };
    let (hub_in, owner) = (hub.clone(), actor.principal.human);
    // Other callers get a refusal below, which says nothing about folders.
    if actor.is_operator() || hub.read(move |tx| may_start_subprocess(&hub_in, tx, owner)).await? {
        hub.check_workspace("harness.workspace.path", path, kind == WorkspaceKind::Git).await?;
    }
    Ok(())
}

fn is_on_this_machine(url: &str) -> bool {
    let url = stoa_outbound::Url::parse(url).ok();
    let host = url.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Names that let somebody start an agent must be somebody's.
fn require_known(tx: &mut Tx<'_>, names: &[String]) -> Result<(), HubError> {
    for name in names {
        if principals::find(tx, name)?.is_none_or(|found| found.is_deleted) {
            let shown: String = name.chars().take(64).collect();
            return Err(HubError::invalid_field("trigger_allow", format!("contains the unknown name {shown}")));
        }
    }
    Ok(())
}

fn insert_agent(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    owner: PrincipalId,
    name: &str,
    settings: &AgentSettings,
) -> Result<CreatedAgent, HubError> {
    principals::require_free_handle(tx, name)?;
    let id = principals::create(hub, tx, actor, PrincipalKind::Agent, name, &settings.display_name, Some(owner))?;
    store::insert_agent(tx, id, settings)?;
    let key = issue_key(tx, id)?;
    audit::record(tx, actor, "agent.created", Some(name), &json!({}))?;
    let agent = store::find_agent_by_id(tx, id)?.ok_or_else(|| HubError::internal("the new agent is missing"))?;
    Ok(CreatedAgent { agent: agent.into(), key })
}

fn issue_key(tx: &mut Tx<'_>, agent: PrincipalId) -> Result<Secret, DbError> {
    let key = CredentialKind::AgentKey.render(tx.random_bytes());
    store::insert_key(tx, agent, &credential_hash(&key))?;
    Ok(Secret::new(key))
}

/// A person sees the agents they own; an agent sees itself; the operator sees all.
pub async fn list_agents(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<AgentView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let after: String = list.position(hub, actor, "agents")?.unwrap_or_default();
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let (agents, has_more) = hub
        .read(move |tx| {
            let (rows, has_more) = if actor_in.is_operator() {
                store::list_all_agents(tx, &after, limit)?
            } else if actor_in.principal.kind == PrincipalKind::Agent {
                (store::find_agent_by_id(tx, actor_in.id())?.into_iter().collect(), false)
            } else {
                store::list_agents(tx, actor_in.id(), &after, limit)?
            };
            let agents = rows.into_iter().map(named_view);
            let agents = agents.map(|(name, agent)| (name, visible_part(&actor_in, agent)));
            Ok::<_, DbError>((agents.collect::<Vec<_>>(), has_more))
        })
        .await?;
    page_with(hub, actor, "agents", agents, has_more)
}

pub async fn get_agent(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedAgent, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let agent = find_visible(tx, &actor, &name)?;
        Ok(RevisedAgent { revision: agent.revision, agent: visible_part(&actor, agent.into()) })
    })
    .await
}

/// Changes settings. With `expected_revision`, only if nobody changed them in the meantime.
pub async fn update_agent(
    hub: &Hub,
    actor: &Actor,
    name: String,
    expected_revision: Option<i64>,
    request: UpdateAgentRequest,
) -> Result<RevisedAgent, HubError> {
    check_workspace(hub, actor, request.harness.as_ref().and_then(Option::as_ref)).await?;
    change_agent(hub, actor, name, "agent.updated", find_changeable, move |hub, tx, actor, agent| {
        if expected_revision.is_some_and(|expected| expected != agent.revision) {
            return Err(HubError::new(
                ErrorKind::PreconditionFailed,
                "precondition_failed",
                "The agent has changed since you read it.",
            )
            .hint("Read it again and repeat your change with the new ETag."));
        }
        let mut settings = settings_of(agent);
        request.clone().apply(&mut settings)?;
        let harness = request.harness.as_ref().and_then(Option::as_ref);
        refuse_reserved_variables(harness)?;
        check_receiver(hub, actor, harness)?;
        require_subprocess_allowed(hub, tx, agent.owner_id, harness)?;
        require_known(tx, request.trigger_allow.as_deref().unwrap_or_default())?;
        if settings.display_name != agent.display_name {
            principals::set_display_name(hub, tx, actor, agent.id, &settings.display_name)?;
        }
        if settings.foreign_reach != agent.foreign_reach {
            // The tokens of its runs reach less or more from now on.
            hub.identities().forget_after(tx);
        }
        Ok(store::update_settings(tx, agent.id, &settings)?)
    })
    .await
}

pub async fn pause_agent(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedAgent, HubError> {
    change_agent(hub, actor, name, "agent.paused", find_changeable, |_, tx, _, agent| {
        Ok(store::update_paused(tx, agent.id, Some(PauseReason::Manual))?)
    })
    .await
}

pub async fn resume_agent(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedAgent, HubError> {
    change_agent(hub, actor, name, "agent.resumed", find_changeable, |_, tx, _, agent| {
        Ok(store::update_paused(tx, agent.id, None)?)
    })
    .await
}

/// Lifts a quarantine. Administrators may do this for any agent.
pub async fn unquarantine_agent(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedAgent, HubError> {
    let mut revised = change_agent(hub, actor, name, "agent.unquarantined", find_for_pardon, |_, tx, _, agent| {
        match agent.quarantined_at {
            Some(_) => Ok(store::update_unquarantined(tx, agent.id)?),
            None => Ok(()),
        }
    })
    .await?;
    if !actor.is_operator() && revised.agent.owner != actor.principal.handle {
        revised.agent = without_configuration(revised.agent);
    }
    Ok(revised)
}

/// Gives the agent a new key; the old one is worthless from the answer on.
pub async fn rotate_key(hub: &Hub, actor: &Actor, name: String) -> Result<CreatedAgent, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let created = hub
        .command_replayed(actor, Way::Alone, move |tx| {
            let agent = find_changeable(tx, &actor_in, &name)?;
            let key = issue_key(tx, agent.id)?;
            principals::withdraw_access(&hub_in, tx, &actor_in, agent.id)?;
            audit::record(tx, &actor_in, "agent.key_rotated", Some(&agent.name), &json!({}))?;
            Ok(CreatedAgent { agent: agent.into(), key })
        })
        .await?;
    let (id, who) = (Some(actor.id().0), actor.audit_name());
    let detail = format!("key of agent {}", created.agent.name);
    auth_log::record(AuthEvent::TokenRevoked, &actor.call, id, who, Some(&detail));
    auth_log::record(AuthEvent::TokenIssued, &actor.call, id, who, Some(&detail));
    Ok(created)
}

/// Takes the agent away, with every key that acts as it (managed keys follow by a planner). What it
/// wrote stays.
pub async fn delete_agent(hub: &Hub, actor: &Actor, name: String) -> Result<(), HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let agent = find_changeable(tx, &actor_in, &name)?;
        store::delete_key(tx, agent.id)?;
        principals::delete(&hub_in, tx, &actor_in, agent.id)?;
        hub_in.identities().forget_after(tx);
        audit::record(tx, &actor_in, "agent.deleted", Some(&agent.name), &json!({}))?;
        Ok(())
    })
    .await
}

/// One change of an agent by its owner: find, change, tell, answer with what it is now.
async fn change_agent(
    hub: &Hub,
    actor: &Actor,
    name: String,
    action: &'static str,
    find: fn(&mut Tx<'_>, &Actor, &str) -> Result<AgentRow, HubError>,
    change: impl Fn(&Hub, &mut Tx<'_>, &Actor, &AgentRow) -> Result<(), HubError> + Send + 'static,
) -> Result<RevisedAgent, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let agent = find(tx, &actor_in, &name)?;
        change(&hub_in, tx, &actor_in, &agent)?;
        audit::record(tx, &actor_in, action, Some(&agent.name), &json!({}))?;
        events::emit(&hub_in, tx, &actor_in, PrincipalEvent::Updated { principal: agent.id })?;
        let agent = find_any(tx, &name)?;
        Ok(RevisedAgent { revision: agent.revision, agent: agent.into() })
    })
    .await
}

fn find_any(tx: &mut Tx<'_>, name: &str) -> Result<AgentRow, HubError> {
    store::find_agent(tx, name)?.ok_or_else(|| HubError::not_found("agent"))
}

/// Configuration is the owner's to see, and the agent's own.
fn find_visible(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<AgentRow, HubError> {
    let agent = find_any(tx, name)?;
    let is_visible = match actor.principal.kind {
        PrincipalKind::User => agent.owner_id == actor.id(),
        PrincipalKind::Agent => agent.id == actor.id(),
        PrincipalKind::System | PrincipalKind::Machine => actor.is_operator(),
    };
    if is_visible { Ok(agent) } else { Err(HubError::not_found("agent")) }
}

/// How an agent is run is its owner's business: it may hold what the agent itself must not know.
fn visible_part(actor: &Actor, agent: AgentView) -> AgentView {
    if actor.principal.kind == PrincipalKind::Agent { AgentView { harness: None, ..agent } } else { agent }
}

fn without_configuration(agent: AgentView) -> AgentView {
    AgentView {
        id: agent.id,
        name: agent.name,
        display_name: agent.display_name,
        owner: agent.owner,
        description: agent.description,
        quarantined_at: agent.quarantined_at,
        last_seen_at: agent.last_seen_at,
        created_at: agent.created_at,
        // All else is the owner's business, so it is shown as in a new agent.
        archetype: Archetype::Custom,
        trigger_mode: TriggerMode::Passive,
        cooldown_seconds: DEFAULT_COOLDOWN_SECONDS,
        budget: Budget::default(),
        max_trigger_depth: DEFAULT_TRIGGER_DEPTH,
        trigger_from: TriggerFrom::default(),
        trigger_allow: Vec::new(),
        foreign_reach: ForeignReach::default(),
        max_round_trips: DEFAULT_MAX_ROUND_TRIPS,
        k8s_image: None,
        harness: None,
        instructions: String::new(),
        pending_work: false,
        paused_at: None,
        pause_reason: None,
    }
}

fn find_changeable(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<AgentRow, HubError> {
    let agent = find_any(tx, name)?;
    let is_owner = actor.principal.kind == PrincipalKind::User && agent.owner_id == actor.id();
    if is_owner || actor.is_operator() { Ok(agent) } else { Err(HubError::not_found("agent")) }
}

/// Only the owner or an administrator lifts a quarantine.
fn find_for_pardon(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<AgentRow, HubError> {
    if actor.is_admin() { find_any(tx, name) } else { find_changeable(tx, actor, name) }
}

fn settings_of(agent: &AgentRow) -> AgentSettings {
    AgentSettings {
        display_name: agent.display_name.clone(),
        description: agent.description.clone(),
        archetype: agent.archetype,
        trigger_mode: agent.trigger_mode,
        cooldown_seconds: agent.cooldown_seconds,
        budget: agent.budget.clone(),
        max_trigger_depth: agent.max_trigger_depth,
        trigger_from: agent.trigger_from,
        trigger_allow: agent.trigger_allow.clone(),
        foreign_reach: agent.foreign_reach,
        max_round_trips: agent.max_round_trips,
        k8s_image: agent.k8s_image.clone(),
        harness: agent.harness.clone(),
        instructions: agent.instructions.clone(),
    }
}
