//! `stoa admin principals`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Column, Output, show};
use super::{Failure, Session};

#[derive(Subcommand)]
pub(super) enum PrincipalsCommand {
    /// List the machine principals: their keys, and when they were last seen
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show one: keys, scopes, refusals, components, source configs
    Show {
        /// For example svc:sense:demo
        #[arg(value_name = "PRINCIPAL")]
        principal_id: String,
    },
    /// Reload the registry and show its errors
    Reload,
}

const COLUMNS: [Column; 6] = [
    ("PRINCIPAL", |principal| show(&principal["principal_id"])),
    ("STATE", state),
    ("USABLE KEYS", usable_keys),
    ("LAST USED", |principal| show(&principal["last_used_at"])),
    ("REFUSALS", refusals),
    ("COMPONENTS", components),
];

impl PrincipalsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            PrincipalsCommand::List { limit } => {
                let principals = session.list("principals.list", json!({}), limit)?;
                let registry = session.call("principals.list", &json!({"limit": 1}))?["registry"].take();
                let result = json!({"items": principals, "registry": registry});
                session
                    .output
                    .result(&result, |output| format!("{}{}", output.rows(&principals, &COLUMNS), notes(&registry)))
            }
            PrincipalsCommand::Show { principal_id } => {
                let principal = session.call("principals.show", &json!({"principal_id": principal_id}))?;
                session.output.result(&principal, |output| describe(output, &principal))
            }
            PrincipalsCommand::Reload => {
                let registry = session.call("principals.reload", &json!({}))?;
                session.output.result(&registry, |_| {
                    let (principals, keys) = (&registry["principals"], &registry["usable_keys"]);
                    let counted = |count: &Value, what: &str| {
                        if *count == json!(1) { format!("1 {what}") } else { format!("{} {what}s", show(count)) }
                    };
                    format!(
                        "The registry of {} is active: {}, {}.\n{}",
                        show(&registry["audience"]),
                        counted(principals, "principal"),
                        counted(keys, "usable key"),
                        notes(&registry)
                    )
                })
            }
        }
    }
}

/// What an operator has to know of the registry, besides who is in it.
fn notes(registry: &Value) -> String {
    let mut text = String::new();
    if registry["configured"] == json!(false) {
        text.push_str("This hub has no registry: set STOA_REGISTRY and STOA_AUDIENCE.\n");
    }
    for warning in items(registry, "warnings") {
        text.push_str(&format!("warning: {}\n", show(warning)));
    }
    if !items(registry, "faults").is_empty() {
        text.push_str(&format!(
            "The files are invalid; the registry loaded at {} stays active:\n",
            show(&registry["loaded_at"])
        ));
        for fault in items(registry, "faults") {
            text.push_str(&format!("  {}\n", show(fault)));
        }
    }
    text
}

fn state(principal: &Value) -> String {
    let word = match (principal["registered"].as_bool(), principal["enabled"].as_bool()) {
        (Some(true), Some(true)) => "enabled",
        (Some(true), _) => "disabled",
        _ => "not in the registry",
    };
    word.to_owned()
}

fn items<'a>(principal: &'a Value, field: &str) -> &'a [Value] {
    principal[field].as_array().map_or(&[], Vec::as_slice)
}

fn usable_keys(principal: &Value) -> String {
    let keys = items(principal, "keys");
    format!("{} of {}", keys.iter().filter(|key| key["usable"] == json!(true)).count(), keys.len())
}

fn refusals(principal: &Value) -> String {
    let reasons = principal["refusals"].as_object().into_iter().flatten();
    reasons.map(|(reason, count)| format!("{reason} {}", show(count))).collect::<Vec<_>>().join(", ")
}

fn components(principal: &Value) -> String {
    let word = |component: &Value| {
        let status = if component["stale"] == json!(true) { "stale".to_owned() } else { show(&component["status"]) };
        format!("{} {status}", show(&component["component"]))
    };
    items(principal, "components").iter().map(word).collect::<Vec<_>>().join(", ")
}

fn describe(output: &Output, principal: &Value) -> String {
    let mut text = output.properties(&[
        ("principal", show(&principal["principal_id"])),
        ("state", state(principal)),
        ("last used", show(&principal["last_used_at"])),
        ("refusals", refusals(principal)),
        ("last refused", show(&principal["last_refused_at"])),
    ]);
    let mut add = |heading: &str, rows: String, field: &str| {
        if !items(principal, field).is_empty() {
            text.push_str(&format!("\n{heading}\n{rows}"));
        }
    };
    let keys = output.rows(
        items(principal, "keys"),
        &[
            ("KID", |key| show(&key["kid"])),
            ("STATUS", |key| show(&key["status"])),
            ("USABLE", |key| {
                if key["usable"] == json!(true) { "yes".to_owned() } else { format!("no: {}", show(&key["reason"])) }
            }),
            ("SCOPES", |key| show(&key["scopes"])),
            ("FINGERPRINT", |key| show(&key["fingerprint"])),
            ("USES", |key| show(&key["uses"])),
            ("LAST USED", |key| show(&key["last_used_at"])),
        ],
    );
    add("Keys", keys, "keys");
    let components = output.rows(
        items(principal, "components"),
        &[
            ("COMPONENT", |status| show(&status["component"])),
            ("STATUS", |status| show(&status["status"])),
            ("STALE", |status| if status["stale"] == json!(true) { "yes".to_owned() } else { "no".to_owned() }),
            ("VERSION", |status| show(&status["version"])),
            ("MESSAGE", |status| show(&status["message"])),
            ("REPORTED", |status| show(&status["reported_at"])),
        ],
    );
    add("Components", components, "components");
    let configs = output.rows(
        items(principal, "source_configs"),
        &[
            ("SOURCE CONFIG", |config| show(&config["source"])),
            ("VERSION", |config| show(&config["version"])),
            ("ROUTES", |config| {
                let route = |route: &Value| format!("{} to #{}", show(&route["type"]), show(&route["channel"]));
                items(config, "routes").iter().map(route).collect::<Vec<_>>().join(", ")
            }),
            ("UPDATED", |config| show(&config["updated_at"])),
        ],
    );
    add("Source configs", configs, "source_configs");
    text
}
