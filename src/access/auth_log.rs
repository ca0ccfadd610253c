//! The auth log: structured entries about logins, sessions and accounts.

use std::net::IpAddr;

use crate::access::{Call, Idempotency};

/// What happened, by the names that log readers know.
#[derive(Debug, Clone, Copy)]
pub enum AuthEvent {
    LoginSuccess,
    LoginFailure,
    SessionCreated,
    SessionDestroyed,
    UserCreated,
    PasswordChanged,
    /// A key was handed out.
    TokenIssued,
    TokenRefreshed,
    TokenRevoked,
}

impl AuthEvent {
    fn name(self) -> &'static str {
        match self {
            AuthEvent::LoginSuccess => "login_success",
            AuthEvent::LoginFailure => "login_failure",
            AuthEvent::SessionCreated => "session_created",
            AuthEvent::SessionDestroyed => "session_destroyed",
            AuthEvent::UserCreated => "user_created",
            AuthEvent::PasswordChanged => "password_changed",
            AuthEvent::TokenIssued => "token_issued",
            AuthEvent::TokenRefreshed => "token_refreshed",
            AuthEvent::TokenRevoked => "token_revoked",
        }
    }
}

/// Writes one entry. Fields that are not known are left out. A replayed answer is not news.
pub fn record(event: AuthEvent, call: &Call, user_id: Option<i64>, username: Option<&str>, detail: Option<&str>) {
    if call.idempotency.as_ref().is_some_and(Idempotency::is_replayed) {
        return;
    }
    // The operator and the hub itself are no users.
    let user_id = user_id.filter(|id| *id != 0);
    tracing::info!(
        target: "stoa::auth",
        event = event.name(),
        user_id,
        username,
        remote_ip = call.remote_ip.as_deref(),
        peer_ip = call.peer_ip.map(tracing::field::display),
        request_id = call.request_id,
        detail,
        "auth"
    );
}

/// Writes one entry about `count` logins that were refused because there were too many. `call` is the last of them, if it is being
/// answered now; otherwise only the address is known.
pub fn record_throttled(call: Option<&Call>, address: Option<IpAddr>, username: Option<&str>, count: u64) {
    let remote_ip = call.and_then(|call| call.remote_ip.clone()).or_else(|| address.map(|address| address.to_string()));
    tracing::info!(
        target: "stoa::auth",
        event = AuthEvent::LoginFailure.name(),
        username,
        remote_ip,
        peer_ip = call.and_then(|call| call.peer_ip).map(tracing::field::display),
        request_id = call.map(|call| &call.request_id),
        detail = "throttled",
        count,
        "auth"
    );
}
