use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use stoa_model::channels::{
    ChannelDetails, ChannelView, CreateChannelRequest, UpdateChannelRequest, UpdateChannelSettingsRequest,
};
use stoa_model::notifications::{NotificationSettings, UpdateNotificationSettingsRequest};
use stoa_model::page::Page;
use utoipa_axum::routes;

use super::service::{self, RevisedChannel};
use super::{levels, members};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::http::{ApiRouter, Body, NoBody, Path, Query, WithEtag, expected_revision, with_etag};

pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .routes(routes!(list_channels, create_channel))
        .routes(routes!(get_channel, update_channel, delete_channel))
        .routes(routes!(update_channel_settings))
        .routes(routes!(join_channel))
        .routes(routes!(leave_channel))
        .routes(routes!(add_member, remove_member))
        .routes(routes!(get_notification_settings, update_notification_settings))
}

fn revised(channel: RevisedChannel) -> Result<WithEtag<ChannelDetails>, HubError> {
    with_etag(channel.revision, channel.details)
}

/// Lists the channels the caller can see, by name.
#[utoipa::path(get, path = "/api/channels", tag = "channels", params(ListQuery),
    responses((status = 200, body = Page<ChannelView>)), security(("session" = []), ("bearer" = [])))]
async fn list_channels(
    State(hub): State<Hub>,
    actor: Actor,
    Query(list): Query<ListQuery>,
) -> Result<Json<Page<ChannelView>>, HubError> {
    Ok(Json(service::list_channels(&hub, &actor, list).await?))
}

/// Creates a channel. A channel created by an agent belongs to the agent's owner.
#[utoipa::path(post, path = "/api/channels", tag = "channels", request_body = CreateChannelRequest,
    responses((status = 201, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn create_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<CreateChannelRequest>,
) -> Result<(StatusCode, WithEtag<ChannelDetails>), HubError> {
    Ok((StatusCode::CREATED, revised(service::create_channel(&hub, &actor, request).await?)?))
}

/// Returns a channel and its members (the first 1000 by name), with its revision as ETag.
#[utoipa::path(get, path = "/api/channels/{name}", tag = "channels", params(("name" = String, Path)),
    responses((status = 200, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn get_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
) -> Result<WithEtag<ChannelDetails>, HubError> {
    revised(service::get_channel(&hub, &actor, name).await?)
}

/// Updates a channel's texts, owner or visibility; with `If-Match`, only if it has not changed since it was read.
#[utoipa::path(patch, path = "/api/channels/{name}", tag = "channels", request_body = UpdateChannelRequest,
    params(("name" = String, Path), ("If-Match" = Option<String>, Header, description = "The ETag of the channel when it was read")),
    responses((status = 200, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn update_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    headers: HeaderMap,
    Body(request): Body<UpdateChannelRequest>,
) -> Result<WithEtag<ChannelDetails>, HubError> {
    let expected = expected_revision(&headers)?;
    revised(service::update_channel(&hub, &actor, name, expected, request).await?)
}

/// Deletes a channel and all its messages.
#[utoipa::path(delete, path = "/api/channels/{name}", tag = "channels", params(("name" = String, Path)),
    responses((status = 204)), security(("session" = [])))]
async fn delete_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    service::delete_channel(&hub, &actor, name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Updates the given settings; with `If-Match`, only if they have not changed since they were read.
#[utoipa::path(put, path = "/api/channels/{name}/settings", tag = "channels", request_body = UpdateChannelSettingsRequest,
    params(("name" = String, Path), ("If-Match" = Option<String>, Header, description = "The ETag of the channel when it was read")),
    responses((status = 200, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn update_channel_settings(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    headers: HeaderMap,
    Body(request): Body<UpdateChannelSettingsRequest>,
) -> Result<WithEtag<ChannelDetails>, HubError> {
    let expected = expected_revision(&headers)?;
    revised(service::update_settings(&hub, &actor, name, expected, request).await?)
}

/// Joins a public channel.
#[utoipa::path(post, path = "/api/channels/{name}/join", tag = "channels", params(("name" = String, Path)),
    responses((status = 200, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn join_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<WithEtag<ChannelDetails>, HubError> {
    revised(members::join_channel(&hub, &actor, name).await?)
}

/// Leaves a channel. A user's agents leave too.
#[utoipa::path(post, path = "/api/channels/{name}/leave", tag = "channels", params(("name" = String, Path)),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn leave_channel(
    State(hub): State<Hub>,
    actor: Actor,
    Path(name): Path<String>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    members::leave_channel(&hub, &actor, name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds a member. The owner can add anyone, others their own agents.
#[utoipa::path(put, path = "/api/channels/{name}/members/{principal}", tag = "channels",
    params(("name" = String, Path), ("principal" = String, Path, description = "A user or an agent")),
    responses((status = 200, body = ChannelDetails)), security(("session" = []), ("bearer" = [])))]
async fn add_member(
    State(hub): State<Hub>,
    actor: Actor,
    Path((name, principal)): Path<(String, String)>,
    _: NoBody,
) -> Result<WithEtag<ChannelDetails>, HubError> {
    revised(members::add_member(&hub, &actor, name, principal).await?)
}

/// Removes a member. The owner can remove anyone, others themselves and their own agents.
#[utoipa::path(delete, path = "/api/channels/{name}/members/{principal}", tag = "channels",
    params(("name" = String, Path), ("principal" = String, Path, description = "A user or an agent")),
    responses((status = 204)), security(("session" = []), ("bearer" = [])))]
async fn remove_member(
    State(hub): State<Hub>,
    actor: Actor,
    Path((name, principal)): Path<(String, String)>,
    _: NoBody,
) -> Result<StatusCode, HubError> {
    members::remove_member(&hub, &actor, name, principal).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the caller's notification settings.
#[utoipa::path(get, path = "/api/notifications/settings", tag = "notifications",
    responses((status = 200, body = NotificationSettings)), security(("session" = [])))]
async fn get_notification_settings(
    State(hub): State<Hub>,
    actor: Actor,
) -> Result<Json<NotificationSettings>, HubError> {
    Ok(Json(levels::get_notification_settings(&hub, &actor).await?))
}

/// Updates the caller's notification settings: all messages of a channel, or only mentions.
#[utoipa::path(put, path = "/api/notifications/settings", tag = "notifications",
    request_body = UpdateNotificationSettingsRequest,
    responses((status = 200, body = NotificationSettings)), security(("session" = [])))]
async fn update_notification_settings(
    State(hub): State<Hub>,
    actor: Actor,
    Body(request): Body<UpdateNotificationSettingsRequest>,
) -> Result<Json<NotificationSettings>, HubError> {
    Ok(Json(levels::update_notification_settings(&hub, &actor, request).await?))
}
