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
mod http_pages;
mod metadata;
mod owned;
mod parameters;
mod planner;
mod prune;
mod redirect;
mod registration;
mod store;
mod successor;
mod tokens;

use std::time::Duration;

use axum::Router;

use crate::config::Config;
use crate::feature::{Chore, Feature, Sealed};
use crate::hub::StartError;

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        optional_routes: Some(|config| if config.oauth_aliases { http::alias_routes() } else { Router::new() }),
        admin_methods: admin::add_methods,
        credentials: &[tokens::ACCESS_TOKEN],
        planner: Some(planner::plan),
        chores: vec![
            Chore { name: "oauth", every: Duration::from_secs(10 * 60), run: |_, tx| Ok(prune::prune(tx)?) },
            Chore {
                name: "oauth successors",
                every: Duration::from_secs(60),
                run: |_, tx| Ok(prune::prune_successors(tx)?),
            },
        ],
        sealed: Some(Sealed { columns: &["oauth_successors.successor"], seal_again: successor::seal_again }),
        check: Some(check),
        ..Feature::new("oauth")
    }
}

fn check(config: &Config) -> Result<(), StartError> {
    for uri in &config.oauth_redirects {
        redirect::check_private(uri).map_err(|reason| {
            StartError::Refused(format!("the redirect URI {uri} of STOA_OAUTH_REDIRECTS {reason}"))
        })?;
    }
    Ok(())
}
