//! Networks in CIDR notation.

use stoa_outbound::{BadNetwork, Network};

fn parse(text: &str) -> Result<Network, BadNetwork> {
    text.parse()
}

#[test]
fn networks_are_written_as_they_are_read() {
    for text in ["0.0.0.0/0", "10.0.0.0/8", "192.0.2.1/32", "::/0", "fd00::/8", "::1/128", "2001:db8::/33"] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
    assert_eq!(parse("192.0.2.1").unwrap().to_string(), "192.0.2.1/32");
    assert_eq!(parse("::1").unwrap().to_string(), "::1/128");
}

#[test]
fn the_whole_of_a_family_is_a_network() {
    let everything = parse("0.0.0.0/0").unwrap();
    assert!(everything.contains("0.0.0.0".parse().unwrap()));
    assert!(everything.contains("255.255.255.255".parse().unwrap()));
    assert!(!everything.contains("::".parse().unwrap()));
    assert!(parse("::/0").unwrap().contains("ffff::".parse().unwrap()));
    assert!(!parse("::/0").unwrap().contains("0.0.0.0".parse().unwrap()));
}

#[test]
fn what_is_wrong_is_said() {
    for text in
        ["", "/8", "10/8", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/300", "10.0.0.0 /8", "hub.example"]
    {
        assert_eq!(parse(text), Err(BadNetwork::Malformed), "{text}");
    }
    assert_eq!(parse("10.0.0.0/33"), Err(BadNetwork::PrefixTooLong { most: 32 }));
    assert_eq!(parse("fd00::/129"), Err(BadNetwork::PrefixTooLong { most: 128 }));
    assert_eq!(
        parse("10.0.0.1/8").unwrap_err().to_string(),
        "The address has bits beyond the prefix. Did you mean 10.0.0.0/8?"
    );
    for text in ["::ffff:10.0.0.0/104", "64:ff9b::/96"] {
        assert_eq!(parse(text), Err(BadNetwork::Embedded), "{text}");
    }
}
