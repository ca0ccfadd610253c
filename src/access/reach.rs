//! How far a credential reaches: a part of what its holder sees and may change.

use stoa_model::permissions::Permission;
use stoa_model::{ConversationId, PrincipalId};

use crate::error::HubError;

/// A program in a run may be led astray by what it reads. So it registers nothing that goes on after the run, and starts no runs.
pub const FORBIDDEN_TO_RUNS: [Permission; 2] = [Permission::WebhooksWrite, Permission::RunsWrite];

/// What the token of a run with a [`RunReach`] allows, within that reach.
pub const ALLOWED_WITHIN_RUN_REACH: [Permission; 8] = [
    Permission::MessagesRead,
    Permission::MessagesWrite,
    Permission::ChannelsRead,
    Permission::AttachmentsRead,
    Permission::AttachmentsWrite,
    Permission::ReactionsWrite,
    Permission::SearchRead,
    Permission::WikiRead,
];

/// SQL for the conversations of channels that everybody sees.
const PUBLIC: &str =
    "(select open.conversation_id from channels open where open.is_public = 1 and open.deleted_at is null)";

/// What a credential reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    Everything,
    /// All DMs, and of the channels only these, by their conversations. They are no names: somebody else may make a channel with the
    /// name of a deleted one.
    Channels(Vec<ConversationId>),
    Run(RunReach),
}

/// What a run reaches that others have started. It reads and writes in one conversation, reads public channels, and writes to the
/// owner of its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReach {
    /// Where the message is that started the run. None if that message was purged.
    pub conversation: Option<ConversationId>,
    pub agent: PrincipalId,
    pub owner: PrincipalId,
    /// In UTC milliseconds. What the agent wrote to its owner before is not for those who started the run.
    pub started_at: i64,
}

/// What the reach of a run depends on in a message.
#[derive(Debug, Clone, Copy)]
pub struct MessagePlace {
    /// In UTC milliseconds.
    pub created_at: i64,
    pub conversation: ConversationId,
    /// Of a DM about a mention: the conversation of the channel.
    pub origin: Option<ConversationId>,
    pub author: PrincipalId,
    pub recipient: Option<PrincipalId>,
}

impl RunReach {
    pub fn is_conversation(&self, conversation: ConversationId) -> bool {
        self.conversation == Some(conversation)
    }

    /// Whether a DM of the agent is within reach: it tells of a mention in the conversation, or the agent wrote it to the owner during
    /// the run. What the owner writes is for a run of the owner.
    pub fn contains_dm(&self, place: &MessagePlace) -> bool {
        let is_to_owner = place.author == self.agent && place.recipient == Some(self.owner);
        let is_of_agent =
            place.recipient == Some(self.agent) || (place.author == self.agent && place.recipient.is_some());
        (is_of_agent && self.is_own(place)) || (is_to_owner && place.created_at >= self.started_at)
    }

    /// Whether a message is in the conversation, or tells of one there.
    pub fn is_own(&self, place: &MessagePlace) -> bool {
        self.is_conversation(place.origin.unwrap_or(place.conversation))
    }

    /// An id that no conversation has stands for one that is gone.
    fn conversation_number(&self) -> i64 {
        self.conversation.map_or(0, |conversation| conversation.0)
    }
}

impl Reach {
    pub fn is_limited(&self) -> bool {
        !matches!(self, Reach::Everything)
    }

    /// Set for a run that others have started.
    pub fn of_run(&self) -> Option<&RunReach> {
        match self {
            Reach::Run(run) => Some(run),
            Reach::Everything | Reach::Channels(_) => None,
        }
    }

    /// Whether a channel with this conversation is within reach to read and write in it.
    pub fn contains(&self, conversation: ConversationId) -> bool {
        match self {
            Reach::Everything => true,
            Reach::Channels(conversations) => conversations.contains(&conversation),
            Reach::Run(run) => run.is_conversation(conversation),
        }
    }

    /// Whether a channel with this conversation is within reach to read it.
    pub fn reads(&self, conversation: ConversationId, is_public: bool) -> bool {
        self.contains(conversation) || (is_public && self.of_run().is_some())
    }

    /// Whether a DM is within reach to read and write in it.
    pub fn contains_dm(&self, conversation: ConversationId) -> bool {
        self.of_run().is_none_or(|run| run.is_conversation(conversation))
    }

    /// SQL that holds for channels within reach to read. `conversation` is an expression for the id of a channel's conversation.
    pub fn sql_of_channels(&self, conversation: &str) -> String {
        match self {
            Reach::Everything => "1 = 1".to_owned(),
            Reach::Channels(conversations) => format!("{conversation} in {}", list(conversations)),
            Reach::Run(run) => {
                format!("({conversation} = {} or {conversation} in {PUBLIC})", run.conversation_number())
            }
        }
    }

    /// SQL that holds for messages within reach to read. `m` is their table.
    pub fn sql_of_messages(&self, m: &str) -> String {
        match self {
            Reach::Everything => "1 = 1".to_owned(),
            Reach::Channels(conversations) => {
                format!("({m}.channel_id is null or {m}.conversation_id in {})", list(conversations))
            }
            Reach::Run(run) => {
                let (agent, owner, since) = (run.agent.0, run.owner.0, run.started_at);
                let channels = self.sql_of_channels(&format!("{m}.conversation_id"));
                format!(
                    "({channels} or ({m}.created_at >= {since} and {m}.author_id = {agent} and {m}.recipient_id = {owner}))"
                )
            }
        }
    }

    /// SQL that holds for messages of an inbox that are within reach: in a run those of its conversation. `m` is their table, `o` that of
    /// the messages in channels that they tell of.
    pub fn sql_of_inbox(&self, m: &str, o: &str) -> String {
        match self {
            Reach::Everything => "1 = 1".to_owned(),
            Reach::Channels(conversations) => {
                format!("({o}.id is null or {o}.conversation_id in {})", list(conversations))
            }
            Reach::Run(run) => {
                format!("coalesce({o}.conversation_id, {m}.conversation_id) = {}", run.conversation_number())
            }
        }
    }
}

/// A list for SQL. It needs something in it, and no conversation has the id 0.
fn list(conversations: &[ConversationId]) -> String {
    let ids: Vec<String> = conversations.iter().map(|id| id.0.to_string()).collect();
    if ids.is_empty() { "(0)".to_owned() } else { format!("({})", ids.join(", ")) }
}

/// Refuses what a run that others have started does not reach.
pub fn outside_run_reach() -> HubError {
    HubError::forbidden("outside_run_reach", "This run was started by someone else and cannot do this.")
        .hint("It can use the conversation that started it, read public channels, and write to the owner of the agent.")
}
