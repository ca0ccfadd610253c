//! `stoa registry entry`, and the entry that `keygen` prints too.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::clock::Clock;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use stoa_registry::{
    Audience, Document, KID_FORM, KeyStatus, PRINCIPAL_ID_FORM, Scope, Scopes, VERSION, fingerprint, is_kid,
    is_principal_id,
};

use super::{Failure, Output, fill, key_file};

#[derive(Args)]
pub(super) struct EntryArguments {
    /// The key, private or public, as OpenSSL makes it (PEM)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    names: KeyNames,
}

/// What a key is called and may do.
#[derive(Args)]
pub(super) struct KeyNames {
    /// The principal that signs with the key, for example svc:sense:demo
    #[arg(long, value_name = "PRINCIPAL_ID", value_parser = parse_principal_id)]
    principal: String,

    /// Name of the key [default: key-, today's date and six random characters]
    #[arg(long, value_parser = parse_kid)]
    kid: Option<String>,

    /// What the key may do: source-config:write, runtime-status:write, events:ingest or evidence:read; for more than one
    /// repeat the option, or put commas between them
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', default_value = "events:ingest")]
    scopes: Vec<Scope>,
}

pub(super) fn parse_principal_id(text: &str) -> Result<String, String> {
    if is_principal_id(text) { Ok(text.to_owned()) } else { Err(format!("must be {PRINCIPAL_ID_FORM}")) }
}

pub(super) fn parse_kid(text: &str) -> Result<String, String> {
    if is_kid(text) { Ok(text.to_owned()) } else { Err(format!("must be {KID_FORM}")) }
}

impl EntryArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        let failure = |reason: &dyn std::fmt::Display| Failure::Other(format!("{}: {reason}", self.key.display()));
        let public_key = key_file::read_public_key(&self.key).map_err(|reason| failure(&reason))?;
        let entry = self.names.into_entry(&public_key)?;
        // Whoever made the key, it is asked here and not only when the document is loaded whether it verifies anything.
        let document = json!({"version": VERSION, "audience": Audience::Brain.name(), "principals": [entry]});
        let document = Document::parse(document.to_string().as_bytes());
        let findings = document.as_ref().map_or_else(Vec::as_slice, Document::warnings);
        if let Some(finding) = findings.first() {
            return Err(failure(&finding.message));
        }
        let text = entry.text()?;
        output.result(&entry.result(&public_key), |_| text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl KeyNames {
    pub(super) fn into_entry(self, public_key: &[u8; 32]) -> Result<PrincipalEntry, Failure> {
        let scopes: Scopes = self.scopes.into_iter().collect();
        Ok(PrincipalEntry {
            principal_id: self.principal,
            enabled: true,
            keys: [KeyEntry {
                kid: self.kid.map_or_else(random_kid, Ok)?,
                public_key_base64url: URL_SAFE_NO_PAD.encode(public_key),
                status: KeyStatus::Active.name(),
                scopes: scopes.iter().map(Scope::name).collect(),
            }],
        })
    }
}

/// What goes into `principals` of a document.
#[derive(Serialize)]
pub(super) struct PrincipalEntry {
    principal_id: String,
    enabled: bool,
    keys: [KeyEntry; 1],
}

#[derive(Serialize)]
struct KeyEntry {
    kid: String,
    public_key_base64url: String,
    status: &'static str,
    scopes: Vec<&'static str>,
}

impl PrincipalEntry {
    /// The `keyid` of what is signed with the key.
    pub(super) fn key_id(&self) -> String {
        let [key] = &self.keys;
        format!("{}/{}", self.principal_id, key.kid)
    }

    /// For programs.
    pub(super) fn result(&self, public_key: &[u8; 32]) -> Value {
        json!({"keyid": self.key_id(), "fingerprint": fingerprint(public_key), "principal": self})
    }

    /// The very text for the document, in the order of the contract.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let text = serde_json::to_string_pretty(self).map_err(|error| Failure::Other(error.to_string()))?;
        Ok(text + "\n")
    }
}

/// A name that says how old the key is and that no other key of the principal has.
fn random_kid() -> Result<String, Failure> {
    const ALPHABET: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0; 6];
    fill(&mut bytes)?;
    let random: String =
        bytes.iter().filter_map(|byte| ALPHABET.get(usize::from(*byte % 32))).copied().map(char::from).collect();
    let now = Clock::system().now().to_string();
    let date = now.split('T').next().unwrap_or_default();
    Ok(format!("key-{date}-{random}"))
}
