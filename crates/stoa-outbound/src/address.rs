//! Which addresses are public: the ones that everybody on the internet can reach as well as the hub can.

use std::net::{IpAddr, Ipv4Addr};

use crate::Network;

/// IPv4 addresses in IPv6 clothes, `::ffff:192.0.2.1`.
pub(crate) const IPV4_MAPPED: Network = Network::v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96);
/// IPv4 addresses behind a translator, `64:ff9b::192.0.2.1`.
pub(crate) const NAT64: Network = Network::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

const FORBIDDEN_IPV4: [Network; 16] = [
    Network::v4(0, 0, 0, 0, 8),        // this host, this network
    Network::v4(10, 0, 0, 0, 8),       // private
    Network::v4(100, 64, 0, 0, 10),    // shared by customers of a provider
    Network::v4(127, 0, 0, 0, 8),      // loopback
    Network::v4(168, 63, 129, 16, 32), // services of Azure for its virtual machines
    Network::v4(169, 254, 0, 0, 16),   // link-local; metadata of cloud machines
    Network::v4(172, 16, 0, 0, 12),    // private
    Network::v4(192, 0, 0, 0, 24),     // protocol assignments
    Network::v4(192, 0, 2, 0, 24),     // documentation
    Network::v4(192, 88, 99, 0, 24),   // 6to4 relays
    Network::v4(192, 168, 0, 0, 16),   // private
    Network::v4(198, 18, 0, 0, 15),    // benchmarks
    Network::v4(198, 51, 100, 0, 24),  // documentation
    Network::v4(203, 0, 113, 0, 24),   // documentation
    Network::v4(224, 0, 0, 0, 4),      // multicast
    Network::v4(240, 0, 0, 0, 4),      // reserved, broadcast
];

/// What is in use for single hosts on the internet. Everything else is loopback, private, link-local, multicast,
/// an IPv4 address in a deprecated form (`::/96`), or not assigned.
const GLOBAL_IPV6: Network = Network::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const FORBIDDEN_IPV6: [Network; 4] = [
    Network::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocol assignments, among them Teredo
    Network::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation
    Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4, which embeds an IPv4 address
    Network::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation
];

/// Whether an address is one of the public internet. What embeds an IPv4 address is judged by that.
///
/// ```
/// use stoa_outbound::is_public;
///
/// assert!(is_public("9.9.9.9".parse().unwrap()));
/// assert!(!is_public("169.254.169.254".parse().unwrap()));
/// assert!(!is_public("::ffff:169.254.169.254".parse().unwrap()));
/// ```
pub fn is_public(address: IpAddr) -> bool {
    let address = innermost(address);
    let is_in = |network: &Network| network.contains(address);
    match address {
        IpAddr::V4(_) => !FORBIDDEN_IPV4.iter().any(is_in),
        IpAddr::V6(_) => GLOBAL_IPV6.contains(address) && !FORBIDDEN_IPV6.iter().any(is_in),
    }
}

/// Where clouds tell their machines about themselves, and give them passwords.
const METADATA: [Network; 7] = [
    Network::v4(169, 254, 0, 0, 16), // link-local: Amazon, Google, Azure, Tencent and most others
    Network::v4(168, 63, 129, 16, 32), // Azure
    Network::v4(100, 100, 100, 200, 32), // Alibaba
    Network::v4(192, 0, 0, 192, 32), // Oracle
    Network::v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32), // Amazon
    Network::v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0], 32), // Google
    Network::v6([0xfd00, 0xc1, 0, 0, 0, 0, 0, 0], 32), // Oracle
];

pub(crate) fn is_metadata(address: IpAddr) -> bool {
    METADATA.iter().any(|network| network.contains(address))
}

/// The address that packets will arrive at, as far as the address itself tells.
pub(crate) fn innermost(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(outer) if IPV4_MAPPED.contains(address) || NAT64.contains(address) => {
            let [.., a, b, c, d] = outer.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        _ => address,
    }
}

/// IPv4 addresses in forms that are never public: compatible, behind a translator of one's own, and 6to4.
const COMPATIBLE: Network = Network::v6([0, 0, 0, 0, 0, 0, 0, 0], 96);
const LOCAL_NAT64: Network = Network::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48);
const SIX_TO_FOUR: Network = Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);

/// The IPv4 address that such a form may lead to, or the address itself.
pub(crate) fn hidden(address: IpAddr) -> IpAddr {
    let IpAddr::V6(outer) = address else { return address };
    let bytes = outer.octets();
    let inner = match bytes {
        [.., a, b, c, d] if COMPATIBLE.contains(address) || LOCAL_NAT64.contains(address) => [a, b, c, d],
        [_, _, a, b, c, d, ..] if SIX_TO_FOUR.contains(address) => [a, b, c, d],
        _ => return address,
    };
    IpAddr::V4(inner.into())
}
