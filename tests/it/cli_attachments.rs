//! `stoa admin attachments`, through the real binary.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

use crate::cli_support::{Hub, Place, with_scout};
use crate::support::file_form;

fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Uploads a file and returns its sum.
fn upload(hub: &Hub, key: &str, filename: &str, content: &[u8]) -> String {
    let (content_type, body) = file_form(filename, content);
    let answer = hub.exchange("POST", "/api/attachments", key, &content_type, &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["sha256"].as_str().unwrap().to_owned()
}

fn stored(place: &Place) -> usize {
    fn files(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
    }
    files(&place.data().join("attachments"))
}

/// Writes an archive, entry by entry.
fn archive(path: &Path, fill: impl FnOnce(&mut tar::Builder<GzEncoder<std::fs::File>>)) -> PathBuf {
    let file = std::fs::File::create(path).unwrap();
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    fill(&mut archive);
    archive.into_inner().unwrap().finish().unwrap();
    path.to_owned()
}

fn add(archive: &mut tar::Builder<impl Write>, name: &str, kind: EntryType, content: &[u8]) {
    let mut header = Header::new_gnu();
    // By hand: the library does not write names that lead out of a folder.
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    archive.append(&header, content).unwrap();
}

#[test]
fn attachments_are_listed_checked_and_taken_away() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    assert!(hub.admin(&["attachments", "list"]).ok().lines().count() <= 1);
    let one = upload(&hub, &key, "secret name.txt", b"hello");
    upload(&hub, &key, "b.txt", b"other");
    let message = json!({"channel": "general", "body": "x", "attachments": [one]});
    let bearer = format!("Bearer {key}");
    assert_eq!(hub.http("POST", "/api/messages", &[("authorization", &bearer)], Some(&message)).status, 201);
    let table = hub.admin(&["attachments", "list"]).ok();
    assert!(table.contains(&one) && table.contains("text/plain") && !table.contains("secret name"), "{table}");
    let listed = hub.json(&["attachments", "list"]);
    let found = listed["items"].as_array().unwrap().iter().find(|stored| stored["sha256"] == one).unwrap();
    assert_eq!((&found["size"], &found["uploads"], &found["messages"]), (&json!(5), &json!(1), &json!(1)));
    assert_eq!(hub.json(&["attachments", "list", "--limit", "1"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(hub.json(&["attachments", "gc"]), json!({"removed": 0, "freed_bytes": 0}));
    assert_eq!(hub.admin(&["attachments", "gc"]).ok(), "0 attachments deleted (0 bytes).\n");
    assert_eq!(hub.json(&["attachments", "check"]), json!({"checked": 2, "missing": []}));
    assert_eq!(hub.admin(&["attachments", "check"]).ok(), "2 attachments checked.\n");
    std::fs::remove_dir_all(place.data().join("attachments").join(&one[..2])).unwrap();
    let checked = hub.admin(&["attachments", "check"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.stdout.contains(&one) && checked.stderr.contains("1 attachments are missing"), "{checked:?}");
    hub.stop();
}

#[test]
fn contents_go_into_a_file_and_come_back() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let (one, two) = (upload(&hub, &key, "a.txt", b"hello"), upload(&hub, &key, "b.txt", &vec![b'x'; 3 << 20]));
    let file = place.root().join("attachments.tar.gz");
    let file = file.to_str().unwrap();
    let written = hub.json(&["attachments", "backup", file]);
    assert_eq!((&written["attachments"], &written["missing"], &written["path"]), (&json!(2), &json!([]), &json!(file)));
    hub.admin(&["attachments", "backup", file]).fails(4, &["already exists"]);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()));
    let names: Vec<_> = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().into_owned()).collect();
    let mut expected = [PathBuf::from(&one), PathBuf::from(&two)];
    expected.sort();
    assert_eq!(names, expected);

    // All of it is there.
    let all_there = json!({"restored": 0, "restored_bytes": 0, "present": 2});
    assert_eq!(hub.json(&["attachments", "restore", file]), all_there);
    assert_eq!(stored(&place), 2);
    // What the store has lost comes back.
    std::fs::remove_dir_all(place.data().join("attachments").join(&one[..2])).unwrap();
    let restored = hub.json(&["attachments", "restore", file]);
    assert_eq!(restored, json!({"restored": 1, "restored_bytes": 5, "present": 1}));
    assert_eq!(hub.exchange("GET", &format!("/api/attachments/{one}"), &key, "", b"").text, "hello");
    assert_eq!(hub.json(&["attachments", "restore", file]), all_there);
    assert_eq!(stored(&place), 2);
    hub.stop();

    // In another hub nobody has them yet.
    let elsewhere = Place::new();
    let (hub, key) = with_scout(&elsewhere);
    let said = hub.admin(&["attachments", "restore", file]).ok();
    assert_eq!(said, format!("2 attachments restored ({} bytes), 0 already existed.\n", 5 + (3 << 20)));
    assert_eq!(stored(&elsewhere), 2);
    assert_eq!(hub.exchange("GET", &format!("/api/attachments/{one}"), &key, "", b"").status, 404);
    assert_eq!(hub.json(&["attachments", "gc"])["removed"], 0);
    upload(&hub, &key, "mine.txt", b"hello");
    assert_eq!(stored(&elsewhere), 2);
    hub.stop();
}

#[test]
fn bad_archives_are_refused_and_leave_nothing() {
    let place = Place::new();
    let (hub, _) = with_scout(&place);
    let root = place.root().to_owned();
    let good = b"good".as_slice();
    let mut number = 0;
    let mut refused = |fill: &dyn Fn(&mut tar::Builder<GzEncoder<std::fs::File>>), why: &str| {
        number += 1;
        let file = archive(&root.join(format!("{number}.tar.gz")), |archive| {
            // Whatever is good in it is not kept either.
            add(archive, &sum(good), EntryType::Regular, good);
            fill(archive);
        });
        hub.admin(&["attachments", "restore", file.to_str().unwrap()]).fails(4, &["Nothing was restored", why]);
        assert_eq!(stored(&place), 0, "{why}");
    };
    refused(&|archive| add(archive, "../escape", EntryType::Regular, b"x"), "is not named by a SHA-256 sum");
    refused(&|archive| add(archive, "/etc/passwd", EntryType::Regular, b"x"), "is not named by a SHA-256 sum");
    let nested = format!("attachments/{}", sum(b"x"));
    refused(&|archive| add(archive, &nested, EntryType::Regular, b"x"), "is not named by a SHA-256 sum");
    refused(&|archive| add(archive, &sum(b"x").to_uppercase(), EntryType::Regular, b"x"), "is not named");
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Continuous,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        refused(&|archive| add(archive, &sum(b""), kind, b""), "is not a plain file");
    }
    refused(&|archive| add(archive, &sum(b"x"), EntryType::Regular, b"y"), "content that does not match its name");
    refused(&|archive| add(archive, &sum(good), EntryType::Regular, good), "appears twice");
    let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";
    refused(&|archive| add(archive, &sum(elf), EntryType::Regular, elf), "neither an image");
    refused(&|archive| add(archive, &sum(b"x"), EntryType::Regular, &vec![b'a'; (50 << 20) + 1]), "longer than a file");
    // A size that the archive does not have.
    refused(
        &|archive| {
            let mut header = Header::new_gnu();
            header.set_path(sum(b"x")).unwrap();
            header.set_size(40 << 20);
            header.set_entry_type(EntryType::Regular);
            header.set_cksum();
            archive.get_mut().write_all(header.as_bytes()).unwrap();
        },
        "",
    );
    // A bomb: many times its own size, as files or as nothing at all behind them.
    refused(
        &|archive| {
            let zeros = vec![0; 1 << 20];
            for _ in 0..200 {
                archive.get_mut().write_all(&zeros).unwrap();
            }
        },
        "more than 100 times its size",
    );
    for (name, content) in
        [("empty.tar.gz", &b""[..]), ("text.tar.gz", b"not an archive"), ("cut.tar.gz", b"\x1f\x8b\x08")]
    {
        std::fs::write(root.join(name), content).unwrap();
        hub.admin(&["attachments", "restore", root.join(name).to_str().unwrap()]).fails(4, &["Nothing was restored"]);
    }
    hub.admin(&["attachments", "restore", root.join("none").to_str().unwrap()]).fails(4, &["cannot be read"]);
    assert_eq!(stored(&place), 0);
    assert_eq!(hub.json(&["attachments", "list"])["items"], json!([]));
    let incoming = place.data().join("attachments/incoming");
    assert_eq!(std::fs::read_dir(incoming).unwrap().count(), 0);
    hub.stop();
}

#[test]
fn a_place_that_cannot_be_used_is_told_of() {
    let place = Place::new();
    let said = place.fails_to_start(&["--attachments-url", "relative/path"]);
    said.fails(1, &["the place for attachments relative/path cannot be used", "absolute path"]);
    if !cfg!(feature = "s3") {
        let said = place.fails_to_start(&["--attachments-url", "s3://bucket/prefix"]);
        said.fails(1, &["the place for attachments s3://bucket/prefix", "built without S3", "--features s3"]);
    }
    let shared = place.root().join("shared");
    let hub = place.start_with(&["--attachments-url", &format!("file://{}", shared.display())]);
    assert!(shared.join("incoming").is_dir());
    hub.stop();
}

/// A disk that is full: the upload is refused, nothing of it stays, and everything goes on.
#[test]
fn a_full_disk_is_told_of_and_left_as_it_was() {
    let place = Place::new();
    let folder = place.root().join("small");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let mount = "mount -t tmpfs -o size=4m none \"$0\" && exec \"$@\"";
    let can_mount = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", mount, folder, "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !can_mount {
        return crate::cli_support::skip("a file system can only be mounted by root");
    }
    let serve = place.serve(&["--attachments-url", folder]);
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", mount, folder]).arg(serve.get_program()).args(serve.get_args()).env_clear();
    for (name, value) in serve.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let hub = Hub::start(&mut command, place.data());
    hub.create_user("ada");
    let key = hub.json(&["agents", "create", "scout", "--owner", "ada"])["key"].as_str().unwrap().to_owned();
    let inside = PathBuf::from(format!("/proc/{}/root{folder}", hub.pid()));
    let kept = upload(&hub, &key, "small.txt", b"small");
    let (content_type, body) = file_form("large.txt", &vec![b'a'; 8 << 20]);
    let refused = hub.exchange("POST", "/api/attachments", &key, &content_type, &body);
    assert_eq!((refused.status, &refused.body["code"]), (503, &Value::from("storage_full")), "{refused:?}");
    assert_eq!(std::fs::read_dir(inside.join("incoming")).unwrap().count(), 0);
    assert_eq!(hub.json(&["attachments", "list"])["items"].as_array().unwrap().len(), 1);
    upload(&hub, &key, "fits.txt", &vec![b'b'; 1 << 20]);
    assert_eq!(hub.exchange("GET", &format!("/api/attachments/{kept}"), &key, "", b"").text, "small");
    hub.stop();
}

/// Kibibytes of memory that a process has.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The longest file there may be, in and out, through the real process: little of it is ever in memory.
#[test]
fn long_files_take_little_memory() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let largest = std::cell::Cell::new(0);
    let watch = || largest.set(largest.get().max(resident(hub.pid())));
    // What every first request of a kind costs.
    upload(&hub, &key, "small.txt", b"small");
    let before = resident(hub.pid());
    let content: Vec<u8> = (0..50 * 1024 * 1024_usize).map(|at| b'a' + u8::try_from(at / 4096 % 26).unwrap()).collect();
    let (content_type, body) = file_form("long.txt", &content);
    let answer = hub.exchange_watched("POST", "/api/attachments", &key, &content_type, &body, &watch);
    assert_eq!(answer.status, 201, "{answer:?}");
    let sha256 = answer.body["sha256"].as_str().unwrap().to_owned();
    assert_eq!(sha256, sum(&content));
    let answer = hub.exchange_watched("GET", &format!("/api/attachments/{sha256}"), &key, "", b"", &watch);
    assert_eq!((answer.status, answer.text.len()), (200, content.len()));
    watch();
    let grown = largest.get().saturating_sub(before);
    assert!(grown < 16 * 1024, "the hub grew by {grown} KiB, from {before} KiB");
    hub.stop();
}
