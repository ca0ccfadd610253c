//! Work of a channel by the state that it is in.

use stoa_model::MessageId;
use stoa_model::messages::{MessageView, WorkflowState};
use stoa_model::page::Page;
use stoa_model::permissions::Permission;

use crate::access::Actor;
use crate::error::HubError;
use crate::features::{channels, messages};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_with};

/// Messages of a channel that are in a state, newest first.
pub async fn list_by_state(
    hub: &Hub,
    actor: &Actor,
    channel: String,
    state: WorkflowState,
    list: ListQuery,
) -> Result<Page<MessageView>, HubError> {
    actor.require(Permission::MessagesRead)?;
    let name = format!("by state {channel} {}", state.name());
    let before = list.position(hub, actor, &name)?.unwrap_or(MessageId(i64::MAX));
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let (items, has_more) = hub
        .read(move |tx| {
            let conversation = channels::find_visible(tx, &actor_in, &channel)?.conversation_id;
            Ok::<_, HubError>(messages::list_by_state(tx, &actor_in, conversation, state, before, limit)?)
        })
        .await?;
    page_with(hub, actor, &name, items.into_iter().map(|message| (message.id, message)).collect(), has_more)
}
