//! Who is calling and what they may do: credentials, permissions, passwords and limits on callers.

mod actor;
pub mod auth_log;
pub mod budget;
pub mod device;
pub mod identity;
pub mod limits;
pub mod lines;
pub mod password;
pub mod password_line;
pub mod rate_limit;
pub mod reach;
pub mod webhook_signature;

pub use actor::{Actor, Call, Credential, Idempotency, Principal, Proof, RunCredential};
pub use reach::{Reach, RunReach};
