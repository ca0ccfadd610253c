//! OAuth 2.1: clients, what people let them do, and the messages of the protocol.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::named::named_enum;
use crate::permissions::PermissionSet;
use crate::text::{check_label, is_unprintable, without_stacked_marks};
use crate::validation::{Faults, FieldError};
use crate::{GrantId, Secret, Timestamp};

/// Longest name of a client that an owner makes.
pub const MAX_CLIENT_NAME: usize = 100;

const READ: &str = "mcp:read";
const WRITE: &str = "mcp:write";
const OFFLINE: &str = "offline_access";

/// Scopes, space-separated: `mcp:read mcp:write offline_access`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OauthScopes {
    pub read: bool,
    pub write: bool,
    /// Asks to be renewed while the person is away. Renewal is granted without it too, as most clients do not ask.
    pub offline: bool,
}

impl OauthScopes {
    /// What a client gets that does not say what it wants.
    pub const USUAL: Self = Self { read: true, write: true, offline: false };
    pub const NAMES: [&str; 3] = [READ, WRITE, OFFLINE];

    /// Those of the words that are known. None if there is none of them.
    pub fn known(text: &str) -> Option<Self> {
        let scopes = text.split(' ').fold(Self::default(), Self::with);
        (scopes != Self::default()).then_some(scopes)
    }

    /// Whether all that `other` allows is allowed by this too. Who may write may read.
    pub fn covers(self, other: Self) -> bool {
        (self.write || !other.write) && (self.read || self.write || !other.read)
    }

    pub fn permissions(self) -> PermissionSet {
        match (self.write, self.read) {
            (true, _) => PermissionSet::ALL,
            (false, true) => PermissionSet::reads(),
            (false, false) => PermissionSet::NONE,
        }
    }

    fn with(self, word: &str) -> Self {
        Self {
            read: self.read || word == READ,
            write: self.write || word == WRITE,
            offline: self.offline || word == OFFLINE,
        }
    }
}

impl fmt::Display for OauthScopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Self::NAMES.into_iter().zip([self.read, self.write, self.offline]);
        let held: Vec<_> = words.filter_map(|(word, held)| held.then_some(word)).collect();
        formatter.write_str(&held.join(" "))
    }
}

impl FromStr for OauthScopes {
    type Err = String;

    /// Every word must be known, and one of them must allow something.
    fn from_str(text: &str) -> Result<Self, String> {
        let words = || text.split(' ').filter(|word| !word.is_empty());
        if let Some(unknown) = words().find(|word| !Self::NAMES.contains(word)) {
            // What the protocol allows in a description.
            let is_allowed = |each: &char| each.is_ascii_graphic() && !matches!(each, '"' | '\\');
            let shown: String = unknown.chars().filter(is_allowed).take(40).collect();
            return Err(format!("Unknown scope {shown}. Use one of: {}.", Self::NAMES.join(", ")));
        }
        let scopes = words().fold(Self::default(), Self::with);
        // Who asks only to stay has not said what for.
        Ok(if scopes.read || scopes.write { scopes } else { Self { offline: scopes.offline, ..Self::USUAL } })
    }
}

impl PartialSchema for OauthScopes {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).examples(["mcp:read mcp:write"]).into()
    }
}

impl ToSchema for OauthScopes {}

impl Serialize for OauthScopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OauthScopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

named_enum! {
    /// Where a client comes from.
    pub enum ClientKind {
        /// Self-registered. Its metadata is not verified.
        Registered = "registered",
        /// Created by an owner for one of their agents.
        Owned = "owned",
        /// A document at its own address describes it.
        Document = "document",
    }
}

named_enum! {
    /// Client authentication method at the token endpoint.
    pub enum AuthMethod {
        None = "none",
        ClientSecretBasic = "client_secret_basic",
        ClientSecretPost = "client_secret_post",
    }
}

named_enum! {
    /// Supported grant types.
    pub enum GrantType {
        AuthorizationCode = "authorization_code",
        RefreshToken = "refresh_token",
        ClientCredentials = "client_credentials",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OauthClientView {
    pub client_id: String,
    pub kind: ClientKind,
    pub name: String,
    /// The owner, if a user created it.
    pub owner: Option<String>,
    /// The agent that an owned one acts as.
    pub agent: Option<String>,
    pub auth_method: AuthMethod,
    pub redirect_uris: Vec<String>,
    pub grant_types: Vec<GrantType>,
    /// The maximum scope; none means all scopes.
    pub scope: Option<OauthScopes>,
    /// Whether it can introspect other clients' tokens.
    pub introspects_all: bool,
    /// Number of active grants.
    pub grants: i64,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateOauthClientRequest {
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// One of the caller's agents.
    pub agent: String,
}

impl CreateOauthClientRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("name", check_label(&self.name, MAX_CLIENT_NAME));
        faults.finish()
    }
}

/// A new client: its record, and its secret, shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedOauthClient {
    pub client: OauthClientView,
    pub client_secret: Secret,
}

/// The client of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantClient {
    pub client_id: String,
    pub name: String,
    pub kind: ClientKind,
}

/// A grant that a user gave to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantView {
    pub id: GrantId,
    /// The user who granted access.
    pub user: String,
    pub client: GrantClient,
    /// The host the user was redirected to.
    pub redirect_host: Option<String>,
    /// The agent the client acts as; none means the user.
    pub agent: Option<String>,
    pub scope: OauthScopes,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// When the grant expires, regardless of renewals.
    pub expires_at: Timestamp,
}

/// The name that a client gives itself, without what could make it look like another. None if nothing is left.
pub fn shown_client_name(name: &str) -> Option<String> {
    let printable: String = name.chars().map(|each| if is_unprintable(each) { ' ' } else { each }).collect();
    let printable = without_stacked_marks(&printable);
    let words: Vec<_> = printable.split_whitespace().collect();
    Some(words.join(" ")).filter(|name| !name.is_empty())
}

/// Authorization server metadata (RFC 8414).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AuthorizationServerMetadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub registration_endpoint: String,
    pub revocation_endpoint: String,
    pub introspection_endpoint: String,
    pub response_types_supported: Vec<&'static str>,
    pub response_modes_supported: Vec<&'static str>,
    pub grant_types_supported: Vec<&'static str>,
    pub token_endpoint_auth_methods_supported: Vec<&'static str>,
    pub revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    pub introspection_endpoint_auth_methods_supported: Vec<&'static str>,
    pub code_challenge_methods_supported: Vec<&'static str>,
    pub scopes_supported: Vec<&'static str>,
    pub authorization_response_iss_parameter_supported: bool,
    pub client_id_metadata_document_supported: bool,
}

/// Protected resource metadata (RFC 9728).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProtectedResourceMetadata {
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Vec<&'static str>,
    pub bearer_methods_supported: Vec<&'static str>,
    pub resource_name: String,
}

/// Client metadata of a registration (RFC 7591). Unknown fields are ignored.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub struct ClientRegistration {
    #[schema(min_items = 1, max_items = 20)]
    pub redirect_uris: Vec<String>,
    #[serde(default)]
    #[schema(max_length = 200)]
    pub client_name: Option<String>,
    #[serde(default)]
    pub grant_types: Option<Vec<String>>,
    #[serde(default)]
    pub response_types: Option<Vec<String>>,
    #[serde(default)]
    pub scope: Option<String>,
    #[serde(default)]
    pub application_type: Option<String>,
    #[serde(default)]
    pub token_endpoint_auth_method: Option<String>,
}

/// A registered client (RFC 7591, RFC 7592).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientInformation {
    pub client_id: String,
    /// In seconds since 1970.
    pub client_id_issued_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<i64>,
    pub registration_client_uri: String,
    pub registration_access_token: Secret,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    pub redirect_uris: Vec<String>,
    pub grant_types: Vec<GrantType>,
    pub response_types: Vec<&'static str>,
    pub token_endpoint_auth_method: AuthMethod,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_type: Option<String>,
    pub scope: OauthScopes,
}

/// A request for tokens (RFC 6749). Which fields are needed depends on the grant type.
#[derive(Debug, Clone, ToSchema)]
pub struct TokenRequest {
    pub grant_type: GrantType,
    pub code: Option<Secret>,
    pub code_verifier: Option<Secret>,
    pub redirect_uri: Option<String>,
    pub refresh_token: Option<Secret>,
    pub scope: Option<String>,
    pub resource: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TokenAnswer {
    pub access_token: Secret,
    pub token_type: &'static str,
    /// In seconds.
    pub expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<Secret>,
    pub scope: OauthScopes,
}

/// A request about a token (RFC 7009, RFC 7662).
#[derive(Debug, Clone, ToSchema)]
pub struct AboutTokenRequest {
    pub token: Secret,
    pub token_type_hint: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
}

/// Token introspection (RFC 7662). A revoked or expired token is only reported as inactive.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Introspection {
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<OauthScopes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The user who granted access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    /// The agent it acts as; absent when it acts as the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aud: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// In seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iat: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_type: Option<&'static str>,
}

/// The decision from the consent page.
#[derive(Debug, Clone, ToSchema)]
pub struct ConsentDecision {
    pub request_id: String,
    pub csrf: String,
    /// The name of one of the user's agents, or `self`.
    pub agent: Option<String>,
    /// `approve`, `deny`, or `switch` to log in as another user.
    pub decision: String,
}

/// Why a request of the protocol was refused (RFC 6749).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OauthErrorView {
    pub error: String,
    pub error_description: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> OauthScopes {
        text.parse().unwrap()
    }

    #[test]
    fn scopes_are_read_and_written() {
        assert_eq!(scopes("mcp:write mcp:read").to_string(), "mcp:read mcp:write");
        assert_eq!(scopes("mcp:read  offline_access").to_string(), "mcp:read offline_access");
        assert_eq!(scopes(""), OauthScopes::USUAL);
        assert_eq!(scopes("offline_access").to_string(), "mcp:read mcp:write offline_access");
        for wrong in ["mcp", "mcp:read admin", "MCP:READ", "mcp:read,mcp:write"] {
            assert!(wrong.parse::<OauthScopes>().is_err(), "{wrong}");
        }
        assert_eq!(OauthScopes::known("openid mcp:read"), Some(scopes("mcp:read")));
        assert_eq!(OauthScopes::known("openid email"), None);
    }

    #[test]
    fn who_may_write_may_read() {
        assert!(scopes("mcp:write").covers(scopes("mcp:read mcp:write")));
        assert!(scopes("mcp:read").covers(scopes("mcp:read offline_access")));
        assert!(!scopes("mcp:read").covers(scopes("mcp:write")));
        assert_eq!(scopes("mcp:write").permissions(), PermissionSet::ALL);
        let reads = scopes("mcp:read").permissions().names();
        assert!(!reads.is_empty() && reads.iter().all(|name| name.ends_with(":read")), "{reads:?}");
    }

    #[test]
    fn names_cannot_play_tricks() {
        assert_eq!(shown_client_name(" Claude\u{202e}\tCode\n").as_deref(), Some("Claude Code"));
        assert_eq!(shown_client_name("\u{200b} \n"), None);
    }
}
