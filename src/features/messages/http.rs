use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use stoa_model::MessageId;
use stoa_model::messages::{
    ClaimRequest, ConversationPage, DeliveryList, DoneRequest, EditMessageRequest, FailRequest, InboxStatus, Items,
    MessageView, PartnerView, RevisionView, SendMessageRequest, SentMessage, SettledMessage, ThreadView,
};
use stoa_model::notifications::{MarkReadRequest, UnreadView};
use stoa_model::page::Page;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::inbox::InboxQuery;
use super::read::Range;
use super::{change, inbox, read, send, threads, unread, wakes};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, Commander, NoBody, OptionalBody, Path, Query};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(send_message))
        .routes(routes!(get_message, edit_message, delete_message))
        .routes(routes!(get_history))
        .routes(routes!(get_message_delivery))
        .routes(routes!(list_replies))
        .routes(routes!(list_inbox))
        .routes(routes!(claim_messages))
        .routes(routes!(mark_done))
        .routes(routes!(mark_failed))
        .routes(routes!(release_message))
        .routes(routes!(list_partners))
        .routes(routes!(list_dm_messages))
        .routes(routes!(list_threads))
        .routes(routes!(mute_thread, unmute_thread))
        .routes(routes!(list_channel_messages))
        .routes(routes!(list_pins))
        .routes(routes!(pin_message, unpin_message))
        .routes(routes!(list_unread))
        .routes(routes!(mark_read))
}

/// Sends a message to a user, an agent or a channel.
#[utoipa::path(post, path = "/api/messages", tag = "messages", request_body = SendMessageRequest,
    params(("webhook-loop-depth" = Option<i64>, Header, description = "The sender's depth in a chain of automation")),
    responses((status = 201, body = SentMessage)), security(("session" = []), ("bearer" = [])))]
async fn send_message(
    State(hub): State<Hub>,
    caller: Commander,
    Body(request): Body<SendMessageRequest>,
) -> Result<(StatusCode, Json<SentMessage>), HubError> {
    let send = |actor: Actor| {
        let (hub, request) = (hub.clone(), request.clone());
        async move { send::send_message(&hub, &actor, request).await }
    };
    Ok((StatusCode::CREATED, Json(caller.command(&hub, send).await?)))
}

/// Returns a message.
#[utoipa::path(get, path = "/api/messages/{id}", tag = "messages", params(("id" = i64, Path)),
    responses((status = 200, body = MessageView)), security(("session" = []), ("bearer" = [])))]
async fn get_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
) -> Result<Json<MessageView>, HubError> {
    Ok(Json(read::get_message(&hub, &actor, id).await?))
}

/// Edits a message of the caller. Earlier versions stay in its history.
#[utoipa::path(patch, path = "/api/messages/{id}", tag = "messages", params(("id" = i64, Path)),
    request_body = EditMessageRequest,
    responses((status = 200, body = MessageView)), security(("session" = []), ("bearer" = [])))]
async fn edit_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Body(request): Body<EditMessageRequest>,
) -> Result<Json<MessageView>, HubError> {
    Ok(Json(change::edit_message(&hub, &actor, id, request).await?))
}

/// Deletes a message and leaves a tombstone; its replies remain. Only for the author and the channel owner.
#[utoipa::path(delete, path = "/api/messages/{id}", tag = "messages", params(("id" = i64, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn delete_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    change::delete_message(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns what the message started and the runs that cover it. The author and their agents see everything, others only their own agents.
#[utoipa::path(get, path = "/api/messages/{id}/delivery", tag = "messages", params(("id" = i64, Path)),
    responses((status = 200, body = DeliveryList)), security(("session" = []), ("bearer" = [])))]
async fn get_message_delivery(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
) -> Result<Json<DeliveryList>, HubError> {
    Ok(Json(DeliveryList { items: wakes::get_delivery(&hub, &actor, id).await? }))
}

/// Lists all versions of a message, oldest first; the last one is current.
#[utoipa::path(get, path = "/api/messages/{id}/history", tag = "messages", params(("id" = i64, Path), ListQuery),
    responses((status = 200, body = Page<RevisionView>)), security(("session" = []), ("bearer" = [])))]
async fn get_history(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<RevisionView>>, HubError> {
    Ok(Json(change::get_history(&hub, &actor, id, list).await?))
}

/// Lists direct replies to a message in all conversations the caller can see, oldest first; 200 per page by default.
#[utoipa::path(get, path = "/api/messages/{id}/replies", tag = "messages", params(("id" = i64, Path), ListQuery),
    responses((status = 200, body = Page<MessageView>)), security(("session" = []), ("bearer" = [])))]
async fn list_replies(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<MessageView>>, HubError> {
    Ok(Json(read::list_replies(&hub, &actor, id, list).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct InboxParams {
    /// Which messages. Default: `pending`.
    #[serde(default)]
    #[param(inline)]
    status: InboxStatus,
    /// Full bodies instead of the first 120 characters.
    #[serde(default)]
    full: bool,
    /// Seconds to wait for a message, at most 50.
    #[serde(default)]
    #[param(minimum = 0, maximum = 50)]
    wait: Option<i64>,
}

/// Lists the caller's inbox, oldest first. With `wait`, responds as soon as there is something after the cursor, and always returns a cursor.
#[utoipa::path(get, path = "/api/inbox", tag = "inbox", params(InboxParams, ListQuery),
    responses((status = 200, body = Page<MessageView>)), security(("session" = []), ("bearer" = [])))]
async fn list_inbox(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<InboxParams>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<MessageView>>, HubError> {
    let query = InboxQuery { status: query.status, is_full: query.full, wait: query.wait };
    Ok(Json(inbox::list_inbox(&hub, &actor, query, list).await?))
}

/// Claims messages of the caller's inbox for a limited time, most urgent and oldest first.
#[utoipa::path(post, path = "/api/inbox/claim", tag = "inbox", request_body = Option<ClaimRequest>,
    responses((status = 200, body = Items<MessageView>)), security(("session" = []), ("bearer" = [])))]
async fn claim_messages(
    State(hub): State<Hub>,
    actor: Actor,
    OptionalBody(request): OptionalBody<ClaimRequest>,
) -> Result<Json<Items<MessageView>>, HubError> {
    Ok(Json(inbox::claim(&hub, &actor, request).await?))
}

/// Settles a message of the caller's inbox. A result is sent to its author as a reply.
#[utoipa::path(post, path = "/api/messages/{id}/done", tag = "inbox", params(("id" = i64, Path)),
    request_body = Option<DoneRequest>,
    responses((status = 200, body = SettledMessage)), security(("session" = []), ("bearer" = [])))]
async fn mark_done(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    OptionalBody(request): OptionalBody<DoneRequest>,
) -> Result<Json<SettledMessage>, HubError> {
    Ok(Json(inbox::done(&hub, &actor, id, request).await?))
}

/// Marks a message of the caller's inbox as failed. The author is notified with the reason.
#[utoipa::path(post, path = "/api/messages/{id}/fail", tag = "inbox", params(("id" = i64, Path)),
    request_body = FailRequest,
    responses((status = 200, body = SettledMessage)), security(("session" = []), ("bearer" = [])))]
async fn mark_failed(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    Body(request): Body<FailRequest>,
) -> Result<Json<SettledMessage>, HubError> {
    Ok(Json(inbox::fail(&hub, &actor, id, request).await?))
}

/// Releases a claimed message back to the inbox.
#[utoipa::path(post, path = "/api/messages/{id}/release", tag = "inbox", params(("id" = i64, Path)),
    responses((status = 200, body = MessageView)), security(("session" = []), ("bearer" = [])))]
async fn release_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    _: NoBody,
) -> Result<Json<MessageView>, HubError> {
    Ok(Json(inbox::release(&hub, &actor, id).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AsParams {
    /// One of the caller's agents, to list its DMs instead.
    #[serde(default, rename = "as")]
    agent: Option<String>,
}

/// Lists the caller's DM partners, latest first (at most 500).
#[utoipa::path(get, path = "/api/dm/partners", tag = "dm", params(AsParams),
    responses((status = 200, body = Vec<PartnerView>)), security(("session" = []), ("bearer" = [])))]
async fn list_partners(
    State(hub): State<Hub>,
    actor: Actor,
    Query(query): Query<AsParams>,
) -> Result<Json<Vec<PartnerView>>, HubError> {
    Ok(Json(unread::list_partners(&hub, &actor, query.agent).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RangeParams {
    /// Only messages before this one.
    #[serde(default)]
    before: Option<MessageId>,
    /// Only messages after this one.
    #[serde(default)]
    after: Option<MessageId>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PageLimit {
    /// Maximum number of items. Default 50, at most 200.
    #[serde(default)]
    #[param(minimum = 1, default = 50)]
    limit: Option<i64>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DmLimit {
    /// Maximum number of items. Default and maximum: 100.
    #[serde(default)]
    #[param(minimum = 1, default = 100)]
    limit: Option<i64>,
}

/// Lists the latest messages of a DM (at most 100), oldest first.
#[utoipa::path(get, path = "/api/dm/{name}/messages", tag = "dm",
    params(("name" = String, Path), AsParams, RangeParams, DmLimit),
    responses((status = 200, body = ConversationPage)), security(("session" = []), ("bearer" = [])))]
async fn list_dm_messages(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    Query(who): Query<AsParams>,
    Query(range): Query<RangeParams>,
    Query(limit): Query<DmLimit>,
) -> Result<Json<ConversationPage>, HubError> {
    let range = Range { before: range.before, after: range.after };
    Ok(Json(read::list_dm_messages(&hub, &actor, name, who.agent, range, limit.limit).await?))
}

/// Lists the caller's threads with unread replies, latest first.
#[utoipa::path(get, path = "/api/threads", tag = "threads", params(ListQuery),
    responses((status = 200, body = Page<ThreadView>)), security(("session" = []), ("bearer" = [])))]
async fn list_threads(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<ThreadView>>, HubError> {
    Ok(Json(threads::list_threads(&hub, &actor, list).await?))
}

/// Mutes a thread.
#[utoipa::path(put, path = "/api/threads/{message_id}/mute", tag = "threads", params(("message_id" = i64, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn mute_thread(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    threads::mute_thread(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Unmutes a thread.
#[utoipa::path(delete, path = "/api/threads/{message_id}/mute", tag = "threads", params(("message_id" = i64, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn unmute_thread(
    State(hub): State<Hub>,
    actor: Actor,
    Path(id): Path<MessageId>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    threads::unmute_thread(&hub, &actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists messages of a channel, oldest first: the latest, or those before or after a message.
#[utoipa::path(get, path = "/api/channels/{name}/messages", tag = "channels",
    params(("name" = String, Path), RangeParams, PageLimit),
    responses((status = 200, body = ConversationPage)), security(("session" = []), ("bearer" = [])))]
async fn list_channel_messages(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    Query(range): Query<RangeParams>,
    Query(PageLimit { limit }): Query<PageLimit>,
) -> Result<Json<ConversationPage>, HubError> {
    let range = Range { before: range.before, after: range.after };
    let list = ListQuery { limit, cursor: None };
    Ok(Json(read::list_channel_messages(&hub, &actor, name, range, list).await?))
}

/// Lists a channel's pinned messages, latest pin first.
#[utoipa::path(get, path = "/api/channels/{name}/pins", tag = "channels", params(("name" = String, Path), ListQuery),
    responses((status = 200, body = Page<MessageView>)), security(("session" = []), ("bearer" = [])))]
async fn list_pins(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<MessageView>>, HubError> {
    Ok(Json(read::list_pins(&hub, &actor, name, list).await?))
}

/// Pins a message to its channel. Every member can do this.
#[utoipa::path(put, path = "/api/channels/{name}/pins/{message_id}", tag = "channels",
    params(("name" = String, Path), ("message_id" = i64, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn pin_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path((name, id)): Path<(String, MessageId)>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    threads::pin_message(&hub, &actor, name, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Unpins a message.
#[utoipa::path(delete, path = "/api/channels/{name}/pins/{message_id}", tag = "channels",
    params(("name" = String, Path), ("message_id" = i64, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn unpin_message(
    State(hub): State<Hub>,
    actor: Actor,
    Path((name, id)): Path<(String, MessageId)>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    threads::unpin_message(&hub, &actor, name, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the caller's unread counts per channel and DM.
#[utoipa::path(get, path = "/api/notifications/unread", tag = "notifications",
    responses((status = 200, body = Vec<UnreadView>)), security(("session" = []), ("bearer" = [])))]
async fn list_unread(State(hub): State<Hub>, actor: Actor) -> Result<Json<Vec<UnreadView>>, HubError> {
    Ok(Json(unread::list_unread(&hub, &actor).await?))
}

/// Marks a channel or a DM as read up to a message, also an earlier one than before.
#[utoipa::path(post, path = "/api/notifications/mark-read", tag = "notifications", request_body = MarkReadRequest,
    responses((status = 200, body = UnreadView)), security(("session" = []), ("bearer" = [])))]
async fn mark_read(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<MarkReadRequest>,
) -> Result<Json<UnreadView>, HubError> {
    Ok(Json(unread::mark_read(&hub, &actor, request).await?))
}
