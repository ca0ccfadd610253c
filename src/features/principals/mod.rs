//! Principals: the one namespace of handles.

mod service;
mod store;

use crate::feature::Feature;

pub use service::{
    create, delete, find, find_by_id, find_created_at, find_ever, find_or_add_machine, find_reachable, is_name_of_user,
    nearest, note_all_seen, note_seen, require_free_handle, set_display_name, system, withdraw_access,
};
pub use store::PrincipalRow;

pub fn feature() -> Feature {
    Feature::new("principals")
}
