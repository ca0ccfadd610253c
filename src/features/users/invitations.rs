//! Invitations: made by the operator, listed and revoked by administrators, used once.

use std::time::Duration;

use serde_json::json;
use stoa_db::{DbError, Tx};
use stoa_model::credentials::{self, CredentialKind};
use stoa_model::page::Page;
use stoa_model::users::{
    InvitationStatus, InvitationView, InviteRequest, NewInvitationView, RegisterRequest, Role, check_account,
};
use stoa_model::{Secret, Timestamp};

use super::invitation_store::{self as store, InvitationRow, NewInvitation};
use super::service::{self, NewLogin};
use crate::access::Actor;
use crate::access::identity::credential_hash;
use crate::access::password_line::Caller;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::{audit, principals};
use crate::hub::{Hub, idempotency};
use crate::paging::{ListQuery, page_of};

/// How long administrators see what became of an invitation.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);

/// What the page of an invitation says of it.
pub struct OpenInvitation {
    pub role: Role,
    /// How the inviter is shown; none for the operator.
    pub inviter: Option<String>,
    pub expires_at: Timestamp,
}

impl InvitationRow {
    fn status(&self, now_ms: i64) -> InvitationStatus {
        if self.used_at.is_some() {
            InvitationStatus::Used
        } else if self.is_revoked {
            InvitationStatus::Revoked
        } else if self.expires_at.as_ms() <= now_ms {
            InvitationStatus::Expired
        } else {
            InvitationStatus::Open
        }
    }

    fn into_view(self, now_ms: i64) -> InvitationView {
        InvitationView {
            id: self.id,
            status: self.status(now_ms),
            note: self.note,
            role: self.role,
            invited_by: self.invited_by,
            created_at: self.created_at,
            expires_at: self.expires_at,
            used_at: self.used_at,
            used_by: self.used_by,
        }
    }
}

/// Creates a single-use invitation, for the operator.
pub async fn invite(hub: &Hub, actor: &Actor, request: InviteRequest) -> Result<NewInvitationView, HubError> {
    actor.require_admin()?;
    let valid_ms = request.check()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let role = request.role.unwrap_or(Role::Member);
        let invited_by = match &request.from {
            Some(name) => {
                let id = super::find_user_id(tx, name.strip_prefix('@').unwrap_or(name))?;
                if !super::is_enabled(tx, id)? {
                    return Err(HubError::invalid_field("from", "must not be a deactivated user"));
                }
                Some(id)
            }
            None => None,
        };
        let invite = CredentialKind::Invitation.render(tx.random_bytes());
        let expires_at = tx.now_ms() + valid_ms;
        let note = request.note.as_deref();
        let new = NewInvitation { token_hash: &credential_hash(&invite), role, note, invited_by, expires_at };
        let id = store::insert_invitation(tx, &new)?;
        let details = json!({"role": role, "note": note, "from": request.from});
        audit::record(tx, &actor_in, "user.invited", Some(&id.to_string()), &details)?;
        let url = Secret::new(format!("{}/join/{invite}", hub_in.base_url()));
        let expires_at = Timestamp::from_ms(expires_at);
        Ok(NewInvitationView { id, invite: Secret::new(invite), url, role, expires_at })
    })
    .await
}

/// All invitations, newest first.
pub async fn list(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<Page<InvitationView>, HubError> {
    actor.require_admin()?;
    let before = list.position(hub, actor, "invitations")?.unwrap_or(i64::MAX);
    let limit = list.limit()?;
    let (rows, now_ms) =
        hub.read(move |tx| Ok::<_, DbError>((store::list_invitations(tx, before, limit + 1)?, tx.now_ms()))).await?;
    let items = rows.into_iter().map(|row| (row.id, row.into_view(now_ms))).collect();
    page_of(hub, actor, "invitations", items, limit)
}

/// Makes an open invitation useless.
pub async fn revoke(hub: &Hub, actor: &Actor, id: i64) -> Result<(), HubError> {
    actor.require_admin()?;
    let actor_in = actor.clone();
    hub.command(actor, move |tx| {
        let row = store::find_invitation(tx, id)?.ok_or_else(|| HubError::not_found("invitation"))?;
        let status = row.status(tx.now_ms());
        if status != InvitationStatus::Open {
            let detail = format!("The invitation is {}, so it cannot be revoked.", status.name());
            return Err(HubError::conflict("invitation_not_open", detail));
        }
        store::update_revoked(tx, id)?;
        audit::record(tx, &actor_in, "invitation.revoked", Some(&id.to_string()), &json!({"note": row.note}))
            .map_err(HubError::from)
    })
    .await
}

/// An invitation that an account can be created with, for the page that does it. It uses nothing up.
pub async fn find_open(hub: &Hub, invite: &str) -> Result<Option<OpenInvitation>, HubError> {
    if credentials::recognise(invite) != Some(CredentialKind::Invitation) {
        return Ok(None);
    }
    let hash = credential_hash(invite);
    hub.read(move |tx| {
        let found = store::find_open(tx, &hash)?;
        Ok(found.map(|row| OpenInvitation { role: row.role, inviter: row.inviter_name, expires_at: row.expires_at }))
    })
    .await
}

fn closed() -> HubError {
    HubError::forbidden("registration_closed", "Invalid or expired invitation.")
        .hint("Ask an administrator for a new invitation.")
}

/// Makes an account with an invitation, and logs its owner in.
pub async fn register(hub: &Hub, actor: &Actor, request: RegisterRequest) -> Result<NewLogin, HubError> {
    // Nobody learns which names are taken without an invitation in hand.
    let invite = request.invite.as_ref().map(Secret::expose).unwrap_or_default();
    if credentials::recognise(invite) != Some(CredentialKind::Invitation) {
        return Err(closed());
    }
    let invite_hash = credential_hash(invite);
    // Hashing a password is work, so everything that is cheap to check comes first, and the address gets its place back only when
    // the account is there.
    let address = actor.call.client_ip;
    hub.limits().take_registration(address, hub.clock().now_ms())?;
    let (actor_in, name) = (actor.clone(), request.username.clone());
    let checked = check_account(&request.username, &request.password, request.display_name.as_deref());
    let is_known = hub
        .read(move |tx| {
            // This very request was answered before, and has used its invitation.
            if idempotency::is_known(tx, &actor_in)? {
                return Ok(true);
            }
            store::find_open(tx, &invite_hash)?.ok_or_else(closed)?;
            checked.clone()?;
            principals::require_free_handle(tx, &name)?;
            Ok::<_, HubError>(false)
        })
        .await?;
    let hash = match is_known {
        true => None,
        false => Some(hub.passwords().hash(Caller::Stranger(address), &request.password).await?),
    };
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    let login = hub
        .command(actor, move |tx| {
            let invitation = store::find_open(tx, &invite_hash)?.ok_or_else(closed)?;
            let role = invitation.role;
            let (name, display_name) = (&request.username, request.display_name.as_deref());
            let hash = hash.as_ref().ok_or_else(closed)?;
            let user = service::insert_user(&hub_in, tx, &actor_in, name, display_name, hash, role)?;
            if !store::update_used(tx, invitation.id, user.id)? {
                return Err(closed());
            }
            audit::record(tx, &actor_in, "user.registered", Some(name), &json!({"role": role}))?;
            service::begin_session(&hub_in, tx, &actor_in, user)
        })
        .await?;
    hub.limits().refund_registration(address);
    service::log_user_created(actor, &login.user, "by invitation");
    service::log_login(actor, &login.user);
    Ok(login)
}

/// Deletes invitations that ended long ago.
pub fn prune(tx: &mut Tx<'_>) -> Result<u64, DbError> {
    store::delete_old(tx, tx.now_ms() - milliseconds(KEPT))
}
