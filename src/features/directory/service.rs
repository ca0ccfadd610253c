use std::time::Duration;

use stoa_model::page::Page;
use stoa_model::permissions::Permission;
use stoa_model::principals::{Card, PrincipalKind, Profile};

use super::store;
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::channels::visibility;
use crate::features::workflow;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

const MAX_QUERY_CHARACTERS: usize = 100;
/// Who was seen within this time is online.
const ONLINE_WITHIN: Duration = Duration::from_secs(5 * 60);
const MAX_SHARED_CHANNELS: i64 = 100;

/// The cards of all users and agents whose handle or display name contains `search`.
pub async fn list(hub: &Hub, actor: &Actor, search: &str, list: ListQuery) -> Result<Page<Card>, HubError> {
    actor.require(Permission::MessagesRead)?;
    if search.chars().count() > MAX_QUERY_CHARACTERS {
        return Err(HubError::invalid_field("q", format!("must be at most {MAX_QUERY_CHARACTERS} characters long")));
    }
    let search = search.to_lowercase();
    let scope = format!("directory {search}");
    let after: String = list.position(hub, actor, &scope)?.unwrap_or_default();
    let pattern = format!("%{}%", escape_like(&search));
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let cards = hub
        .read(move |tx| {
            let online_since = tx.now_ms() - milliseconds(ONLINE_WITHIN);
            store::list_cards(tx, &pattern, &after, online_since, &actor_in, limit + 1)
        })
        .await?;
    page_of(hub, actor, &scope, cards, limit)
}

/// Takes the special meaning from what a person typed.
fn escape_like(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The card of a user or an agent, with trust and the channels that the caller shares with them.
pub async fn get_profile(hub: &Hub, actor: &Actor, name: String) -> Result<Profile, HubError> {
    actor.require(Permission::MessagesRead)?;
    let actor = actor.clone();
    hub.read(move |tx| {
        let online_since = tx.now_ms() - milliseconds(ONLINE_WITHIN);
        let name = name.strip_prefix('@').unwrap_or(&name);
        let found = store::find_person(tx, name, online_since)?;
        let found = found.ok_or_else(|| HubError::not_found("user or agent"))?;
        visibility::require_known(tx, &actor, found.id)?;
        let trust = match found.card.kind {
            PrincipalKind::Agent => workflow::list_trust(tx, found.id)?,
            PrincipalKind::User | PrincipalKind::System | PrincipalKind::Machine => Vec::new(),
        };
        let shared = store::list_shared_channels(tx, found.id, actor.id(), MAX_SHARED_CHANNELS)?;
        let shared_channels = shared
            .into_iter()
            .filter(|shared| actor.reads_channel(shared.conversation, shared.is_public))
            .map(|shared| shared.name)
            .collect();
        Ok(Profile { card: found.card, role: found.role, created_at: found.created_at, trust, shared_channels })
    })
    .await
}
