//! The whole matrix of addresses, written down a second time as first and last addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use stoa_outbound::{Limits, OutboundError, Policy, Request, is_public};

use crate::support::World;

const FORBIDDEN_IPV4: [(&str, &str); 16] = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("168.63.129.16", "168.63.129.16"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "239.255.255.255"),
    ("240.0.0.0", "255.255.255.255"),
];

const PUBLIC_IPV4: [&str; 28] = [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.1.255",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
];

const FORBIDDEN_IPV6: [(&str, &str); 10] = [
    // Below 2000::/3: unspecified, loopback, compatible, translated by a local prefix.
    ("::", "::ffff:ffff"),
    ("::1:0:0", "::fffe:ffff:ffff"),
    ("::1:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    // Above it: unassigned, private, link-local, multicast.
    ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fc00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
];

const PUBLIC_IPV6: [&str; 9] = [
    "2000::",
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
];

/// Forms in which an IPv4 address is judged as itself.
fn wrapped(inner: Ipv4Addr) -> [IpAddr; 2] {
    let translated = Ipv6Addr::from_bits(0x0064_ff9b_u128 << 96 | u128::from(inner.to_bits()));
    [inner.to_ipv6_mapped().into(), translated.into()]
}

#[test]
fn ipv4_ranges_end_where_they_should() {
    for (first, last) in FORBIDDEN_IPV4 {
        for address in [first, last] {
            let address: Ipv4Addr = address.parse().unwrap();
            assert!(!is_public(address.into()), "{address}");
            for form in wrapped(address) {
                assert!(!is_public(form), "{form}");
            }
        }
    }
    for address in PUBLIC_IPV4 {
        let address: Ipv4Addr = address.parse().unwrap();
        assert!(is_public(address.into()), "{address}");
        for form in wrapped(address) {
            assert!(is_public(form), "{form}");
        }
        // The deprecated form, ::192.0.2.1, whatever is inside.
        assert!(!is_public(Ipv6Addr::from_bits(address.to_bits().into()).into()));
    }
}

#[test]
fn every_neighbour_of_a_forbidden_range_is_known() {
    for (first, last) in FORBIDDEN_IPV4 {
        let first: Ipv4Addr = first.parse().unwrap();
        let last: Ipv4Addr = last.parse().unwrap();
        let neighbours = [first.to_bits().checked_sub(1), last.to_bits().checked_add(1)];
        for neighbour in neighbours.into_iter().flatten().map(Ipv4Addr::from_bits) {
            let text = neighbour.to_string();
            let is_forbidden = FORBIDDEN_IPV4.iter().any(|(first, last)| text == *first || text == *last);
            assert!(is_forbidden || PUBLIC_IPV4.contains(&text.as_str()), "{text}");
        }
    }
}

#[test]
fn ipv6_ranges_end_where_they_should() {
    for (first, last) in FORBIDDEN_IPV6 {
        for address in [first, last] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
    for address in PUBLIC_IPV6 {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
    for address in
        ["::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "64:ff9b:1::1", "100::1", "2001::1", "5f00::1"]
    {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
}

/// Every first and last address, as a literal and out of the DNS: nothing is connected to.
#[tokio::test]
async fn forbidden_addresses_are_never_connected_to() {
    let ranges = FORBIDDEN_IPV4.iter().chain(&FORBIDDEN_IPV6);
    for address in ranges.flat_map(|(first, last)| [*first, *last]) {
        let address: IpAddr = address.parse().unwrap();
        let forms = match address {
            IpAddr::V4(inner) => [vec![address], wrapped(inner).to_vec()].concat(),
            IpAddr::V6(_) => vec![address],
        };
        for form in forms.iter().map(IpAddr::to_string) {
            let literal = if form.contains(':') { format!("[{form}]") } else { form.clone() };
            let world = World::new().forget_answers().resolving(&[&form]);
            let client = world.http_client();
            for host in [literal.as_str(), "hooks.example"] {
                let refused = client.send(Request::get(format!("http://{host}/"))).await.unwrap_err();
                assert_eq!(refused, OutboundError::ForbiddenAddress, "{host} {form}");
            }
            assert_eq!(world.asked(), ["hooks.example"], "{form}");
            assert!(world.connected().is_empty(), "{form}");
        }
    }
}

#[test]
fn networks_of_the_policy_are_permitted_in_every_form() {
    let policy = Policy {
        allow: vec!["10.1.0.0/16".parse().unwrap(), "fd00:1::/32".parse().unwrap(), "::1".parse().unwrap()],
        ..Policy::default()
    };
    for permitted in [
        "10.1.0.0",
        "10.1.255.255",
        "::ffff:10.1.2.3",
        "64:ff9b::10.1.2.3",
        "fd00:1::",
        "fd00:1:ffff::1",
        "::1",
        "9.9.9.9",
    ] {
        assert!(policy.permits(permitted.parse().unwrap()), "{permitted}");
    }
    for refused in ["10.0.255.255", "10.2.0.0", "::ffff:10.2.0.0", "::10.1.2.3", "fd00:2::", "::", "::2", "127.0.0.1"] {
        assert!(!policy.permits(refused.parse().unwrap()), "{refused}");
    }
    let everything = Policy { allow: vec!["::/0".parse().unwrap()], ..Policy::default() };
    assert!(everything.permits("fe80::1".parse().unwrap()));
    assert!(!everything.permits("::ffff:127.0.0.1".parse().unwrap()), "IPv6 networks say nothing about IPv4");
}

#[tokio::test]
async fn a_mapped_address_is_connected_to_as_what_it_is() {
    let world = World::new().forget_answers().resolving(&["::ffff:93.184.216.34"]);
    world
        .client(crate::support::http_policy(), Limits::default())
        .send(Request::get("http://hooks.example/"))
        .await
        .unwrap();
    assert_eq!(world.connected(), ["93.184.216.34:80"]);
}

fn is_in_a_range<T: Ord + std::str::FromStr<Err: std::fmt::Debug>>(address: T, ranges: &[(&str, &str)]) -> bool {
    ranges.iter().any(|(first, last)| (first.parse().unwrap()..=last.parse().unwrap()).contains(&address))
}

proptest! {
    #[test]
    fn any_ipv4_address_is_public_or_in_a_range(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        let expected = !is_in_a_range(address, &FORBIDDEN_IPV4);
        prop_assert_eq!(is_public(address.into()), expected);
        for form in wrapped(address) {
            prop_assert_eq!(is_public(form), expected);
        }
    }

    #[test]
    fn any_ipv6_address_is_public_or_in_a_range(high: u16, low: u128, shift in 0_u32..112) {
        let address = Ipv6Addr::from_bits(u128::from(high) << 112 | low >> 16 >> shift);
        prop_assume!(!address.to_string().starts_with("::ffff:") && !address.to_string().starts_with("64:ff9b::"));
        prop_assert_eq!(is_public(address.into()), !is_in_a_range(address, &FORBIDDEN_IPV6));
    }
}
