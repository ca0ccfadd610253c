//! `stoa registry keygen`.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use ed25519_dalek::SigningKey;
use serde::Serialize;
use serde_json::json;
use stoa::clock::Clock;
use stoa_registry::{KID_FORM, KeyStatus, PRINCIPAL_ID_FORM, Scope, Scopes, fingerprint, is_kid, is_principal_id};
use zeroize::Zeroizing;

use super::{Failure, Output, private_key};

#[derive(Args)]
pub(super) struct KeygenArguments {
    /// Who will sign with the key, like svc:sense:demo
    #[arg(long, value_name = "PRINCIPAL_ID", value_parser = parse_principal_id)]
    principal: String,

    /// Name of the key [default: key-, today's date and six random characters]
    #[arg(long, value_parser = parse_kid)]
    kid: Option<String>,

    /// What the key may do: source-config:write, runtime-status:write, events:ingest or evidence:read; can be repeated
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', default_value = "events:ingest")]
    scopes: Vec<Scope>,

    /// File to write the private key to (PKCS #8, PEM); it must not be there yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// What goes into `principals` of a document.
#[derive(Serialize)]
struct PrincipalEntry<'a> {
    principal_id: &'a str,
    enabled: bool,
    keys: [KeyEntry<'a>; 1],
}

#[derive(Serialize)]
struct KeyEntry<'a> {
    kid: &'a str,
    public_key_base64url: String,
    status: &'static str,
    scopes: Vec<&'static str>,
}

pub(super) fn parse_principal_id(text: &str) -> Result<String, String> {
    if is_principal_id(text) { Ok(text.to_owned()) } else { Err(format!("must be {PRINCIPAL_ID_FORM}")) }
}

pub(super) fn parse_kid(text: &str) -> Result<String, String> {
    if is_kid(text) { Ok(text.to_owned()) } else { Err(format!("must be {KID_FORM}")) }
}

impl KeygenArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        if self.out == Path::new("-") {
            return Err(Failure::Usage("a private key is not printed; --out needs the name of a file".to_owned()));
        }
        let kid = self.kid.map_or_else(random_kid, Ok)?;
        let mut seed = Zeroizing::new([0; 32]);
        fill(seed.as_mut_slice())?;
        let public_key = SigningKey::from_bytes(&seed).verifying_key().to_bytes();
        let shown = self.out.display().to_string();
        private_key::write_new(&self.out, &private_key::to_pem(&seed)).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Failure::Usage(format!("{shown} is there already, and a key is never overwritten"))
            }
            _ => Failure::Other(format!("{shown} cannot be written: {error}")),
        })?;

        let scopes: Scopes = self.scopes.into_iter().collect();
        let entry = PrincipalEntry {
            principal_id: &self.principal,
            enabled: true,
            keys: [KeyEntry {
                kid: &kid,
                public_key_base64url: URL_SAFE_NO_PAD.encode(public_key),
                status: KeyStatus::Active.name(),
                scopes: scopes.iter().map(Scope::name).collect(),
            }],
        };
        let keyid = format!("{}/{kid}", self.principal);
        let result = json!({
            "keyid": keyid,
            "private_key_file": shown,
            "fingerprint": fingerprint(&public_key),
            "principal": entry,
        });
        let text = serde_json::to_string_pretty(&entry).map_err(|error| Failure::Other(error.to_string()))?;
        output.result(&result, |_| {
            // Beside the entry, so that standard output can be piped into whatever writes the document.
            let _ = writeln!(
                std::io::stderr(),
                "The private key of {keyid} is in {shown}. The registry gets this entry, or its key:"
            );
            text + "\n"
        })?;
        Ok(ExitCode::SUCCESS)
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

pub(super) fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::Other(format!("the system gives no random numbers: {error}")))
}
