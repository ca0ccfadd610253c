//! Whatever is thrown at it. `PROPTEST_CASES=100000` throws more.

use super::*;
use proptest::prelude::*;
use stoa_signature::{Signer, authority_of};

/// Bytes that a header can hold at all; the rest never gets past the HTTP parser.
fn header_bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![8 => 0x20..=0x7e_u8, 1 => Just(b'\t'), 1 => 0x80..=0xff_u8], 0..200)
}

/// A good header in which something was cut, put in, or replaced.
fn mutated(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let pieces = proptest::sample::select(vec![
        "",
        "\"",
        "\\",
        "(",
        ")",
        ";",
        ",",
        "=",
        ":",
        "?",
        "@",
        "%",
        " ",
        "\t",
        "é",
        "sig=",
        ";created=1",
        ";tag=\"x\"",
        ", b=()",
        "\"@path\"",
        ":AAAA:",
        "0",
        "999999999999999",
        "-",
        ".",
        "A=",
        "==",
        "\u{7f}",
    ]);
    let change = (0..=text.len(), 0..20_usize, pieces);
    proptest::collection::vec(change, 1..4).prop_map(move |changes| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, length, piece) in changes {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        bytes
    })
}

fn input() -> &'static str {
    r#"sig=("@method" "@authority" "@path" "@query" "content-type" "content-digest");created=1800000000;keyid="svc:sense:demo/key-2026-01";alg="ed25519";expires=1800000120;nonce="AAECAwQFBgcICQoLDA0ODw";tag="svc-machine-v1:svc-brain""#
}

fn signature() -> &'static str {
    "sig=:1y8mVVSwoePDFuAsOcx7abe6lssa8CEK2EsVRtQH6ZLAOfHQPHEo/1711jS1kpTA/BMrSWNCp5/8YT7WjiHtBA==:"
}

/// Goes through all of it, whatever is refused on the way.
fn exercise(sent: &Sent) -> Result<(), SignatureError> {
    let Some(claim) = sent.claim()? else { return Ok(()) };
    assert_eq!(format!("{}/{}", claim.principal_id(), claim.kid()), claim.key_id());
    let head = claim.check_head(&sent.request(), TAG, CREATED);
    let body = claim.check_body(&sent.request(), &key().verifying_key(), &sent.body);
    head.and(body)
}

fn with_bytes(name: &'static str, bytes: &[u8]) -> Option<Sent> {
    let mut sent = Sent::vector();
    sent.headers.insert(name, HeaderValue::from_bytes(bytes).ok()?);
    Some(sent)
}

/// What passes with this signature is the header that was signed.
fn passes_only_if_it_says_the_same(name: &'static str, original: &str, bytes: &[u8]) {
    let Some(sent) = with_bytes(name, bytes) else { return };
    if exercise(&sent).is_ok() {
        // Blanks between entries and components, and numbers with leading zeros, are all that can differ.
        let plain = |text: &[u8]| String::from_utf8_lossy(text).replace([' ', '\t'], "").replace("=0", "=");
        assert_eq!(plain(bytes), plain(original.as_bytes()), "{}", String::from_utf8_lossy(bytes));
    }
}

proptest! {
    #[test]
    fn arbitrary_headers_do_no_harm(first in header_bytes(), second in header_bytes(), third in header_bytes()) {
        let mut sent = Sent::unsigned();
        sent.headers.insert("signature-input", HeaderValue::from_bytes(&first).unwrap());
        sent.headers.insert("signature", HeaderValue::from_bytes(&second).unwrap());
        prop_assert!(exercise(&sent).is_err());
        sent.headers.insert("content-digest", HeaderValue::from_bytes(&third).unwrap());
        prop_assert!(exercise(&sent).is_err());
        if let Some(sent) = with_bytes("content-digest", &third) {
            prop_assert!(exercise(&sent).is_err());
        }
    }

    #[test]
    fn mutated_headers_do_no_harm(
        input_bytes in mutated(input()),
        signature_bytes in mutated(signature()),
        digest_bytes in mutated(DIGEST),
    ) {
        passes_only_if_it_says_the_same("signature-input", input(), &input_bytes);
        passes_only_if_it_says_the_same("signature", signature(), &signature_bytes);
        passes_only_if_it_says_the_same("content-digest", DIGEST, &digest_bytes);
        if let Some(mut sent) = with_bytes("signature-input", &input_bytes)
            && let Ok(value) = HeaderValue::from_bytes(&signature_bytes)
        {
            sent.headers.insert("signature", value);
            let _ = exercise(&sent);
        }
    }

    #[test]
    fn arbitrary_requests_do_no_harm(method in ".*", authority in ".*", path in ".*", query in proptest::option::of(".*")) {
        let sent = Sent { method, authority, path, query, ..Sent::vector() };
        prop_assert!(exercise(&sent).is_err());
    }

    #[test]
    fn what_is_signed_verifies(
        seed in any::<[u8; 32]>(),
        method in "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|[A-Z]{1,10}",
        scheme in "https?",
        host in "[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?",
        port in proptest::option::of(1..=65535_u16),
        path in "(/[!-~&&[^?#]]{0,20}){0,4}",
        query in proptest::option::of("[!-~&&[^#]]{0,40}"),
        content_type in "[!-~]([ -~]{0,30}[!-~])?",
        body in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
        principal in "svc:(sense|brain|bell):[a-z0-9][a-z0-9.-]{0,62}",
        kid in "[A-Za-z0-9._-]{8,64}",
        audience in "svc-[a-z]{1,20}",
        nonce in "[A-Za-z0-9_-]{22,64}",
        created in 0..999_999_999_999_i64,
        lifetime in 1..=300_i64,
        wait in -60..=360_i64,
    ) {
        let key = SigningKey::from_bytes(&seed);
        let tag = format!("svc-machine-v1:{audience}");
        let signer = Signer::new(key.clone(), &format!("{principal}/{kid}"), &tag).unwrap();
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let authority = authority_of(&format!("{scheme}://{}{port}", host.to_ascii_uppercase())).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_str(&content_type).unwrap());
        headers.insert("x-other", HeaderValue::from_static("1"));
        let unsigned = headers.clone();
        let request = Request {
            method: &method, scheme: &scheme, authority: &authority, path: &path, query: query.as_deref(), headers: &unsigned,
        };
        headers.extend(signer.sign(&request, body.as_deref(), created, lifetime, &nonce).unwrap());
        // The signer may write the authority in its own way.
        let spelled = format!("{host}{port}");
        let request = Request { headers: &headers, authority: &spelled, ..request };

        let claim = Claim::from_headers(&headers, &tag).unwrap().unwrap();
        prop_assert_eq!(claim.principal_id(), principal);
        prop_assert_eq!(claim.kid(), kid);
        prop_assert_eq!(claim.nonce(), nonce);
        let head = claim.check_head(&request, &tag, created + wait);
        prop_assert_eq!(head.is_ok(), wait <= lifetime + 60, "{:?}", head);
        let body = body.unwrap_or_default();
        claim.check_body(&request, &key.verifying_key(), &body).unwrap();

        let mut other = body.clone();
        other.push(0);
        prop_assert!(claim.check_body(&request, &key.verifying_key(), &other).is_err());
        let elsewhere = Request { path: "/elsewhere", ..request };
        prop_assert_eq!(claim.check_body(&elsewhere, &key.verifying_key(), &body), Err(SignatureError::Invalid));
    }
}
