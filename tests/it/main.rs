//! What the hub promises to those who call it, on SQLite or, when `STOA_TEST_DATABASE_URL` is set,
//! on PostgreSQL.

mod support;
mod walk;
