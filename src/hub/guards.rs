//! Texts that a caller must not write, whatever they are for.

use crate::access::Principal;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// Refuses a text of a caller. It is asked before anything is done with the text.
pub type TextGuard = for<'a> fn(&'a Hub, &'a Principal, &'a [u8]) -> BoxFuture<'a, Result<(), HubError>>;

/// Every guard, a part of the hub.
pub struct TextGuards(pub Vec<TextGuard>);

/// Asks all guards.
pub async fn require_writable(hub: &Hub, principal: &Principal, text: &[u8]) -> Result<(), HubError> {
    // Only runs are guarded, and most callers are none.
    if principal.run().is_none() {
        return Ok(());
    }
    for guard in hub.part::<TextGuards>().iter().flat_map(|guards| &guards.0) {
        guard(hub, principal, text).await?;
    }
    Ok(())
}
