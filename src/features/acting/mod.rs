//! The switch that stops everything that acts: runs and deliveries to webhooks. Messages are still sent, and start nothing. It is off for
//! the whole hub, or for one user and their agents.

mod store;

use stoa_db::{DbError, Tx};
use stoa_model::PrincipalId;

use crate::feature::Feature;
use crate::hub::Hub;

pub use store::{Stop, find_stop, is_stopped_sql, remove_stop, set_stop};

/// The scope of the whole hub.
pub const EVERYBODY: PrincipalId = PrincipalId(0);

pub fn feature() -> Feature {
    Feature::new("acting")
}

/// Whether nothing may act for this user now.
pub fn is_off(hub: &Hub, tx: &mut Tx<'_>, owner: PrincipalId) -> Result<bool, DbError> {
    Ok(!hub.config().acting || store::is_stopped(tx, owner)?)
}
