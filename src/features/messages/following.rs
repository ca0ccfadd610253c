//! What a message follows from, and what it can lead to: its depth, its chain, and whether an agent that gets it can be woken.

use stoa_db::Tx;
use stoa_model::dispatch::NotWokenReason;
use stoa_model::principals::PrincipalKind;
use stoa_model::{MessageId, PrincipalId};

use super::store::{self, MessageRow};
use crate::access::Actor;
use crate::error::HubError;
use crate::features::agents;
use crate::features::channels::working::Working;
use crate::hub::Hub;

/// How many steps of automation led to what this caller says now: one more than what it follows from. A person begins
/// a new chain, unless the request itself says that it belongs to one. A program continues the chain of the message that
/// it answers and of the deepest message that it is working on, whether it says so or not; on its own it is one step from
/// the person who started it.
pub(super) fn depth_of(actor: &Actor, parent: Option<&MessageRow>, working: Working) -> i64 {
    let carried = actor.call.loop_depth.max(actor.run().map(|run| run.depth));
    let followed = if actor.is_person() { [None; 2] } else { [parent.map(|parent| parent.depth), working.depth] };
    match followed.into_iter().chain([carried]).flatten().max() {
        Some(depth) => depth + 1,
        None => i64::from(!actor.is_person()),
    }
}

/// How deep in a chain of automation it is to say something about a message, as a reaction does.
pub fn depth_about(tx: &mut Tx<'_>, actor: &Actor, message: &MessageRow) -> Result<i64, HubError> {
    let working = if actor.is_person() {
        Working::default()
    } else {
        store::find_sender(tx, actor.id())?.map(|sender| sender.working).unwrap_or_default()
    };
    Ok(depth_of(actor, Some(message), working))
}

/// The message that all this began with; none if it begins now. What a program works on counts before what it answers, so that it cannot
/// leave a chain by answering something else.
pub(super) fn chain_of(actor: &Actor, parent: Option<&MessageRow>, working: Working) -> Option<MessageId> {
    if actor.is_person() {
        return None;
    }
    let run = actor.run().map(|run| run.chain);
    run.or(working.chain).or_else(|| parent.map(|parent| parent.chain_id.unwrap_or(parent.id)))
}

/// What is known about a run that a message could start, before planners are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// Nobody gets it who could be run.
    Nobody,
    Not(NotWokenReason),
    /// The rest of the chain decides.
    Open,
}

impl Wake {
    pub(super) fn reason(self) -> Option<NotWokenReason> {
        match self {
            Wake::Not(reason) => Some(reason),
            Wake::Nobody | Wake::Open => None,
        }
    }
}

/// What holds for a recipient whatever the message is.
pub(super) fn wake_of(
    hub: &Hub,
    tx: &mut Tx<'_>,
    no_wake: bool,
    recipient: PrincipalId,
    kind: PrincipalKind,
) -> Result<Wake, HubError> {
    Ok(match kind {
        PrincipalKind::Agent if no_wake => Wake::Not(NotWokenReason::NoWake),
        PrincipalKind::Agent => agents::sleep_reason(hub, tx, recipient)?.map_or(Wake::Open, Wake::Not),
        PrincipalKind::User | PrincipalKind::System | PrincipalKind::Machine => Wake::Nobody,
    })
}
