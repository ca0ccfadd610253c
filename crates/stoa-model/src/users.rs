//! People: accounts, sessions, invitations.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::AgentView;
use crate::named::named_enum;
use crate::text::{MAX_DISPLAY_NAME, check_label};
use crate::validation::{Faults, FieldError};
use crate::{PrincipalId, Secret, SessionId, Timestamp, handles};

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

/// An invitation, shown once to the operator who created it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InvitationView {
    pub invite: Secret,
    pub role: Role,
    pub expires_at: Timestamp,
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
