//! Dumps and loads: one moment, every value, from each engine to each. PostgreSQL takes part when
//! `STOA_TEST_DATABASE_URL` names a server (`scripts/with-postgres` starts one).
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

mod interrupted;
mod memory;
mod refused;
mod store;
mod values;
