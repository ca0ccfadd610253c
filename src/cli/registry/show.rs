//! `stoa registry show`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use stoa_registry::{Key, Principal, Refused, Registry, Scope};

use super::super::output::{Column, show};
use super::reading::{Reading, findings_as_json};
use super::{Failure, Output};

#[derive(Args)]
pub(super) struct ShowArguments {
    /// A document, or a folder of them
    #[arg(value_name = "FILE|FOLDER")]
    path: PathBuf,
}

const COLUMNS: &[Column] = &[
    ("AUDIENCE", |row| show(&row["audience"])),
    ("PRINCIPAL", |row| show(&row["principal_id"])),
    ("ENABLED", |row| if row["enabled"] == true { "yes" } else { "no" }.to_owned()),
    ("KID", |row| show(&row["kid"])),
    ("STATUS", |row| show(&row["status"])),
    ("USABLE", |row| match &row["unusable"] {
        Value::String(why) => format!("no: {}", why.replace('_', " ")),
        _ if row["kid"].is_null() => String::new(),
        _ => "yes".to_owned(),
    }),
    ("SCOPES", |row| show(&row["scopes"])),
    ("FINGERPRINT", |row| show(&row["fingerprint"])),
];

impl ShowArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        let reading = Reading::of(&self.path, None);
        if let Some((fault, others)) = reading.faults.split_first() {
            let others = match others.len() {
                0 => String::new(),
                number => format!("; {number} more: `stoa registry validate` lists them"),
            };
            return Err(Failure::Other(format!("{fault}{others}")));
        }
        let mut items = Vec::new();
        let mut rows = Vec::new();
        for registry in &reading.registries {
            let audience = registry.audience().name();
            for principal in registry.principals() {
                let common = json!({
                    "audience": audience,
                    "principal_id": principal.principal_id,
                    "enabled": principal.enabled,
                });
                let keys: Vec<_> = principal.keys.iter().map(|key| view_of(registry, principal, key)).collect();
                if keys.is_empty() {
                    rows.push(common.clone());
                }
                rows.extend(keys.iter().map(|key| merged(&common, key)));
                items.push(merged(&common, &json!({"keys": keys})));
            }
        }
        let result = json!({"items": items, "warnings": findings_as_json(&reading.warnings)});
        output.result(&result, |output| output.rows(&rows, COLUMNS))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn view_of(registry: &Registry, principal: &Principal, key: &Key) -> Value {
    let unusable = registry.find_key(&principal.principal_id, &key.kid).err().map(|refused| match refused {
        // Shorter than the codes, beside the name of the principal and of the key.
        Refused::Unusable(why) => why.code(),
        Refused::Revoked => "revoked",
        Refused::Disabled => "disabled",
        Refused::UnknownPrincipal | Refused::UnknownKey => refused.code(),
    });
    json!({
        "kid": key.kid,
        "public_key_base64url": key.public_key_base64url,
        "status": key.status.name(),
        "unusable": unusable,
        "scopes": key.scopes.iter().map(Scope::name).collect::<Vec<_>>(),
        "fingerprint": key.fingerprint(),
    })
}

/// The properties of both.
fn merged(one: &Value, other: &Value) -> Value {
    let properties = [one, other].into_iter().filter_map(Value::as_object).flatten();
    properties.map(|(name, value)| (name.clone(), value.clone())).collect()
}
