//! The limits that surfaces apply to callers.

use std::net::IpAddr;

use stoa_model::{PrincipalId, RunId};

use crate::access::Principal;
use crate::access::identity::credential_hash;
use crate::access::rate_limit::{Allowance, Limiter, Meter, Tally, Window};
use crate::error::HubError;

const MINUTE_MS: i64 = 60_000;
const LOGIN_FAILURES_PER_NAME: u32 = 5;
const LOGIN_FAILURES_PER_ADDRESS: u32 = 20;
/// Wrong passwords of one known browser that wait in the line of those who are known, from all addresses.
const LOGIN_FAILURES_PER_DEVICE: u32 = 5;

/// What a read costs besides its answer, as if it were bytes.
const READ_COST_BYTES: u64 = 2048;
/// Wrong secrets of one client that may come from one address in a minute.
const CLIENT_FAILURES_PER_ADDRESS: u32 = 20;
/// Clients that may register from one address, or be looked up at theirs, in a minute.
const OAUTH_CLIENTS_PER_ADDRESS: u32 = 20;
/// Questions to people that may be asked from one address in a minute.
const OAUTH_REQUESTS_PER_ADDRESS: u32 = 120;

pub struct Limits {
    writes: Option<Limiter<PrincipalId>>,
    /// Calls of programs in runs.
    run_calls: Option<Limiter<RunId>>,
    /// What is read, by owner and in bytes.
    reads: Option<Meter<PrincipalId>>,
    /// Requests for tokens, by client; for one that anybody can pretend to be, also by address.
    tokens: Option<Limiter<(i64, Option<IpAddr>)>>,
    client_failures: Window<(i64, Option<IpAddr>)>,
    registrations: Window<Option<IpAddr>>,
    documents: Window<Option<IpAddr>>,
    authorizations: Window<Option<IpAddr>>,
    refusals: Limiter<PrincipalId>,
    /// By a hash of the name: what is typed may be as long as a request.
    login_names: Window<([u8; 32], Option<IpAddr>)>,
    login_addresses: Window<Option<IpAddr>>,
    login_devices: Window<[u8; 16]>,
    throttled_logins: Tally<Option<IpAddr>>,
}

impl Limits {
    pub fn new(writes_per_minute: u32, read_mebibytes_per_minute: u32, run_calls_per_minute: u32) -> Self {
        let read_bytes = u64::from(read_mebibytes_per_minute) * 1024 * 1024;
        Self {
            reads: (read_bytes > 0).then(|| Meter::new(read_bytes, MINUTE_MS)),
            writes: (writes_per_minute > 0).then(|| Limiter::new(writes_per_minute, MINUTE_MS)),
            run_calls: (run_calls_per_minute > 0).then(|| Limiter::new(run_calls_per_minute, MINUTE_MS)),
            tokens: (writes_per_minute > 0).then(|| Limiter::new(writes_per_minute, MINUTE_MS)),
            client_failures: Window::new(CLIENT_FAILURES_PER_ADDRESS, MINUTE_MS),
            registrations: Window::new(OAUTH_CLIENTS_PER_ADDRESS, MINUTE_MS),
            documents: Window::new(OAUTH_CLIENTS_PER_ADDRESS, MINUTE_MS),
            authorizations: Window::new(OAUTH_REQUESTS_PER_ADDRESS, MINUTE_MS),
            refusals: Limiter::new(1, MINUTE_MS),
            login_names: Window::new(LOGIN_FAILURES_PER_NAME, MINUTE_MS),
            login_addresses: Window::new(LOGIN_FAILURES_PER_ADDRESS, MINUTE_MS),
            login_devices: Window::new(LOGIN_FAILURES_PER_DEVICE, MINUTE_MS),
            throttled_logins: Tally::new(MINUTE_MS),
        }
    }

    /// Counts a write. None means that there is no limit.
    pub fn take_write(&self, principal: PrincipalId, now_ms: i64) -> Option<Allowance> {
        self.writes.as_ref().map(|limiter| limiter.take(principal, now_ms))
    }

    /// Counts a call with the token of a run.
    pub fn take_run_call(&self, principal: &Principal, now_ms: i64) -> Result<(), HubError> {
        let Some(run) = principal.run() else { return Ok(()) };
        admit(self.run_calls.as_ref().map(|limiter| limiter.take(run.run, now_ms)), "calls of this run")
    }

    /// Refuses a read of an owner who has read too much.
    pub fn admit_read(&self, owner: PrincipalId, now_ms: i64) -> Result<(), HubError> {
        match self.reads.as_ref().map_or(0, |meter| meter.seconds_to_wait(&owner, now_ms)) {
            0 => Ok(()),
            seconds => Err(HubError::rate_limited("You and your agents exceeded the read limit per minute.", seconds)
                .hint(format!("Wait {seconds} seconds. Use smaller pages, or a stream instead of polling."))),
        }
    }

    /// Counts an answer of so many bytes.
    pub fn note_read(&self, owner: PrincipalId, bytes: u64, now_ms: i64) {
        if let Some(meter) = &self.reads {
            meter.spend(owner, bytes + READ_COST_BYTES, now_ms);
        }
    }

    /// Whether a write that was too much is to be traced: one a minute. Refusing it must not cost a row.
    pub fn take_refusal(&self, principal: PrincipalId, now_ms: i64) -> bool {
        self.refusals.take(principal, now_ms).allowed
    }

    /// Counts a login as failed before it is tried, so that many at once cannot slip through;
    /// [`refund_login`](Self::refund_login) takes it back when it has succeeded.
    pub fn take_login(&self, folded_name: &str, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        let address = address.map(network_of);
        let by_address = self.login_addresses.take(address, now_ms);
        let by_name = if by_address.allowed {
            self.login_names.take((credential_hash(folded_name), address), now_ms)
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
            .hint("Wait for the time in the Retry-After header."))
    }

    /// Counts a registration as refused before its invitation is looked for, like a failed login.
    pub fn take_registration(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        let allowance = self.login_addresses.take(address.map(network_of), now_ms);
        if allowance.allowed {
            return Ok(());
        }
        Err(HubError::rate_limited("Too many failed registrations.", allowance.reset_seconds.max(1))
            .hint("Wait for the time in the Retry-After header."))
    }

    pub fn refund_registration(&self, address: Option<IpAddr>) {
        self.login_addresses.refund(&address.map(network_of));
    }

    /// Counts an OAuth client's request for tokens. `address` is that of a client without a secret: everybody knows its
    /// name, and nobody shall use up what others may ask for under it.
    pub fn take_token(&self, client: i64, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        let key = (client, address.map(network_of));
        admit(self.tokens.as_ref().map(|limiter| limiter.take(key, now_ms)), "token requests")
    }

    /// Counts a client's secret as wrong before it is compared, like a failed login.
    pub fn take_client_secret(&self, client: i64, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        let key = (client, address.map(network_of));
        admit(Some(self.client_failures.take(key, now_ms)), "wrong client secrets")
    }

    pub fn refund_client_secret(&self, client: i64, address: Option<IpAddr>) {
        self.client_failures.refund(&(client, address.map(network_of)));
    }

    /// Counts an OAuth client that registers itself.
    pub fn take_client_registration(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        admit(Some(self.registrations.take(address.map(network_of), now_ms)), "client registrations")
    }

    /// Counts an OAuth client whose description has to be fetched.
    pub fn take_client_document(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        admit(Some(self.documents.take(address.map(network_of), now_ms)), "client lookups")
    }

    /// Counts a question that is to be put to a person.
    pub fn take_authorization(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), HubError> {
        admit(Some(self.authorizations.take(address.map(network_of), now_ms)), "authorization requests")
    }

    pub fn refund_login(&self, folded_name: &str, address: Option<IpAddr>) {
        let address = address.map(network_of);
        self.login_addresses.refund(&address);
        self.login_names.refund(&(credential_hash(folded_name), address));
    }

    /// Takes back what counts against the name, for a login whose password was not compared: nobody has guessed. The address keeps
    /// its count, so that nobody asks without end.
    pub fn refund_unheard_login(&self, folded_name: &str, address: Option<IpAddr>) {
        self.login_names.refund(&(credential_hash(folded_name), address.map(network_of)));
    }

    /// Counts a wrong password of a known browser before it is compared. False if there were too many: then it waits with
    /// everybody else.
    pub fn take_device(&self, device: [u8; 16], now_ms: i64) -> bool {
        self.login_devices.take(device, now_ms).allowed
    }

    pub fn refund_device(&self, device: [u8; 16]) {
        self.login_devices.refund(&device);
    }

    /// Counts a login that was refused as one too many. The log has one line for each address and minute: the answer says how
    /// many logins this line is about, and is none if there is to be no line now.
    pub fn note_throttled_login(&self, address: Option<IpAddr>, now_ms: i64) -> Option<u64> {
        self.throttled_logins.note(address.map(network_of), now_ms)
    }

    /// Addresses whose minute is over, with the refused logins that no line was about yet.
    pub fn overdue_throttled_logins(&self, now_ms: i64) -> Vec<(Option<IpAddr>, u64)> {
        self.throttled_logins.overdue(now_ms)
    }
}

fn admit(allowance: Option<Allowance>, what: &str) -> Result<(), HubError> {
    match allowance.filter(|allowance| !allowance.allowed) {
        Some(refused) => {
            let detail = format!("Too many {what}: at most {} per minute are allowed.", refused.limit);
            Err(HubError::rate_limited(detail, refused.reset_seconds.max(1)))
        }
        None => Ok(()),
    }
}

/// Whoever has one IPv6 address has all of its network.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
        },
    }
}
