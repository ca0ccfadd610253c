//! `stoa admin secrets`.

use clap::Subcommand;
use serde_json::{Value, json};
use stoa_model::secrets::SecretScope;

use super::output::show;
use super::{Failure, Session, input};

#[derive(Subcommand)]
pub(super) enum SecretsCommand {
    /// List the secrets, without their values
    List {
        /// Only secrets of a user or an agent
        #[arg(long, value_name = "user:NAME|agent:NAME")]
        scope: Option<SecretScope>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Set a secret; the value comes from standard input or a prompt, and is never shown again
    Set {
        /// Environment variable, for example ANTHROPIC_API_KEY
        name: String,
        /// Who gets it: all agents of a user, or one agent
        #[arg(long, value_name = "user:NAME|agent:NAME")]
        scope: SecretScope,
        /// Whether runs started by others get it too [default: no, or unchanged]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        all_runs: Option<bool>,
    },
    /// Delete a secret
    Delete {
        name: String,
        /// Its owner
        #[arg(long, value_name = "user:NAME|agent:NAME")]
        scope: SecretScope,
    },
}

impl SecretsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            SecretsCommand::List { scope, limit } => {
                let secrets = session.list("secrets.list", json!({"scope": scope}), limit)?;
                session.output.list(
                    &secrets,
                    &[
                        ("SCOPE", |secret| show(&secret["scope"])),
                        ("NAME", |secret| show(&secret["name"])),
                        ("RUNS", |secret| runs(secret).to_owned()),
                        ("CREATED", |secret| show(&secret["created_at"])),
                        ("UPDATED", |secret| show(&secret["updated_at"])),
                    ],
                )
            }
            SecretsCommand::Set { name, scope, all_runs } => {
                session.connect()?;
                let value = input::read_secret(&name)?;
                let params = json!({"scope": scope, "name": name, "value": value, "all_runs": all_runs});
                let secret = session.call("secrets.set", &params)?;
                session.output.result(&secret, |_| {
                    let (name, scope) = (show(&secret["name"]), show(&secret["scope"]));
                    format!("The secret {name} of {scope} was set, for {} runs.\n", runs(&secret))
                })
            }
            SecretsCommand::Delete { name, scope } => {
                let secret = session.call("secrets.delete", &json!({"scope": scope, "name": name}))?;
                session.output.result(&secret, |_| {
                    format!("The secret {} of {} was deleted.\n", show(&secret["name"]), show(&secret["scope"]))
                })
            }
        }
    }
}

fn runs(secret: &Value) -> &'static str {
    if secret["all_runs"] == true { "all" } else { "own" }
}
