//! `stoa registry`: documents are checked and shown, keys are made, without a hub.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_support::{Outcome, skip, stoa};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts/machine-principal-registry/v1/examples");

/// A folder for documents and keys.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Copies an example, because those of a checkout may be writable for a group.
    fn example(&self, kind_and_name: &str, name: &str) -> PathBuf {
        self.write(name, &fs::read_to_string(format!("{EXAMPLES}/{kind_and_name}")).unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    /// `stoa registry` with this folder as the current one.
    fn registry(&self, arguments: &[&str]) -> Outcome {
        let mut command = stoa(&["registry"]);
        Outcome::of(command.args(arguments).current_dir(self.0.path()), b"")
    }
}

/// Not valid: said on standard output, where findings belong.
#[track_caller]
fn not_valid(outcome: Outcome) -> Vec<String> {
    assert!(outcome.code == Some(1) && outcome.stderr.is_empty(), "{outcome:?}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn valid_documents_are_valid() {
    let folder = Folder::new();
    folder.example("valid/one-principal.json", "a.json");
    assert_eq!(
        folder.registry(&["validate", "a.json"]).ok(),
        "valid: 0 faults, 0 warnings in 1 document with 1 principal and 1 key.\n"
    );
    assert_eq!(
        folder.registry(&["validate", "--strict", "--json", "a.json"]).json(),
        json!({"valid": true, "documents": 1, "principals": 1, "keys": 1, "faults": [], "warnings": []})
    );
}

#[test]
fn every_fault_has_a_line() {
    let folder = Folder::new();
    folder.example("invalid/kid-too-short.json", "kid.json");
    folder.example("invalid/duplicate-property-in-key.json", "twice.json");
    folder.write("broken.json", "{");
    let lines = not_valid(folder.registry(&["validate", "kid.json", "twice.json", "broken.json", "gone.json"]));
    assert_eq!(
        lines,
        [
            "kid.json: /principals/0/keys/0/kid: must be 8 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen, not \
             \"key-202\"",
            "twice.json: /principals/0/keys/0/status: the property is given more than once",
            "broken.json: the document is not JSON: EOF while parsing an object at line 1 column 1",
            "gone.json: it cannot be read: No such file or directory (os error 2)",
            "not valid: 4 faults, 0 warnings in 3 documents with 0 principals and 0 keys.",
        ]
    );
    let outcome = folder.registry(&["validate", "--json", "kid.json"]);
    assert_eq!(outcome.code, Some(1));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&report["valid"], &report["faults"][0]["file"]), (&json!(false), &json!("kid.json")));
    assert_eq!(report["faults"][0]["pointer"], "/principals/0/keys/0/kid");
}

#[test]
fn warnings_are_faults_when_one_is_strict() {
    let folder = Folder::new();
    folder.example("warned/stray-bits.json", "a.json");
    let text = folder.registry(&["validate", "a.json"]).ok();
    assert!(
        text.starts_with(
            "a.json: /principals/0/keys/0/public_key_base64url: warning: the key cannot be used: its last character"
        ),
        "{text}"
    );
    assert!(text.ends_with("\nvalid: 0 faults, 1 warning in 1 document with 1 principal and 2 keys.\n"), "{text}");
    let lines = not_valid(folder.registry(&["validate", "--strict", "a.json"]));
    assert!(lines[1].starts_with("not valid: 0 faults, 1 warning"), "{lines:?}");
}

#[test]
fn a_folder_is_checked_as_a_whole() {
    let folder = Folder::new();
    folder.example("valid/one-principal.json", "a.json");
    folder.example("valid/no-principals.json", "bell.json");
    assert!(folder.registry(&["validate", "."]).ok().contains("in 2 documents with 1 principal and 1 key"));
    // For one hub the other document does not count.
    folder.registry(&["validate", "--strict", "--audience", "svc-brain", "."]).ok();
    let text = folder.registry(&["validate", "--audience", "svc-sense", "."]).ok();
    assert!(text.starts_with(".: warning: the folder has no document for svc-sense\n"), "{text}");
    let lines = not_valid(folder.registry(&["validate", "--audience", "svc-brain", "bell.json"]));
    assert_eq!(lines[0], "bell.json: /audience: the document is for svc-bell, but one for svc-brain is needed");

    folder.example("valid/rotation.json", "b.json");
    let lines = not_valid(folder.registry(&["validate", "."]));
    assert_eq!(
        lines[0],
        "./b.json: /principals/0/principal_id: \"svc:sense:demo\" is the principal_id of /principals/0 of ./a.json already"
    );
    // As arguments of their own they are registries of their own.
    folder.registry(&["validate", "a.json", "b.json"]).ok();
}

#[test]
fn what_the_hub_would_not_load_is_not_valid() {
    let folder = Folder::new();
    let path = folder.example("valid/one-principal.json", "a.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let lines = not_valid(folder.registry(&["validate", "a.json"]));
    assert!(lines[0].contains("(mode 0664)") && lines[0].ends_with("chmod go-w"), "{lines:?}");
    assert!(Command::new("mkfifo").arg(folder.path("pipe.json")).status().unwrap().success());
    let lines = not_valid(folder.registry(&["validate", "pipe.json"]));
    assert_eq!(lines[0], "pipe.json: it is not a regular file");
}

#[test]
fn an_empty_folder_is_worth_a_warning() {
    let folder = Folder::new();
    let text = folder.registry(&["validate", "."]).ok();
    assert!(text.starts_with(".: warning: there are no documents (*.json) in the folder\n"), "{text}");
}

#[test]
fn a_made_key_goes_into_a_document() {
    let folder = Folder::new();
    let made = folder.registry(&["keygen", "--principal", "svc:sense:demo", "--out", "demo.pem"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let entry: Value = serde_json::from_str(&made.stdout).unwrap();
    let key = &entry["keys"][0];
    let kid = key["kid"].as_str().unwrap();
    assert_eq!((&entry["principal_id"], &entry["enabled"]), (&json!("svc:sense:demo"), &json!(true)));
    assert_eq!((&key["status"], &key["scopes"]), (&json!("active"), &json!(["events:ingest"])));
    assert!(kid.starts_with("key-20") && kid.len() == "key-2026-11-15-abcdef".len(), "{kid}");
    assert!(made.stdout.starts_with("{\n  \"principal_id\":"), "in the order of the contract: {}", made.stdout);
    assert!(made.stderr.contains(&format!("svc:sense:demo/{kid}")) && made.stderr.contains("demo.pem"), "{made:?}");

    let pem = fs::read_to_string(folder.path("demo.pem")).unwrap();
    let secret = pem.lines().nth(1).unwrap();
    assert!(!made.stdout.contains(&secret[22..]) && !made.stderr.contains(&secret[22..]), "the key is printed");
    assert_eq!(mode(&folder.path("demo.pem")), 0o600);

    let document =
        json!({"version": "svc.machine-principal-registry/v1", "audience": "svc-brain", "principals": [entry]});
    folder.write("registry.json", &document.to_string());
    folder.registry(&["validate", "--strict", "registry.json"]).ok();
}

#[test]
fn a_made_key_is_what_was_asked_for() {
    let folder = Folder::new();
    let made = folder
        .registry(&[
            "keygen",
            "--principal",
            "svc:bell:x",
            "--kid",
            "my-own.kid",
            "--scope",
            "evidence:read",
            "--scope",
            "events:ingest,evidence:read",
            "--out",
            "x.pem",
            "--json",
        ])
        .json();
    assert_eq!((&made["keyid"], &made["private_key_file"]), (&json!("svc:bell:x/my-own.kid"), &json!("x.pem")));
    assert_eq!(made["principal"]["keys"][0]["scopes"], json!(["events:ingest", "evidence:read"]));
    assert_eq!(made["fingerprint"].as_str().unwrap().len(), 16);
}

#[test]
fn openssl_reads_a_made_key() {
    if Command::new("openssl").arg("version").output().is_err() {
        return skip("it needs openssl");
    }
    let folder = Folder::new();
    let made = folder.registry(&["keygen", "--principal", "svc:sense:demo", "--out", "demo.pem", "--json"]).json();
    // What OpenSSL makes of the private key ends with the 32 bytes of the public one.
    let script = "openssl pkey -pubout -outform DER -in demo.pem | tail -c 32 | base64 | tr '+/' '-_' | tr -d '=\\n'";
    let public_key = Command::new("sh").args(["-c", script]).current_dir(folder.0.path()).output().unwrap();
    assert_eq!(String::from_utf8(public_key.stdout).unwrap(), made["principal"]["keys"][0]["public_key_base64url"]);
}

#[test]
fn a_key_that_is_there_already_gets_its_entry() {
    if Command::new("openssl").arg("version").output().is_err() {
        return skip("it needs openssl");
    }
    let folder = Folder::new();
    let script = "openssl genpkey -algorithm ed25519 -out k.pem && openssl pkey -in k.pem -pubout -out public.pem && \
                  openssl pkey -in k.pem -pubout -outform DER | tail -c 32 | basenc --base64url | tr -d '=\\n'";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder.0.path()).output().unwrap();
    let public_key = String::from_utf8(made.stdout).unwrap();
    let names = ["--principal", "svc:sense:demo", "--kid", "key-2026-01", "--scope", "evidence:read,events:ingest"];
    fs::set_permissions(folder.path("k.pem"), fs::Permissions::from_mode(0o600)).unwrap();
    let entries =
        ["k.pem", "public.pem"].map(|file| folder.registry(&[&["entry", "--key", file][..], &names].concat()).ok());
    assert_eq!(entries[0], entries[1]);
    assert_eq!(
        serde_json::from_str::<Value>(&entries[0]).unwrap(),
        json!({
            "principal_id": "svc:sense:demo",
            "enabled": true,
            "keys": [{
                "kid": "key-2026-01",
                "public_key_base64url": public_key,
                "status": "active",
                "scopes": ["events:ingest", "evidence:read"],
            }],
        })
    );
    let shown = folder.registry(&[&["entry", "--json", "--key", "public.pem"][..], &names].concat()).json();
    assert_eq!((&shown["keyid"], shown.get("private_key_file")), (&json!("svc:sense:demo/key-2026-01"), None));

    fs::set_permissions(folder.path("k.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = |file| folder.registry(&["entry", "--principal", "svc:sense:demo", "--key", file]);
    refused("k.pem").fails(1, &["k.pem: others may read or write it; run `chmod 600 k.pem`"]);
}

#[test]
fn what_is_no_key_gets_no_entry() {
    let folder = Folder::new();
    let refused = |file| folder.registry(&["entry", "--principal", "svc:sense:demo", "--key", file]);
    refused("gone.pem").fails(1, &["gone.pem: No such file"]);
    folder.write("text", "no key");
    refused("text").fails(1, &["text: it is not an Ed25519 key (PEM), neither a private nor a public one", "DER"]);
    // A point of small order, for which anybody can sign.
    let weak = format!("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA{}=\n-----END PUBLIC KEY-----\n", "A".repeat(43));
    folder.write("weak.pem", &weak);
    refused("weak.pem").fails(1, &["weak.pem: the key cannot be used: it is a point of small order"]);
}

#[test]
fn no_key_is_ever_overwritten() {
    let folder = Folder::new();
    let old = folder.write("old.pem", "an older key");
    symlink("nowhere", folder.path("link.pem")).unwrap();
    for out in ["old.pem", "link.pem"] {
        folder
            .registry(&["keygen", "--principal", "svc:sense:demo", "--out", out])
            .fails(2, &[out, "already exists; keys are never overwritten"]);
    }
    assert_eq!(fs::read_to_string(old).unwrap(), "an older key");
    assert!(!folder.path("nowhere").exists());
}

#[test]
fn no_key_is_made_for_what_cannot_be_registered() {
    let folder = Folder::new();
    for (option, value, words) in [
        ("--principal", "svc:hub:demo", "must be svc:sense:, svc:brain: or svc:bell:"),
        ("--kid", "short", "must be 8 to 64 of"),
        ("--scope", "events:read", "must be source-config:write, runtime-status:write, events:ingest or evidence:read"),
        ("--out", "-", "a private key is not printed"),
    ] {
        let mut arguments = vec!["keygen", option, value];
        for (name, good) in [("--principal", "svc:sense:demo"), ("--out", "demo.pem")] {
            if name != option {
                arguments.extend([name, good]);
            }
        }
        folder.registry(&arguments).fails(2, &[words]);
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 0, "something was made");
    folder
        .registry(&["keygen", "--principal", "svc:sense:demo", "--out", "no/such/folder.pem"])
        .fails(1, &["no/such/folder.pem cannot be written: No such file"]);
}

#[test]
fn principals_are_shown_in_a_table() {
    let folder = Folder::new();
    folder.example("valid/several-principals.json", "a.json");
    let table = folder.registry(&["show", "a.json"]).ok();
    let rows: Vec<Vec<_>> =
        table.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(
        rows[0],
        ["AUDIENCE", "PRINCIPAL", "ENABLED", "KID", "STATUS", "USABLE", "SCOPES", "FINGERPRINT"],
        "{table}"
    );
    assert_eq!(rows[1][..6], ["svc-brain", "svc:bell:0", "no", "key-2026-01", "active", "no: disabled"], "{table}");
    assert_eq!(rows[3][1..7], ["svc:sense:demo", "yes", "key-2026-01", "active", "yes", "events:ingest,evidence:read"]);
    assert_eq!(rows[4], ["svc-brain", "svc:sense:without-keys", "yes"]);

    let shown = folder.registry(&["show", "--json", "a.json"]).json();
    let items = shown["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[2]["principal_id"]), (4, &json!("svc:sense:demo")));
    let key = &items[2]["keys"][0];
    assert_eq!((&key["unusable"], &key["fingerprint"]), (&Value::Null, &json!(rows[3][7])));
}

#[test]
fn why_a_key_is_unusable_is_shown() {
    let folder = Folder::new();
    folder.example("warned/used-twice-by-one-principal.json", "a.json");
    folder.example("valid/rotation.json", "b.json");
    assert_eq!(folder.registry(&["show", "a.json"]).ok().matches("no: used twice").count(), 2);
    assert_eq!(folder.registry(&["show", "b.json"]).ok().matches("no: revoked").count(), 1);
    let shown = folder.registry(&["show", "--json", "a.json"]).json();
    assert_eq!(shown["items"][0]["keys"][0]["unusable"], "used_twice");
    assert_eq!(shown["warnings"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_not_valid_is_not_shown() {
    let folder = Folder::new();
    folder.example("invalid/status-unknown.json", "a.json");
    folder.registry(&["show", "a.json"]).fails(1, &["stoa: a.json: /principals/0/keys/0/status: must be active or"]);
    folder.write("b.json", r#"{"version": 1, "audience": 2, "principals": 3}"#);
    folder.registry(&["show", "b.json"]).fails(1, &["b.json: /version", "2 more: `stoa registry validate` lists them"]);
    folder.registry(&["show", "gone.json"]).fails(1, &["gone.json: it cannot be read"]);
}
