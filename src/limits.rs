//! The limits that surfaces apply to callers.

use std::net::IpAddr;

use stoa_model::PrincipalId;

use crate::error::HubError;
use crate::rate_limit::{Allowance, Limiter};

const MINUTE_MS: i64 = 60_000;
const LOGIN_FAILURES_PER_NAME: u32 = 5;
const LOGIN_FAILURES_PER_ADDRESS: u32 = 20;

pub struct Limits {
    writes: Option<Limiter<PrincipalId>>,
    login_names: Limiter<(String, Option<IpAddr>)>,
    login_addresses: Limiter<Option<IpAddr>>,
}

impl Limits {
    pub fn new(writes_per_minute: u32) -> Self {
        Self {
            writes: (writes_per_minute > 0).then(|| Limiter::new(writes_per_minute, MINUTE_MS)),
            login_names: Limiter::new(LOGIN_FAILURES_PER_NAME, MINUTE_MS),
            login_addresses: Limiter::new(LOGIN_FAILURES_PER_ADDRESS, MINUTE_MS),
        }
    }

    /// Counts a write. None means that there is no limit.
    pub fn take_write(&self, principal: PrincipalId, now_ms: i64) -> Option<Allowance> {
        self.writes.as_ref().map(|limiter| limiter.take(principal, now_ms))
    }

    /// Counts a login as failed before it is tried, so that many at once cannot slip through;
    /// [`refund_login`](Self::refund_login) takes it back.
    pub fn take_login(&self, folded_name: &str, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        let by_address = self.login_addresses.take(address, now_ms);
        let by_name = if by_address.allowed {
            self.login_names.take((folded_name.to_owned(), address), now_ms)
        } else {
            by_address
        };
        if by_name.allowed {
            return Ok(());
        }
        if by_address.allowed {
            self.login_addresses.refund(&address);
        }
        Err(HubError::rate_limited("Too many failed logins.", by_name.reset_seconds.max(1))
            .hint("Wait as long as Retry-After says."))
    }

    pub fn refund_login(&self, folded_name: &str, address: Option<IpAddr>) {
        self.login_addresses.refund(&address);
        self.login_names.refund(&(folded_name.to_owned(), address));
    }
}
