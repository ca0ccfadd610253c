//! Machine principals: services that are not users, known by the registry and by their signatures.
//!
//! `registry` keeps what the files say, `gate` lets in who signs, `configs`, `status`, `ingest` (with `routing`) and
//! `evidence` are what each of the four scopes is for, `tallies` counts, and `overview` shows all of it to whoever runs the hub.

mod admin;
mod configs;
mod evidence;
mod gate;
mod http;
mod ingest;
mod overview;
mod registry;
mod routing;
mod status;
mod store;
mod tallies;

pub use admin::add_methods;
pub use gate::{Admission, Opened, open};
pub use http::routes;
pub use registry::{RegistryError, begin, keep, note_restored, reload};
pub use store::{prune_events, prune_nonces, prune_status};

pub use status::count_components;
