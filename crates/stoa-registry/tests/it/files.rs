//! Documents on disk: which files are read, and which are refused unread.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use stoa_registry::files::{self, MAX_FILES};
use stoa_registry::{Audience, Finding, MAX_DOCUMENT_BYTES, Registry};
use tempfile::TempDir;

use crate::support::{document, good, principal};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        // Whatever the umask.
        set_mode(&path, 0o644);
        path
    }

    fn document(&self, name: &str, document: &Value) -> PathBuf {
        self.write(name, &document.to_string())
    }

    fn load(&self) -> Result<Registry, Vec<Finding>> {
        files::load(self.path(), Audience::Brain)
    }

    /// The messages of all faults, with the folder left out.
    fn faults(&self) -> Vec<String> {
        let prefix = format!("{}/", self.path().display());
        self.load().unwrap_err().iter().map(|fault| fault.to_string().replace(&prefix, "")).collect()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn for_bell() -> Value {
    let mut document = document(&[principal("svc:sense:demo", &[])]);
    document["audience"] = json!("svc-bell");
    document
}

fn ids(registry: &Registry) -> Vec<&str> {
    registry.principals().iter().map(|principal| principal.principal_id.as_str()).collect()
}

#[test]
fn a_file_must_be_for_the_audience() {
    let folder = Folder::new();
    let registry = files::load(&folder.document("a.json", &good()), Audience::Brain).unwrap();
    assert_eq!(ids(&registry), ["svc:bell:other", "svc:sense:demo"]);
    let faults = files::load(&folder.document("b.json", &for_bell()), Audience::Brain).unwrap_err();
    assert!(faults.len() == 1 && faults[0].pointer == "/audience", "{faults:?}");
    assert!(faults[0].file.as_ref().unwrap().ends_with("/b.json"), "{faults:?}");
    // A file that is named is read, whatever its name.
    assert!(files::load(&folder.document(".c.yaml", &good()), Audience::Brain).is_ok());
}

#[test]
fn in_a_folder_some_files_are_documents() {
    let folder = Folder::new();
    folder.document("b.json", &document(&[principal("svc:sense:b", &[])]));
    folder.document("a.json", &document(&[principal("svc:sense:a", &[])]));
    folder.document("bell.json", &for_bell());
    folder.write(".hidden.json", "no JSON");
    folder.write("README.md", "no JSON");
    folder.write("a.json~", "no JSON");
    folder.write("A.JSON", "no JSON");
    assert_eq!(ids(&folder.load().unwrap()), ["svc:sense:a", "svc:sense:b"]);
    let names: Vec<_> = files::list(folder.path()).unwrap();
    let names: Vec<_> = names.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.json", "b.json", "bell.json"]);
}

#[test]
fn faults_of_all_files_are_found_at_once() {
    let folder = Folder::new();
    folder.document("a.json", &good());
    folder.document("b.json", &good());
    folder.write("c.json", "{");
    let mut invalid = for_bell();
    invalid["principals"][0]["enabled"] = json!(null);
    folder.document("d.json", &invalid);
    let faults = folder.faults();
    assert_eq!(faults.len(), 4, "{faults:#?}");
    assert!(faults[0].starts_with("c.json: the document is not JSON"), "{faults:#?}");
    assert_eq!(faults[1], "d.json: /principals/0/enabled: must be true or false, not null");
    assert!(faults[2].starts_with("b.json: /principals/0/principal_id: \"svc:sense:demo\" is"), "{faults:#?}");
    assert!(faults[2].ends_with("of /principals/0 of a.json already"), "{faults:#?}");
}

#[test]
fn a_folder_without_a_document_for_the_audience_is_a_warning() {
    let folder = Folder::new();
    folder.document("bell.json", &for_bell());
    let registry = folder.load().unwrap();
    assert!(registry.principals().is_empty() && registry.documents() == 0);
    let warning = registry.warnings()[0].to_string();
    assert!(warning.ends_with("the folder has no document for svc-brain; nobody is known"), "{warning}");
    // A document without principals is what somebody meant.
    folder.document("brain.json", &document(&[]));
    let registry = folder.load().unwrap();
    assert!(registry.warnings().is_empty() && registry.documents() == 1);
}

#[test]
fn what_others_can_change_is_refused() {
    let folder = Folder::new();
    let path = folder.document("a.json", &good());
    for mode in [0o664, 0o646, 0o666, 0o620, 0o602] {
        set_mode(&path, mode);
        let expected = format!(
            "a.json: others than the owner can change the file (mode {mode:04o}), and with it who is believed: chmod go-w"
        );
        assert_eq!(folder.faults(), [expected]);
    }
    for mode in [0o600, 0o644, 0o755, 0o444] {
        set_mode(&path, mode);
        assert!(folder.load().is_ok(), "{mode:o}");
    }
}

#[test]
fn what_belongs_to_somebody_else_is_refused() {
    let folder = Folder::new();
    let path = folder.document("a.json", &good());
    if chown(&path, Some(65534), None).is_err() {
        // Only root can give a file away.
        return;
    }
    assert_eq!(
        folder.faults(),
        [
            "a.json: the file belongs to the user with the id 65534, who can change it, and with it who is believed: chown \
             it to root"
        ]
    );
    // A link that is root's does not help.
    fs::rename(&path, folder.path().join("a")).unwrap();
    symlink("a", &path).unwrap();
    assert!(folder.faults()[0].contains("belongs to the user with the id 65534"));
    chown(&path, Some(0), None).unwrap();
    assert!(folder.load().is_ok());
}

#[test]
fn links_are_followed_to_files_and_not_to_anything_else() {
    let folder = Folder::new();
    // As Kubernetes mounts a ConfigMap.
    fs::create_dir(folder.path().join("..2026")).unwrap();
    folder.document("..2026/a.json", &good());
    symlink("..2026", folder.path().join("..data")).unwrap();
    symlink("..data/a.json", folder.path().join("a.json")).unwrap();
    assert_eq!(folder.load().unwrap().principals().len(), 2);

    set_mode(&folder.path().join("..2026/a.json"), 0o666);
    assert!(folder.faults()[0].contains("mode 0666"));
    set_mode(&folder.path().join("..2026/a.json"), 0o600);

    symlink("nowhere", folder.path().join("b.json")).unwrap();
    fs::create_dir(folder.path().join("c.json")).unwrap();
    symlink("/dev/null", folder.path().join("d.json")).unwrap();
    let faults = folder.faults();
    assert!(faults[0].starts_with("b.json: it cannot be read: No such file"), "{faults:#?}");
    assert_eq!(faults[1..], ["c.json: it is not a regular file", "d.json: it is not a regular file"]);
}

#[test]
fn a_pipe_does_not_hang_anybody() {
    let folder = Folder::new();
    let pipe = folder.path().join("a.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(folder.faults(), ["a.json: it is not a regular file"]);
    assert!(files::read_file(&pipe).is_err() && files::load(&pipe, Audience::Brain).is_err());
}

#[test]
fn large_files_are_not_read() {
    let folder = Folder::new();
    let path = folder.write("a.json", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(MAX_DOCUMENT_BYTES as u64 + 1).unwrap();
    assert_eq!(folder.faults(), ["a.json: the file is larger than 1048576 bytes (1 MiB)"]);
    fs::File::options().write(true).open(&path).unwrap().set_len(MAX_DOCUMENT_BYTES as u64).unwrap();
    assert_eq!(files::read_file(&path).unwrap().len(), MAX_DOCUMENT_BYTES);
}

#[test]
fn folders_end_somewhere() {
    let folder = Folder::new();
    for number in 0..MAX_FILES {
        folder.document(&format!("{number}.json"), &document(&[]));
    }
    assert!(folder.load().is_ok());
    folder.document("one-more.json", &document(&[]));
    let faults = folder.load().unwrap_err();
    assert!(faults[0].to_string().ends_with("there are more than 256 documents in the folder"), "{faults:?}");
}

#[test]
fn what_is_not_there_is_a_fault() {
    let folder = Folder::new();
    let faults = files::load(&folder.path().join("nowhere"), Audience::Brain).unwrap_err();
    assert!(faults[0].to_string().contains("nowhere: it cannot be read: No such file"), "{faults:?}");
}
