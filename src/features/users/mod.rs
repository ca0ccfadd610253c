//! People: accounts, passwords, sessions and invitations. Accounts come only from the admin
//! command line, directly or by an invitation that it printed.

mod admin;
mod http;
mod login_page;
mod service;
mod store;

pub use admin::add_methods;
pub use http::{no_session_cookie, routes};
pub use service::{
    current_user, ensure_first_admin, find_by_session_hash, find_user_id, is_admin, log_out, note_session_use,
    prune_sessions, session_cookie_name,
};
