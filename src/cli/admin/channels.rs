//! `stoa admin channels`.

use clap::{ArgAction, Args, Subcommand};
use serde_json::{Map, Value, json};

use super::output::{Output, show, show_text};
use super::{Failure, Session, input};

#[derive(Subcommand)]
pub(super) enum ChannelsCommand {
    /// List all channels
    List {
        /// How many at most [default: all]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show a channel with its settings
    Show { name: String },
    /// Create a channel for a user
    Create {
        name: String,
        /// The owner
        #[arg(long, value_name = "USER")]
        owner: String,
        #[arg(long, default_value = "")]
        topic: String,
        #[arg(long, default_value = "")]
        description: String,
        /// Only members can see it
        #[arg(long)]
        private: bool,
    },
    /// Change the given settings of a channel
    Update {
        name: String,
        #[command(flatten)]
        changes: Box<Changes>,
    },
    /// List, add or remove members
    Members {
        name: String,
        /// Add this user or agent
        #[arg(long, value_name = "NAME", conflicts_with = "remove")]
        add: Option<String>,
        /// Remove this user or agent; a user's agents leave too
        #[arg(long, value_name = "NAME")]
        remove: Option<String>,
    },
    /// Delete a channel and all its messages
    Delete {
        name: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
pub(super) struct Changes {
    #[arg(long)]
    topic: Option<String>,

    #[arg(long)]
    description: Option<String>,

    /// Whether everyone can see it
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    public: Option<bool>,

    /// Transfer it to this person, who must be a member
    #[arg(long, value_name = "USER")]
    owner: Option<String>,

    /// Whether messages are work items
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    workflow_enabled: Option<bool>,

    /// Whether to auto-approve trusted agents
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    auto_approve: Option<bool>,

    /// When to send a reminder for stale work, for example 24h; 0 = never
    #[arg(long, value_name = "TIME")]
    stalemate_remind_after: Option<String>,

    /// When to notify everyone about it, for example 72h; 0 = never
    #[arg(long, value_name = "TIME")]
    stalemate_escalate_after: Option<String>,

    /// Trust an agent needs to publish, 0 to 1
    #[arg(long, value_name = "SHARE")]
    publish_threshold: Option<f64>,

    /// Trust an agent needs to approve, 0 to 1
    #[arg(long, value_name = "SHARE")]
    approve_threshold: Option<f64>,
}

impl Changes {
    /// What the channel says about itself, and how work is done in it.
    fn to_params(&self) -> (Map<String, Value>, Map<String, Value>) {
        let changes = [
            ("topic", json!(self.topic)),
            ("description", json!(self.description)),
            ("public", json!(self.public)),
            ("owner", json!(self.owner)),
        ];
        let settings = [
            ("workflow_enabled", json!(self.workflow_enabled)),
            ("auto_approve", json!(self.auto_approve)),
            ("stalemate_remind_after", json!(self.stalemate_remind_after)),
            ("stalemate_escalate_after", json!(self.stalemate_escalate_after)),
            ("publish_threshold", json!(self.publish_threshold)),
            ("approve_threshold", json!(self.approve_threshold)),
        ];
        (given(changes), given(settings))
    }
}

fn given<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}

impl ChannelsCommand {
    pub(super) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            ChannelsCommand::List { limit } => {
                let channels = session.list("channels.list", json!({}), limit)?;
                session.output.list(
                    &channels,
                    &[
                        ("NAME", |channel| show(&channel["name"])),
                        ("OWNER", |channel| show(&channel["owner"])),
                        ("PUBLIC", |channel| show(&channel["public"])),
                        ("MEMBERS", |channel| show(&channel["member_count"])),
                        ("WORKFLOW", |channel| show(&channel["workflow_enabled"])),
                        ("TOPIC", |channel| show(&channel["topic"])),
                        ("CREATED", |channel| show(&channel["created_at"])),
                    ],
                )
            }
            ChannelsCommand::Show { name } => show_channel(session, "channels.show", &json!({"name": name})),
            ChannelsCommand::Create { name, owner, topic, description, private } => {
                let channel = json!({"name": name, "topic": topic, "description": description, "public": !private});
                show_channel(session, "channels.create", &json!({"owner": owner, "channel": channel}))
            }
            ChannelsCommand::Update { name, changes } => {
                let (changes, settings) = changes.to_params();
                if changes.is_empty() && settings.is_empty() {
                    let message = "nothing to change: add a setting such as --workflow-enabled true; see --help";
                    return Err(Failure::Usage(message.to_owned()));
                }
                let params = json!({"name": name, "changes": changes, "settings": settings});
                show_channel(session, "channels.update", &params)
            }
            ChannelsCommand::Members { name, add, remove } => {
                if let Some(member) = remove {
                    session.call("channels.remove_member", &json!({"name": name, "member": member}))?;
                }
                let details = match add {
                    Some(member) => session.call("channels.add_member", &json!({"name": name, "member": member}))?,
                    None => session.call("channels.show", &json!({"name": name}))?,
                };
                let members = details["members"].as_array().map_or(&[][..], Vec::as_slice);
                session.output.list(
                    members,
                    &[
                        ("NAME", |member| show(&member["name"])),
                        ("KIND", |member| show(&member["kind"])),
                        ("OWNER", |member| show(&member["owner"])),
                        ("DISPLAY NAME", |member| show(&member["display_name"])),
                        ("JOINED", |member| show(&member["joined_at"])),
                        ("LAST SEEN", |member| show(&member["last_seen_at"])),
                    ],
                )
            }
            ChannelsCommand::Delete { name, yes } => {
                if !yes {
                    // Whoever mistyped the name hears of it before being asked.
                    session.call("channels.show", &json!({"name": name}))?;
                    input::confirm(&format!("Delete the channel {name} and all its messages?"))?;
                }
                let deleted = session.call("channels.delete", &json!({"name": name}))?;
                session.output.result(&deleted, |_| format!("The channel {name} was deleted.\n"))
            }
        }
    }
}

fn show_channel(session: &mut Session, method: &str, params: &Value) -> Result<(), Failure> {
    let details = session.call(method, params)?;
    session.output.result(&details, |output| properties(output, &details["channel"]))
}

fn properties(output: &Output, channel: &Value) -> String {
    output.properties(&[
        ("name", show(&channel["name"])),
        ("topic", show(&channel["topic"])),
        ("description", show_text(&channel["description"])),
        ("public", show(&channel["public"])),
        ("owner", show(&channel["owner"])),
        ("members", show(&channel["member_count"])),
        ("workflow enabled", show(&channel["workflow_enabled"])),
        ("auto approve", show(&channel["auto_approve"])),
        ("stalemate remind after", show(&channel["stalemate_remind_after"])),
        ("stalemate escalate after", show(&channel["stalemate_escalate_after"])),
        ("publish threshold", show(&channel["publish_threshold"])),
        ("approve threshold", show(&channel["approve_threshold"])),
        ("created", show(&channel["created_at"])),
    ])
}
