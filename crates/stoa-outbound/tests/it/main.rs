//! What the client promises, tried against resolvers and peers that lie. Only loopback is ever connected to.
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails must fail its test, and clippy.toml excuses only the test functions themselves"
)]

mod addresses;
mod exchange;
mod limits;
mod networks;
mod rebinding;
mod sockets;
mod streamed;
mod support;
mod tls;
mod urls;
