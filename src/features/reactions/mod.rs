//! Reactions as they are stored, one page of messages at a time.
//!
//! Who may react, and what follows from it, is decided above messages, in `workflow`; messages themselves only
//! show reactions.

mod service;
mod store;

use crate::feature::Feature;

pub use service::{
    Added, add, approvals_of, claimants, is_approved_by_person, is_by_person, lapse_approvals, lapsed_among,
    list_claims, list_claims_in, of, purge, reacted_among, remove,
};
pub use store::NewReaction;

pub fn feature() -> Feature {
    Feature::new("reactions")
}
