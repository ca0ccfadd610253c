//! `stoa admin users`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{secret, show};
use super::{Failure, Session, input};

pub(super) const ROLES: [&str; 2] = ["member", "admin"];

#[derive(Subcommand)]
pub(super) enum UsersCommand {
    /// List accounts
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Create an account; the password is read from standard input or a prompt
    Create {
        name: String,
        #[arg(long, value_parser = ROLES, default_value = "member")]
        role: String,
        /// Display name [default: NAME]
        #[arg(long)]
        display_name: Option<String>,
    },
    /// Create a single-use invitation, valid 7 days
    Invite {
        #[arg(long, value_parser = ROLES, default_value = "member")]
        role: String,
    },
    /// Set a password from standard input or a prompt, and end the user's sessions
    Passwd { name: String },
    /// Deactivate a user (ends sessions, disables agent keys)
    Disable { name: String },
    /// Reactivate a user
    Enable { name: String },
    /// Set a user's role: admin or member
    Role {
        name: String,
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// End a user's sessions
    EndSessions { name: String },
}

impl UsersCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            UsersCommand::List { limit } => {
                let users = session.list("users.list", json!({}), limit)?;
                session.output.list(
                    &users,
                    &[
                        ("USERNAME", |user| show(&user["username"])),
                        ("DISPLAY NAME", |user| show(&user["display_name"])),
                        ("ROLE", |user| show(&user["role"])),
                        ("STATUS", |user| status(user).to_owned()),
                        ("CREATED", |user| show(&user["created_at"])),
                    ],
                )
            }
            UsersCommand::Create { name, role, display_name } => {
                session.connect()?;
                let password = input::read_password(&name)?;
                let params =
                    json!({"username": name, "password": password, "role": role, "display_name": display_name});
                let user = session.call("users.create", &params)?;
                let (name, role) = (show(&user["username"]), show(&user["role"]));
                session.output.result(&user, |_| format!("The {role} {name} was created.\n"))
            }
            UsersCommand::Invite { role } => {
                let invitation = session.call("users.invite", &json!({"role": role}))?;
                let expires_at = show(&invitation["expires_at"]);
                session.output.result(&invitation, |_| {
                    let note = format!("An invitation for one {role}, valid until {expires_at}, shown only once:");
                    secret(&note, &invitation["invite"])
                })
            }
            UsersCommand::Passwd { name } => {
                session.connect()?;
                let password = input::read_password(&name)?;
                let user = session.call("users.passwd", &json!({"username": name, "password": password}))?;
                session.output.result(&user, |_| {
                    format!("Password of {} changed and all sessions ended.\n", show(&user["username"]))
                })
            }
            UsersCommand::Disable { name } => change(session, "users.disable", &json!({"username": name})),
            UsersCommand::Enable { name } => change(session, "users.enable", &json!({"username": name})),
            UsersCommand::Role { name, role } => {
                change(session, "users.role", &json!({"username": name, "role": role}))
            }
            UsersCommand::EndSessions { name } => {
                let ended = session.call("users.end_sessions", &json!({"username": name}))?;
                session.output.result(&ended, |_| format!("Sessions ended: {}.\n", show(&ended["ended"])))
            }
        }
    }
}

fn change(session: &mut Session, method: &str, params: &Value) -> Result<(), Failure> {
    let user = session.call(method, params)?;
    session.output.result(&user, |_| {
        let (name, role) = (show(&user["username"]), show(&user["role"]));
        let article = if user["disabled_at"].is_null() { "an" } else { "a" };
        format!("{name} is now {article} {} {role}.\n", status(&user))
    })
}

fn status(user: &Value) -> &'static str {
    if user["disabled_at"].is_null() { "active" } else { "disabled" }
}
