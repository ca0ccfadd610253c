//! What a delivery says. It is put together when it is sent, from what the agent may see then.

use serde_json::{Map, Value, json};
use stoa_db::Tx;
use stoa_model::messages::MessageView;
use stoa_model::webhooks::{MAX_BODY_BYTES, WebhookEvent};
use stoa_model::{PrincipalId, Timestamp};

use super::delivery_store::DeliveryRow;
use crate::access::Actor;
use crate::error::HubError;
use crate::features::{channels, messages};

/// What is left of the body for the text of a message, after all that is said about it.
const MAX_TEXT_BYTES: usize = 12 * 1000;
const MAX_SUBJECT_BYTES: usize = 1000;

/// The body of a delivery, or why the agent does not get it.
pub(super) fn body_of(
    tx: &mut Tx<'_>,
    row: &DeliveryRow,
    owner: PrincipalId,
) -> Result<Result<Value, &'static str>, HubError> {
    let agent = Actor::agent_itself(row.agent, &row.agent_name, owner);
    let facts: Map<String, Value> = serde_json::from_str(&row.facts).unwrap_or_default();
    let data = match (row.event, row.message) {
        (WebhookEvent::WebhookPing, _) | (_, None) => facts,
        // A run has ended, whatever became of its message.
        (WebhookEvent::RunFinished, Some(message)) => {
            let view = messages::find_visible_among(tx, &agent, &[message])?.pop();
            match view.filter(|view| view.deleted_at.is_none()) {
                Some(view) => about_message(tx, &agent, view, facts)?,
                None => facts,
            }
        }
        (event, Some(message)) => {
            let Some(view) = messages::find_visible_among(tx, &agent, &[message])?.pop() else {
                return Ok(Err("not_visible"));
            };
            if view.deleted_at.is_some() {
                return Ok(Err("deleted"));
            }
            // What happens in a channel is for its members, also where everybody may read it.
            let is_for_members = matches!(event, WebhookEvent::ChannelMessage | WebhookEvent::WorkflowStateChanged);
            if let Some(channel) = view.channel_id.filter(|_| is_for_members)
                && !channels::is_member(tx, channel, row.agent)?
            {
                return Ok(Err("not_visible"));
            }
            match event {
                WebhookEvent::WorkflowStateChanged => about_state(&view, facts),
                _ => about_message(tx, &agent, view, facts)?,
            }
        }
    };
    Ok(Ok(json!({
        "id": row.public_id,
        "type": row.event,
        "timestamp": Timestamp::from_ms(row.created_at),
        "agent": row.agent_name,
        "depth": row.depth,
        "data": data,
    })))
}

fn about_state(view: &MessageView, facts: Map<String, Value>) -> Map<String, Value> {
    let mut data = Map::new();
    data.insert("message_id".to_owned(), json!(view.id));
    data.insert("channel".to_owned(), json!(view.channel));
    data.extend(facts);
    data
}

fn about_message(
    tx: &mut Tx<'_>,
    agent: &Actor,
    view: MessageView,
    facts: Map<String, Value>,
) -> Result<Map<String, Value>, HubError> {
    let view = messages::list_whole(tx, agent, &[view.id])?.pop().unwrap_or(view);
    let body = beginning(&view.body, MAX_TEXT_BYTES);
    let mut data = Map::new();
    for (name, value) in [
        ("message_id", json!(view.id)),
        ("conversation_id", json!(view.conversation_id)),
        ("channel", json!(view.channel)),
        ("from", json!(view.from.name)),
        ("from_kind", json!(view.from.kind)),
        ("to", json!(view.to)),
        ("reply_to", json!(view.reply_to)),
        ("subject", json!(view.subject.as_deref().map(|subject| beginning(subject, MAX_SUBJECT_BYTES)))),
        ("body", json!(body)),
        ("body_is_cut", json!(body.len() < view.body.len())),
        ("priority", json!(view.priority)),
        ("created_at", json!(view.created_at)),
    ] {
        data.insert(name.to_owned(), value);
    }
    data.extend(facts);
    Ok(data)
}

/// The beginning of a text, no longer in JSON than this. A character that JSON escapes can take six bytes.
fn beginning(text: &str, max_bytes: usize) -> &str {
    let mut length = 0;
    let cost = |character: char| match character {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    };
    let end = text.char_indices().find(|(_, character)| {
        length += cost(*character);
        length > max_bytes
    });
    end.map_or(text, |(at, _)| text.get(..at).unwrap_or_default())
}

const _: () = assert!(MAX_TEXT_BYTES + MAX_SUBJECT_BYTES < MAX_BODY_BYTES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_their_size_in_json() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("abc", 2), "ab");
        assert_eq!(beginning("äöü", 5), "äö");
        assert_eq!(beginning("\"\"\"", 5), "\"\"");
        assert_eq!(beginning("\u{1}\u{1}", 11), "\u{1}");
    }
}
