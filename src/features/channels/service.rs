use serde::{Deserialize, Serialize};
use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::channels::{
    ChannelDetails, ChannelSettings, ChannelView, CreateChannelRequest, GENERAL, MAX_LISTED_MEMBERS, MemberView,
    UpdateChannelRequest, UpdateChannelSettingsRequest,
};
use stoa_model::page::Page;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::{ChannelId, ConversationId, MessageId, PrincipalId};

use super::members;
use super::store::{self, ChannelRow, Member, MemberRow, NewChannel, PostingRow, WorkflowChannel};
use super::visibility::{self, Audience};
use super::working::Working;
use crate::access::Actor;
use crate::access::reach::outside_run_reach;
use crate::error::{ErrorKind, HubError};
use crate::events::{self, ChannelEvent, ReadingEvent};
use crate::features::{audit, principals, users};
use crate::hub::idempotency::Replayed;
use crate::hub::{Hub, Way};
use crate::paging::{ListQuery, page_of};

/// A channel, its members, and the revision that clients send back as `If-Match`.
#[derive(Debug, Serialize, Deserialize)]
pub struct RevisedChannel {
    pub details: ChannelDetails,
    pub revision: i64,
}

impl Replayed for RevisedChannel {
    type Kept = (ChannelId,);

    fn kept(&self) -> Self::Kept {
        (self.details.channel.id,)
    }

    fn again(tx: &mut Tx<'_>, actor: &Actor, (id,): Self::Kept) -> Result<Self, HubError> {
        let missing = || HubError::not_found("channel");
        let channel = store::find_channel_by_id(tx, actor.id(), id)?.ok_or_else(missing)?;
        // By its name, as everybody finds it, and only if it is the same one.
        let seen = find_visible(tx, actor, &channel.name)?;
        if seen.id == id { details_of(tx, seen) } else { Err(missing()) }
    }
}

impl From<ChannelRow> for ChannelView {
    fn from(row: ChannelRow) -> Self {
        Self {
            id: row.id,
            conversation_id: row.conversation_id,
            name: row.name,
            topic: row.topic,
            description: row.description,
            public: row.is_public,
            owner: row.owner,
            settings: row.settings,
            created_at: row.created_at,
            member_count: row.member_count,
            is_member: row.is_member,
            last_read_message_id: row.last_read_message_id,
            last_message_id: row.last_message_id,
        }
    }
}

impl From<MemberRow> for MemberView {
    fn from(row: MemberRow) -> Self {
        Self {
            name: row.name,
            kind: row.kind,
            display_name: row.display_name,
            owner: row.owner,
            joined_at: row.joined_at,
            last_seen_at: row.last_seen_at,
        }
    }
}

/// A channel that the caller may write to, and how the caller is shown there.
pub struct ChannelForPosting {
    pub id: ChannelId,
    pub conversation: ConversationId,
    pub name: String,
    pub is_public: bool,
    pub is_workflow: bool,
    pub author_display_name: String,
    /// What the author is working on.
    pub author_working: Working,
}

/// Makes `#general`, with everybody in it, if it is not there. Its owner is the first administrator.
pub async fn ensure_general(hub: &Hub) -> Result<(), HubError> {
    if hub.read(|tx| store::is_name_taken(tx, GENERAL)).await? {
        return Ok(());
    }
    let hub_in = hub.clone();
    hub.write(move |tx| {
        let Some(owner) = store::find_first_admin(tx)? else { return Ok(()) };
        let channel =
            NewChannel { name: GENERAL, topic: "Everyone is a member", description: "", is_public: true, owner };
        // Two hubs may start on one new database.
        if let Some((id, conversation)) = insert_channel(&hub_in, tx, &Actor::system(), &channel)? {
            store::insert_everybody(tx, id)?;
            events::emit(&hub_in, tx, &Actor::system(), ChannelEvent::Updated { channel: id, conversation })?;
        }
        Ok(())
    })
    .await
}

fn insert_channel(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    channel: &NewChannel<'_>,
) -> Result<Option<(ChannelId, ConversationId)>, HubError> {
    if store::is_name_taken(tx, channel.name)? {
        return Ok(None);
    }
    let conversation = store::insert_conversation(tx)?;
    let Some(id) = store::insert_channel(tx, conversation, channel)? else { return Ok(None) };
    events::emit(hub, tx, actor, ChannelEvent::Created { channel: id, conversation })?;
    Ok(Some((id, conversation)))
}

/// Makes a channel of the caller's, or of the agent's owner.
pub async fn create_channel(
    hub: &Hub,
    actor: &Actor,
    request: CreateChannelRequest,
) -> Result<RevisedChannel, HubError> {
    create_channel_for(hub, actor, None, request).await
}

/// Makes a channel for the user of that name, or for the caller.
pub async fn create_channel_for(
    hub: &Hub,
    actor: &Actor,
    owner: Option<String>,
    request: CreateChannelRequest,
) -> Result<RevisedChannel, HubError> {
    actor.require(Permission::ChannelsWrite)?;
    if owner.is_some() {
        actor.require_admin()?;
    }
    request.check()?;
    actor.require_beyond_conversation()?;
    if actor.principal.reach.is_limited() {
        return Err(HubError::forbidden(
            "forbidden",
            "This key is limited to certain channels, so it cannot create one.",
        ));
    }
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let owner = match &owner {
            Some(owner) => users::find_user_id(tx, owner)?,
            None => actor_in.principal.human,
        };
        let channel = NewChannel {
            name: &request.name,
            topic: &request.topic,
            description: &request.description,
            is_public: request.public.unwrap_or(true),
            owner,
        };
        require_free_name(tx, &actor_in, &request.name, owner)?;
        let created = insert_channel(&hub_in, tx, &actor_in, &channel)?;
        let (id, conversation) = created.ok_or_else(|| {
            HubError::conflict("name_taken", format!("The channel name {} is already taken.", request.name))
                .hint("Choose another name.")
        })?;
        members::add(&hub_in, tx, &actor_in, id, conversation, owner)?;
        if actor_in.principal.kind == PrincipalKind::Agent {
            members::add(&hub_in, tx, &actor_in, id, conversation, actor_in.id())?;
        }
        audit::record(
            tx,
            &actor_in,
            "channel.created",
            Some(&request.name),
            &json!({"public": request.public.unwrap_or(true)}),
        )?;
        details(tx, &actor_in, &request.name)
    })
    .await
}

/// Those who know a deleted channel by its name must not take a stranger's for it. So only its last owner can use the name again, or
/// an administrator.
fn require_free_name(tx: &mut Tx<'_>, actor: &Actor, name: &str, owner: PrincipalId) -> Result<(), HubError> {
    match store::find_former_owner(tx, name)? {
        Some(former) if former != owner && !actor.is_admin() => {
            let detail = format!(
                "The name {name} belonged to a deleted channel. Only its last owner or an admin can use it again."
            );
            Err(HubError::conflict("name_taken", detail).hint("Choose another name."))
        }
        _ => Ok(()),
    }
}

/// Names of channels that the caller sees and that begin like this, in order.
pub async fn list_names(hub: &Hub, actor: &Actor, beginning: &str, limit: usize) -> Result<Vec<String>, HubError> {
    actor.require(Permission::ChannelsRead)?;
    let (actor_in, beginning) = (actor.clone(), beginning.to_owned());
    hub.read(move |tx| {
        let exact = find_seen(tx, &actor_in, &beginning)?.map(|channel| channel.name);
        let mut names: Vec<String> = exact.into_iter().collect();
        let behind = store::list_channels(tx, &actor_in, &beginning, i64::try_from(limit).unwrap_or(i64::MAX))?;
        names.extend(behind.into_iter().map(|channel| channel.name).take_while(|name| name.starts_with(&beginning)));
        names.truncate(limit);
        Ok::<_, HubError>(names)
    })
    .await
}

pub async fn list_channels(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<ChannelView>, HubError> {
    actor.require(Permission::ChannelsRead)?;
    let after: String = list.position(hub, actor, "channels")?.unwrap_or_default();
    let limit = list.limit()?;
    let actor_in = actor.clone();
    let channels = hub
        .read(move |tx| {
            if actor_in.is_operator() {
                return store::list_all_channels(tx, &after, limit + 1);
            }
            store::list_channels(tx, &actor_in, &after, limit + 1)
        })
        .await?;
    let channels = channels.into_iter().map(|channel| (channel.name.clone(), channel.into())).collect();
    page_of(hub, actor, "channels", channels, limit)
}

pub async fn get_channel(hub: &Hub, actor: &Actor, name: String) -> Result<RevisedChannel, HubError> {
    actor.require(Permission::ChannelsRead)?;
    let actor = actor.clone();
    hub.read(move |tx| details(tx, &actor, &name)).await
}

/// Changes what the channel says about itself. With `expected_revision`, only if nobody changed it
/// in the meantime.
pub async fn update_channel(
    hub: &Hub,
    actor: &Actor,
    name: String,
    expected_revision: Option<i64>,
    request: UpdateChannelRequest,
) -> Result<RevisedChannel, HubError> {
    update_whole(hub, actor, name, expected_revision, request, UpdateChannelSettingsRequest::default()).await
}

/// Changes how work is done in the channel. Only what is given changes.
pub async fn update_settings(
    hub: &Hub,
    actor: &Actor,
    name: String,
    expected_revision: Option<i64>,
    request: UpdateChannelSettingsRequest,
) -> Result<RevisedChannel, HubError> {
    update_whole(hub, actor, name, expected_revision, UpdateChannelRequest::default(), request).await
}

/// Changes both in one go.
pub async fn update_whole(
    hub: &Hub,
    actor: &Actor,
    name: String,
    expected_revision: Option<i64>,
    request: UpdateChannelRequest,
    settings: UpdateChannelSettingsRequest,
) -> Result<RevisedChannel, HubError> {
    request.check()?;
    settings.check()?;
    // An agent must not decide how far agents are trusted, who sees the channel, or whose it is.
    if request.owner.is_some() || request.public.is_some() || settings.concerns_trust() {
        let said = "Only a person who is logged in can change who sees a channel, whose it is, `auto_approve` and the thresholds.";
        actor.require_session().map_err(|_| HubError::forbidden("forbidden", said).hint("Leave these out."))?;
    }
    let changed = audited(&request, &settings)?;
    let actor_in = actor.clone();
    change_channel(hub, actor, name, expected_revision, changed, move |tx, channel| {
        // Where messages are no work, agents are not limited by trust.
        if channel.settings.workflow_enabled && settings.workflow_enabled == Some(false) {
            actor_in.require_session()?;
        }
        if let Some(owner) = &request.owner {
            channel.owner_id = find_heir(tx, channel, owner)?;
        }
        if request.public == Some(false) && channel.name == GENERAL {
            return Err(general_stays("It must stay public."));
        }
        if let Some(topic) = &request.topic {
            channel.topic.clone_from(topic);
        }
        if let Some(description) = &request.description {
            channel.description.clone_from(description);
        }
        channel.is_public = request.public.unwrap_or(channel.is_public);
        settings.apply(&mut channel.settings);
        Ok(())
    })
    .await
}

/// What the audit log says of a change. It is read by administrators who may not see the channel, so of its
/// texts it says only that they changed.
fn audited(
    request: &UpdateChannelRequest,
    settings: &UpdateChannelSettingsRequest,
) -> Result<serde_json::Value, HubError> {
    let mut changed = serde_json::Map::new();
    for part in [serde_json::to_value(request), serde_json::to_value(settings)] {
        let part = part.map_err(HubError::internal)?;
        let fields = part.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        changed.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
    }
    let texts: Vec<_> = ["topic", "description"].into_iter().filter(|text| changed.remove(*text).is_some()).collect();
    if !texts.is_empty() {
        changed.insert("texts".to_owned(), json!(texts));
    }
    Ok(changed.into())
}

fn find_heir(tx: &mut Tx<'_>, channel: &ChannelRow, name: &str) -> Result<PrincipalId, HubError> {
    let known = principals::find(tx, name)?.filter(|known| known.is_reachable() && known.kind == PrincipalKind::User);
    match known {
        Some(heir) if store::is_member(tx, channel.id, heir.id)? => Ok(heir.id),
        _ => Err(HubError::invalid_field("owner", "must be a person among the members")),
    }
}

/// One change of a channel by who answers for it: find, change, tell, answer with what it is now.
async fn change_channel(
    hub: &Hub,
    actor: &Actor,
    name: String,
    expected_revision: Option<i64>,
    changed: serde_json::Value,
    change: impl Fn(&mut Tx<'_>, &mut ChannelRow) -> Result<(), HubError> + Send + 'static,
) -> Result<RevisedChannel, HubError> {
    actor.require(Permission::ChannelsWrite)?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command_replayed(actor, Way::Alone, move |tx| {
        let mut channel = require_managed(tx, &actor_in, &name)?;
        if expected_revision.is_some_and(|expected| expected != channel.revision) {
            return Err(HubError::new(
                ErrorKind::PreconditionFailed,
                "precondition_failed",
                "The channel has changed since you read it.",
            )
            .hint("Read it again and repeat your change with the new ETag."));
        }
        let was_public = channel.is_public;
        change(tx, &mut channel)?;
        store::update_channel(tx, &channel)?;
        audit::record(tx, &actor_in, "channel.updated", Some(&channel.name), &changed)?;
        let (id, conversation) = (channel.id, channel.conversation_id);
        events::emit(&hub_in, tx, &actor_in, ChannelEvent::Updated { channel: id, conversation })?;
        if was_public && !channel.is_public {
            events::emit(&hub_in, tx, &actor_in, ChannelEvent::Hidden { channel: id, conversation })?;
        }
        // Who has made it private may have lost sight of it. They are told what they did all the same.
        let changed = store::find_channel(tx, actor_in.id(), &channel.name)?;
        details_of(tx, changed.ok_or_else(|| HubError::not_found("channel"))?)
    })
    .await
}

/// Takes the channel away, with everything that was said in it.
pub async fn delete_channel(hub: &Hub, actor: &Actor, name: String) -> Result<(), HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let channel = require_managed(tx, &actor_in, &name)?;
        if channel.name == GENERAL {
            return Err(general_stays("It cannot be deleted."));
        }
        // Its messages are nobody's to see from here on; housekeeping takes them away bit by bit.
        let (id, conversation) = (channel.id, channel.conversation_id);
        let audience = match visibility::audience(tx, conversation)? {
            Audience::Everybody => None,
            Audience::Only(principals) => Some(principals.into_iter().collect()),
        };
        store::update_deleted(tx, id)?;
        audit::record(tx, &actor_in, "channel.deleted", Some(&channel.name), &json!({}))?;
        let deleted = ChannelEvent::Deleted { channel: id, conversation, name: channel.name, audience };
        events::emit(&hub_in, tx, &actor_in, deleted)?;
        Ok(())
    })
    .await
}

fn general_stays(detail: &str) -> HubError {
    HubError::conflict("general_channel", format!("Everyone is a member of #{GENERAL}. {detail}"))
}

/// A channel that the caller may see, by its name with or without `#`.
pub fn find_visible(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<ChannelRow, HubError> {
    if let Some(channel) = find_seen(tx, actor, name)? {
        return Ok(channel);
    }
    if actor.principal.reach.of_run().is_some() && find_seen_by(tx, actor.id(), name)?.is_some() {
        return Err(outside_run_reach());
    }
    Err(HubError::not_found("channel"))
}

fn find_seen(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<Option<ChannelRow>, DbError> {
    if actor.is_operator() {
        return store::find_channel(tx, actor.id(), name.strip_prefix('#').unwrap_or(name));
    }
    Ok(find_seen_by(tx, actor.id(), name)?
        .filter(|channel| actor.reads_channel(channel.conversation_id, channel.is_public)))
}

/// A channel that a principal sees, whatever their credential.
pub fn find_seen_by(tx: &mut Tx<'_>, viewer: PrincipalId, name: &str) -> Result<Option<ChannelRow>, DbError> {
    let name = name.strip_prefix('#').unwrap_or(name);
    let sees = |channel: &ChannelRow| channel.is_public || channel.is_member || channel.has_own_agent;
    Ok(store::find_channel(tx, viewer, name)?.filter(sees))
}

/// A channel that the caller answers for: its owner, an agent of its owner, or an administrator who
/// may see it.
pub(super) fn require_managed(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<ChannelRow, HubError> {
    let channel = find_visible(tx, actor, name)?;
    if channel.owner_id == actor.principal.human || actor.is_admin() {
        return Ok(channel);
    }
    let owner = &channel.owner;
    Err(HubError::forbidden("forbidden", "Only the channel owner or an admin can do this.")
        .hint(format!("The owner of #{} is {owner}.", channel.name)))
}

pub(super) fn details(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<RevisedChannel, HubError> {
    let channel = find_visible(tx, actor, name)?;
    details_of(tx, channel)
}

fn details_of(tx: &mut Tx<'_>, channel: ChannelRow) -> Result<RevisedChannel, HubError> {
    let members = store::list_members(tx, channel.id, MAX_LISTED_MEMBERS)?;
    let members = members.into_iter().map(Into::into).collect();
    Ok(RevisedChannel { revision: channel.revision, details: ChannelDetails { channel: channel.into(), members } })
}

/// The channel that the caller wants to write into. Writing into a public one joins it.
pub fn find_for_posting(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<ChannelForPosting, HubError> {
    let author = author_id(tx, actor)?;
    let row = store::find_for_posting(tx, author, name)?;
    join_for_posting(hub, tx, actor, row)
}

/// The same for a channel that was found before.
pub fn find_known_for_posting(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: ChannelId,
) -> Result<ChannelForPosting, HubError> {
    let author = author_id(tx, actor)?;
    let row = store::find_known_for_posting(tx, author, id)?;
    join_for_posting(hub, tx, actor, row)
}

fn join_for_posting(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    row: Option<PostingRow>,
) -> Result<ChannelForPosting, HubError> {
    let row = require_writable(tx, actor, row)?;
    // Machines are members only where somebody made them one.
    if !row.is_member && !actor.is_operator() && actor.principal.kind != PrincipalKind::Machine {
        members::require_let_in(tx, row.id, actor.id())?;
        members::add(hub, tx, actor, row.id, row.conversation, actor.id())?;
    }
    Ok(for_posting(row))
}

/// A channel that a principal may write to, for something that posts under a name of its own with the rights of that principal. Joins
/// nothing.
pub fn find_writable_by(
    tx: &mut Tx<'_>,
    writer: PrincipalId,
    id: ChannelId,
) -> Result<Option<ChannelForPosting>, DbError> {
    let Some(row) = store::find_known_for_posting(tx, writer, id)? else { return Ok(None) };
    let may_write = row.is_member || (row.is_public && !store::is_kept_out(tx, row.id, writer)?);
    Ok(may_write.then(|| for_posting(row)))
}

/// The channel in which the caller changes what they said. That joins nothing: they may have left it.
pub fn find_for_editing(tx: &mut Tx<'_>, actor: &Actor, name: &str) -> Result<ChannelForPosting, HubError> {
    let author = author_id(tx, actor)?;
    let row = store::find_for_posting(tx, author, name)?;
    require_writable(tx, actor, row).map(for_posting)
}

fn author_id(tx: &mut Tx<'_>, actor: &Actor) -> Result<PrincipalId, HubError> {
    if actor.is_operator() { Ok(principals::system(tx)?.id) } else { Ok(actor.id()) }
}

fn require_writable(tx: &mut Tx<'_>, actor: &Actor, row: Option<PostingRow>) -> Result<PostingRow, HubError> {
    let missing = || HubError::not_found("channel").hint("List your channels with GET /api/channels.");
    // A run that others have started hears that it cannot write there, if it sees that there is such a channel.
    let is_run = actor.principal.reach.of_run().is_some();
    let row = row.filter(|row| is_run || actor.reaches_channel(row.conversation)).ok_or_else(missing)?;
    if row.is_member || row.is_public {
        actor.require_own_conversation(row.conversation)?;
    }
    if row.is_member || row.is_public || actor.is_operator() {
        Ok(row)
    } else if !store::list_owned_members(tx, row.id, actor.id())?.is_empty() {
        Err(HubError::forbidden("not_a_member", "Only members can post in a private channel.")
            .hint("Ask the channel's owner to add you."))
    } else {
        Err(missing())
    }
}

fn for_posting(row: PostingRow) -> ChannelForPosting {
    ChannelForPosting {
        id: row.id,
        conversation: row.conversation,
        name: row.name,
        is_public: row.is_public,
        is_workflow: row.is_workflow,
        author_display_name: row.author_display_name,
        author_working: row.author_working,
    }
}

/// The conversation of two, made at its first use.
pub fn conversation_between(tx: &mut Tx<'_>, one: PrincipalId, other: PrincipalId) -> Result<ConversationId, DbError> {
    match store::find_pair(tx, one, other)? {
        Some(conversation) => Ok(conversation),
        None => store::insert_pair(tx, one, other),
    }
}

pub fn find_conversation_between(
    tx: &mut Tx<'_>,
    one: PrincipalId,
    other: PrincipalId,
) -> Result<Option<ConversationId>, DbError> {
    store::find_pair(tx, one, other)
}

/// Members whom messages can reach, at most `limit`.
pub fn list_members(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<Vec<Member>, DbError> {
    store::list_member_ids(tx, channel, limit)
}

/// The people among the members whom messages can reach, at most `limit`.
pub fn list_human_members(tx: &mut Tx<'_>, channel: ChannelId, limit: i64) -> Result<Vec<PrincipalId>, DbError> {
    store::list_human_members(tx, channel, limit)
}

/// How work is done in a channel, if it is still there.
pub fn find_settings(tx: &mut Tx<'_>, channel: ChannelId) -> Result<Option<ChannelSettings>, DbError> {
    store::find_settings(tx, channel)
}

/// The owner of a channel, if it is still there.
pub fn find_owner(tx: &mut Tx<'_>, channel: ChannelId) -> Result<Option<PrincipalId>, DbError> {
    store::find_owner(tx, channel)
}

/// The channels whose messages are work.
pub fn list_workflow_channels(tx: &mut Tx<'_>) -> Result<Vec<WorkflowChannel>, DbError> {
    store::list_workflow_channels(tx)
}

/// Whether somebody else took the principal, or the person who owns it, out of a channel.
pub fn is_kept_out(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    store::is_kept_out(tx, channel, principal)
}

pub fn is_member(tx: &mut Tx<'_>, channel: ChannelId, principal: PrincipalId) -> Result<bool, DbError> {
    store::is_member(tx, channel, principal)
}

/// Whether everybody sees a channel.
pub fn is_public(tx: &mut Tx<'_>, channel: ChannelId) -> Result<bool, DbError> {
    store::is_public(tx, channel)
}

/// How far a principal has read.
pub fn cursor(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    conversation: ConversationId,
) -> Result<Option<MessageId>, DbError> {
    Ok(store::find_cursor(tx, principal, conversation)?.filter(|message| message.0 > 0))
}

/// Notes how far the caller has read; it may be less than before.
pub fn move_cursor(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    conversation: ConversationId,
    message: MessageId,
) -> Result<(), HubError> {
    if store::find_cursor(tx, actor.id(), conversation)? == Some(message) {
        return Ok(());
    }
    store::upsert_cursor(tx, actor.id(), conversation, message)?;
    events::emit(hub, tx, actor, ReadingEvent::Moved { principal: actor.id(), conversation })?;
    Ok(())
}

/// A deleted channel that still has messages or cursors. `delete_messages` takes some away and says how
/// many; the cursors follow when none is left.
pub fn purge_deleted(
    tx: &mut Tx<'_>,
    delete_messages: impl FnOnce(&mut Tx<'_>, ConversationId) -> Result<u64, HubError>,
) -> Result<u64, HubError> {
    let Some((channel, conversation)) = store::find_deleted(tx)? else { return Ok(0) };
    let deleted = delete_messages(tx, conversation)?;
    if deleted == 0 {
        store::update_purged(tx, channel, conversation)?;
    }
    Ok(deleted.max(1))
}
