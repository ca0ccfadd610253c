//! Names whose addresses change, or are of two kinds.

use std::io::ErrorKind;

use stoa_outbound::{ConnectFault, Limits, OutboundError, Policy, Request, Roots};

use crate::support::{PUBLIC, World};

const URL: &str = "http://hooks.example/";

#[tokio::test]
async fn a_name_that_turns_private_is_not_connected_to_again() {
    let world = World::new().resolving(&["127.0.0.1"]);
    let client = world.http_client();
    assert_eq!(client.send(Request::get(URL)).await.unwrap().status, 200);
    assert_eq!(client.send(Request::get(URL)).await.unwrap_err(), OutboundError::ForbiddenAddress);
    assert_eq!(world.asked().len(), 2, "every request asks once, and remembers nothing");
    assert_eq!(world.connected(), [format!("{PUBLIC}:80")]);
}

#[tokio::test]
async fn one_forbidden_answer_spoils_the_rest() {
    for mixed in [
        &[PUBLIC, "10.0.0.1"][..],
        &["10.0.0.1", PUBLIC],
        &[PUBLIC, "::1"],
        &[PUBLIC, "2606:4700::1111", "1.1.1.1", "9.9.9.9", "169.254.169.254"],
        &[PUBLIC, "::ffff:192.168.0.1"],
    ] {
        let world = World::new().forget_answers().resolving(mixed);
        let client = world.http_client();
        assert_eq!(client.send(Request::get(URL)).await.unwrap_err(), OutboundError::ForbiddenAddress, "{mixed:?}");
        assert!(world.connected().is_empty(), "{mixed:?}");
    }
}

#[tokio::test]
async fn what_is_allowed_may_stand_beside_public_addresses() {
    let world = World::new().forget_answers().resolving(&["10.0.0.1", PUBLIC]);
    let policy = Policy { allow_http: true, allow: vec!["10.0.0.0/24".parse().unwrap()], ..Policy::default() };
    world.client(policy, Limits::default()).send(Request::get(URL)).await.unwrap();
    assert_eq!(world.connected(), ["10.0.0.1:80"]);
}

#[tokio::test]
async fn the_peer_must_be_who_was_connected_to() {
    for liar in ["127.0.0.1:80", "1.1.1.1:80", "93.184.216.34:81", "[::1]:80"] {
        let world = World::new().with_peer_address(liar);
        let client = world.http_client();
        assert_eq!(client.send(Request::get(URL)).await.unwrap_err(), OutboundError::ForbiddenAddress, "{liar}");
        assert!(world.heard().is_empty(), "{liar} was told something");
    }
    let world = World::new().with_peer_address("[::ffff:93.184.216.34]:80");
    assert!(world.http_client().send(Request::get(URL)).await.is_ok(), "a socket of both families says it like this");
}

#[tokio::test]
async fn a_name_without_an_address_is_not_found() {
    let unknown = World::new().forget_answers();
    let empty = World::new().forget_answers().resolving(&[]);
    for world in [unknown, empty] {
        assert_eq!(world.http_client().send(Request::get(URL)).await.unwrap_err(), OutboundError::Unresolvable);
        assert!(world.connected().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_address_is_tried_when_one_is_dead() {
    let addresses = ["2606:4700::1", "2606:4700::2", "2606:4700::3", PUBLIC];
    for fault in [Some(ErrorKind::ConnectionRefused), Some(ErrorKind::NetworkUnreachable), None] {
        let world = World::new().forget_answers().resolving(&addresses).dead("2606:4700::1", fault);
        assert_eq!(world.http_client().send(Request::get(URL)).await.unwrap().status, 200);
        assert_eq!(world.connected(), ["[2606:4700::1]:80".to_owned(), format!("{PUBLIC}:80")], "{fault:?}");
        assert_eq!(world.asked().len(), 1);
    }
}

#[tokio::test]
async fn not_all_of_many_addresses_are_tried() {
    let addresses = ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"];
    let mut world = World::new().forget_answers().resolving(&addresses);
    for address in addresses {
        world = world.dead(address, Some(ErrorKind::ConnectionRefused));
    }
    let refused = world.http_client().send(Request::get(URL)).await.unwrap_err();
    assert_eq!(refused, OutboundError::ConnectFailed(ConnectFault::Refused));
    assert_eq!(world.connected(), ["1.1.1.1:80", "1.1.1.2:80", "1.1.1.3:80"]);
}

#[tokio::test]
async fn without_authorities_https_is_not_even_tried() {
    let world = World::new().trusting(Roots::Only(Vec::new()));
    let client = world.client(Policy::default(), Limits::default());
    assert_eq!(client.send(Request::get("https://hooks.example/")).await.unwrap_err(), OutboundError::NoRoots);
    assert!(world.asked().is_empty());
    assert!(world.connected().is_empty());
}

/// Whoever is told why must not learn what is inside.
#[tokio::test]
async fn sentences_do_not_say_what_a_name_resolves_to() {
    let world = World::new().forget_answers().resolving(&["10.11.12.13"]);
    let sentence = world.http_client().send(Request::get(URL)).await.unwrap_err().to_string();
    assert!(!sentence.contains("10.11"), "{sentence}");
}
