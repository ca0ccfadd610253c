//! The integration tests, in one binary.

mod cli;
mod cli_serve;
mod cli_socket;
mod cli_support;
