//! `stoa registry sign`: the headers of a signed request, for curl.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tempfile::TempDir;

use crate::cli_support::{Outcome, stoa};

const PRIVATE_KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
";
const PUBLIC_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=
-----END PUBLIC KEY-----
";
const EVENT: &str = r#"{"specversion":"1.0","id":"e1","source":"svc:sense:demo","type":"svc.demo.ping"}"#;
const VECTOR: [(&str, &str); 4] = [
    ("Content-Type", "application/cloudevents+json"),
    ("Content-Digest", "sha-256=:4UkPwsQOgbKWDnZWVRXGjtmc8afve6KCrbNxmbVcglo=:"),
    (
        "Signature-Input",
        r#"sig=("@method" "@authority" "@path" "@query" "content-type" "content-digest");created=1800000000;keyid="svc:sense:demo/key-2026-01";alg="ed25519";expires=1800000120;nonce="AAECAwQFBgcICQoLDA0ODw";tag="svc-machine-v1:svc-brain""#,
    ),
    ("Signature", "sig=:1y8mVVSwoePDFuAsOcx7abe6lssa8CEK2EsVRtQH6ZLAOfHQPHEo/1711jS1kpTA/BMrSWNCp5/8YT7WjiHtBA==:"),
];
/// What makes the signature of the contract's test vector, beside the address and the body.
const AS_THE_VECTOR: [&str; 6] = ["--created", "1800000000", "--lifetime", "120", "--nonce", "AAECAwQFBgcICQoLDA0ODw"];

/// A folder with a private key and an event.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("key.pem", PRIVATE_KEY, 0o600);
        folder.write("event.json", EVENT, 0o644);
        folder
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn sign_with(&self, key: &str, more: &[&str], input: &str) -> Outcome {
        let mut command = stoa(&["registry", "sign", "--key", key, "--principal", "svc:sense:demo"]);
        command.args(["--kid", "key-2026-01", "--audience", "svc-brain"]).args(more).current_dir(self.0.path());
        Outcome::of(&mut command, input.as_bytes())
    }

    fn sign(&self, more: &[&str]) -> Outcome {
        self.sign_with("key.pem", more, "")
    }
}

#[test]
fn the_vector_comes_out_of_a_file_and_of_standard_input() {
    let folder = Folder::new();
    let lines: String = VECTOR.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let from_file = ["--url", "https://hub.example/machine/events", "--body", "event.json"];
    assert_eq!(folder.sign(&[&from_file[..], &AS_THE_VECTOR].concat()).ok(), lines);
    let from_input = ["--url", "https://HUB.example:443/machine/events", "--method", "POST", "--body", "-"];
    assert_eq!(folder.sign_with("key.pem", &[&from_input[..], &AS_THE_VECTOR].concat(), EVENT).ok(), lines);
}

#[test]
fn programs_get_the_request_as_json() {
    let folder = Folder::new();
    let url = "https://hub.example/machine/events";
    let headers: serde_json::Map<_, _> =
        VECTOR.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    assert_eq!(
        folder.sign(&[&["--json", "--url", url, "--body", "event.json"][..], &AS_THE_VECTOR].concat()).json(),
        json!({"method": "POST", "url": url, "headers": headers})
    );
}

#[test]
fn each_signature_is_another_one() {
    let folder = Folder::new();
    let sign = || folder.sign(&["--url", "http://127.0.0.1:8080/machine/evidence?event_id=a%20b"]).ok();
    let (one, other) = (sign(), sign());
    assert_ne!(one, other);
    let names: Vec<_> = one.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["Signature-Input", "Signature"], "a GET has no body: {one}");
    assert!(one.contains(r#"("@method" "@authority" "@path" "@query");"#), "{one}");
}

#[test]
fn methods_that_have_a_body_have_a_digest() {
    let folder = Folder::new();
    for method in ["POST", "PUT", "PATCH"] {
        let signed = folder.sign(&["--url", "http://hub.example/x", "--method", method]).ok();
        assert!(
            signed.contains("\nContent-Digest: sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:\n"),
            "{signed}"
        );
    }
    let signed =
        folder.sign(&["--url", "http://hub.example/x", "--content-type", "text/plain", "--method", "PUT"]).ok();
    assert!(signed.starts_with("Content-Type: text/plain\n"), "{signed}");
}

#[test]
fn methods_are_signed_as_curl_sends_them() {
    let folder = Folder::new();
    let sign = |method| {
        let request = ["--url", "https://hub.example/machine/events", "--body", "event.json", "--method", method];
        folder.sign(&[&request[..], &AS_THE_VECTOR].concat()).ok()
    };
    assert_eq!(sign("put"), sign("PUT"));
    assert_ne!(sign("put"), sign("post"));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = Folder::new();
    let url = ["--url", "http://hub.example/x"];
    for mode in [0o604, 0o640, 0o620, 0o644, 0o666] {
        folder.write("open.pem", PRIVATE_KEY, mode);
        folder.sign_with("open.pem", &url, "").fails(1, &["open.pem", "chmod 600 open.pem"]);
    }
    folder.write("open.pem", PRIVATE_KEY, 0o400);
    folder.sign_with("open.pem", &url, "").ok();
}

#[test]
fn what_is_not_a_key_is_refused() {
    let folder = Folder::new();
    let url = ["--url", "http://hub.example/x"];
    folder.sign_with("gone.pem", &url, "").fails(1, &["gone.pem", "No such file"]);
    folder.write("empty.pem", "", 0o600);
    folder.sign_with("empty.pem", &url, "").fails(1, &["empty.pem", "not an Ed25519 private key"]);
    folder.write("locked.pem", PRIVATE_KEY.replace("PRIVATE", "ENCRYPTED PRIVATE"), 0o600);
    folder.sign_with("locked.pem", &url, "").fails(1, &["locked.pem", "password"]);
    folder.write("public.pem", PUBLIC_KEY, 0o644);
    folder.sign_with("public.pem", &url, "").fails(1, &["public.pem", "it is a public key"]);
    for (name, pem, convert) in [
        ("key.der", PRIVATE_KEY, "`openssl pkey -inform DER -in key.der -out key.pem`"),
        ("public.der", PUBLIC_KEY, "`openssl pkey -pubin -inform DER -in public.der -out key.pem`"),
    ] {
        let der = STANDARD.decode(pem.lines().nth(1).unwrap()).unwrap();
        folder.write(name, der, 0o600);
        folder.sign_with(name, &url, "").fails(1, &[name, "private key (PKCS #8, PEM)", convert]);
    }
    let said = folder.sign_with("event.json", &url, "").fails(1, &["event.json"]);
    assert!(!said.contains("specversion"), "{said}");
}

#[test]
fn what_a_hub_would_refuse_is_not_signed() {
    let folder = Folder::new();
    for url in ["hub.example", "ftp://hub.example/x", "http://user@hub.example/x", "http://hub.example/a b", "http://"]
    {
        folder.sign(&["--url", url]).fails(2, &["--url"]);
    }
    let url = ["--url", "http://hub.example/x"];
    let with = |more: &[&'static str]| folder.sign(&[&url[..], more].concat());
    for lifetime in ["301", "0", "1m", ""] {
        folder
            .sign(&["--url", "http://hub.example/x", "--lifetime", lifetime])
            .fails(2, &["--lifetime", "must be 1 to 300 seconds"]);
    }
    for content_type in ["", " ", "a\nb"] {
        folder
            .sign(&["--url", "http://hub.example/x", "--method", "PUT", "--content-type", content_type])
            .fails(2, &["--content-type", "must be a type such as application/json"]);
    }
    for method in ["", "G ET"] {
        folder.sign(&["--url", "http://hub.example/x", "--method", method]).fails(2, &["--method", "such as PUT"]);
    }
    with(&["--nonce", "short"]).fails(2, &["22 to 64"]);
    with(&["--created=-1"]).fails(2, &["time of signing"]);
    with(&["--body", "gone.json"]).fails(1, &["gone.json"]);
    let typed = |more: &[&str]| {
        let mut command = stoa(&["registry", "sign", "--key", "key.pem", "--url", "http://hub.example/x"]);
        Outcome::of(command.args(more).current_dir(folder.0.path()), b"")
    };
    typed(&["--principal", "demo", "--kid", "key-2026-01", "--audience", "svc-brain"]).fails(2, &["--principal"]);
    typed(&["--principal", "svc:sense:demo", "--kid", "k", "--audience", "svc-brain"]).fails(2, &["--kid"]);
    typed(&["--principal", "svc:sense:demo", "--kid", "key-2026-01", "--audience", "brain"]).fails(2, &["--audience"]);
}
