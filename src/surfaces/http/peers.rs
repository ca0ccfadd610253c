//! How many connections each address has, so that one alone cannot take all there are.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::limits::network_of;
use crate::config::{Config, Network};

/// The connections of this hub, by where they come from.
pub(super) struct Peers {
    /// 0 means no limit.
    limit: usize,
    /// Behind a proxy are many, so there is no limit for it.
    trusted_proxies: Vec<Network>,
    counts: Counts,
}

type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// One connection. Dropping it lets another one in.
pub(super) struct Counted {
    counts: Counts,
    /// None if it does not count.
    network: Option<IpAddr>,
}

impl Peers {
    pub(super) fn new(config: &Config) -> Self {
        let trusted_proxies = config.trusted_proxies.clone();
        Self { limit: config.max_connections_per_address, trusted_proxies, counts: Counts::default() }
    }

    /// Counts a connection; none if its address has as many as it may.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Counted> {
        if self.is_unlimited(address) {
            return Some(Counted { counts: self.counts.clone(), network: None });
        }
        let network = network_of(address);
        let mut counts = lock(&self.counts);
        let count = counts.entry(network).or_default();
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(Counted { counts: self.counts.clone(), network: Some(network) })
    }

    fn is_unlimited(&self, address: IpAddr) -> bool {
        self.limit == 0
            || address.to_canonical().is_loopback()
            || self.trusted_proxies.iter().any(|proxy| proxy.contains(address))
    }
}

fn lock(counts: &Mutex<HashMap<IpAddr, usize>>) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(limit: usize) -> Peers {
        let mut config = Config::new("nowhere");
        config.max_connections_per_address = limit;
        config.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Peers::new(&config)
    }

    #[test]
    fn an_address_has_so_many_connections_and_no_more() {
        let peers = peers(2);
        let enter = |address: &str| peers.enter(address.parse().unwrap());
        let first = enter("192.0.2.1").unwrap();
        let _second = enter("::ffff:192.0.2.1").unwrap();
        assert!(enter("192.0.2.1").is_none());
        let _other = enter("192.0.2.2").unwrap();
        drop(first);
        let _third = enter("192.0.2.1").unwrap();
        assert!(enter("192.0.2.1").is_none());
        // Whoever has one IPv6 address has all of its network.
        let _both = [enter("2001:db8::1").unwrap(), enter("2001:db8::2").unwrap()];
        assert!(enter("2001:db8::3").is_none());
    }

    #[test]
    fn proxies_and_the_machine_itself_have_as_many_as_they_like() {
        let limited = peers(1);
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3"] {
            let all: Vec<_> = (0..5).map(|_| limited.enter(address.parse().unwrap())).collect();
            assert!(all.iter().all(Option::is_some), "{address}");
        }
        assert!(lock(&limited.counts).is_empty());
        let unlimited = peers(0);
        let all: Vec<_> = (0..5).map(|_| unlimited.enter("192.0.2.1".parse().unwrap())).collect();
        assert!(all.iter().all(Option::is_some));
    }
}
