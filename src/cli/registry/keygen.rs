//! `stoa registry keygen`.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use ed25519_dalek::SigningKey;
use serde_json::json;
use zeroize::Zeroizing;

use super::entry::KeyNames;
use super::{Failure, Output, fill, key_file};

#[derive(Args)]
pub(super) struct KeygenArguments {
    #[command(flatten)]
    names: KeyNames,

    /// File for the private key (PKCS #8, PEM); must not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl KeygenArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        if self.out == Path::new("-") {
            return Err(Failure::Usage("a private key is not printed; --out needs the name of a file".to_owned()));
        }
        let mut seed = Zeroizing::new([0; 32]);
        fill(seed.as_mut_slice())?;
        let public_key = SigningKey::from_bytes(&seed).verifying_key().to_bytes();
        let entry = self.names.into_entry(&public_key)?;
        let text = entry.text()?;
        let shown = self.out.display().to_string();
        key_file::write_new(&self.out, &key_file::to_pem(&seed)).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::Usage(format!("{shown} already exists; keys are never overwritten")),
            _ => Failure::Other(format!("{shown} cannot be written: {error}")),
        })?;

        let mut result = entry.result(&public_key);
        result["private_key_file"] = json!(shown);
        output.result(&result, |_| {
            // Beside the entry, so that standard output can be piped into whatever writes the document.
            let _ = writeln!(
                std::io::stderr(),
                "The private key of {} is in {shown}. The registry gets this entry, or its key:",
                entry.key_id()
            );
            text
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
