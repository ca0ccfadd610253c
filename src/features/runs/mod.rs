//! Runs: a message to a reactive agent starts its program.
//!
//! `planner` asks the chain about each message (`wake`), in its transaction. A run that may start is a row and an item of work;
//! what has to wait is covered by one run later (`pending`). `worker` takes runs in turn: `begin` looks once more whether one may start and
//! collects what its program is given, `execution` runs the program below a supervisor, `finish` settles it, or `deferral`
//! has it wait for the provider of its model. `recovery` does that
//! for what a crash left behind. `programs` says which known programs are installed.

mod admin;
mod aside;
mod begin;
mod control;
mod deferral;
mod execution;
mod finish;
mod folder;
mod harness_store;
mod http;
mod isolation;
mod mcp;
mod mcp_prompts;
mod occupation;
mod output;
mod pending;
mod planner;
mod programs;
mod progress;
mod recovery;
mod remote;
mod remote_store;
mod repository;
mod result;
mod service;
mod store;
mod tokens;
mod wake;
mod wake_store;
mod worker;
mod workspace;
mod workspace_store;

use std::sync::Arc;
use std::time::Duration;

use stoa_model::runs::RunStatus;

use crate::config::Config;
use crate::feature::{Chore, Feature, Sealed};
use crate::hub::StartError;

pub use service::{count_active, drop_waiting, list_of_message, list_reactive_in, resume, stop};

pub fn feature() -> Feature {
    Feature {
        routes: http::routes,
        admin_methods: admin::add_methods,
        mcp: |offer| {
            mcp::offer(offer);
            mcp_prompts::add_prompts(&mut offer.prompts);
        },
        mcp_order: 7,
        text_guard: Some(tokens::guard),
        credentials: &[tokens::RUN_TOKEN],
        planner: Some(planner::plan),
        workers: vec![Arc::new(worker::Runner), Arc::new(pending::Starter)],
        chores: vec![
            Chore { name: "lost runs", every: Duration::from_secs(10), run: recovery::settle_lost_runs },
            Chore { name: "old runs", every: Duration::from_secs(3600), run: recovery::forget_old_texts },
        ],
        sealed: Some(Sealed { columns: &["run_secrets.secret"], seal_again: remote::seal_again }),
        check: Some(check),
        prepare: Some(recovery::prepare),
        background: Some(folder::sweep),
        metrics: Some(|hub, tx| {
            for status in [RunStatus::Queued, RunStatus::Running, RunStatus::Deferred] {
                hub.metrics().runs_active.with_label_values(&[status.name()]).set(store::count_active(tx, status)?);
            }
            Ok(())
        }),
        ..Feature::new("runs")
    }
}

/// Programs must not find the hub's files beside their own.
fn check(config: &Config) -> Result<(), StartError> {
    let absolute = |path: &std::path::Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if config.runs.folder.as_ref().is_some_and(|folder| absolute(folder).starts_with(absolute(&config.data))) {
        return Err(StartError::Other(
            "STOA_RUN_DIR lies in the data folder, where programs have no business; choose another folder".to_owned(),
        ));
    }
    Ok(())
}
