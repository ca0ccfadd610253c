//! What is refused, and with which error. Where it matters the signature itself is good, so that nothing but the rule
//! under test can refuse it.

use super::*;
use sha2::{Digest, Sha512};

#[track_caller]
fn malformed<T: std::fmt::Debug>(result: Result<T, SignatureError>, about: &str) {
    match result {
        Err(SignatureError::Malformed(sentence)) => {
            assert!(sentence.contains(about), "{about:?} is not in {sentence:?}");
            assert!(sentence.ends_with('.') && sentence.len() < 200, "{sentence}");
        }
        other => panic!("{about}: {other:?}"),
    }
}

#[track_caller]
fn incomplete<T: std::fmt::Debug>(result: Result<T, SignatureError>, about: &str) {
    match result {
        Err(SignatureError::Incomplete(sentence)) => {
            assert!(sentence.contains(about), "{about:?} is not in {sentence:?}");
            assert!(sentence.ends_with('.') && sentence.len() < 200, "{sentence}");
        }
        other => panic!("{about}: {other:?}"),
    }
}

fn with_parameters(parameters: &str) -> Sent {
    Sent::unsigned().signed_over(COMPONENTS, parameters)
}

#[test]
fn unsigned_requests_claim_nothing() {
    assert!(Sent::unsigned().claim().unwrap().is_none());
    assert!(Sent::unsigned().with("authorization", "Bearer x").claim().unwrap().is_none());
}

#[test]
fn one_header_of_two_is_not_enough() {
    malformed(Sent::vector().without("signature").claim(), "no Signature.");
    malformed(Sent::vector().without("signature-input").claim(), "no Signature-Input.");
}

#[test]
fn headers_that_appear_twice_are_refused() {
    for name in ["signature", "signature-input", "content-digest", "content-type"] {
        let value = Sent::vector().header(name).to_owned();
        malformed(Sent::vector().and(name, &value).claim(), "more than one");
        malformed(Sent::vector().and(name, "").claim(), "more than one");
    }
}

#[test]
fn a_signature_stands_alone() {
    malformed(Sent::vector().with("authorization", "Bearer x").claim(), "Authorization");
}

#[test]
fn headers_must_be_readable() {
    for (name, label) in
        [("signature", "Signature "), ("signature-input", "Signature-Input"), ("content-digest", "Content-Digest")]
    {
        for value in ["nonsense nonsense", "sig=", "sig=(", "=", ",", "\t", "sig=\"", "sig=1,", "Sig=1", "sig=@1"] {
            malformed(Sent::vector().with(name, value).claim(), label);
        }
        malformed(Sent::vector().with(name, "sig=\u{202e}é").claim(), "not ASCII");
        malformed(Sent::vector().with(name, "ſig=()").claim(), "not ASCII");
    }
    // A line break cannot even be put into a header.
    assert!(HeaderValue::from_bytes(b"sig=(\r\n \"@method\")").is_err());
    malformed(Sent::vector().with("signature", "").claim(), "same labels");
    malformed(Sent::vector().with("signature-input", "").claim(), "same labels");
    malformed(Sent::vector().with("signature-input", "").with("signature", "").claim(), "empty");
    malformed(Sent::vector().with("signature-input", "sig").claim(), "lists");
    malformed(Sent::vector().with("signature-input", "sig=\"@method\"").claim(), "lists");
}

#[test]
fn names_that_appear_twice_are_refused() {
    let sent = Sent::vector();
    let (input, signature) = (sent.header("signature-input"), sent.header("signature"));
    malformed(sent.clone().with("signature-input", &format!("sig=(), {input}")).claim(), "appears twice");
    malformed(sent.clone().with("signature", &format!("sig=:AAAA:, {signature}")).claim(), "appears twice");
    malformed(sent.clone().with("content-digest", &format!("{DIGEST}, {DIGEST}")).claim(), "appears twice");
    for parameter in ["created=1", "expires=1", "nonce=\"x\"", "keyid=\"x\"", "tag=\"x\"", "alg=\"x\"", "other"] {
        malformed(with_parameters(&format!(";other;{parameter}{PARAMETERS};{parameter}")).claim(), "appears twice");
    }
}

#[test]
fn labels_must_agree() {
    let signature = format!("other=:{SIGNATURE}:");
    malformed(Sent::vector().with("signature", &signature).claim(), "same labels");
    malformed(Sent::vector().with("signature", &format!("sig=:{SIGNATURE}:, {signature}")).claim(), "same labels");
    let input = format!("{}, other=()", Sent::vector().header("signature-input"));
    malformed(Sent::vector().with("signature-input", &input).claim(), "same labels");
    // Any label will do.
    let sent = Sent::vector();
    let input = sent.header("signature-input").replacen("sig=", "*my-label.1=", 1);
    sent.with("signature-input", &input).with("signature", &format!("*my-label.1=:{SIGNATURE}:")).verify().unwrap();
}

#[test]
fn exactly_one_signature_has_our_tag() {
    let both = |other: &str, first: bool| {
        let sent = Sent::vector();
        let input = sent.header("signature-input").to_owned();
        let (input, signature) = if first {
            (format!("p={other}, {input}"), format!("p=:AAAA:, sig=:{SIGNATURE}:"))
        } else {
            (format!("{input}, p={other}"), format!("sig=:{SIGNATURE}:, p=:AAAA:"))
        };
        sent.with("signature-input", &input).with("signature", &signature)
    };
    for first in [true, false] {
        // What a proxy adds is not for us, whatever it is.
        for other in [
            "()",
            r#"("@status";req);tag="proxy""#,
            r#"("@method");tag=svc-machine-v1:svc-brain"#,
            r#"("@method");tag="svc-machine-v1:svc-bell";created="no""#,
        ] {
            both(other, first).verify().unwrap();
        }
        malformed(both(r#"();tag="svc-machine-v1:svc-brain""#, first).claim(), "more than one signature");
        malformed(both("1", first).claim(), "lists");
    }
    // Several, and none is ours.
    let sent = both("()", true);
    malformed(Claim::from_headers(&sent.headers, "svc-machine-v1:svc-bell"), "none has the tag");
    // One that is not ours is judged by its tag later, after its key.
    let single = with_parameters(&PARAMETERS.replace("svc-brain", "svc-bell"));
    single.claim().unwrap().unwrap();
    assert_eq!(single.verify().unwrap_err(), SignatureError::Invalid);
    // Neither case nor a longer tag are the same.
    for tag in ["SVC-machine-v1:svc-brain", "svc-machine-v1:svc-brain2", "svc-machine-v1:svc-brai", ""] {
        let single = with_parameters(&PARAMETERS.replace(TAG, tag));
        assert_eq!(single.verify().unwrap_err(), SignatureError::Invalid, "{tag}");
    }
}

#[test]
fn every_parameter_must_be_there() {
    for (name, text) in [
        ("created", ";created=1800000000"),
        ("expires", ";expires=1800000120"),
        ("nonce", ";nonce=\"AAECAwQFBgcICQoLDA0ODw\""),
        ("keyid", ";keyid=\"svc:sense:demo/key-2026-01\""),
        ("tag", ";tag=\"svc-machine-v1:svc-brain\""),
    ] {
        assert!(PARAMETERS.contains(text));
        incomplete(with_parameters(&PARAMETERS.replace(text, "")).claim(), name);
    }
    with_parameters(&PARAMETERS.replace(";alg=\"ed25519\"", "")).verify().unwrap();
}

#[test]
fn parameters_must_have_their_shape() {
    let replaced = |from: &str, to: &str| {
        assert!(PARAMETERS.contains(from));
        with_parameters(&PARAMETERS.replace(from, to)).claim()
    };
    for value in ["\"1800000000\"", "1800000000.0", "?1", ":AAAA:", "now"] {
        malformed(replaced("=1800000000", &format!("={value}")), "created must be an integer");
        malformed(replaced("=1800000120", &format!("={value}")), "expires must be an integer");
    }
    malformed(replaced("=1800000000", ""), "created must be an integer");
    malformed(replaced("1800000000", "1000000000000000"), "15 digits");
    for value in ["1", "token", ":AAECAwQFBgcICQoLDA0ODw==:", "?0"] {
        malformed(replaced(&format!("\"{NONCE}\""), value), "nonce must be a string");
        malformed(replaced(&format!("\"{KEY_ID}\""), value), "keyid must be a string");
        malformed(replaced(&format!("\"{TAG}\""), value), "tag must be a string");
        malformed(replaced("\"ed25519\"", value), "alg must be a string");
    }
    for nonce in ["", "AAECAwQFBgcICQoLDA0OD", "AAECAwQFBgcICQoLDA0O+w", "AAECAwQFBgcICQoLDA0O\\\"w", &"a".repeat(65)] {
        malformed(replaced(NONCE, nonce), "22 to 64");
    }
    replaced(NONCE, &"a".repeat(64)).unwrap();
    replaced(NONCE, "AAECAwQFBgcICQoLDA0O-_").unwrap();
    for key_id in ["", "svc:sense:demo", "svc:sense:demo/", "svc:sense:Demo/key-2026-01", "svc:sense:demo/key/2026-01"]
    {
        malformed(replaced(KEY_ID, key_id), "PRINCIPAL/KID");
    }
}

#[test]
fn only_ed25519_is_known() {
    for name in ["", "ED25519", "hmac-sha256", "rsa-v1_5-sha256"] {
        let sent = with_parameters(&PARAMETERS.replace("\"ed25519\"", &format!("\"{name}\"")));
        assert_eq!(sent.verify().unwrap_err(), SignatureError::Invalid, "{name}");
    }
}

#[test]
fn unknown_parameters_are_signed_and_mean_nothing() {
    let more = ";x;y=?0;z=1.500;w=:AAAA:;v=tok;u=\"a\\\"b\";t=-007";
    let sent = Sent::unsigned();
    let canonical = ";x;y=?0;z=1.5;w=:AAAA:;v=tok;u=\"a\\\"b\";t=-7";
    let base = sent.base(COMPONENTS, &format!("({COMPONENTS}){PARAMETERS}{canonical}"));
    let signature = STANDARD.encode(key().sign(base.as_bytes()).to_bytes());
    let sent = sent
        .with("signature-input", &format!("  sig=(  {COMPONENTS}   ){PARAMETERS}{more}  "))
        .with("signature", &format!("sig=:{signature}:"));
    sent.verify().unwrap();
    let without = format!("sig=({COMPONENTS}){PARAMETERS}");
    assert_eq!(sent.with("signature-input", &without).verify().unwrap_err(), SignatureError::Invalid);
}

#[test]
fn order_is_the_signers_choice() {
    let components = r#""content-digest" "@query" "@path" "content-type" "@authority" "@method""#;
    let parameters = r#";tag="svc-machine-v1:svc-brain";nonce="AAECAwQFBgcICQoLDA0ODw";expires=1800000300;keyid="svc:sense:demo/key-2026-01";created=1800000000"#;
    Sent::unsigned().signed_over(components, parameters).verify().unwrap();
}

#[test]
fn lifetimes_are_short() {
    for (lifetime, is_good) in [(1, true), (300, true), (301, false), (0, false), (-1, false), (99_999_999, false)] {
        let sent = with_parameters(&PARAMETERS.replace("1800000120", &(CREATED + lifetime).to_string()));
        match sent.verify() {
            Ok(_) => assert!(is_good, "{lifetime}"),
            Err(SignatureError::Expired(_)) => assert!(!is_good, "{lifetime}"),
            Err(other) => panic!("{lifetime}: {other}"),
        }
    }
    let negative = with_parameters(&PARAMETERS.replace("1800000000", "-999999999999999"));
    assert!(matches!(negative.verify(), Err(SignatureError::Expired(_))));
}

#[test]
fn every_component_must_be_covered() {
    for component in COMPONENTS.split(' ') {
        let rest = COMPONENTS.split(' ').filter(|other| *other != component).collect::<Vec<_>>().join(" ");
        incomplete(Sent::unsigned().signed_over(&rest, PARAMETERS).verify(), component.trim_matches('"'));
    }
    incomplete(
        Sent::unsigned().signed_over("", PARAMETERS).verify(),
        "@method, @authority, @path, @query, content-type, content-digest",
    );
    // @target-uri says the same as four of them, but one rule is easier to keep than two.
    let components = r#""@method" "@target-uri" "content-type" "content-digest""#;
    incomplete(Sent::unsigned().signed_over(components, PARAMETERS).verify(), "@authority, @path, @query");
}

#[test]
fn a_body_must_be_covered_whatever_the_method() {
    let head = r#""@method" "@authority" "@path" "@query""#;
    for method in ["PUT", "PATCH"] {
        let empty = Sent { method: method.to_owned(), body: Vec::new(), ..Sent::unsigned().without("content-digest") };
        incomplete(empty.signed_over(head, PARAMETERS).verify(), "content-digest");
    }
    for method in ["GET", "DELETE", "PURGE"] {
        let sent = Sent { method: method.to_owned(), ..Sent::unsigned() };
        let bare = sent.clone().without("content-digest").without("content-type").signed_over(head, PARAMETERS);
        incomplete(bare.verify(), "content-digest");
        Sent { body: Vec::new(), ..bare }.verify().unwrap();
        incomplete(sent.clone().signed_over(head, PARAMETERS).verify(), "content-digest");
        sent.signed_over(COMPONENTS, PARAMETERS).verify().unwrap();
    }
}

#[test]
fn covered_headers_must_be_there() {
    let components = format!("{COMPONENTS} \"x-more\"");
    incomplete(Sent::unsigned().signed_over(&components, PARAMETERS).verify(), "x-more");
    let sent = Sent::unsigned().with("x-more", "1").signed_over(&components, PARAMETERS);
    sent.verify().unwrap();
    assert_eq!(sent.clone().with("x-more", "2").verify().unwrap_err(), SignatureError::Invalid);
    assert_eq!(sent.clone().and("x-more", "1").verify().unwrap_err(), SignatureError::Invalid);
    incomplete(sent.without("x-more").verify(), "x-more");
    let long = format!("x-{}", "y".repeat(5000));
    incomplete(Sent::unsigned().signed_over(&format!("{COMPONENTS} \"{long}\""), PARAMETERS).verify(), "…");
    incomplete(Sent::vector().without("content-type").verify(), "content-type");
    incomplete(Sent::vector().without("content-digest").verify(), "content-digest");
}

#[test]
fn components_that_are_not_understood_are_refused() {
    for (component, about) in [
        ("\"@signature-params\"", "@signature-params"),
        ("\"@status\"", "@status"),
        ("\"@query-param\";name=\"a\"", "@query"),
        ("\"content-type\";sf", "sf"),
        ("\"X-Upper\"", "lower case"),
        ("\"@path\"", "twice"),
        ("\"content-type\"", "twice"),
        ("token", "strings"),
    ] {
        let input = format!("sig=({COMPONENTS} {component}){PARAMETERS}");
        malformed(Sent::vector().with("signature-input", &input).claim(), about);
    }
}

#[test]
fn signatures_are_64_bytes_of_canonical_base64() {
    for signature in [
        "::",
        ":AAAA:",
        &format!(":{}:", STANDARD.encode([0; 63])),
        &format!(":{}:", STANDARD.encode([0; 65])),
        &format!(":{SIGNATURE}:;x"),
        &format!("\"{SIGNATURE}\""),
        "?1",
        "(:AAAA:)",
    ] {
        malformed(Sent::vector().with("signature", &format!("sig={signature}")).claim(), "64 bytes");
    }
    malformed(Sent::vector().with("signature", "sig").claim(), "64 bytes");
    for signature in [
        SIGNATURE.trim_end_matches('=').to_owned(),
        SIGNATURE.replace("BA==", "BB=="),
        SIGNATURE.replace("==", "="),
        SIGNATURE.replace("==", "==="),
        SIGNATURE.replace('/', "_"),
        SIGNATURE.replacen('1', "1 ", 1),
        SIGNATURE.replacen('1', "1\t", 1),
    ] {
        malformed(Sent::vector().with("signature", &format!("sig=:{signature}:")).claim(), "");
    }
}

#[test]
fn digests_must_fit() {
    let digest = |value: &str| Sent::unsigned().with("content-digest", value).signed_over(COMPONENTS, PARAMETERS);
    let sha512 = format!("sha-512=:{}:", STANDARD.encode(Sha512::digest(BODY)));
    digest(&sha512).verify().unwrap();
    digest(&format!("{sha512},{DIGEST}")).verify().unwrap();
    digest(&format!("md5=:AAAA:, {DIGEST}, new=(1 2);x, flag")).verify().unwrap();
    let zero256 = format!("sha-256=:{}:", STANDARD.encode([0; 32]));
    let zero512 = format!("sha-512=:{}:", STANDARD.encode([0; 64]));
    for wrong in [zero256.clone(), zero512.clone(), format!("{DIGEST}, {zero512}"), format!("{zero256}, {sha512}")] {
        assert_eq!(digest(&wrong).verify().unwrap_err(), SignatureError::DigestMismatch, "{wrong}");
    }
    for unknown in ["", "md5=:AAAA:", "sha=:AAAA:", "sha-256-other=:AAAA:, x"] {
        incomplete(digest(unknown).verify(), "sha-256 or sha-512");
    }
    for shape in [
        "sha-256",
        "sha-256=:AAAA:",
        "sha-256=(:AAAA:)",
        "sha-256=\"4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=\"",
        "sha-512=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=:",
        "sha-256=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo:",
        "sha-256=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglp=:",
        "sha-256=4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=",
    ] {
        malformed(digest(shape).verify(), "Content-Digest");
    }
}

/// Nobody asked for it, but if it is there it has to be right.
#[test]
fn a_digest_that_nobody_asked_for_must_fit_too() {
    let get = |digest: &str| {
        Sent { method: "GET".to_owned(), body: Vec::new(), ..Sent::unsigned().with("content-digest", digest) }
            .signed_over(r#""@method" "@authority" "@path" "@query""#, PARAMETERS)
    };
    get("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:").verify().unwrap();
    assert_eq!(get(DIGEST).verify().unwrap_err(), SignatureError::DigestMismatch);
    malformed(get("nonsense=").verify(), "Content-Digest");
}

#[test]
fn huge_headers_are_refused_at_once() {
    let components = (0..10_000).map(|n| format!("\"x-{n}\"")).collect::<Vec<_>>().join(" ");
    malformed(Sent::vector().with("signature-input", &format!("sig=({components}){PARAMETERS}")).claim(), "16 KiB");
    let components = "\"a\" ".repeat(1000);
    malformed(Sent::vector().with("signature-input", &format!("sig=({components}){PARAMETERS}")).claim(), "64 items");
    let parameters = (0..1000).map(|n| format!(";p{n}")).collect::<String>();
    malformed(with_parameters(&parameters).claim(), "32 parameters");
    let labels = (0..1000).map(|n| format!("s{n}=()")).collect::<Vec<_>>().join(",");
    malformed(Sent::vector().with("signature-input", &labels).claim(), "16 entries");
    for name in ["signature", "signature-input", "content-digest"] {
        malformed(Sent::vector().with(name, &format!("sig=\"{}\"", "x".repeat(1 << 20))).claim(), "16 KiB");
        malformed(Sent::vector().with(name, &"(".repeat(16_000)).claim(), "");
        malformed(Sent::vector().with(name, &format!("sig={}", "(".repeat(16_000))).claim(), "");
    }
}

/// Which of several faults is told does not depend on luck.
#[test]
fn faults_are_told_in_their_order() {
    // Wrong tag before wrong time, wrong time before missing components, those before the digest, that before the key.
    let all_wrong = PARAMETERS.replace("svc-brain", "svc-bell").replace("1800000120", "1900000000");
    let sent = Sent { body: b"other".to_vec(), ..Sent::unsigned() };
    assert_eq!(sent.clone().signed_over("\"@method\"", &all_wrong).verify().unwrap_err(), SignatureError::Invalid);
    let late = PARAMETERS.replace("1800000120", "1900000000");
    assert!(matches!(sent.clone().signed_over("\"@method\"", &late).verify(), Err(SignatureError::Expired(_))));
    assert!(matches!(sent.clone().signed_over("\"@method\"", PARAMETERS).verify(), Err(SignatureError::Incomplete(_))));
    let sent = sent.signed_over(COMPONENTS, PARAMETERS).with("signature", &format!("sig=:{SIGNATURE}:"));
    let sent = Sent { path: "/other".to_owned(), ..sent };
    assert_eq!(sent.verify().unwrap_err(), SignatureError::DigestMismatch);
    assert_eq!(Sent { body: BODY.to_vec(), ..sent }.verify().unwrap_err(), SignatureError::Invalid);
}
