//! OAuth 2.1: people let programs act for their agents, or for themselves.
//!
//! A client registers itself, is described by a document at its own address, or is made by an owner. A person who is
//! logged in says which agent it may act as; that is a grant. Tokens are random, and only their hashes are stored. The
//! protocol's own ways of failing are in `failure`; what REST and the admin socket offer fails like everything else.

mod about;
mod admin;
mod authorize;
mod client_store;
mod clients;
mod documents;
mod failure;
mod grants;
mod http;
mod metadata;
mod owned;
mod pages;
mod parameters;
mod planner;
mod prune;
mod redirect;
mod registration;
mod store;
mod tokens;

pub use admin::add_methods;
pub use http::{alias_routes, routes};
pub use planner::plan;
pub use prune::prune;
pub use redirect::check_private as check_private_redirect;
pub use store::note_use;
pub use tokens::find_by_token_hash;
