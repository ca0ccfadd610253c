//! `stoa serve`: how it begins, how it refuses to, how it ends, and what it logs.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_support::{Hub, NOBODY, Outcome, Place, can_be_another_user, password_of, skip, stoa, with_scout};
use crate::support::on_postgres;

/// A certificate that vouches for nobody here.
const STRANGER: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIIBfTCCASOgAwIBAgIUaYNQzrr1fQjCG2EBlFINeh7xrZ0wCgYIKoZIzj0EAwIw\n\
EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTE1MDMyMzM2WhgPMjEyNjEwMjIw\n\
MzIzMzZaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D\n\
AQcDQgAE1sDmZaTO5U/x1Zzn7utdmFFVH2dRFQ5hXt2InYxkMBoOuO6UZi9Yz0o7\n\
vrw91LihHzHFORncwQ4IPI/+VFtqJKNTMFEwHQYDVR0OBBYEFD8Y9QCcGaKVF6DI\n\
aGj3w77m0zuDMB8GA1UdIwQYMBaAFD8Y9QCcGaKVF6DIaGj3w77m0zuDMA8GA1Ud\n\
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAIh0ieiM7xm1BtUIeky0Z8BW\n\
iTh5DHbm9lReRpdNLqwMAiAt51pNkHklhzC446TAItb9hdmdJKIWiN1GzaGjIwrR\n\
yA==\n\
-----END CERTIFICATE-----\n";

/// Something that would be noticed.
fn canary(name: &str) -> String {
    format!("canary-{name}-5cb1")
}

#[test]
fn the_first_password_is_shown_once_and_only_there() {
    let place = Place::empty();
    let first = place.start_with(&["--log-level", "trace"]).stop();
    let lines: Vec<_> = first.stdout.lines().collect();
    let [line] = lines[..] else { panic!("{:?}", first.stdout) };
    let password = line.strip_prefix("password: ").unwrap();
    assert!(password.len() == 24 && !first.stderr.contains(password));

    let hub = place.start();
    assert!(hub.log_in("admin", password).is_some());
    let second = hub.stop();
    assert_eq!(second.stdout, "");
    assert!(!second.stderr.contains(password));
    // Nowhere on the disk either.
    for entry in fs::read_dir(place.data()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(password.len()).any(|window| window == password.as_bytes()));
    }
}

#[test]
fn a_hub_starts_even_if_nobody_can_read_the_password() {
    let place = Place::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.serve(&[]);
    let hub = Hub::spawn(command.stdin(Stdio::null()).stdout(full), place.data());
    hub.admin_with(&["users", "passwd", "admin"], "correct horse\n").ok();
    assert!(hub.log_in("admin", "correct horse").is_some());
    let said = hub.stop();
    assert!(said.code == Some(0) && said.stderr.contains("stoa admin users passwd admin"), "{said:?}");
}

#[test]
fn wrong_settings_are_refused_in_a_sentence() {
    let place = Place::empty();
    for (arguments, code, words) in [
        (&["--base-url", "hub.example"][..], 1, &["the base URL hub.example must be"][..]),
        (&["--base-url", "https://hub.example/path"], 1, &["without a path"]),
        (&["--base-url", "ftp://hub.example"], 1, &["http:// or https://"]),
        (&["--listen", "nowhere"], 2, &["--listen"]),
        (&["--listen", "192.0.2.1:80"], 1, &["cannot listen on 192.0.2.1:80"]),
        (&["--log-level", "stoa=loud"], 1, &["--log-level"]),
        (&["--log-format", "xml"], 2, &["--log-format", "text, json"]),
        (&["--trace-retention", "soon"], 2, &["--trace-retention", "30m or 7d"]),
        (&["--session-lifetime", "0"], 2, &["--session-lifetime", "greater than 0"]),
        (&["--bcrypt-cost", "3"], 2, &["--bcrypt-cost"]),
        (&["--bcrypt-cost", "99"], 2, &["--bcrypt-cost"]),
        (&["--rate-limit", "-1"], 2, &["-1"]),
        (&["--trusted-proxies", "10.0.0.0/99"], 2, &["--trusted-proxies"]),
        (&["--auth-cache", "maybe"], 2, &["--auth-cache"]),
        (&["--database-connections", "2"], 2, &["--database-connections"]),
        (&["--admin-socket", "/proc/nowhere/admin.sock"], 1, &["the admin socket /proc/nowhere/admin.sock"]),
        (&["--no-such-flag"], 2, &["--no-such-flag"]),
    ] {
        place.fails_to_start(arguments).fails(code, words);
    }
    for key in ["short", "AAEC", "!"] {
        Outcome::of(place.serve(&[]).env("STOA_KEY", key), b"").fails(1, &["STOA_KEY must be 32 bytes in base64"]);
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    place.fails_to_start(&["--listen", &address]).fails(1, &["cannot listen on", &address, "in use"]);
    // None of that was a first start.
    assert!(place.start().stop().stdout.starts_with("password: "));
}

#[test]
fn a_password_in_the_database_address_is_not_repeated() {
    let place = Place::new();
    let secret = canary("database");
    for url in [
        format!("postgres://hub:{secret}@127.0.0.1:1/none"),
        format!("postgres://hub:{secret}@[nonsense/none"),
        format!("postgres://hub:{secret}@127.0.0.1:99999/none"),
    ] {
        let mut command = place.serve(&["--log-level", "trace"]);
        let said = Outcome::of(command.env("STOA_DATABASE_URL", url), b"").fails(1, &["stoa: "]);
        assert!(!said.contains(&secret), "{said}");
    }
    let help = Outcome::of(stoa(&["serve", "--help"]).env("STOA_DATABASE_URL", &secret), b"").ok();
    assert!(!help.contains(&secret));
}

#[test]
fn a_data_folder_that_cannot_be_used_is_refused() {
    let place = Place::empty();
    fs::write(place.data(), "a file").unwrap();
    place.fails_to_start(&[]).fails(1, &["the data folder", "cannot be used"]);
    assert_eq!(fs::read(place.data()).unwrap(), b"a file");
    fs::remove_file(place.data()).unwrap();

    let hub = place.start();
    place.fails_to_start(&[]).fails(1, &["is in use by another hub", "--data"]);
    hub.admin(&["users", "list"]).ok();
    drop(hub);

    let key = place.data().join("key");
    for mode in [0o644, 0o640, 0o660, 0o606] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        place.fails_to_start(&[]).fails(1, &["the key file", "chmod 600"]);
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let good = fs::read(&key).unwrap();
    for bad in ["", "stoa-key-v1:AAEC\n", "something else\n"] {
        fs::write(&key, bad).unwrap();
        place.fails_to_start(&[]).fails(1, &["the key file", "does not hold a key"]);
    }
    // The hub does not replace a missing key with a new one.
    fs::remove_file(&key).unwrap();
    place.fails_to_start(&[]).fails(1, &["the key file", "is missing", "bring the file back"]);
    assert!(!key.exists());
    let other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    Outcome::of(place.serve(&[]).env("STOA_KEY", other), b"").fails(1, &["the key does not match"]);
    fs::write(&key, good).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.start().stop().code, Some(0));
}

#[test]
fn a_folder_whose_database_is_missing_is_refused() {
    if on_postgres() {
        return;
    }
    let place = Place::empty();
    place.start().stop();
    let (file, aside) = (place.data().join("stoa.db"), place.root().join("aside.db"));
    fs::rename(&file, &aside).unwrap();
    place.fails_to_start(&[]).fails(1, &["stoa.db is missing or empty", "key, engine", "stoa admin restore"]);
    assert!(!file.exists());
    fs::write(&file, "").unwrap();
    place.fails_to_start(&[]).fails(1, &["stoa.db is missing or empty"]);
    assert_eq!(fs::read(&file).unwrap(), b"");
    // What is only in the log counts, too.
    for name in ["key", "engine"] {
        fs::remove_file(place.data().join(name)).unwrap();
    }
    fs::write(place.data().join("stoa.db-wal"), "pages").unwrap();
    place.fails_to_start(&[]).fails(1, &["stoa.db is missing or empty", "stoa.db-wal"]);
    assert_eq!(fs::read(place.data().join("stoa.db-wal")).unwrap(), b"pages");
}

#[test]
fn a_second_hub_is_refused_even_without_the_lock_file() {
    let place = Place::new();
    let hub = place.start();
    let lock = place.data().join("lock");
    for _ in 0..2 {
        fs::remove_file(&lock).unwrap();
        place.fails_to_start(&[]).fails(1, &["is in use by another hub", "--data"]);
    }
    // Nor is a socket in its folder laid out by a hub of another one.
    let other = Place::new();
    let socket = place.data().join("other.sock");
    other.fails_to_start(&["--admin-socket", socket.to_str().unwrap()]).fails(1, &["in use by another hub"]);
    hub.admin(&["users", "list"]).ok();
    drop(hub);
    // A socket in the data folder is not in the way of the lock, however its path is written.
    let socket = place.data().join("../data/admin.sock");
    let hub = place.start_with(&["--admin-socket", socket.to_str().unwrap()]);
    fs::remove_file(&lock).unwrap();
    place.fails_to_start(&[]).fails(1, &["is in use by another hub"]);
    assert_eq!(hub.stop().code, Some(0));
    assert!(!socket.exists());
}

/// Runs the hub of a place with its data on a file system of its own, which only this hub sees. None if nobody may mount one.
fn on_a_small_disk(place: &Place) -> Option<Hub> {
    let kept = place.root().join("kept");
    fs::rename(place.data(), &kept).unwrap();
    fs::create_dir(place.data()).unwrap();
    let (data, kept) = (place.data().display().to_string(), kept.display().to_string());
    let mount = "mount -t tmpfs -o size=24m,mode=700 none \"$0\" && cp -a \"$1\"/. \"$0\" && shift && exec \"$@\"";
    let wrapper = ["--mount", "sh", "-c", mount, &data, &kept];
    let tried = Command::new("unshare").args(wrapper).arg("true").output();
    if !tried.is_ok_and(|output| output.status.success()) {
        skip("a file system can only be mounted by root");
        return None;
    }
    let serve = place.serve(&["--admin-socket", place.root().join("small.sock").to_str().unwrap()]);
    let mut command = Command::new("unshare");
    command.args(wrapper).arg(serve.get_program()).args(serve.get_args()).env_clear();
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(Hub::start(&mut command, place.data()))
}

/// Writes to a file until the disk is full.
fn fill(file: &Path) {
    let mut file = fs::File::create(file).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_is_reported_until_there_is_space() {
    if on_postgres() {
        return;
    }
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    hub.stop();
    let Some(hub) = on_a_small_disk(&place) else { return };
    let send = |body: &str| {
        let request = json!({"channel": "general", "body": body}).to_string();
        hub.exchange("POST", "/api/messages", &key, "application/json", request.as_bytes())
    };
    let ready = || hub.http("GET", "/readyz", &[], None);
    assert_eq!((send("before").status, ready().status), (201, 200));
    let ballast = format!("/proc/{}/root{}/ballast", hub.pid(), place.data().display());
    for round in 0..2 {
        fill(Path::new(&ballast));
        // Before anybody has tried to write.
        let answer = ready();
        assert_eq!((answer.status, &answer.body["code"]), (503, &json!("storage_full")), "{answer:?}");
        for _ in 0..2 {
            let refused = send(&"long ".repeat(10_000));
            assert_eq!((refused.status, &refused.body["code"]), (503, &json!("storage_full")), "{refused:?}");
            assert!(refused.body["hint"].as_str().unwrap().contains("Tell the operator"), "{refused:?}");
        }
        let joining = hub.exchange("POST", "/api/channels", &key, "application/json", br#"{"name": "work"}"#);
        assert_eq!((joining.status, &joining.body["code"]), (503, &json!("storage_full")), "{joining:?}");
        // Reading goes on.
        assert_eq!(hub.exchange("GET", "/api/channels/general/messages", &key, "", b"").status, 200);
        assert_eq!((ready().status, hub.http("GET", "/healthz", &[], None).status), (503, 200));
        fs::remove_file(&ballast).unwrap();
        let answer = ready();
        assert_eq!((answer.status, &answer.body["status"]), (200, &json!("ready")), "{answer:?}");
        assert_eq!(send(&format!("after {round}")).status, 201);
    }
    assert_eq!(hub.stop().code, Some(0));
}

#[test]
fn a_damaged_text_is_logged_once() {
    if on_postgres() {
        return;
    }
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    for body in ["first", "second", "third"] {
        let request = json!({"channel": "general", "body": body}).to_string();
        let sent = hub.exchange("POST", "/api/messages", &key, "application/json", request.as_bytes());
        assert_eq!(sent.status, 201, "{sent:?}");
    }
    hub.stop();
    place.tamper("update messages set body = cast(x'7365ff6f6e64' as text) where body = 'second'");
    let hub = place.start();
    for _ in 0..2 {
        let page = hub.exchange("GET", "/api/channels/general/messages", &key, "", b"");
        let bodies: Vec<_> = page.body["items"].as_array().unwrap().iter().map(|item| item["body"].clone()).collect();
        assert!(page.status == 200 && bodies.contains(&json!("se\u{fffd}ond")) && bodies.len() == 3, "{page:?}");
    }
    let log = hub.stop().stderr;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        lines.iter().filter(|line| line["message"].as_str().is_some_and(|text| text.contains("not UTF-8"))).collect();
    let [told] = told[..] else { panic!("{log}") };
    assert!(told["level"] == "WARN" && told["column"] == "body" && told["id"].is_i64(), "{told}");
}

#[test]
fn a_read_only_data_folder_is_refused() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::empty();
    fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755)).unwrap();
    let socket = place.data().join("admin.sock");
    let serve = || place.serve_as(Some(NOBODY), &["--admin-socket", socket.to_str().unwrap()]);
    let start = || Outcome::of(&mut serve(), b"");
    // It cannot be made.
    start().fails(1, &["the data folder", "ermission denied"]);
    // It is there, but not to be written to.
    fs::create_dir(place.data()).unwrap();
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o555)).unwrap();
    start().fails(1, &["the data folder", "ermission denied"]);
    assert_eq!(fs::read_dir(place.data()).unwrap().count(), 0);
    // Written by us before, now closed.
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o755)).unwrap();
    chown(place.data(), Some(NOBODY), Some(NOBODY)).unwrap();
    assert_eq!(Hub::start(&mut serve(), place.data()).stop().code, Some(0));
    for entry in fs::read_dir(place.data()).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o400)).unwrap();
    }
    fs::set_permissions(place.data(), fs::Permissions::from_mode(0o500)).unwrap();
    start().fails(1, &["ermission denied"]);
}

#[test]
fn a_database_from_the_future_is_left_alone() {
    let place = Place::new();
    place.start().stop();
    place.tamper("insert into schema_migrations (number, name, checksum, applied_at) values (9999, 'future', '', 0)");
    place.fails_to_start(&[]).fails(1, &["a newer version", "9999", "upgrade the program"]);
    place.tamper("delete from schema_migrations where number = 9999");
    assert_eq!(place.start().stop().code, Some(0));
    place.tamper("update schema_migrations set checksum = 'other' where number = 1");
    place.fails_to_start(&[]).fails(1, &["migration 0001", "differs from this program's"]);
}

#[test]
fn a_damaged_database_is_refused() {
    if on_postgres() {
        return;
    }
    let place = Place::new();
    place.start().stop();
    let file = place.data().join("stoa.db");
    let good = fs::read(&file).unwrap();
    let mut torn = good.clone();
    torn[..4096].fill(0x5a);
    fs::write(&file, &torn).unwrap();
    place.fails_to_start(&[]).fails(1, &["stoa.db is damaged or not a database", "restore a backup"]);
    fs::write(&file, "this is no database, but a letter to whoever finds it").unwrap();
    place.fails_to_start(&[]).fails(1, &["is damaged or not a database"]);
    assert!(fs::read(&file).unwrap().starts_with(b"this is no database"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    place.fails_to_start(&[]).fails(1, &["stoa.db"]);
}

#[test]
fn it_stops_when_asked() {
    let place = Place::new();
    let mut hub = place.start();
    // Somebody who is connected and says nothing holds nobody up.
    let _idle = TcpStream::connect(&hub.address).unwrap();
    let mut half = TcpStream::connect(&hub.address).unwrap();
    half.write_all(b"GET /auth/me HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    let mut socket = hub.socket();
    assert!(socket.call("users.list", &json!({}))["result"].is_object());
    let said = hub.terminate(Duration::from_secs(5)).expect("it takes too long");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("the hub has stopped"));
    assert_eq!(socket.receive(), Value::Null);
    assert!(!place.data().join("admin.sock").exists());
}

#[test]
fn half_a_body_does_not_hold_up_a_stop() {
    let place = Place::new();
    let mut hub = place.start();
    let begin = |path: &str, more: &str| {
        let mut half = TcpStream::connect(&hub.address).unwrap();
        let length = "content-length: 1000\r\ncontent-type: application/json";
        write!(half, "POST {path} HTTP/1.1\r\nhost: localhost\r\n{length}\r\n{more}\r\n{{").unwrap();
        half
    };
    let reading = [begin("/auth/login", ""), begin("/auth/login", "idempotency-key: half\r\n")];
    // This one is refused, and what it goes on sending is thrown away.
    let _refused = begin("/api/messages", "");
    std::thread::sleep(Duration::from_millis(300));
    let said = hub.terminate(Duration::from_secs(5)).expect("it takes too long");
    assert!(said.code == Some(0) && !said.stderr.contains("cut off"), "{said:?}");
    for mut half in reading {
        let mut answer = String::new();
        half.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains(r#""code":"unavailable""#), "{answer}");
    }
}

/// Clients that would keep a hub busy for much longer than it may take to stop.
fn hold_up(hub: &Hub, key: &str) -> Vec<TcpStream> {
    let begin = |request: &str| {
        let mut stream = TcpStream::connect(&hub.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let with_key = format!("host: localhost\r\nauthorization: Bearer {key}\r\n");
    let form = "content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000000\r\n";
    let part = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    // An upload that goes on, a byte at a time.
    let upload = begin(&format!("POST /api/attachments HTTP/1.1\r\n{with_key}{form}\r\n{part}"));
    let mut trickle = upload.try_clone().unwrap();
    std::thread::spawn(move || {
        while trickle.write_all(b"a").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    // A long file that nobody reads, and one that is read slowly.
    let content = "text ".repeat(6_000_000);
    let body = format!("{part}{content}\r\n--x--\r\n");
    let sent = hub.exchange("POST", "/api/attachments", key, "multipart/form-data; boundary=x", body.as_bytes());
    let download = format!("GET /api/attachments/{} HTTP/1.1\r\n{with_key}\r\n", sent.body["sha256"].as_str().unwrap());
    let (unread, slow) = (begin(&download), begin(&download));
    let mut slowly = slow.try_clone().unwrap();
    std::thread::spawn(move || {
        while slowly.read(&mut [0; 1000]).is_ok_and(|read| read > 0) {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let waiting = begin(&format!("GET /api/inbox?wait=50 HTTP/1.1\r\n{with_key}\r\n"));
    let mut all = vec![upload, unread, slow, waiting];
    // Passwords, each of which takes a second.
    all.extend((0..40).map(|number| {
        let guess = json!({"username": "ada", "password": "a wrong password"}).to_string();
        let head = format!("host: localhost\r\nx-forwarded-for: 10.{number}.0.1\r\ncontent-type: application/json");
        begin(&format!("POST /auth/login HTTP/1.1\r\n{head}\r\ncontent-length: {}\r\n\r\n{guess}", guess.len()))
    }));
    all
}

/// Sends messages until the hub no longer takes them, and returns the ids of those that it has acknowledged.
fn send_until_it_stops(address: &str, key: &str) -> Vec<i64> {
    let mut acknowledged = Vec::new();
    loop {
        let Ok(mut stream) = TcpStream::connect(address) else { return acknowledged };
        let body = json!({"channel": "general", "body": "hello"}).to_string();
        let head = format!("authorization: Bearer {key}\r\nhost: localhost\r\nconnection: close");
        let length = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        let request = format!("POST /api/messages HTTP/1.1\r\n{head}\r\n{length}\r\n\r\n{body}");
        let mut answer = String::new();
        if stream.write_all(request.as_bytes()).is_err() || stream.read_to_string(&mut answer).is_err() {
            return acknowledged;
        }
        if !answer.starts_with("HTTP/1.1 201 ") {
            return acknowledged;
        }
        let message: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        acknowledged.push(message["id"].as_i64().unwrap());
    }
}

#[test]
fn a_stop_takes_ten_seconds_at_most_and_loses_nothing() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    hub.stop();
    let mut hub = place.start_with(&["--bcrypt-cost", "14", "--rate-limit", "0"]);
    // Its password gets the cost of now.
    assert!(hub.log_in("ada", &password_of("ada")).is_some());
    let _held = hold_up(&hub, &key);
    let (address, sender_key) = (hub.address.clone(), key.clone());
    let sender = std::thread::spawn(move || send_until_it_stops(&address, &sender_key));
    let newest = || hub.exchange("GET", "/api/channels/general/messages?limit=1", &key, "", b"").body;
    while newest()["items"].as_array().is_none_or(Vec::is_empty) {}
    let said = hub.terminate(Duration::from_secs(10)).expect("it takes too long");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!place.data().join("admin.sock").exists());
    let acknowledged = sender.join().unwrap();
    assert!(!acknowledged.is_empty());
    let hub = place.start();
    for id in acknowledged {
        assert_eq!(hub.exchange("GET", &format!("/api/messages/{id}"), &key, "", b"").status, 200, "{id}");
    }
    assert_eq!(hub.stop().code, Some(0));
}

#[test]
fn throttled_logins_of_one_address_are_one_line() {
    let place = Place::new();
    let hub = place.start();
    let guess = |address: &str, name: &str| {
        let request = json!({"username": name, "password": "a wrong password"});
        hub.http("POST", "/auth/login", &[("x-forwarded-for", address)], Some(&request)).status
    };
    for address in ["203.0.113.1", "203.0.113.2", "2001:db8::1", "2001:db8::2"] {
        for _ in 0..15 {
            guess(address, "ada");
        }
        assert_eq!(guess(address, "ada"), 429);
    }
    let entries = auth_log(&hub.stop().stderr);
    let throttled: Vec<_> = entries.iter().filter(|entry| entry["detail"] == "throttled").collect();
    assert_eq!(throttled.len(), 3, "both IPv6 addresses are of one network: {throttled:?}");
    for entry in throttled {
        assert_eq!((&entry["event"], &entry["username"]), (&json!("login_failure"), &json!("ada")), "{entry}");
        assert!(entry["count"] == 1 && entry["remote_ip"].is_string() && entry["request_id"].is_string(), "{entry}");
    }
    assert_eq!(entries.iter().filter(|entry| entry["detail"] == "unknown user").count(), 15);
}

/// The entries of the auth log, in order.
fn auth_log(log: &str) -> Vec<Value> {
    let entries =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("not JSON: {line}")));
    entries.filter(|entry| entry["event"].is_string()).collect()
}

#[test]
fn logins_and_accounts_are_logged() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    let by_proxy = ("x-forwarded-for", "203.0.113.9, 10.0.0.1");
    let log_in = |password: &str| {
        let request = json!({"username": "Ada", "password": password});
        hub.http("POST", "/auth/login", &[by_proxy], Some(&request))
    };
    assert_eq!(log_in("wrong horse").status, 401);
    let cookie = log_in(&password_of("ada")).cookie().unwrap();
    let change = json!({"current_password": password_of("ada"), "new_password": "another horse"});
    let changed = hub.http("PUT", "/auth/password", &[by_proxy, ("cookie", &cookie)], Some(&change));
    let cookie = changed.cookie().unwrap();
    assert_eq!(hub.http("POST", "/auth/logout", &[("cookie", &cookie)], None).status, 204);
    hub.admin_with(&["users", "passwd", "ada"], "third horse\n").ok();
    hub.admin(&["users", "end-sessions", "ada"]).ok();
    hub.admin(&["users", "disable", "ada"]).ok();
    let list = hub.json(&["users", "list"]);
    let ada = &list["items"][1]["id"];
    let entries = auth_log(&hub.stop().stderr);
    let events: Vec<_> = entries.iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(
        events,
        [
            "user_created", // the first administrator
            "user_created",
            "login_failure",
            "login_success",
            "session_created",
            "password_changed",
            "session_destroyed",
            "session_created",
            "session_destroyed", // logged out
            "password_changed",  // by the operator
            "session_destroyed",
            "session_destroyed", // end-sessions
            "session_destroyed", // disable
        ]
    );
    for (index, entry) in entries.iter().enumerate() {
        let name = if index == 0 { "admin" } else { "ada" };
        assert!(entry["username"].as_str().unwrap().eq_ignore_ascii_case(name), "{entry}");
        assert!(entry["timestamp"].is_string() && entry["level"] == "INFO", "{entry}");
        // Nobody knows yet who a failed login is.
        if index > 0 && entry["event"] != "login_failure" {
            assert_eq!(entry["user_id"], *ada, "{entry}");
        }
        if (2..8).contains(&index) {
            assert_eq!(
                (&entry["remote_ip"], &entry["peer_ip"]),
                (&json!("203.0.113.9"), &json!("127.0.0.1")),
                "{entry}"
            );
            assert!(entry["request_id"].is_string(), "{entry}");
        }
        if index == 8 {
            assert_eq!((&entry["remote_ip"], &entry["peer_ip"]), (&json!("127.0.0.1"), &json!("127.0.0.1")), "{entry}");
        }
    }
}

#[test]
fn what_the_environment_says_wrong_is_noticed() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::set_permissions(place.data(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = place.serve(&[]);
    command.env("STOA_BASEURL", "https://hub.example").env("STOA_QQQQ", "1");
    let log = Hub::start(&mut command, place.data()).stop().stderr;
    for words in ["unknown variable STOA_BASEURL; did you mean STOA_BASE_URL?", "STOA_QQQQ", "chmod go-w"] {
        assert!(log.contains(words), "{log}");
    }
    for (name, value) in [
        ("STOA_MCP_ORIGINS", "*"),
        ("STOA_MCP_ORIGINS", "https://app.example,app.example/path"),
        ("STOA_METRICS_TOKEN", "two words"),
        ("STOA_METRICS_TOKEN", ""),
    ] {
        Outcome::of(place.serve(&[]).env(name, value), b"")
            .fails(1, &[if name.contains("MCP") { "origin" } else { name }]);
    }
}

#[test]
fn no_secret_reaches_the_log() {
    let place = Place::new();
    let mut command = place.serve(&["--log-level", "trace"]);
    command.env("STOA_METRICS_TOKEN", canary("metrics"));
    let hub = Hub::start(&mut command, place.data());
    let mut secrets = vec![canary("metrics")];
    let mut keep = |secret: &str| {
        assert!(secret.len() >= 12, "{secret}");
        secrets.push(secret.to_owned());
        secret.to_owned()
    };

    // Passwords, right and wrong, in all the places where one can be typed.
    let password = keep(&canary("created"));
    hub.admin_with(&["users", "create", "ada"], &password).ok();
    hub.admin_with(&["users", "create", "bob"], &keep(&format!("{}{}", canary("long"), "x".repeat(80)))).fails(4, &[]);
    let wrong = keep(&canary("wrong"));
    assert!(hub.log_in("ada", &wrong).is_none() && hub.log_in(&keep(&canary("as-a-name")), &wrong).is_none());
    let session = hub.log_in("ada", &password).unwrap();
    keep(session.split_once('=').unwrap().1);
    let login = json!({"username": "ada", "password": password});
    let device = hub.http("POST", "/auth/login", &[], Some(&login)).device().unwrap();
    assert!(device.starts_with("stoa_device="), "{device}");
    keep(device.split_once('=').unwrap().1);
    assert_eq!(hub.http("POST", "/auth/login", &[("cookie", &device)], Some(&login)).status, 200);
    let changed = keep(&canary("changed"));
    let request = json!({"current_password": password, "new_password": changed});
    let answer = hub.http("PUT", "/auth/password", &[("cookie", &session)], Some(&request));
    let session = answer.cookie().unwrap();
    keep(session.split_once('=').unwrap().1);
    let refused = json!({"current_password": keep(&canary("current")), "new_password": keep(&canary("new"))});
    assert_eq!(hub.http("PUT", "/auth/password", &[("cookie", &session)], Some(&refused)).status, 403);
    let malformed = json!({"username": "ada", "password": {"nested": keep(&canary("nested"))}});
    assert!(hub.http("POST", "/auth/login", &[], Some(&malformed)).status >= 400);
    hub.admin_with(&["users", "passwd", "ada"], &keep(&canary("operator"))).ok();
    let session = hub.log_in("ada", &canary("operator")).unwrap();
    keep(session.split_once('=').unwrap().1);

    // Invitations, agent keys, managed keys, good and not.
    let invitation = hub.json(&["users", "invite"]);
    let register = json!({"invite": keep(invitation["invite"].as_str().unwrap()), "username": "carol", "password": keep(&canary("carol"))});
    assert_eq!(hub.http("POST", "/auth/register", &[], Some(&register)).status, 201);
    let agent = hub.json(&["agents", "create", "scout", "--owner", "ada"]);
    assert_eq!(hub.status_with_key(&keep(agent["key"].as_str().unwrap())), 200);
    let rotated = hub.json(&["agents", "rotate-key", "scout"]);
    assert_eq!(hub.status_with_key(&keep(rotated["key"].as_str().unwrap())), 200);
    let create = ["keys", "create", "--owner", "ada", "--agent", "scout", "--name", "ci", "--permissions", "*"];
    let key = hub.json(&create);
    assert_eq!(hub.status_with_key(&keep(key["key"].as_str().unwrap())), 200);
    assert_eq!(hub.status_with_key(&keep(&canary("no-key"))), 401);
    let made = [("cookie", session.as_str()), ("idempotency-key", "one")];
    let answer = hub.http("POST", "/api/agents", &made, Some(&json!({"name": "finder"})));
    keep(answer.body["key"].as_str().unwrap());
    let replayed = hub.http("POST", "/api/agents", &made, Some(&json!({"name": "finder"})));
    assert_eq!(replayed.body["key"], answer.body["key"]);

    // Metrics, with and without the token; the key file.
    let bearer = format!("Bearer {}", canary("metrics"));
    assert_eq!(hub.http("GET", "/metrics", &[("authorization", &bearer)], None).status, 200);
    assert_eq!(
        hub.http("GET", "/metrics", &[("authorization", &format!("Bearer {}", keep(&canary("metrics-wrong"))))], None)
            .status,
        401
    );
    hub.admin(&["db", "rotate-key"]).ok();
    let file = fs::read_to_string(place.data().join("key")).unwrap();
    keep(file.trim().strip_prefix("stoa-key-v1:").unwrap());
    // A key in the wrong place.
    let in_path = keep(&canary("in-the-query"));
    hub.http("GET", &format!("/api/agents?key={in_path}"), &[], None);

    let said = hub.stop();
    // An answer that was given again is no second key.
    let issued = auth_log(&said.stderr).iter().filter(|entry| entry["event"] == "token_issued").count();
    assert_eq!(issued, 4);
    assert!(said.stderr.contains("DEBUG"), "{}", said.stderr);
    keep(said.stdout.trim().strip_prefix("password: ").unwrap());
    for secret in &secrets {
        let line = said.stderr.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "{secret}");
    }
    for line in said.stderr.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "not JSON: {line}");
    }
}

#[test]
fn over_tls_only_a_server_that_somebody_vouches_for_is_trusted() {
    let Some(authority) = std::env::var_os("STOA_TEST_DATABASE_CA").filter(|_| on_postgres()) else { return };
    let place = Place::new();
    let over_tls = |authority: &std::ffi::OsStr| {
        let mut command = place.serve(&[]);
        command.env("STOA_DATABASE_URL", place.database_url("sslmode=require")).env("SSL_CERT_FILE", authority);
        command
    };
    Hub::start(&mut over_tls(&authority), place.data()).stop();

    // Somebody else's word is worth nothing here: the file holds no certificate of this server's.
    let stranger = place.root().join("stranger.pem");
    fs::write(&stranger, STRANGER).unwrap();
    let refused = Outcome::of(&mut over_tls(stranger.as_os_str()), b"");
    refused.fails(1, &["PostgreSQL cannot be used", "certificate"]);
}

#[test]
fn a_hub_does_not_begin_anew_on_another_engine() {
    let place = Place::new();
    place.start().stop();
    let mut command = place.serve(&[]);
    if on_postgres() {
        command.env_remove("STOA_DATABASE_URL");
        Outcome::of(&mut command, b"").fails(1, &["postgres", "set STOA_DATABASE_URL"]);
        assert!(!place.data().join("stoa.db").exists());
    } else {
        command.env("STOA_DATABASE_URL", "postgres://stoa@127.0.0.1:1/stoa");
        Outcome::of(&mut command, b"").fails(1, &["sqlite", "without STOA_DATABASE_URL"]);
    }
}

#[test]
fn an_unknown_log_level_is_refused() {
    Place::new().fails_to_start(&["--log-level", "verbose"]).fails(1, &["--log-level verbose", "debug"]);
}

#[test]
fn a_key_in_a_path_is_not_logged() {
    let place = Place::new();
    let hub = place.start_with(&["--log-level", "debug"]);
    hub.create_user("ada");
    let created = hub.json(&["agents", "create", "scout", "--owner", "ada"]);
    let key = created["key"].as_str().unwrap();
    hub.http("GET", &format!("/api/messages/{key}"), &[("x-request-id", "by-mistake")], None);
    let log = hub.stop().stderr;
    assert!(log.lines().any(|line| line.contains("by-mistake") && line.contains("/api/messages/(key)")), "{log}");
    assert!(!log.contains(key));
}

#[test]
fn the_secret_of_a_hook_is_not_logged() {
    let place = Place::new();
    let hub = place.start_with(&["--log-level", "trace"]);
    hub.create_user("ada");
    let hook = ["--owner", "ada", "--name", "CI", "--kind", "url", "--channel", "general"];
    let created = hub.json(&[&["hooks", "create"], &hook[..]].concat());
    let (id, secret) = (created["hook"]["id"].as_str().unwrap(), created["secret"].as_str().unwrap());
    for path in [format!("/hooks/{id}/{secret}"), format!("/hooks/{id}x/{secret}"), format!("/hooks/{id}/{secret}/x")] {
        hub.http("POST", &path, &[("x-request-id", "of-the-hook")], Some(&json!({"text": "done"})));
    }
    hub.admin(&["hooks", "list"]).ok();
    assert!(hub.admin(&["hooks", "requests", id]).ok().contains("posted"));
    hub.admin(&["hooks", "disable", id]).ok();
    hub.admin(&["hooks", "enable", id]).ok();
    hub.admin(&["hooks", "delete", id]).ok();
    let log = hub.stop().stderr;
    assert!(log.lines().any(|line| line.contains("of-the-hook") && line.contains("/hooks/(hidden)")), "{log}");
    assert!(!log.contains(secret) && !log.contains(id), "{log}");
}

#[test]
fn log_lines_of_both_formats_name_their_request() {
    for format in ["text", "json"] {
        let place = Place::new();
        let hub = place.start_with(&["--log-format", format, "--log-level", "debug"]);
        hub.create_user("ada");
        let request = json!({"username": "ada", "password": password_of("ada")});
        let answer = hub.http("POST", "/auth/login", &[("x-request-id", "my-request.1")], Some(&request));
        assert_eq!((answer.status, answer.headers["x-request-id"].as_str()), (200, "my-request.1"));
        let log = hub.stop().stderr;
        let of_request: Vec<_> = log.lines().filter(|line| line.contains("my-request.1")).collect();
        for (word, json_form) in [("login_success", r#""event":"login_success""#), ("path=", r#""path":"/auth/login""#)]
        {
            let form = if format == "json" { json_form } else { word };
            assert!(of_request.iter().any(|line| line.contains(form)), "{form}: {log}");
        }
        for line in log.lines() {
            assert_eq!(serde_json::from_str::<Value>(line).is_ok(), format == "json", "{line}");
            assert!(!line.contains('\u{1b}'), "colours are for terminals: {line}");
        }
    }
}
