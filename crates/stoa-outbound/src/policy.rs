//! What may be called, and for how long.

use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use crate::address::{hidden, innermost, is_metadata};
use crate::target::Target;
use crate::{Network, OutboundError, is_public};

/// What the operator of the hub lets others call. The default is https to public addresses.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Also `http://`, whose requests and answers anybody on the way can read and change.
    pub allow_http: bool,
    /// Networks that may be called although they are not public. A mapped (`::ffff:0:0/96`) or translated
    /// (`64:ff9b::/96`) address is allowed by the network of the IPv4 address inside.
    pub allow: Vec<Network>,
    /// Networks that are not called in any case.
    pub deny: Vec<Network>,
}

impl Policy {
    pub fn permits(&self, address: IpAddr) -> bool {
        let address = innermost(address);
        let inside = hidden(address);
        if self.deny.iter().any(|network| network.contains(address) || network.contains(inside)) {
            return false;
        }
        // What a cloud tells its own machines holds their passwords. A network around it does not mean it; its own address does.
        let is_metadata = is_metadata(address) || is_metadata(inside);
        let is_named = |network: &&Network| !is_metadata || network.is_single();
        is_public(address) || self.allow.iter().filter(is_named).any(|network| network.contains(address))
    }

    /// Whether a URL may be called, as far as it can be told without asking the DNS; for when somebody registers one.
    /// Sending checks this again, and what the host resolves to.
    ///
    /// ```
    /// let policy = stoa_outbound::Policy::default();
    /// let url = policy.check_url("https://Hooks.Example:443/a b#top")?;
    /// assert_eq!(url.as_str(), "https://hooks.example/a%20b#top");
    ///
    /// for refused in ["http://hooks.example/", "https://user:password@hooks.example/", "https://[::ffff:127.0.0.1]/"] {
    ///     assert!(policy.check_url(refused).is_err());
    /// }
    /// # Ok::<(), stoa_outbound::OutboundError>(())
    /// ```
    pub fn check_url(&self, url: &str) -> Result<Url, OutboundError> {
        Target::parse(self, url).map(|target| target.url)
    }
}

/// When a request is given up. The defaults are those of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until the connection can be used: resolving, connecting and the handshake of TLS together.
    pub connect_timeout: Duration,
    /// From the call to the last byte of the answer.
    pub total_timeout: Duration,
    /// How much of the body of an answer is read; the rest is cut off.
    pub max_answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(15),
            max_answer_bytes: 64 * 1024,
        }
    }
}
