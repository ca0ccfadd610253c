use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::credentials;
use stoa_model::page::Page;
use stoa_model::permissions::PermissionSet;
use stoa_model::principals::PrincipalKind;
use stoa_model::users::{
    ChangePasswordRequest, CreateUserRequest, EndedSessions, LoginRequest, Role, SessionView, UpdateProfileRequest,
    UserView, check_account, check_password,
};
use stoa_model::{PrincipalId, Secret, SessionId, handles};

use super::store::{self, NewSession, SessionRow, UserRow};
use crate::access::auth_log::{self, AuthEvent};
use crate::access::device::{self, DeviceClaim};
use crate::access::identity::{CredentialForm, CredentialStore, Door, FoundIdentity, credential_hash};
use crate::access::password::cost_of;
use crate::access::password_line::Caller;
use crate::access::{Actor, Credential, Principal, Reach};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::events::{self, PrincipalEvent};
use crate::features::{audit, principals};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// How often the hub looks which cost most accounts have.
const USUAL_COST_EVERY: Duration = Duration::from_secs(60);
const MAX_USER_AGENT_CHARACTERS: usize = 200;
const FIRST_ADMIN: &str = "admin";

/// A user who has just proved who they are, and the session that says so from now on.
#[derive(Debug, Serialize, Deserialize)]
pub struct NewLogin {
    pub user: UserView,
    pub token: Secret,
    /// By which the browser is known at its next login. Answers that were stored by an earlier version have none.
    #[serde(default)]
    pub device: Option<Secret>,
}

impl From<UserRow> for UserView {
    fn from(row: UserRow) -> Self {
        Self {
            id: row.id,
            username: row.username,
            display_name: row.display_name,
            role: row.role,
            created_at: row.created_at,
            disabled_at: row.disabled_at,
        }
    }
}

fn session_view(row: SessionRow, current: Option<SessionId>) -> SessionView {
    SessionView {
        id: row.id,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        expires_at: row.expires_at,
        remote_ip: row.remote_ip,
        user_agent: row.user_agent,
        current: Some(row.id) == current,
    }
}

/// Whose session this is.
pub fn find_by_session_hash(tx: &mut Tx<'_>, hash: &[u8; 32]) -> Result<Option<FoundIdentity>, DbError> {
    let found = store::find_session(tx, hash)?;
    Ok(found.map(|found| FoundIdentity {
        principal: Principal {
            id: found.user,
            kind: PrincipalKind::User,
            handle: found.username,
            human: found.user,
            role: found.role,
            credential: Credential::Session(found.session),
            permissions: PermissionSet::ALL,
            reach: Reach::Everything,
            expires_at: Some(found.expires_at),
            proof: None,
        },
        seen_at: Some(found.last_seen_at),
    }))
}

fn note_session_use(tx: &mut Tx<'_>, principal: &Principal) -> Result<(), DbError> {
    principals::note_seen(tx, principal.id)?;
    match principal.credential {
        Credential::Session(session) => store::update_session_seen(tx, session),
        _ => Ok(()),
    }
}

pub(super) const SESSION: CredentialStore = CredentialStore {
    form: CredentialForm::Session,
    doors: &[Door::Cookie],
    find: find_by_session_hash,
    note_use: note_session_use,
};

/// Whether somebody is an administrator whose account is in use.
pub fn is_admin(tx: &mut Tx<'_>, id: PrincipalId) -> Result<bool, DbError> {
    let user = store::find_user(tx, id)?;
    Ok(user.is_some_and(|user| user.role == Role::Admin && user.disabled_at.is_none()))
}

/// Whether somebody's account is in use.
pub fn is_enabled(tx: &mut Tx<'_>, id: PrincipalId) -> Result<bool, DbError> {
    Ok(store::find_user(tx, id)?.is_some_and(|user| user.disabled_at.is_none()))
}

/// The id of a user, for operators who name one.
pub fn find_user_id(tx: &mut Tx<'_>, username: &str) -> Result<PrincipalId, HubError> {
    Ok(require_user(tx, username)?.id)
}

/// Everybody who has the role of an administrator.
pub fn list_admins(tx: &mut Tx<'_>) -> Result<Vec<PrincipalId>, DbError> {
    store::list_admins(tx)
}

/// Checks a password and begins a session. Says the same, after the same work, whether there is no
/// such user, the password is wrong or the account is disabled. A browser that has logged in before sends its device cookie, which
/// says in which line the password waits, and is not stopped by what others at its address got wrong.
pub async fn log_in(
    hub: &Hub,
    actor: &Actor,
    request: LoginRequest,
    device: Option<Secret>,
) -> Result<NewLogin, HubError> {
    let folded = handles::fold(&request.username);
    let (address, now) = (actor.call.client_ip, hub.clock().now_ms());
    log_overdue_throttled(hub, now);
    let admission = hub.limits().take_login(&folded, address, now);
    let is_counted = admission.is_ok();
    let throttled = |_: &HubError| log_throttled(hub, actor, &request.username, now);
    let claim = device.as_ref().and_then(DeviceClaim::read);
    if claim.is_none() {
        admission.clone().inspect_err(throttled)?;
    }
    let name = request.username.clone();
    let usual_cost = hub.memory::<UsualCost>();
    let is_cost_due = usual_cost.is_due(now);
    let (found, prefix) = hub
        .read_urgent(move |tx| {
            let prefix = if is_cost_due { store::find_usual_hash_prefix(tx)? } else { None };
            Ok::<_, DbError>((store::find_user_by_name(tx, &name)?, prefix))
        })
        .await?;
    note_usual_cost(hub, prefix.as_deref());
    let hash = found.as_ref().map(|user| user.password_hash.clone());
    let caller = caller_at_login(hub, actor, found.as_ref(), claim.as_ref(), now);
    if matches!(caller, Caller::Stranger(_)) {
        admission.inspect_err(throttled)?;
    }
    let verified = hub.passwords().verify(caller, &request.password, hash).await;
    let refund_device = || {
        if let Caller::Known { device: Some(id), .. } = caller {
            hub.limits().refund_device(id);
        }
    };
    let matches = verified.inspect_err(|_| {
        refund_device();
        if is_counted {
            hub.limits().refund_unheard_login(&folded, address);
        }
    })?;
    let user = match found {
        Some(user) if matches && user.disabled_at.is_none() => user,
        found => {
            let reason = match found {
                None => "unknown user",
                Some(_) if matches => "disabled",
                Some(_) => "wrong password",
            };
            log_failure(actor, &request.username, reason);
            return Err(HubError::unauthenticated("invalid_credentials", "Wrong username or password."));
        }
    };
    refund_device();
    if is_counted {
        hub.limits().refund_login(&folded, address);
    }
    // Only now the password is known, so this is when its hash can get the present cost. Without one the login goes on.
    let is_outdated = cost_of(&user.password_hash) != Some(hub.passwords().cost());
    let new_hash = if is_outdated { hub.passwords().hash(caller, &request.password).await.ok() } else { None };
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let (id, checked_revision) = (user.id, user.password_revision);
    let login = hub
        .command(actor, move |tx| {
            // The password may have been changed while it was being compared.
            let user = store::find_user(tx, id)?
                .filter(|user| user.password_revision == checked_revision && user.disabled_at.is_none())
                .ok_or_else(|| HubError::unauthenticated("invalid_credentials", "Wrong username or password."))?;
            if let Some(hash) = &new_hash {
                store::update_password_hash(tx, id, hash)?;
            }
            begin_session(&hub_in, tx, &actor_in, user.into())
        })
        .await?;
    log_login(actor, &login.user);
    Ok(login)
}

/// The line in which a password waits. A device cookie counts only for the user that it was given to, so that it does not help to
/// guess the passwords of others.
fn caller_at_login(
    hub: &Hub,
    actor: &Actor,
    user: Option<&UserRow>,
    claim: Option<&DeviceClaim>,
    now_ms: i64,
) -> Caller {
    let known = || {
        let user = user.filter(|user| user.disabled_at.is_none())?;
        let claim = claim?;
        let is_known = claim.is_of(&hub.keys(), user.id, user.password_revision, now_ms);
        let is_admitted = is_known && hub.limits().take_device(claim.id(), now_ms);
        is_admitted.then(|| Caller::Known { user: user.id.0, device: Some(claim.id()) })
    };
    known().unwrap_or(Caller::Stranger(actor.call.client_ip))
}

/// The line of somebody who has proved who they are.
fn caller_of(actor: &Actor) -> Caller {
    if actor.is_operator() { Caller::Operator } else { Caller::Known { user: actor.id().0, device: None } }
}

/// When the hub last looked which cost most accounts have.
#[derive(Default)]
struct UsualCost(AtomicI64);

impl UsualCost {
    /// Whether it is time to look. The answer is yes at most once a minute.
    fn is_due(&self, now_ms: i64) -> bool {
        let looked_at = self.0.load(Ordering::Relaxed);
        let is_due = now_ms - looked_at >= milliseconds(USUAL_COST_EVERY);
        is_due && self.0.compare_exchange(looked_at, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Looks which cost most accounts have, before the first login.
pub async fn prepare_logins(hub: &Hub) -> Result<(), HubError> {
    let prefix = hub.read(store::find_usual_hash_prefix).await?;
    note_usual_cost(hub, prefix.as_deref());
    Ok(())
}

/// Gives unknown names the cost that most accounts have, which may be an earlier setting than the present one.
fn note_usual_cost(hub: &Hub, prefix: Option<&str>) {
    if let Some(cost) = prefix.and_then(cost_of) {
        hub.passwords().set_decoy_cost(cost);
    }
}

/// What was typed may be a password in the wrong field: only well-formed names are logged.
fn loggable(username: &str) -> Option<&str> {
    Some(username).filter(|name| handles::check_username(name).is_ok())
}

fn log_failure(actor: &Actor, username: &str, reason: &str) {
    auth_log::record(AuthEvent::LoginFailure, &actor.call, None, loggable(username), Some(reason));
}

fn log_throttled(hub: &Hub, actor: &Actor, username: &str, now_ms: i64) {
    let address = actor.call.client_ip;
    if let Some(count) = hub.limits().note_throttled_login(address, now_ms) {
        auth_log::record_throttled(Some(&actor.call), address, loggable(username), count);
    }
}

/// Logs how many logins were refused at each address since its last line.
fn log_overdue_throttled(hub: &Hub, now_ms: i64) {
    for (address, count) in hub.limits().overdue_throttled_logins(now_ms) {
        auth_log::record_throttled(None, address, None, count);
    }
}

pub(super) fn log_login(actor: &Actor, user: &UserView) {
    let (id, name) = (Some(user.id.0), Some(user.username.as_str()));
    auth_log::record(AuthEvent::LoginSuccess, &actor.call, id, name, None);
    auth_log::record(AuthEvent::SessionCreated, &actor.call, id, name, None);
}

pub(super) fn begin_session(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, user: UserView) -> Result<NewLogin, HubError> {
    let token = credentials::base62(tx.random_bytes());
    let (id, now) = (tx.random_bytes(), tx.now_ms());
    let device = device::issue(&hub.keys(), user.id, store::find_password_revision(tx, user.id)?, id, now);
    principals::note_seen(tx, user.id)?;
    let user_agent: Option<String> =
        actor.call.user_agent.as_ref().map(|text| text.chars().take(MAX_USER_AGENT_CHARACTERS).collect());
    store::insert_session(
        tx,
        &NewSession {
            user: user.id,
            token_hash: &credential_hash(&token),
            expires_at: tx.now_ms() + milliseconds(hub.config().session_lifetime),
            remote_ip: actor.call.remote_ip.as_deref(),
            user_agent: user_agent.as_deref(),
        },
    )?;
    Ok(NewLogin { user, token: Secret::new(token), device: Some(device) })
}

/// Ends the session that asks.
pub async fn log_out(hub: &Hub, actor: &Actor) -> Result<(), HubError> {
    if let Some(session) = actor.session() {
        end_session(hub, actor, session).await?;
    }
    Ok(())
}

/// The account of whoever is logged in.
pub fn current_user(tx: &mut Tx<'_>, actor: &Actor) -> Result<UserView, HubError> {
    Ok(store::find_user(tx, actor.id())?.ok_or_else(|| HubError::not_found("user"))?.into())
}

pub async fn update_profile(hub: &Hub, actor: &Actor, request: UpdateProfileRequest) -> Result<UserView, HubError> {
    actor.require_session()?;
    request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let id = actor_in.id();
        principals::set_display_name(&hub_in, tx, &actor_in, id, &request.display_name)?;
        current_user(tx, &actor_in)
    })
    .await
}

/// Sets a new password, ends every session of the user and begins a new one.
pub async fn change_password(hub: &Hub, actor: &Actor, request: ChangePasswordRequest) -> Result<NewLogin, HubError> {
    actor.require_session()?;
    request.check()?;
    let id = actor.id();
    let ended = || HubError::unauthenticated("session_expired", "The session has ended.");
    let user = hub.read(move |tx| store::find_user(tx, id)).await?.ok_or_else(ended)?;
    // Whoever found an open session could otherwise guess here without end.
    let folded = handles::fold(&user.username);
    hub.limits().take_login(&folded, actor.call.client_ip, hub.clock().now_ms())?;
    let checked_revision = user.password_revision;
    let caller = caller_of(actor);
    let verified = hub.passwords().verify(caller, &request.current_password, Some(user.password_hash)).await;
    if !verified.inspect_err(|_| hub.limits().refund_unheard_login(&folded, actor.call.client_ip))? {
        return Err(HubError::forbidden("invalid_credentials", "The current password is wrong."));
    }
    hub.limits().refund_login(&folded, actor.call.client_ip);
    let hash = hub.passwords().hash(caller, &request.new_password).await?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let login = hub
        .command(actor, move |tx| {
            // Somebody else may have set a new one in the meantime, which must not be overruled by
            // whoever knew the old one.
            let user = store::find_user(tx, id)?
                .filter(|user| user.password_revision == checked_revision && user.disabled_at.is_none())
                .ok_or_else(ended)?;
            set_password(&hub_in, tx, &actor_in, &user, &hash)?;
            begin_session(&hub_in, tx, &actor_in, user.into())
        })
        .await?;
    let (user_id, name) = (Some(id.0), Some(login.user.username.as_str()));
    auth_log::record(AuthEvent::PasswordChanged, &actor.call, user_id, name, None);
    auth_log::record(AuthEvent::SessionDestroyed, &actor.call, user_id, name, Some("all, by a password change"));
    auth_log::record(AuthEvent::SessionCreated, &actor.call, user_id, name, None);
    Ok(login)
}

fn set_password(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, user: &UserRow, hash: &str) -> Result<(), HubError> {
    store::update_password(tx, user.id, hash)?;
    store::delete_sessions(tx, user.id)?;
    principals::withdraw_access(hub, tx, actor, user.id)?;
    audit::record(tx, actor, "user.password_changed", Some(&user.username), &json!({}))?;
    Ok(())
}

pub async fn list_sessions(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<SessionView>, HubError> {
    actor.require_session()?;
    let (id, current) = (actor.id(), actor.session());
    let before = list.position(hub, actor, "sessions")?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let sessions = hub.read(move |tx| store::list_sessions(tx, id, before, limit + 1)).await?;
    let sessions = sessions.into_iter().map(|session| (session.id.0, session_view(session, current))).collect();
    page_of(hub, actor, "sessions", sessions, limit)
}

pub async fn end_session(hub: &Hub, actor: &Actor, session: SessionId) -> Result<(), HubError> {
    actor.require_session()?;
    let (hub_in, actor_in, id) = (hub.clone(), actor.clone(), actor.id());
    hub.command(actor, move |tx| {
        if store::delete_session(tx, id, session)? == 0 {
            return Err(HubError::not_found("session"));
        }
        principals::withdraw_access(&hub_in, tx, &actor_in, id)?;
        Ok(())
    })
    .await?;
    let name = Some(actor.principal.handle.as_str());
    auth_log::record(AuthEvent::SessionDestroyed, &actor.call, Some(id.0), name, None);
    Ok(())
}

/// Ends every session of the caller, the one that asks too.
pub async fn end_sessions(hub: &Hub, actor: &Actor) -> Result<EndedSessions, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let ended = hub
        .command(actor, move |tx| {
            let ended = store::delete_sessions(tx, actor_in.id())?;
            principals::withdraw_access(&hub_in, tx, &actor_in, actor_in.id())?;
            audit::record(tx, &actor_in, "user.sessions_ended", actor_in.audit_name(), &json!({"ended": ended}))?;
            Ok(EndedSessions { ended })
        })
        .await?;
    let name = Some(actor.principal.handle.as_str());
    auth_log::record(AuthEvent::SessionDestroyed, &actor.call, Some(actor.id().0), name, Some("all"));
    Ok(ended)
}

pub(super) fn log_user_created(actor: &Actor, user: &UserView, how: &str) {
    auth_log::record(AuthEvent::UserCreated, &actor.call, Some(user.id.0), Some(&user.username), Some(how));
}

pub(super) fn insert_user(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    username: &str,
    display_name: Option<&str>,
    password_hash: &str,
    role: Role,
) -> Result<UserView, HubError> {
    principals::require_free_handle(tx, username)?;
    insert_user_unchecked(hub, tx, actor, username, display_name, password_hash, role)
}

fn insert_user_unchecked(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    username: &str,
    display_name: Option<&str>,
    password_hash: &str,
    role: Role,
) -> Result<UserView, HubError> {
    let display_name = display_name.unwrap_or(username);
    let id = principals::create(hub, tx, actor, PrincipalKind::User, username, display_name, None)?;
    store::insert_user(tx, id, password_hash, role)?;
    Ok(store::find_user(tx, id)?.ok_or_else(|| HubError::internal("the new user is missing"))?.into())
}

/// Makes an account for the operator.
pub async fn create_user(hub: &Hub, actor: &Actor, request: CreateUserRequest) -> Result<UserView, HubError> {
    actor.require_admin()?;
    check_account(&request.username, &request.password, request.display_name.as_deref())?;
    let name = request.username.clone();
    hub.read(move |tx| principals::require_free_handle(tx, &name)).await?;
    let hash = hub.passwords().hash(caller_of(actor), &request.password).await?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let user = hub
        .command(actor, move |tx| {
            let (name, role) = (&request.username, request.role.unwrap_or(Role::Member));
            let user = insert_user(&hub_in, tx, &actor_in, name, request.display_name.as_deref(), &hash, role)?;
            audit::record(tx, &actor_in, "user.created", Some(name), &json!({"role": role}))?;
            Ok(user)
        })
        .await?;
    log_user_created(actor, &user, "by the operator");
    Ok(user)
}

pub async fn list_users(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<UserView>, HubError> {
    actor.require_admin()?;
    let after = list.position(hub, actor, "users")?.unwrap_or(0);
    let limit = list.limit()?;
    let users = hub.read(move |tx| store::list_users(tx, after, limit + 1)).await?;
    let users = users.into_iter().map(|user| (user.id.0, user.into())).collect();
    page_of(hub, actor, "users", users, limit)
}

/// Sets a user's password for the operator, which ends all of that user's sessions.
pub async fn set_user_password(
    hub: &Hub,
    actor: &Actor,
    username: String,
    password: Secret,
) -> Result<UserView, HubError> {
    actor.require_admin()?;
    check_password(&password).map_err(|message| HubError::invalid_field("password", message))?;
    let hash = hub.passwords().hash(caller_of(actor), &password).await?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let user = hub
        .command(actor, move |tx| {
            let user = require_user(tx, &username)?;
            set_password(&hub_in, tx, &actor_in, &user, &hash)?;
            Ok(UserView::from(user))
        })
        .await?;
    let detail = Some("by the operator");
    auth_log::record(AuthEvent::PasswordChanged, &actor.call, Some(user.id.0), Some(&user.username), detail);
    log_all_sessions_ended(actor, &user);
    Ok(user)
}

fn log_all_sessions_ended(actor: &Actor, user: &UserView) {
    let (id, name) = (Some(user.id.0), Some(user.username.as_str()));
    auth_log::record(AuthEvent::SessionDestroyed, &actor.call, id, name, Some("all, by the operator"));
}

/// Shuts a user out, with all their sessions and all their agents' keys, or lets them in again.
pub async fn set_disabled(hub: &Hub, actor: &Actor, username: String, is_disabled: bool) -> Result<UserView, HubError> {
    actor.require_admin()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let user = hub
        .command(actor, move |tx| {
            let user = require_user(tx, &username)?;
            if is_disabled && user.disabled_at.is_none() {
                require_another_admin(tx, &user)?;
                store::update_disabled(tx, user.id, Some(tx.now_ms()))?;
                store::delete_sessions(tx, user.id)?;
            } else if !is_disabled {
                store::update_disabled(tx, user.id, None)?;
            }
            principals::withdraw_access(&hub_in, tx, &actor_in, user.id)?;
            let action = if is_disabled { "user.disabled" } else { "user.enabled" };
            audit::record(tx, &actor_in, action, Some(&user.username), &json!({}))?;
            events::emit(&hub_in, tx, &actor_in, PrincipalEvent::Updated { principal: user.id })?;
            Ok(UserView::from(require_user(tx, &username)?))
        })
        .await?;
    if is_disabled {
        log_all_sessions_ended(actor, &user);
    }
    Ok(user)
}

pub async fn set_role(hub: &Hub, actor: &Actor, username: String, role: Role) -> Result<UserView, HubError> {
    actor.require_admin()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let user = require_user(tx, &username)?;
        if role != Role::Admin {
            require_another_admin(tx, &user)?;
        }
        store::update_role(tx, user.id, role)?;
        hub_in.identities().forget_after(tx);
        audit::record(tx, &actor_in, "user.role_changed", Some(&user.username), &json!({"role": role}))?;
        events::emit(&hub_in, tx, &actor_in, PrincipalEvent::Updated { principal: user.id })?;
        Ok(UserView::from(require_user(tx, &username)?))
    })
    .await
}

/// Ends all sessions of a user for the operator.
pub async fn end_user_sessions(hub: &Hub, actor: &Actor, username: String) -> Result<EndedSessions, HubError> {
    actor.require_admin()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let (user, ended) = hub
        .command(actor, move |tx| {
            let user = require_user(tx, &username)?;
            let ended = store::delete_sessions(tx, user.id)?;
            principals::withdraw_access(&hub_in, tx, &actor_in, user.id)?;
            audit::record(tx, &actor_in, "user.sessions_ended", Some(&user.username), &json!({"ended": ended}))?;
            Ok((UserView::from(user), EndedSessions { ended }))
        })
        .await?;
    log_all_sessions_ended(actor, &user);
    Ok(ended)
}

/// A hub without an administrator could not be mended from the web page any more.
fn require_another_admin(tx: &mut Tx<'_>, user: &UserRow) -> Result<(), HubError> {
    let is_last = user.role == Role::Admin && user.disabled_at.is_none() && store::count_active_admins(tx)? == 1;
    if is_last {
        return Err(HubError::conflict("last_admin", "This is the last admin.")
            .hint("Give another user the admin role first: `stoa admin users role NAME admin`."));
    }
    Ok(())
}

fn require_user(tx: &mut Tx<'_>, username: &str) -> Result<UserRow, HubError> {
    store::find_user_by_name(tx, username)?.ok_or_else(|| HubError::not_found("user"))
}

/// Makes the first administrator of a new hub and returns the password, which is kept nowhere.
pub async fn ensure_first_admin(hub: &Hub) -> Result<Option<Secret>, HubError> {
    if hub.read(store::has_users).await? {
        return Ok(None);
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(HubError::internal)?;
    // 24 characters of base 62 are 142 bits.
    let password = Secret::new(&credentials::base62(random)[19..]);
    let hash = hub.passwords().hash(Caller::Operator, &password).await?;
    let hub_in = hub.clone();
    let created = hub
        .write(move |tx| {
            // Two hubs may start on one new database.
            if store::has_users(tx)? {
                return Ok(None);
            }
            let actor = Actor::system();
            let user =
                insert_user_unchecked(&hub_in, tx, &actor, FIRST_ADMIN, Some("Administrator"), &hash, Role::Admin)?;
            audit::record(tx, &actor, "user.created", Some(FIRST_ADMIN), &json!({"role": Role::Admin}))?;
            Ok::<_, HubError>(Some(user))
        })
        .await?;
    Ok(created.map(|user| {
        log_user_created(&Actor::system(), &user, "at the first start");
        password
    }))
}

/// Deletes sessions that have run out.
pub fn prune_sessions(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    store::delete_expired_sessions(tx)
}
