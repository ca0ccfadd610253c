//! What the switch that stops everything means for webhooks. What is to be sent while it is off waits.

use stoa_db::{DbError, Tx};
use stoa_model::PrincipalId;
use stoa_model::webhooks::{DeliveryStatus, WebhookView};

use super::store::{self, Scope};
use super::{delivery_store, sending};
use crate::events::work;

/// Webhooks of one owner; nobody has more that anybody could look through.
const MAX_LISTED: i64 = 1000;

pub fn list_of_owner(tx: &mut Tx<'_>, owner: PrincipalId) -> Result<Vec<WebhookView>, DbError> {
    let rows = store::list_webhooks(tx, Scope::Owner(owner), None, i64::MAX, MAX_LISTED)?;
    Ok(rows.into_iter().map(Into::into).collect())
}

/// Sends what has waited.
pub fn resume(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), DbError> {
    let lanes = owner.map_or_else(String::new, |owner| format!("{owner}/"));
    work::hurry(tx, sending::QUEUE, &lanes)
}

/// Gives up what has waited. It can still be retried, as everything that could not be delivered.
pub fn drop_waiting(tx: &mut Tx<'_>, owner: Option<PrincipalId>) -> Result<(), DbError> {
    let scope = owner.map_or(Scope::Everybody, Scope::Owner);
    let mut before = i64::MAX;
    loop {
        let webhooks = store::list_webhooks(tx, scope, None, before, MAX_LISTED)?;
        let Some(last) = webhooks.last() else { return Ok(()) };
        before = last.id.0;
        for webhook in webhooks.iter().filter(|webhook| webhook.waiting > 0) {
            work::cancel_lane(tx, sending::QUEUE, &sending::lane(webhook.owner, webhook.id))?;
            delivery_store::update_all(tx, webhook.id, DeliveryStatus::Pending, DeliveryStatus::Dead, Some("dropped"))?;
        }
    }
}
