use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_model::messages::{MessageStatus, MessageView, SendMessageRequest};
use stoa_model::page::Page;
use stoa_model::{MessageId, Timestamp};

use super::store::{Bodies, MessageRow};
use super::{purge, send, store};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::config::parse_duration;
use crate::error::HubError;
use crate::features::{attachments, audit, channels, principals, reactions};
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    /// Those of a channel.
    #[serde(default)]
    channel: Option<String>,
    /// Those between two principals.
    #[serde(default)]
    between: Option<(String, String)>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowParams {
    id: MessageId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PurgeParams {
    /// An age like `90d`.
    older_than: String,
    #[serde(default)]
    channel: Option<String>,
}

/// A message as the operator's list shows it: everything but what it says.
#[derive(Serialize)]
struct Envelope {
    id: MessageId,
    from: String,
    to: Option<String>,
    channel: Option<String>,
    reply_to: Option<MessageId>,
    status: MessageStatus,
    priority: i64,
    body_bytes: i64,
    created_at: Timestamp,
    edited_at: Option<Timestamp>,
    deleted_at: Option<Timestamp>,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("messages.list", |hub, actor, params: ListParams| async move { list(&hub, &actor, params).await });
    methods.add("messages.show", |hub, actor, params: ShowParams| async move { show(&hub, &actor, params.id).await });
    methods.add("messages.send", |hub, actor, params: SendMessageRequest| async move {
        send::send_message(&hub, &actor, params).await
    });
    methods.add("messages.purge", |hub, actor, params: PurgeParams| async move {
        let age = parse_duration(&params.older_than).ok().filter(|age| !age.is_zero());
        let age = age.ok_or_else(|| HubError::invalid_field("older_than", "must be an age such as 90d or 12h"))?;
        let before = Timestamp::from_ms(hub.clock().now_ms().saturating_sub(milliseconds(age)));
        purge::purge_messages(&hub, &actor, before, params.channel).await
    });
}

/// Messages of one conversation or of all, newest first, without what they say.
async fn list(hub: &Hub, actor: &Actor, params: ListParams) -> Result<Page<Envelope>, HubError> {
    actor.require_admin()?;
    if params.channel.is_some() && params.between.is_some() {
        return Err(HubError::invalid_field("between", "cannot be combined with channel"));
    }
    let name = format!("operator messages {:?} {:?}", params.channel, params.between);
    let page = ListQuery { limit: params.limit, cursor: params.cursor };
    let before = page.position(hub, actor, &name)?.unwrap_or(MessageId(i64::MAX));
    let limit = page.limit()?;
    let actor_in = actor.clone();
    let rows = hub
        .read(move |tx| {
            let conversation = match (&params.channel, &params.between) {
                (Some(channel), _) => Some(channels::find_visible(tx, &actor_in, channel)?.conversation_id),
                (None, Some((one, other))) => {
                    let find = |tx: &mut _, name: &str| {
                        principals::find(tx, name)?.ok_or_else(|| HubError::not_found("user or agent"))
                    };
                    let (one, other) = (find(tx, one)?, find(tx, other)?);
                    match channels::find_conversation_between(tx, one.id, other.id)? {
                        Some(conversation) => Some(conversation),
                        None => return Ok(Vec::new()),
                    }
                }
                (None, None) => None,
            };
            Ok::<_, HubError>(match conversation {
                Some(conversation) => {
                    store::list_before(tx, conversation, before, MessageId(0), limit + 1, Bodies::Beginning)?
                }
                None => store::list_all_before(tx, before, limit + 1)?,
            })
        })
        .await?;
    let envelopes = rows.into_iter().map(|row| (row.id, envelope(row)));
    page_of(hub, actor, &name, envelopes.collect(), limit)
}

fn envelope(message: MessageRow) -> Envelope {
    Envelope {
        id: message.id,
        from: message.from.name,
        to: message.to,
        channel: message.channel,
        reply_to: message.reply_to,
        status: message.status,
        priority: message.priority,
        body_bytes: message.body_bytes,
        created_at: message.created_at,
        edited_at: message.edited_at,
        deleted_at: message.deleted_at,
    }
}

/// A whole message. That somebody looked is noted, in the transaction of the look.
async fn show(hub: &Hub, actor: &Actor, id: MessageId) -> Result<MessageView, HubError> {
    actor.require_admin()?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let row = store::find_message(tx, id)?.ok_or_else(|| HubError::not_found("message"))?;
        let details = json!({"from": row.from.name, "to": row.to, "channel": row.channel});
        audit::record(tx, &actor_in, "message.shown", Some(&id.to_string()), &details)?;
        let shown = row.mention_of.unwrap_or(id);
        let attachments = attachments::of(tx, &[shown])?.remove(&shown).unwrap_or_default();
        let reactions = reactions::of(tx, &[id])?.remove(&id).unwrap_or_default();
        Ok(MessageView { attachments, reactions, ..row.into() })
    })
    .await
}
