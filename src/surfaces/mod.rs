//! The ways in. Surfaces translate; they know no rules and run no SQL.

pub mod admin;
pub mod auth;
pub mod http;
pub mod mcp;
