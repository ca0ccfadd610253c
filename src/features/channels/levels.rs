//! What each member wants to be told of.

use std::collections::{BTreeMap, HashSet};

use stoa_db::{DbError, Tx};
use stoa_model::notifications::{ChannelLevel, NotificationSettings, UpdateNotificationSettingsRequest};
use stoa_model::{ConversationId, PrincipalId};

use super::service::find_visible;
use super::store;
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, ReadingEvent};
use crate::hub::Hub;

pub async fn get_notification_settings(hub: &Hub, actor: &Actor) -> Result<NotificationSettings, HubError> {
    actor.require_session()?;
    let reader = actor.id();
    Ok(hub.read(move |tx| settings_of(tx, reader)).await?)
}

fn settings_of(tx: &mut Tx<'_>, reader: PrincipalId) -> Result<NotificationSettings, DbError> {
    let channels = store::list_levels(tx, reader)?;
    Ok(NotificationSettings {
        default_level: store::find_default_level(tx, reader)?,
        channels: channels.into_iter().map(|(_, channel, level)| ChannelLevel { channel, level }).collect(),
    })
}

/// Changes what the caller is told of, from now on and for what is unread already.
pub async fn update_notification_settings(
    hub: &Hub,
    actor: &Actor,
    request: UpdateNotificationSettingsRequest,
) -> Result<NotificationSettings, HubError> {
    actor.require_session()?;
    request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let reader = actor_in.id();
        let before = quiet_of(tx, reader)?;
        if let Some(level) = request.default_level {
            store::upsert_default_level(tx, reader, level)?;
        }
        if let Some(channels) = &request.channels {
            store::delete_levels(tx, reader)?;
            for (index, wanted) in channels.iter().enumerate() {
                let channel = find_visible(tx, &actor_in, &wanted.channel).map_err(|error| match error.code {
                    "not_found" => HubError::invalid_field(
                        &format!("channels[{index}].channel"),
                        "is not a channel that you can see",
                    ),
                    _ => error,
                })?;
                store::upsert_level(tx, reader, channel.id, wanted.level)?;
            }
        }
        // Whoever shows counts is told of those that are different now.
        for (conversation, is_quiet) in quiet_of(tx, reader)? {
            if before.get(&conversation) != Some(&is_quiet) {
                events::emit(&hub_in, tx, &actor_in, ReadingEvent::Moved { principal: reader, conversation })?;
            }
        }
        Ok(settings_of(tx, reader)?)
    })
    .await
}

fn quiet_of(tx: &mut Tx<'_>, reader: PrincipalId) -> Result<BTreeMap<ConversationId, bool>, DbError> {
    let mut levels = BTreeMap::new();
    for (_, conversation) in store::list_memberships(tx, reader)? {
        let is_quiet = !store::list_quiet_readers(tx, conversation, &[reader])?.is_empty();
        levels.insert(conversation, is_quiet);
    }
    Ok(levels)
}

/// Those of the readers who want to be told of mentions only in this conversation.
pub fn list_quiet(
    tx: &mut Tx<'_>,
    conversation: ConversationId,
    readers: &[PrincipalId],
) -> Result<HashSet<PrincipalId>, DbError> {
    store::list_quiet_readers(tx, conversation, readers)
}
