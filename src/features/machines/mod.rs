//! Machine principals: services that are not users, known by the registry and by their signatures.
//!
//! `registry` keeps what the files say, `gate` lets in who signs, `configs`, `status`, `ingest` (with `routing`) and
//! `evidence` are what each of the four scopes is for, `tallies` counts, and `overview` shows all of it to whoever runs the hub.

mod admin;
mod configs;
mod evidence;
mod gate;
mod http;
mod http_signed;
mod ingest;
mod overview;
mod planner;
mod registry;
mod routing;
mod status;
mod store;
mod tallies;

use std::time::Duration;

use crate::feature::{Chore, Feature};
use crate::hub::{BoxFuture, Hub, StartError};

const MINUTE: Duration = Duration::from_secs(60);

pub use registry::{note_restored, reload};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        chores: vec![
            Chore {
                name: "machine components",
                every: MINUTE.saturating_mul(60),
                run: |_, tx| Ok(store::prune_status(tx)?),
            },
            Chore { name: "machine nonces", every: MINUTE, run: |_, tx| Ok(store::prune_nonces(tx)?) },
            Chore {
                name: "machine events",
                every: MINUTE.saturating_mul(10),
                run: |hub, tx| Ok(store::prune_events(hub, tx)?),
            },
        ],
        planner: Some(planner::plan),
        prepare: Some(prepare),
        background: Some(|hub| Box::pin(registry::keep(hub))),
        metrics: Some(|hub, tx| Ok(status::count_components(hub, tx)?)),
        ..Feature::new("machines")
    }
}

fn prepare(hub: &Hub) -> BoxFuture<'_, Result<(), StartError>> {
    Box::pin(async move { registry::begin(hub).await.map_err(|error| StartError::Refused(error.to_string())) })
}
