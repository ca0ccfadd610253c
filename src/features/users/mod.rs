//! People: accounts, passwords, sessions and invitations. Accounts come only from the admin
//! command line, directly or by an invitation that it printed.

mod admin;
mod http;
mod http_join;
mod http_login;
mod invitation_store;
mod invitations;
mod service;
mod store;

use std::time::Duration;

use crate::feature::{Chore, Feature};
use crate::hub::{BoxFuture, Hub, StartError};

pub use http::logged_out;
pub use service::{current_user, find_user_id, is_admin, is_enabled, list_admins, log_out};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        credentials: &[service::SESSION],
        chores: vec![
            Chore {
                name: "sessions",
                every: Duration::from_secs(10 * 60),
                run: |_, tx| Ok(service::prune_sessions(tx)?),
            },
            Chore {
                name: "invitations",
                every: Duration::from_secs(24 * 3600),
                run: |_, tx| Ok(invitations::prune(tx)?),
            },
        ],
        start: Some(start),
        ..Feature::new("users")
    }
}

/// The first start creates an administrator and shows the password once.
fn start(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move {
        if let Some(password) = service::ensure_first_admin(hub).await? {
            (hub.config().show_password)(password.expose());
        }
        service::prepare_logins(hub).await?;
        Ok(())
    })
}
