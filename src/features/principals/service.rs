use stoa_db::{DbError, Tx};
use stoa_model::principals::PrincipalKind;
use stoa_model::{PrincipalId, handles};

use super::store::{self, PrincipalRow};
use crate::access::Actor;
use crate::error::HubError;
use crate::events::{self, PrincipalEvent};
use crate::hub::Hub;

/// Names that are compared when somebody mistyped one.
const MAX_COMPARED: i64 = 20_000;
const SUGGESTIONS: usize = 3;

/// Makes a principal, or says that its handle is taken. Handles are never given out twice, not even
/// after the principal was deleted.
pub fn create(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    kind: PrincipalKind,
    handle: &str,
    display_name: &str,
    owner: Option<PrincipalId>,
) -> Result<PrincipalId, HubError> {
    let id = store::insert_principal(tx, kind, handle, display_name, owner)?.ok_or_else(|| name_taken(handle))?;
    events::emit(hub, tx, actor, PrincipalEvent::Created { principal: id, principal_kind: kind, owner })?;
    Ok(id)
}

/// Refuses a handle that is reserved or taken, for checks before costly work.
pub fn require_free_handle(tx: &mut Tx<'_>, handle: &str) -> Result<(), HubError> {
    if handles::is_reserved(handle) || store::is_handle_taken(tx, handle)? {
        return Err(name_taken(handle));
    }
    Ok(())
}

fn name_taken(handle: &str) -> HubError {
    HubError::conflict("name_taken", format!("“{handle}” is taken."))
        .hint("Choose another name. Users and agents share one namespace, and names are never reused.")
}

pub fn set_display_name(
    hub: &Hub,
    tx: &mut Tx<'_>,
    actor: &Actor,
    id: PrincipalId,
    display_name: &str,
) -> Result<(), HubError> {
    store::update_display_name(tx, id, display_name)?;
    events::emit(hub, tx, actor, PrincipalEvent::Updated { principal: id })?;
    Ok(())
}

/// Those who have one of the handles, or had it and are gone: what they wrote is still theirs.
pub fn find_ever(tx: &mut Tx<'_>, handles: &[String]) -> Result<Vec<PrincipalId>, DbError> {
    store::list_ids_of(tx, handles)
}

/// Marks a principal as gone. What it wrote stays, and so does its claim to the handle.
pub fn delete(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, id: PrincipalId) -> Result<(), HubError> {
    store::update_deleted(tx, id)?;
    events::emit(hub, tx, actor, PrincipalEvent::Deleted { principal: id })?;
    Ok(())
}

/// Puts it about that credentials of a principal, or of agents it owns, are out of force: nothing that
/// was found out with them may be believed any more.
pub fn withdraw_access(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor, id: PrincipalId) -> Result<(), HubError> {
    hub.identities().forget_after(tx);
    events::emit(hub, tx, actor, PrincipalEvent::AccessChanged { principal: id })?;
    Ok(())
}

pub fn note_seen(tx: &mut Tx<'_>, id: PrincipalId) -> Result<(), DbError> {
    store::update_last_seen(tx, id)
}

pub fn note_all_seen(tx: &mut Tx<'_>, ids: &[PrincipalId]) -> Result<(), DbError> {
    store::update_all_last_seen(tx, ids)
}

/// Whoever has this handle, deleted or not.
pub fn find(tx: &mut Tx<'_>, handle: &str) -> Result<Option<PrincipalRow>, DbError> {
    store::find_by_handle(tx, handle)
}

pub fn find_by_id(tx: &mut Tx<'_>, id: PrincipalId) -> Result<Option<PrincipalRow>, DbError> {
    store::find_by_id(tx, id)
}

/// Whether a user has this handle or display name.
pub fn is_name_of_user(tx: &mut Tx<'_>, name: &str) -> Result<bool, DbError> {
    store::is_name_of_user(tx, name)
}

/// Those among the folded handles that messages can reach.
pub fn find_reachable(tx: &mut Tx<'_>, folded: &[&str]) -> Result<Vec<PrincipalRow>, DbError> {
    let mut found = store::find_many(tx, folded)?;
    found.retain(PrincipalRow::is_reachable);
    Ok(found)
}

/// The row of a machine principal, made where there is none. Its name is not one that a person or an agent could
/// have, and nobody is told: it joins nothing by itself.
pub fn find_or_add_machine(tx: &mut Tx<'_>, principal_id: &str) -> Result<PrincipalRow, HubError> {
    if let Some(known) = store::find_by_handle(tx, principal_id)? {
        return Ok(known);
    }
    store::insert_principal(tx, PrincipalKind::Machine, principal_id, principal_id, None)?;
    store::find_by_handle(tx, principal_id)?.ok_or_else(|| HubError::internal("a machine principal is missing"))
}

/// The author of the hub's own notices.
pub fn system(tx: &mut Tx<'_>) -> Result<PrincipalRow, HubError> {
    store::find_by_handle(tx, "system")?.ok_or_else(|| HubError::internal("the principal system is missing"))
}

/// The names nearest to one that nobody has.
pub fn nearest(tx: &mut Tx<'_>, name: &str) -> Result<Vec<String>, DbError> {
    // Nothing is like a name that is longer than names can be, and comparing it would take long.
    if name.len() > handles::MAX_LENGTH {
        return Ok(Vec::new());
    }
    let folded = handles::fold(name);
    let mut ranked: Vec<(f64, String)> = store::list_handles(tx, MAX_COMPARED)?
        .into_iter()
        .map(|handle| (strsim::jaro_winkler(&folded, &handles::fold(&handle)), handle))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    Ok(ranked.into_iter().take(SUGGESTIONS).map(|(_, handle)| handle).collect())
}

/// When a principal was made; the beginning of time for one that never was.
pub fn find_created_at(tx: &mut Tx<'_>, id: PrincipalId) -> Result<i64, DbError> {
    Ok(store::find_created_at(tx, id)?.unwrap_or(0))
}
