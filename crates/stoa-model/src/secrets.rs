//! Secrets: values that the operator gives to the runs of a user's agents, or of one agent, as environment variables.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::environment::is_reserved_variable;
use crate::masking::{MIN_MASKED_CHARACTERS, is_maskable};
use crate::validation::{Faults, FieldError};
use crate::{Secret, Timestamp};

pub const MAX_SECRETS_PER_SCOPE: i64 = 100;
pub const MAX_SECRET_BYTES: usize = 32 * 1024;
pub const MAX_SECRET_NAME: usize = 64;

/// Variables with which programs pay for a model. Runs that somebody else started get no other secrets, unless they are marked.
const MODEL_KEYS: [&str; 8] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
];

/// Whether a variable is the key of a model.
pub fn is_model_key(name: &str) -> bool {
    MODEL_KEYS.contains(&name)
}

/// Whose runs get a secret: those of all agents of a user, or of one agent. Written as `user:NAME` or `agent:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SecretScope {
    User(String),
    Agent(String),
}

impl SecretScope {
    /// The handle of the user or agent.
    pub fn name(&self) -> &str {
        match self {
            SecretScope::User(name) | SecretScope::Agent(name) => name,
        }
    }
}

impl FromStr for SecretScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("user", name)) if !name.is_empty() => Ok(SecretScope::User(name.to_owned())),
            Some(("agent", name)) if !name.is_empty() => Ok(SecretScope::Agent(name.to_owned())),
            _ => Err("must be user:NAME or agent:NAME".to_owned()),
        }
    }
}

impl TryFrom<String> for SecretScope {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SecretScope> for String {
    fn from(scope: SecretScope) -> Self {
        scope.to_string()
    }
}

impl fmt::Display for SecretScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretScope::User(name) => write!(formatter, "user:{name}"),
            SecretScope::Agent(name) => write!(formatter, "agent:{name}"),
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetSecretRequest {
    pub scope: SecretScope,
    pub name: String,
    pub value: Secret,
    /// Whether runs started by others get it too. If omitted, a new secret is for the owner's runs only, and an
    /// existing one stays as it is.
    #[serde(default)]
    pub all_runs: Option<bool>,
}

/// All that is shown of a secret. Its value is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretView {
    pub name: String,
    pub scope: SecretScope,
    pub all_runs: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl SetSecretRequest {
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("name", check_secret_name(&self.name));
        faults.check("value", check_secret_value(self.value.expose()));
        faults.finish()
    }

    /// Whether programs read a setting from a variable of this name, so that it can be no secret.
    pub fn is_reserved(&self) -> bool {
        is_reserved_variable(&self.name)
    }
}

/// The form of a name: `[A-Z][A-Z0-9_]{0,63}`.
pub fn check_secret_name(name: &str) -> Result<(), String> {
    let is_well_formed = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if is_well_formed && name.len() <= MAX_SECRET_NAME {
        Ok(())
    } else {
        Err(format!("must be 1 to {MAX_SECRET_NAME} of A-Z, 0-9 and _, and start with a letter"))
    }
}

fn check_secret_value(value: &str) -> Result<(), String> {
    if value.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    if value.len() > MAX_SECRET_BYTES {
        return Err(format!("must be at most {MAX_SECRET_BYTES} bytes long"));
    }
    if value.contains('\0') {
        return Err("must not contain NUL characters".to_owned());
    }
    if !is_maskable(value.trim()) {
        return Err(format!(
            "must be at least {MIN_MASKED_CHARACTERS} characters long, without spaces at its ends, so that it can be masked in output"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["A", "API_KEY", "A1_", &"A".repeat(64)] {
            assert!(check_secret_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "_A", "1A", "A-B", "A B", "Ä", "Aa", "A=B", "A\n", &"A".repeat(65)] {
            assert!(check_secret_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values() {
        let pem = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n";
        for good in ["123456", "päßwör", pem, &"x".repeat(32 * 1024)] {
            assert!(check_secret_value(good).is_ok(), "{good}");
        }
        for bad in ["", "\n", "        ", "12345", " 12345 ", "123456\u{0}", &"x".repeat(32 * 1024 + 1)] {
            assert!(check_secret_value(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn scopes() {
        for good in ["user:ada", "agent:scout", "agent:a:b"] {
            assert_eq!(good.parse::<SecretScope>().unwrap().to_string(), good);
        }
        for bad in ["", "ada", "user:", ":ada", "User:ada", "machine:x", "user"] {
            assert!(bad.parse::<SecretScope>().is_err(), "{bad}");
        }
    }

    #[test]
    fn model_keys_can_be_set() {
        for name in MODEL_KEYS {
            assert!(check_secret_name(name).is_ok() && !is_reserved_variable(name), "{name}");
        }
        assert!(!is_model_key("DEPLOY_KEY") && !is_model_key("anthropic_api_key"));
    }
}
