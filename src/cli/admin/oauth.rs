//! `stoa admin oauth`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{Column, Output, secret, show};
use super::{EXIT_CODES, Failure, Session};

#[derive(Subcommand)]
pub(super) enum OAuthCommand {
    /// Programs that can ask for tokens
    #[command(subcommand, after_help = EXIT_CODES)]
    Clients(ClientsCommand),
    /// What people have let a client do
    #[command(subcommand, after_help = EXIT_CODES)]
    Grants(GrantsCommand),
}

#[derive(Subcommand)]
pub(super) enum ClientsCommand {
    /// List the clients of all kinds: made by an owner, registered by themselves, known by a document
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Make a client with which a program can get tokens for an agent, and print its secret
    Create {
        /// The user who owns the agent
        #[arg(long, value_name = "USER")]
        owner: String,
        /// The agent it acts as
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// What it is for
        #[arg(long, value_name = "LABEL")]
        name: String,
        /// Let it ask about everybody's tokens, not only its own
        #[arg(long)]
        introspects_all: bool,
    },
    /// Delete a client, whatever its kind, and with it all its tokens
    Delete {
        #[arg(value_name = "CLIENT_ID")]
        client_id: String,
    },
}

#[derive(Subcommand)]
pub(super) enum GrantsCommand {
    /// List the grants that are in force
    List {
        /// Only what this user has granted
        #[arg(long, value_name = "USER")]
        user: Option<String>,
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Put a grant and all its tokens out of force, or all that a user has granted
    #[command(group(clap::ArgGroup::new("which").required(true)))]
    Revoke {
        /// The grant
        #[arg(group = "which")]
        id: Option<i64>,
        /// Everything that this user has granted
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
                    let secret = secret("The secret, which is shown this once:", &created["client_secret"]);
                    format!("{}\n{secret}", properties(output, &created["client"]))
                })
            }
            ClientsCommand::Delete { client_id } => {
                let client = session.call("oauth.clients.delete", &json!({"client_id": client_id}))?;
                session.output.result(&client, |_| {
                    let (id, name) = (show(&client["client_id"]), show(&client["name"]));
                    format!("The client {id} ({name}) was deleted, and its tokens work no more.\n")
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
                    [] => "There was nothing in force.\n".to_owned(),
                    grants => grants.iter().map(revoked).collect(),
                })
            }
        }
    }
}

fn revoked(grant: &Value) -> String {
    let (id, user, client) = (show(&grant["id"]), show(&grant["user"]), show(&grant["client"]["name"]));
    format!("What {user} let {client} do (grant {id}) is out of force, and its tokens work no more.\n")
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
