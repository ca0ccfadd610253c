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
    /// Create a single-use invitation link and print it
    Invite {
        #[arg(long, value_parser = ROLES, default_value = "member")]
        role: String,
        /// Note, for example the person's name; only admins can see it
        #[arg(long = "for", value_name = "NOTE")]
        note: Option<String>,
        /// The inviting user, shown on the sign-up page
        #[arg(long, value_name = "USER")]
        from: Option<String>,
        /// How long the link is valid, such as 12h or 7d [default: 7d, 24h for an admin]
        #[arg(long, value_name = "TIME")]
        valid: Option<String>,
    },
    /// List invitations and their status
    Invitations {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Revoke an open invitation
    RevokeInvitation { id: i64 },
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
            UsersCommand::Invite { role, note, from, valid } => {
                let params = json!({"role": role, "note": note, "from": from, "valid": valid});
                let invitation = session.call("users.invite", &params)?;
                let expires_at = show(&invitation["expires_at"]);
                session.output.result(&invitation, |_| {
                    let note = format!(
                        "Send this link to one new {role}. It works once, until {expires_at}, and is shown only once:"
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
