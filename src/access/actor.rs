//! Who is calling, and what they may do. Every surface makes an [`Actor`]; every service asks it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stoa_db::{DbError, Tx};
use stoa_model::permissions::{Permission, PermissionSet};
use stoa_model::principals::PrincipalKind;
use stoa_model::users::Role;
use stoa_model::{ApiKeyId, ConversationId, GrantId, MessageId, PrincipalId, RunId, SessionId};
use stoa_registry::{Scope, Scopes};

use crate::access::identity::{CredentialStore, IdentityKey};
use crate::access::reach::{FORBIDDEN_TO_RUNS, Reach, outside_run_reach};
use crate::error::HubError;

/// One request, whoever makes it and over whatever surface.
#[derive(Debug, Clone, Default)]
pub struct Call {
    pub request_id: String,
    /// The public address, as this caller should write it.
    pub base_url: String,
    /// The connection's address.
    pub peer_ip: Option<IpAddr>,
    /// What the auth log calls `remote_ip`: `X-Forwarded-For` if there is one, else the connection's.
    pub remote_ip: Option<String>,
    /// The address that throttling goes by; believes only trusted proxies.
    pub client_ip: Option<IpAddr>,
    pub user_agent: Option<String>,
    pub idempotency: Option<Idempotency>,
    /// How deep in a chain of automation the caller says to be.
    pub loop_depth: Option<i64>,
}

/// The caller's wish that a repeated request shall not be done twice.
#[derive(Debug, Clone)]
pub struct Idempotency {
    pub key: String,
    /// A hash of method, path and query.
    pub route: String,
    /// A hash of the body. It is stored sealed: in the open it would let a reader of the database
    /// guess passwords.
    pub request_digest: [u8; 32],
    /// Tells callers without an identity apart by what they send.
    pub anonymous_caller: String,
    /// Set when the answer is an earlier one.
    pub replayed: Arc<AtomicBool>,
}

impl Idempotency {
    pub fn mark_replayed(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }

    pub fn is_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }
}

/// How the caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    Session(SessionId),
    AgentKey,
    ApiKey(ApiKeyId),
    /// An OAuth token, by what it was issued for.
    AccessToken(GrantId),
    /// The token of a run, while it is running.
    Run(RunCredential),
    /// A machine principal's signature, with what its key may do.
    Signature(Scopes),
    /// The admin socket: whoever may open it runs this hub.
    Operator,
    /// Nobody: the hub itself, or somebody who is about to log in.
    None,
}

/// What a token of a run says about its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCredential {
    pub run: RunId,
    /// Of the message that the run answers.
    pub depth: i64,
    /// The message that the chain of the run began with.
    pub chain: MessageId,
    /// Whether its agent runs elsewhere.
    pub is_remote: bool,
}

/// A caller whose identity has been proved.
#[derive(Debug, Clone)]
pub struct Actor {
    pub principal: Arc<Principal>,
    pub call: Arc<Call>,
}

/// The identity behind a credential and the reach of that credential.
#[derive(Debug, Clone)]
pub struct Principal {
    pub id: PrincipalId,
    pub kind: PrincipalKind,
    pub handle: String,
    /// The human who answers for it: itself, or an agent's owner.
    pub human: PrincipalId,
    pub role: Role,
    pub credential: Credential,
    pub permissions: PermissionSet,
    pub reach: Reach,
    /// When the credential stops being one, in UTC milliseconds.
    pub expires_at: Option<i64>,
    /// How the credential is looked up again when a change is about to be made with it.
    pub proof: Option<Proof>,
}

/// A credential, the door that it was sent to, and where to look for it.
#[derive(Debug, Clone, Copy)]
pub struct Proof {
    pub key: IdentityKey,
    pub store: CredentialStore,
}

impl Principal {
    /// Whether the credential is still there, and still gives what it gave.
    pub fn is_still_valid(&self, tx: &mut Tx<'_>) -> Result<bool, DbError> {
        let Some(proof) = self.proof else { return Ok(true) };
        let found = (proof.store.find)(tx, &proof.key.hash)?.map(|found| found.principal);
        Ok(found.is_some_and(|found| {
            found.role == self.role && found.permissions == self.permissions && found.reach == self.reach
        }))
    }

    /// The run whose token it was proved with.
    pub fn run(&self) -> Option<RunCredential> {
        match self.credential {
            Credential::Run(run) => Some(run),
            _ => None,
        }
    }

    /// The managed key that it was proved with.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        match self.credential {
            Credential::ApiKey(key) => Some(key),
            _ => None,
        }
    }

    /// The same, if it is limited to channels.
    pub fn limited_key(&self) -> Option<ApiKeyId> {
        self.api_key().filter(|_| self.reach.is_limited())
    }
}

impl Actor {
    pub fn new(principal: Arc<Principal>, call: Arc<Call>) -> Self {
        Self { principal, call }
    }

    /// The same caller, for a part of what they asked for: the whole of it is what shall not be done twice.
    pub fn without_idempotency(&self) -> Self {
        let call = Call { idempotency: None, ..(*self.call).clone() };
        Self { principal: self.principal.clone(), call: Arc::new(call) }
    }

    /// The same caller, now that it is known what they sent.
    pub fn with_request_digest(&self, request_digest: [u8; 32]) -> Self {
        let idempotency = self.call.idempotency.clone().map(|wish| Idempotency { request_digest, ..wish });
        let call = Call { idempotency, ..(*self.call).clone() };
        Self { principal: self.principal.clone(), call: Arc::new(call) }
    }

    /// Somebody without a credential, as they are while logging in.
    pub fn anonymous(call: Arc<Call>) -> Self {
        Self::unproved(call, Credential::None, "", Role::Member)
    }

    /// Whoever holds the admin socket.
    pub fn operator(call: Arc<Call>) -> Self {
        Self::unproved(call, Credential::Operator, "operator", Role::Admin)
    }

    /// The hub itself, at work on its own account.
    pub fn system() -> Self {
        Self::unproved(Arc::default(), Credential::None, "system", Role::Member)
    }

    /// An agent without any credential, for what the hub sends out on its behalf: it sees what the agent sees.
    pub fn agent_itself(id: PrincipalId, handle: &str, owner: PrincipalId) -> Self {
        let Self { principal, call } = Self::unproved(Arc::default(), Credential::None, handle, Role::Member);
        let principal = Principal { id, kind: PrincipalKind::Agent, human: owner, ..(*principal).clone() };
        Self { principal: Arc::new(principal), call }
    }

    fn unproved(call: Arc<Call>, credential: Credential, handle: &str, role: Role) -> Self {
        let principal = Principal {
            id: PrincipalId(0),
            kind: PrincipalKind::System,
            handle: handle.to_owned(),
            human: PrincipalId(0),
            role,
            credential,
            permissions: PermissionSet::NONE,
            reach: Reach::Everything,
            expires_at: None,
            proof: None,
        };
        Self { principal: Arc::new(principal), call }
    }

    pub fn id(&self) -> PrincipalId {
        self.principal.id
    }

    pub fn is_operator(&self) -> bool {
        self.principal.credential == Credential::Operator
    }

    /// An administrator, or the operator at the admin socket.
    pub fn is_admin(&self) -> bool {
        self.is_operator() || (self.is_person() && self.principal.role == Role::Admin)
    }

    pub fn session(&self) -> Option<SessionId> {
        match self.principal.credential {
            Credential::Session(id) => Some(id),
            _ => None,
        }
    }

    /// The run whose token is used.
    pub fn run(&self) -> Option<RunCredential> {
        self.principal.run()
    }

    /// Whether a person is calling. Only a session proves it: programs hold keys and tokens, even if they act for a person.
    pub fn is_person(&self) -> bool {
        self.session().is_some()
    }

    /// For what only a person may do: agent-side credentials never write agents, keys or accounts.
    pub fn require_session(&self) -> Result<(), HubError> {
        if self.is_person() || self.is_operator() {
            return Ok(());
        }
        if self.run().is_some() {
            return Err(run_token_forbidden());
        }
        Err(HubError::forbidden("forbidden", "Requires a logged-in user; API keys are not accepted.")
            .hint("Log in with POST /auth/login and send the session cookie."))
    }

    pub fn require_admin(&self) -> Result<(), HubError> {
        if self.is_admin() { Ok(()) } else { Err(HubError::forbidden("admin_required", "Requires the admin role.")) }
    }

    /// Whether the credential is still what it was when the request came in. Between that and the
    /// change lie a slow body, a queue, a password to hash: time enough to be revoked.
    pub fn require_still_valid(&self, tx: &mut Tx<'_>) -> Result<(), HubError> {
        if self.principal.is_still_valid(tx)? {
            return Ok(());
        }
        let code = if self.session().is_some() { "session_expired" } else { "invalid_credentials" };
        Err(HubError::unauthenticated(code, "The credential was revoked or expired during the request.")
            .hint("Log in again or use another key."))
    }

    /// The one check of what a credential's permissions allow.
    pub fn require(&self, permission: Permission) -> Result<(), HubError> {
        if self.is_operator() || self.principal.permissions.contains(permission) {
            return Ok(());
        }
        if self.principal.reach.of_run().is_some() && !FORBIDDEN_TO_RUNS.contains(&permission) {
            return Err(outside_run_reach());
        }
        if self.run().is_some() {
            return Err(run_token_forbidden());
        }
        let name = permission.name();
        Err(HubError::forbidden("forbidden", format!("This key lacks the permission {name}."))
            .hint(format!("Use a key with the permission {name}.")))
    }

    /// The one check of what a machine principal's key allows.
    pub fn require_scope(&self, scope: Scope) -> Result<(), HubError> {
        match self.principal.credential {
            Credential::Signature(scopes) if scopes.contains(scope) => Ok(()),
            _ => {
                let detail = format!("The key lacks the scope {}.", scope.name());
                Err(HubError::forbidden("insufficient_scope", detail)
                    .hint("Use a key whose entry in the registry has this scope."))
            }
        }
    }

    /// The one check of a credential's limit to channels, by the conversation of a channel. What it does not reach does not exist for
    /// it.
    pub fn reaches_channel(&self, conversation: ConversationId) -> bool {
        self.principal.reach.contains(conversation)
    }

    /// The same for those who only read, which a run that others have started may do in every public channel.
    pub fn reads_channel(&self, conversation: ConversationId, is_public: bool) -> bool {
        self.principal.reach.reads(conversation, is_public)
    }

    /// The same for a DM.
    pub fn reaches_dm(&self, conversation: ConversationId) -> bool {
        self.principal.reach.contains_dm(conversation)
    }

    /// For changes in a conversation that the caller sees: a run that others have started makes them only in its own.
    pub fn require_own_conversation(&self, conversation: ConversationId) -> Result<(), HubError> {
        match self.principal.reach.of_run() {
            Some(run) if !run.is_conversation(conversation) => Err(outside_run_reach()),
            _ => Ok(()),
        }
    }

    /// For what a run does only if the owner's side has started it.
    pub fn require_beyond_conversation(&self) -> Result<(), HubError> {
        if self.principal.reach.of_run().is_some() { Err(outside_run_reach()) } else { Ok(()) }
    }

    /// The handle under which the audit log knows the caller.
    pub fn audit_name(&self) -> Option<&str> {
        Some(self.principal.handle.as_str()).filter(|handle| !handle.is_empty())
    }
}

/// A program in a run could be led astray by what it reads, so it changes nothing that outlasts the run but what it says.
fn run_token_forbidden() -> HubError {
    HubError::forbidden("run_token_forbidden", "Run tokens cannot do this.")
        .hint("Ask the owner of the agent to do it.")
}
