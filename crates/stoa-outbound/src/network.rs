//! Networks in CIDR notation.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::address::{IPV4_MAPPED, NAT64};

/// A range of addresses such as `10.0.0.0/8` or `fd00::/8`; a single address is one too.
///
/// ```
/// use stoa_outbound::Network;
///
/// let network: Network = "10.0.0.0/8".parse()?;
/// assert!(network.contains("10.255.0.1".parse().unwrap()));
/// assert!(!network.contains("11.0.0.0".parse().unwrap()));
/// # Ok::<(), stoa_outbound::BadNetwork>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    prefix: u8,
}

/// Why a text is not a [`Network`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadNetwork {
    #[error("A network is an address and the length of its prefix, for example 10.0.0.0/8 or fd00::/8.")]
    Malformed,
    #[error("The prefix of this network is at most {most} bits long.")]
    PrefixTooLong { most: u8 },
    #[error("The address has bits beyond the prefix. Did you mean {network}?")]
    BitsBeyondPrefix { network: Network },
    #[error("Addresses of this network are judged by the IPv4 address inside. Write that as an IPv4 network.")]
    Embedded,
}

impl Network {
    pub(crate) const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Self {
        Self { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    pub(crate) const fn v6(segments: [u16; 8], prefix: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
    }

    /// Whether it is one address.
    pub fn is_single(&self) -> bool {
        self.prefix == if self.first.is_ipv4() { 32 } else { 128 }
    }

    /// Compares the address as it is written: an IPv6 address is in no IPv4 network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(32 - u32::from(self.prefix)).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(128 - u32::from(self.prefix)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    /// The network of this prefix that the address is in.
    fn around(address: IpAddr, prefix: u8) -> Self {
        let first = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Self { first, prefix }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| BadNetwork::Malformed)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => most,
            // `parse` alone would take `+8`.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| BadNetwork::Malformed)?
            }
            Some(_) => return Err(BadNetwork::Malformed),
        };
        if prefix > most {
            return Err(BadNetwork::PrefixTooLong { most });
        }
        let network = Self::around(address, prefix);
        if network.first != address {
            return Err(BadNetwork::BitsBeyondPrefix { network });
        }
        // It would never match: see `Policy::permits`.
        if prefix >= 96 && [IPV4_MAPPED, NAT64].iter().any(|embedded| embedded.contains(address)) {
            return Err(BadNetwork::Embedded);
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.first, self.prefix)
    }
}
