//! `stoa admin oauth`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Column, Output, secret, show};
use super::{EXIT_CODES, Failure, Session};

#[derive(Subcommand)]
pub(super) enum OAuthCommand {
    /// OAuth clients
    #[command(subcommand, after_help = EXIT_CODES)]
    Clients(ClientsCommand),
    /// Grants that users gave to clients
    #[command(subcommand, after_help = EXIT_CODES)]
    Grants(GrantsCommand),
}

#[derive(Subcommand)]
pub(super) enum ClientsCommand {
    /// List all clients: created by an owner, self-registered, or with a metadata document
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Create a client that gets tokens for an agent, and print its secret
    Create {
        /// The user who owns the agent
        #[arg(long, value_name = "USER")]
        owner: String,
        /// The agent it acts as
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// Name of the client
        #[arg(long, value_name = "LABEL")]
        name: String,
        /// Allow it to introspect other clients' tokens
        #[arg(long)]
        introspects_all: bool,
    },
    /// Delete a client and all its tokens
    Delete {
        #[arg(value_name = "CLIENT_ID")]
        client_id: String,
    },
}

#[derive(Subcommand)]
pub(super) enum GrantsCommand {
    /// List active grants
    List {
        /// Only grants of this user
        #[arg(long, value_name = "USER")]
        user: Option<String>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Revoke a grant and its tokens, or all grants of a user
    #[command(group(clap::ArgGroup::new("which").required(true)))]
    Revoke {
        /// The grant
        #[arg(group = "which")]
        id: Option<i64>,
        /// All grants of this user
        #[arg(long, value_name = "USER", group = "which")]
        user: Option<String>,
    },
}

const CLIENT_COLUMNS: [Column; 8] = [
    ("CLIENT ID", |client| show(&client["client_id"])),
    ("KIND", |client| show(&client["kind"])),
    ("NAME", |client| short(&client["name"])),
    ("OWNER", |client| show(&client["owner"])),
    ("AGENT", |client| show(&client["agent"])),
    ("INTROSPECTS", introspects),
    ("GRANTS", |client| show(&client["grants"])),
    ("LAST USED", |client| show(&client["last_used_at"])),
];

const GRANT_COLUMNS: [Column; 9] = [
    ("ID", |grant| show(&grant["id"])),
    ("USER", |grant| show(&grant["user"])),
    ("CLIENT", |grant| short(&grant["client"]["name"])),
    ("CLIENT ID", |grant| show(&grant["client"]["client_id"])),
    ("REDIRECTS TO", |grant| show(&grant["redirect_host"])),
    ("ACTS AS", acts_as),
    ("SCOPE", |grant| show(&grant["scope"])),
    ("LAST USED", |grant| show(&grant["last_used_at"])),
    ("EXPIRES", |grant| show(&grant["expires_at"])),
];

impl OAuthCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            OAuthCommand::Clients(command) => command.run(session),
            OAuthCommand::Grants(command) => command.run(session),
        }
    }
}

impl ClientsCommand {
    fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            ClientsCommand::List { limit } => {
                let clients = session.list("oauth.clients.list", json!({}), limit)?;
                session.output.list(&clients, &CLIENT_COLUMNS)
            }
            ClientsCommand::Create { owner, agent, name, introspects_all } => {
                let params = json!({"owner": owner, "client": {"name": name, "agent": agent},
                    "introspects_all": introspects_all});
                let created = session.call("oauth.clients.create", &params)?;
                session.output.result(&created, |output| {
                    let secret = secret("The secret, shown only once:", &created["client_secret"]);
                    format!("{}\n{secret}", properties(output, &created["client"]))
                })
            }
            ClientsCommand::Delete { client_id } => {
                let client = session.call("oauth.clients.delete", &json!({"client_id": client_id}))?;
                session.output.result(&client, |_| {
                    let (id, name) = (show(&client["client_id"]), show(&client["name"]));
                    format!("Client {id} ({name}) and its tokens deleted.\n")
                })
            }
        }
    }
}

impl GrantsCommand {
    fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            GrantsCommand::List { user, limit } => {
                let params = user.map_or(json!({}), |user| json!({"user": user}));
                let grants = session.list("oauth.grants.list", params, limit)?;
                session.output.list(&grants, &GRANT_COLUMNS)
            }
            GrantsCommand::Revoke { id: Some(id), .. } => {
                let grant = session.call("oauth.grants.revoke", &json!({"id": id}))?;
                session.output.result(&grant, |_| revoked(&grant))
            }
            GrantsCommand::Revoke { id: None, user } => {
                let grants = session.list("oauth.grants.list", json!({"user": user}), None)?;
                for grant in &grants {
                    session.call("oauth.grants.revoke", &json!({"id": grant["id"]}))?;
                }
                let revoked_all = json!({"items": grants});
                session.output.result(&revoked_all, |_| match grants.as_slice() {
                    [] => "No active grants.\n".to_owned(),
                    grants => grants.iter().map(revoked).collect(),
                })
            }
        }
    }
}

fn revoked(grant: &Value) -> String {
    let (id, user, client) = (show(&grant["id"]), show(&grant["user"]), show(&grant["client"]["name"]));
    format!("Grant {id} of {user} to {client} and its tokens revoked.\n")
}

fn properties(output: &Output, client: &Value) -> String {
    output.properties(&[
        ("client id", show(&client["client_id"])),
        ("name", show(&client["name"])),
        ("owner", show(&client["owner"])),
        ("agent", show(&client["agent"])),
        ("scope", if client["scope"].is_null() { "all".to_owned() } else { show(&client["scope"]) }),
        ("introspects", introspects(client)),
        ("created", show(&client["created_at"])),
    ])
}

/// Names are of strangers' making; a long one would push the rest out of the table.
fn short(name: &Value) -> String {
    let name = show(name);
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Whose tokens a client may ask about; nobody's without a secret.
fn introspects(client: &Value) -> String {
    let whose = match (client["introspects_all"].as_bool(), client["auth_method"].as_str()) {
        (Some(true), _) => "all tokens",
        (_, Some("none")) => "",
        _ => "its own",
    };
    whose.to_owned()
}

/// The agent, or `self` for the person, which is what the consent page calls it.
fn acts_as(grant: &Value) -> String {
    if grant["agent"].is_null() { "self".to_owned() } else { show(&grant["agent"]) }
}
