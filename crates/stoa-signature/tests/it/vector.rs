//! The vector that other implementations are tested with, and all that is close to it.

use super::*;
use ed25519_dalek::Signature;
use sha2::{Digest, Sha256};
use stoa_signature::{Signer, authority_of};

/// What other implementations are written after.
const CONTRACT: &str = include_str!("../../../../contracts/machine-principal-registry/v1/README.md");

fn signer() -> Signer {
    Signer::new(key(), KEY_ID, TAG).unwrap()
}

#[test]
fn signing_gives_the_very_bytes() {
    let unsigned = Sent::unsigned().without("content-digest");
    let headers = signer().sign(&unsigned.request(), Some(BODY), CREATED, 120, NONCE).unwrap();
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect::<Vec<_>>();
    let input = format!("sig=({COMPONENTS}){PARAMETERS}");
    let signature = format!("sig=:{SIGNATURE}:");
    assert_eq!(
        headers,
        [("content-digest", DIGEST), ("signature-input", input.as_str()), ("signature", signature.as_str())]
    );
}

#[test]
fn it_verifies_and_says_who_signed() {
    let claim = Sent::vector().verify().unwrap();
    assert_eq!(claim.key_id(), KEY_ID);
    assert_eq!(claim.principal_id(), "svc:sense:demo");
    assert_eq!(claim.kid(), "key-2026-01");
    assert_eq!(claim.nonce(), NONCE);
    assert_eq!((claim.created(), claim.expires()), (CREATED, CREATED + 120));
    let base = format!(
        "\"@method\": POST\n\"@authority\": hub.example\n\"@path\": /machine/events\n\"@query\": ?\n\
         \"content-type\": application/cloudevents+json\n\"content-digest\": {DIGEST}\n\
         \"@signature-params\": ({COMPONENTS}){PARAMETERS}"
    );
    assert_eq!(claim.signature_base(&Sent::vector().request()).unwrap(), base);
    assert!(CONTRACT.contains(&base) && CONTRACT.contains(SIGNATURE), "the contract has another vector");
}

/// The second vector: a query and no body.
#[test]
fn a_request_without_a_body_gives_the_very_bytes_too() {
    let components = r#""@method" "@authority" "@path" "@query""#;
    let mut sent = Sent {
        method: "GET".to_owned(),
        authority: "hub.example".to_owned(),
        path: "/machine/evidence".to_owned(),
        query: Some("event_id=e1".to_owned()),
        headers: HeaderMap::new(),
        body: Vec::new(),
    };
    let added = signer().sign(&sent.request(), None, CREATED, 120, NONCE).unwrap();
    sent.headers.extend(added);
    assert_eq!(sent.headers.len(), 2, "{:?}", sent.headers);
    assert_eq!(sent.header("signature-input"), format!("sig=({components}){PARAMETERS}"));
    let signature = "VcQ8L8lteirtprkwCkPeaq7BGbO69+gu4ohDYOFL6IwVevrp2mEG3tzV1BplD5hUFMsVon5Nz+nn1u1WhrNnCQ==";
    assert_eq!(sent.header("signature"), format!("sig=:{signature}:"));
    let base = format!(
        "\"@method\": GET\n\"@authority\": hub.example\n\"@path\": /machine/evidence\n\"@query\": ?event_id=e1\n\
         \"@signature-params\": ({components}){PARAMETERS}"
    );
    assert_eq!(sent.verify().unwrap().signature_base(&sent.request()).unwrap(), base);
    assert!(CONTRACT.contains(&base) && CONTRACT.contains(signature), "the contract has another vector");
    sent.query = None;
    assert_eq!(sent.verify().unwrap_err(), SignatureError::Invalid);
}

#[test]
fn no_byte_of_the_base_can_change() {
    let sent = Sent::vector();
    let base = sent.verify().unwrap().signature_base(&sent.request()).unwrap().into_bytes();
    let signature = Signature::from_slice(&STANDARD.decode(SIGNATURE).unwrap()).unwrap();
    key().verifying_key().verify_strict(&base, &signature).unwrap();
    for index in 0..base.len() {
        let mut changed = base.clone();
        changed[index] ^= 1;
        assert!(key().verifying_key().verify_strict(&changed, &signature).is_err(), "byte {index}");
    }
}

#[test]
fn no_byte_of_the_signature_can_change() {
    let signature = STANDARD.decode(SIGNATURE).unwrap();
    for index in 0..signature.len() {
        for bit in [1, 0x80] {
            let mut changed = signature.clone();
            changed[index] ^= bit;
            let sent = Sent::vector().with("signature", &format!("sig=:{}:", STANDARD.encode(changed)));
            assert_eq!(sent.verify().unwrap_err(), SignatureError::Invalid, "byte {index}");
        }
    }
}

/// Every character of the two headers: some changes make them unreadable, some mean another time. None passes.
#[test]
fn no_character_of_the_headers_can_change() {
    for name in ["signature-input", "signature", "content-digest", "content-type"] {
        let value = Sent::vector().header(name).to_owned();
        for index in 0..value.len() {
            for replacement in [b'\t', b' ', b'!', b'0', b'9', b'A', b'a', b'~'] {
                let mut changed = value.clone().into_bytes();
                changed[index] = replacement;
                let changed = String::from_utf8(changed).unwrap();
                let sent = Sent::vector().with(name, &changed);
                assert!(changed == value || sent.verify().is_err(), "{name}: {changed}");
            }
        }
    }
}

#[test]
fn each_part_of_the_request_is_bound() {
    let change = |change: fn(&mut Sent)| {
        let mut sent = Sent::vector();
        change(&mut sent);
        sent.verify().unwrap_err()
    };
    assert_eq!(change(|sent| sent.method = "PUT".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.method = "post".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.path = "/machine/event".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.path = "/machine/events/".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.path = "/machine/%65vents".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.query = Some("a".to_owned())), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.authority = "hub.example:8443".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.authority = "evil.example".to_owned()), SignatureError::Invalid);
    assert_eq!(change(|sent| sent.body.push(b' ')), SignatureError::DigestMismatch);
    assert_eq!(change(|sent| sent.body.clear()), SignatureError::DigestMismatch);
    // The digest of the other body does not help: it is covered.
    let digest = format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(b"other")));
    let other = Sent { body: b"other".to_vec(), ..Sent::vector().with("content-digest", &digest) };
    assert_eq!(other.verify().unwrap_err(), SignatureError::Invalid);
    let typed = Sent::vector().with("content-type", "application/json");
    assert_eq!(typed.verify().unwrap_err(), SignatureError::Invalid);
}

#[test]
fn the_tag_names_the_audience() {
    let sent = Sent::vector();
    let claim = Claim::from_headers(&sent.headers, "svc-machine-v1:svc-bell").unwrap().unwrap();
    assert_eq!(
        claim.check_head(&sent.request(), "svc-machine-v1:svc-bell", CREATED).unwrap_err(),
        SignatureError::Invalid
    );
    // Rewriting the tag breaks the signature.
    let input = sent.header("signature-input").replace("svc-brain", "svc-bell");
    let sent = Sent::vector().with("signature-input", &input);
    let claim = Claim::from_headers(&sent.headers, "svc-machine-v1:svc-bell").unwrap().unwrap();
    claim.check_head(&sent.request(), "svc-machine-v1:svc-bell", CREATED).unwrap();
    assert_eq!(claim.check_body(&sent.request(), &key().verifying_key(), BODY).unwrap_err(), SignatureError::Invalid);
}

#[test]
fn another_key_does_not_verify() {
    let sent = Sent::vector();
    let claim = sent.claim().unwrap().unwrap();
    let other = SigningKey::from_bytes(&[9; 32]).verifying_key();
    assert_eq!(claim.check_body(&sent.request(), &other, BODY).unwrap_err(), SignatureError::Invalid);
}

/// A key of small order "verifies" messages that nobody signed; strict verification knows none.
#[test]
fn weak_keys_verify_nothing() {
    let mut identity = [0; 32];
    identity[0] = 1;
    for weak in [[0; 32], identity] {
        let weak = ed25519_dalek::VerifyingKey::from_bytes(&weak).unwrap();
        let mut forged = [0; 64];
        forged[0] = 1;
        for signature in [[0; 64], forged] {
            let sent = Sent::vector().with("signature", &format!("sig=:{}:", STANDARD.encode(signature)));
            let claim = sent.claim().unwrap().unwrap();
            assert_eq!(claim.check_body(&sent.request(), &weak, BODY).unwrap_err(), SignatureError::Invalid);
        }
    }
}

#[test]
fn the_window_of_time_has_sharp_edges() {
    for (now, is_good) in [
        (CREATED - 61, false),
        (CREATED - 60, true),
        (CREATED, true),
        (CREATED + 120, true),
        (CREATED + 180, true),
        (CREATED + 181, false),
        (i64::MIN, false),
        (i64::MAX, false),
        (0, false),
    ] {
        match Sent::vector().verify_at(now) {
            Ok(_) => assert!(is_good, "{now}"),
            Err(SignatureError::Expired(_)) => assert!(!is_good, "{now}"),
            Err(other) => panic!("{now}: {other}"),
        }
    }
}

#[test]
fn the_public_address_has_one_form() {
    for address in ["https://hub.example", "https://HUB.example:443", "https://Hub.Example/"] {
        let sent = Sent { authority: authority_of(address).unwrap(), ..Sent::vector() };
        sent.verify().unwrap();
    }
    // Those who fill in the request by hand get the same.
    Sent { authority: "Hub.Example:443".to_owned(), ..Sent::vector() }.verify().unwrap();
}

#[test]
fn paths_and_queries_are_signed_as_they_are_sent() {
    let unsigned = HeaderMap::new();
    let request = Request {
        method: "GET",
        scheme: "http",
        authority: "127.0.0.1:8080",
        path: "/machine/source-configs/a%2Fb%20c/..//d",
        query: Some("x=%20+%2B&y&&z=1"),
        headers: &unsigned,
    };
    let signed: HeaderMap = signer().sign(&request, None, CREATED, 60, NONCE).unwrap().into_iter().collect();
    let request = Request { headers: &signed, ..request };
    let claim = Claim::from_headers(&signed, TAG).unwrap().unwrap();
    claim.check_head(&request, TAG, CREATED).unwrap();
    claim.check_body(&request, &key().verifying_key(), b"").unwrap();
    for (path, query) in [
        ("/machine/source-configs/a/b%20c/..//d", request.query),
        ("/machine/source-configs/d", request.query),
        (request.path, Some("x=%20%20%2B&y&&z=1")),
        (request.path, Some("x=%20+%2b&y&&z=1")),
        (request.path, None),
    ] {
        let other = Request { path, query, ..request };
        assert_eq!(claim.check_body(&other, &key().verifying_key(), b"").unwrap_err(), SignatureError::Invalid);
    }
}

#[test]
fn an_empty_body_has_a_digest_too() {
    for body in [None, Some(&b""[..])] {
        let mut sent = Sent { body: Vec::new(), ..Sent::unsigned().without("content-digest") };
        let added = signer().sign(&sent.request(), body, CREATED, 60, NONCE).unwrap();
        sent.headers.extend(added);
        assert_eq!(sent.header("content-digest"), "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
        sent.verify().unwrap();
    }
    let bare = Sent { body: Vec::new(), ..Sent::unsigned().without("content-digest") }
        .signed_over(r#""@method" "@authority" "@path" "@query""#, PARAMETERS);
    match bare.verify() {
        Err(SignatureError::Incomplete(sentence)) => {
            assert_eq!(sentence, "The signature must also cover content-type, content-digest.")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_signer_refuses_what_a_verifier_would() {
    use stoa_signature::SigningError;
    for key_id in ["", "svc:sense:demo", "demo/key-2026-01", "svc:sense:demo/short"] {
        assert_eq!(Signer::new(key(), key_id, TAG).unwrap_err(), SigningError::KeyId);
    }
    for tag in ["", "svc-machine-v1:", "svc-brain", "svc-machine-v1:a\"b", "svc-machine-v1:a b", "svc-machine-v1:é"] {
        assert_eq!(Signer::new(key(), KEY_ID, tag).unwrap_err(), SigningError::Tag);
    }
    let unsigned = Sent::unsigned().without("content-digest");
    let sign = |sent: &Sent, created, lifetime, nonce: &str| {
        signer().sign(&sent.request(), Some(&sent.body), created, lifetime, nonce).unwrap_err()
    };
    assert_eq!(sign(&unsigned, CREATED, 0, NONCE), SigningError::Lifetime);
    assert_eq!(sign(&unsigned, CREATED, 301, NONCE), SigningError::Lifetime);
    assert_eq!(sign(&unsigned, -1, 60, NONCE), SigningError::Time);
    assert_eq!(sign(&unsigned, i64::MAX, 60, NONCE), SigningError::Time);
    assert_eq!(sign(&unsigned, CREATED, 60, "short"), SigningError::Nonce);
    assert_eq!(sign(&unsigned, CREATED, 60, "AAECAwQFBgcICQoLDA0OD="), SigningError::Nonce);
    assert_eq!(sign(&unsigned.clone().without("content-type"), CREATED, 60, NONCE), SigningError::ContentType);
    for (name, value) in
        [("content-digest", DIGEST), ("signature", "a=::"), ("signature-input", "a=()"), ("authorization", "Bearer x")]
    {
        let refused = sign(&unsigned.clone().with(name, value), CREATED, 60, NONCE);
        assert!(matches!(refused, SigningError::Header(_)), "{refused:?}");
    }
    let twice = unsigned.clone().and("content-type", "text/plain");
    assert!(matches!(sign(&twice, CREATED, 60, NONCE), SigningError::Request(SignatureError::Malformed(_))));
    let odd = Sent { path: "/a b".to_owned(), ..unsigned };
    assert!(matches!(sign(&odd, CREATED, 60, NONCE), SigningError::Request(SignatureError::Malformed(_))));
}

#[test]
fn a_signer_does_not_print_its_key() {
    assert_eq!(
        format!("{:?}", signer()),
        r#"Signer { key_id: "svc:sense:demo/key-2026-01", tag: "svc-machine-v1:svc-brain", .. }"#
    );
}

#[test]
fn a_401_says_what_to_sign() {
    assert_eq!(
        stoa_signature::accept_signature(TAG, true),
        format!(r#"sig=({COMPONENTS});created;expires;alg="ed25519";tag="{TAG}""#)
    );
    assert_eq!(
        stoa_signature::accept_signature(TAG, false),
        format!(r#"sig=("@method" "@authority" "@path" "@query");created;expires;alg="ed25519";tag="{TAG}""#)
    );
}
