//! What the hub promises to those who call it, on SQLite or, when `STOA_TEST_DATABASE_URL` is set,
//! on PostgreSQL (`scripts/with-postgres` starts one).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

mod support;

#[path = "../../crates/stoa-db/tests/it/cable.rs"]
#[expect(dead_code, reason = "the tests of the database need more of it")]
mod cable;
#[path = "../../crates/stoa-db/tests/it/sync_order.rs"]
mod sync_log;

mod agents;
mod architecture;
mod attachments;
mod attachments_access;
mod attachments_kept;
mod backup;
mod bench;
mod bodies;
mod channels;
mod cli;
mod cli_attachments;
mod cli_conversations;
mod cli_mcp;
mod cli_oauth;
mod cli_principals;
mod cli_serve;
mod cli_socket;
mod cli_support;
mod crash;
mod credentials;
mod crowds;
mod csrf;
mod deadlines;
mod engines;
mod followers;
mod freezes;
mod hooks;
mod hooks_abuse;
mod hostile;
mod hosts;
mod hubs;
mod idempotency;
mod inbox;
mod join_page;
mod keys;
mod listeners;
mod lists;
mod login_page;
mod machines;
mod mcp;
mod mcp_config;
mod mcp_refusals;
mod mcp_resources;
mod mcp_waits;
mod members;
mod mentions;
mod messages;
mod messages_refused;
mod names;
mod notifications;
mod oauth_authorize;
mod oauth_consent;
mod oauth_documents;
mod oauth_grants;
mod oauth_introspection;
mod oauth_limits;
mod oauth_metadata;
mod oauth_refresh;
mod oauth_registration;
mod oauth_survival;
mod oauth_tokens;
mod outbox;
mod passwords;
mod persons;
mod planners;
mod races;
mod rate_limit;
mod reactions;
mod readme;
mod registration;
mod registry;
mod registry_cli;
mod registry_sign;
mod requests;
mod runs;
mod search;
mod search_agreement;
mod search_lanes;
mod secrets;
mod sessions;
mod signatures;
mod stalemate;
mod stars;
mod strangers;
mod streams;
mod supervisor;
mod sync_order;
mod system;
mod talk;
mod threads;
mod throttling;
mod traces;
mod trust;
mod unread;
mod visibility;
mod walk;
mod web;
mod webhooks;
mod words;
mod work;
mod workflow;
