//! `stoa admin users`.

use clap::Subcommand;
use serde_json::{Value, json};

use super::output::{secret, show};
use super::{Failure, Session, input};

pub(super) const ROLES: [&str; 2] = ["member", "admin"];

#[derive(Subcommand)]
pub(super) enum UsersCommand {
    /// List the accounts
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Make an account; the password comes from standard input or a prompt
    Create {
        name: String,
        #[arg(long, value_parser = ROLES, default_value = "member")]
        role: String,
        /// What others see [default: NAME]
        #[arg(long)]
        display_name: Option<String>,
    },
    /// Print a link with which one person can create their own account
    Invite {
        #[arg(long, value_parser = ROLES, default_value = "member")]
        role: String,
        /// Whom it is for; only administrators see it
        #[arg(long = "for", value_name = "NOTE")]
        note: Option<String>,
        /// The user in whose name you invite; the sign-up page shows it
        #[arg(long, value_name = "USER")]
        from: Option<String>,
        /// How long the link is valid, such as 12h or 7d [default: 7d, for an administrator 24h]
        #[arg(long, value_name = "TIME")]
        valid: Option<String>,
    },
    /// List invitations and what became of them
    Invitations {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Revoke an open invitation
    RevokeInvitation { id: i64 },
    /// Set a password, from standard input or a prompt, and end all sessions of the user
    Passwd { name: String },
    /// Shut a user out, with all their sessions and their agents' keys
    Disable { name: String },
    /// Let a user in again
    Enable { name: String },
    /// Make a user an administrator or a member
    Role {
        name: String,
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// End all sessions of a user
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
            UsersCommand::Invite { role, note, from, valid } => {
                let params = json!({"role": role, "note": note, "from": from, "valid": valid});
                let invitation = session.call("users.invite", &params)?;
                let expires_at = show(&invitation["expires_at"]);
                session.output.result(&invitation, |_| {
                    let note = format!(
                        "Send this link to one new {role}. It works once, until {expires_at}. It is shown only now:"
                    );
                    secret(&note, &invitation["url"])
                })
            }
            UsersCommand::Invitations { limit } => {
                let invitations = session.list("users.invitations", json!({}), limit)?;
                session.output.list(
                    &invitations,
                    &[
                        ("ID", |invitation| show(&invitation["id"])),
                        ("FOR", |invitation| show(&invitation["note"])),
                        ("ROLE", |invitation| show(&invitation["role"])),
                        ("FROM", |invitation| show(&invitation["invited_by"])),
                        ("STATUS", |invitation| show(&invitation["status"])),
                        ("EXPIRES", |invitation| show(&invitation["expires_at"])),
                        ("USED BY", |invitation| show(&invitation["used_by"])),
                    ],
                )
            }
            UsersCommand::RevokeInvitation { id } => {
                let done = session.call("users.revoke_invitation", &json!({"id": id}))?;
                session.output.result(&done, |_| format!("Invitation {id} was revoked.\n"))
            }
            UsersCommand::Passwd { name } => {
                session.connect()?;
                let password = input::read_password(&name)?;
                let user = session.call("users.passwd", &json!({"username": name, "password": password}))?;
                session.output.result(&user, |_| {
                    format!("The password of {} was changed, and all their sessions ended.\n", show(&user["username"]))
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
