//! People: accounts, sessions, invitations.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::AgentView;
use crate::channels::duration_ms;
use crate::named::named_enum;
use crate::text::{MAX_DISPLAY_NAME, check_label};
use crate::validation::{Faults, FieldError};
use crate::{PrincipalId, Secret, SessionId, Timestamp, handles};

/// Characters of a note about an invitation.
pub const MAX_INVITATION_NOTE: usize = 100;
const DAY_MS: i64 = 24 * 3600 * 1000;
pub const MIN_PASSWORD_BYTES: usize = 8;
/// bcrypt ignores what comes after this many bytes, so longer passwords are refused.
pub const MAX_PASSWORD_BYTES: usize = 72;

named_enum! {
    pub enum Role {
        Member = "member",
        Admin = "admin",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserView {
    pub id: PrincipalId,
    pub username: String,
    pub display_name: String,
    pub role: Role,
    pub created_at: Timestamp,
    pub disabled_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    pub username: String,
    pub password: Secret,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LoginView {
    pub user: UserView,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterRequest {
    /// A single-use invitation from `stoa admin users invite`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub invite: Option<Secret>,
    #[schema(min_length = 3, max_length = 64, pattern = "^[A-Za-z0-9_]{3,64}$")]
    pub username: String,
    /// 8 to 72 bytes.
    #[schema(value_type = String, min_length = 1, max_length = 72)]
    pub password: Secret,
    #[serde(default)]
    #[schema(min_length = 1, max_length = 100)]
    pub display_name: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePasswordRequest {
    pub current_password: Secret,
    /// 8 to 72 bytes.
    #[schema(value_type = String, min_length = 1, max_length = 72)]
    pub new_password: Secret,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateProfileRequest {
    #[schema(min_length = 1, max_length = 100)]
    pub display_name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MeView {
    pub user: UserView,
    pub agents: Vec<AgentView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    pub id: SessionId,
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub expires_at: Timestamp,
    pub remote_ip: Option<String>,
    pub user_agent: Option<String>,
    /// Whether this is the current session.
    pub current: bool,
}

/// How many sessions were ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EndedSessions {
    pub ended: u64,
}

/// A new account, as the operator creates it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateUserRequest {
    pub username: String,
    pub password: Secret,
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub role: Option<Role>,
}

/// An invitation, as the operator creates it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InviteRequest {
    #[serde(default)]
    pub role: Option<Role>,
    /// A note for admins, for example the name of the person.
    #[serde(default)]
    pub note: Option<String>,
    /// The user in whose name it is.
    #[serde(default)]
    pub from: Option<String>,
    /// How long it is valid, for example `7d`.
    #[serde(default)]
    pub valid: Option<String>,
}

/// How long an invitation is valid if nothing else is said. One that makes an administrator is dangerous in wrong hands.
pub fn usual_validity_ms(role: Role) -> i64 {
    match role {
        Role::Member => 7 * DAY_MS,
        Role::Admin => DAY_MS,
    }
}

impl InviteRequest {
    /// How long it is valid, if all of it is right.
    pub fn check(&self) -> Result<i64, Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("note", self.note.as_deref().map_or(Ok(()), |note| check_label(note, MAX_INVITATION_NOTE)));
        let role = self.role.unwrap_or(Role::Member);
        let usual = usual_validity_ms(role);
        let valid = self.valid.as_deref().map_or(Ok(usual), duration_ms);
        let valid = faults.check("valid", valid).unwrap_or(usual);
        let (most, said) = match role {
            Role::Member => (30 * DAY_MS, "must be between 1m and 30d"),
            Role::Admin => (DAY_MS, "must be between 1m and 24h for an admin"),
        };
        faults.require("valid", (1..=most).contains(&valid), said);
        faults.finish()?;
        Ok(valid)
    }
}

/// An invitation, shown once to the operator who created it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewInvitationView {
    pub id: i64,
    pub invite: Secret,
    /// The page where an account is created with it.
    pub url: Secret,
    pub role: Role,
    pub expires_at: Timestamp,
}

named_enum! {
    pub enum InvitationStatus {
        Open = "open",
        Used = "used",
        Revoked = "revoked",
        Expired = "expired",
    }
}

/// An invitation, as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InvitationView {
    pub id: i64,
    /// The person it is for.
    pub note: Option<String>,
    pub role: Role,
    /// The user in whose name it is; null for the operator.
    pub invited_by: Option<String>,
    pub status: InvitationStatus,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub used_at: Option<Timestamp>,
    /// The user who was created with it.
    pub used_by: Option<String>,
}

pub fn check_password(password: &Secret) -> Result<(), &'static str> {
    let length = password.expose().len();
    if !(MIN_PASSWORD_BYTES..=MAX_PASSWORD_BYTES).contains(&length) {
        return Err("must be 8 to 72 bytes long");
    }
    // bcrypt implementations differ in what they make of a NUL.
    if password.expose().contains('\0') { Err("must not contain a NUL character") } else { Ok(()) }
}

/// The checks that a new account must pass, however it is made.
pub fn check_account(username: &str, password: &Secret, display_name: Option<&str>) -> Result<(), Vec<FieldError>> {
    let mut faults = Faults::default();
    faults.check("username", handles::check_username(username));
    faults.check("password", check_password(password));
    if let Some(name) = display_name {
        faults.check("display_name", check_label(name, MAX_DISPLAY_NAME));
    }
    faults.finish()
}

impl UpdateProfileRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("display_name", check_label(&self.display_name, MAX_DISPLAY_NAME));
        faults.finish()
    }
}

impl ChangePasswordRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("new_password", check_password(&self.new_password));
        faults.finish()
    }
}
