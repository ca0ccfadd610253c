//! The admin socket: which hub answers, who may use it, and how it speaks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli_support::{Hub, NOBODY, Outcome, Place, can_be_another_user, stoa, stoa_as};

fn users_of(arguments: &[&str]) -> Outcome {
    Outcome::of(&mut stoa(&[&["admin", "users", "list"], arguments].concat()), b"")
}

#[test]
fn without_a_hub_it_says_how_to_start_one() {
    let place = Place::empty();
    fs::create_dir(place.data()).unwrap();
    let data = place.data().to_str().unwrap().to_owned();
    let start_one = format!("start one with `stoa serve --data {data}`");
    let said =
        users_of(&["--data", &data]).fails(3, &["no hub is running for the data folder", &start_one, "--admin-socket"]);
    assert!(said.contains(&format!("{data}/admin.sock")) && said.lines().count() == 1, "{said}");
    let error = users_of(&["--data", &data, "--json"]).fails(3, &[]);
    assert_eq!(serde_json::from_str::<Value>(&error).unwrap()["error"]["data"]["code"], "no_hub");
    // A password is not asked for in vain.
    let create = ["admin", "--data", &data, "users", "create", "bob"];
    Outcome::of(&mut stoa(&create), b"").fails(3, &["no hub is running"]);

    let socket = format!("{data}/other.sock");
    users_of(&["--admin-socket", &socket]).fails(3, &["no hub listens at", &socket]);
    // A socket that a crashed hub left behind.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    users_of(&["--admin-socket", &socket]).fails(3, &["no hub listens at", "refused"]);
    fs::write(place.data().join("file"), "").unwrap();
    users_of(&["--admin-socket", &format!("{data}/file")]).fails(3, &["no hub listens at"]);
}

#[test]
fn hubs_are_told_apart_by_their_data_folder() {
    let (one, two) = (Place::new(), Place::new());
    let (first, second) = (one.start(), two.start());
    first.create_user("ada");
    second.create_user("bob");
    let names = |outcome: Outcome| -> Vec<String> {
        let list = outcome.json();
        list["items"].as_array().unwrap().iter().map(|user| user["username"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(first.admin(&["users", "list", "--json"])), ["admin", "ada"]);
    assert_eq!(names(second.admin(&["users", "list", "--json"])), ["admin", "bob"]);
    // By a link, by a relative path and by the environment it is the same folder.
    let link = one.root().join("link");
    symlink(two.data(), &link).unwrap();
    assert_eq!(names(users_of(&["--json", "--data", link.to_str().unwrap()])), ["admin", "bob"]);
    let mut command = stoa(&["admin", "users", "list", "--json"]);
    assert_eq!(names(Outcome::of(command.current_dir(two.root()), b"")), ["admin", "bob"]);
    command.current_dir("/").env("STOA_DATA", one.data());
    assert_eq!(names(Outcome::of(&mut command, b"")), ["admin", "ada"]);
    // The folder of neither has no hub, although both answer.
    fs::create_dir(one.root().join("empty")).unwrap();
    users_of(&["--data", one.root().join("empty").to_str().unwrap()]).fails(3, &["no hub is running"]);
}

#[test]
fn a_hub_that_came_by_a_link_is_found() {
    let place = Place::empty();
    fs::create_dir(place.root().join("real")).unwrap();
    symlink(place.root().join("real"), place.data()).unwrap();
    let hub = place.start();
    hub.create_user("ada");
    assert!(users_of(&["--data", place.root().join("real").to_str().unwrap()]).ok().contains("ada"));
}

#[test]
fn a_socket_can_be_named() {
    let place = Place::new();
    let socket = place.root().join("run/stoa.sock");
    let socket = socket.to_str().unwrap();
    let hub = place.start_with(&["--admin-socket", socket]);
    assert_eq!(fs::metadata(socket).unwrap().permissions().mode() & 0o777, 0o600);
    hub.admin(&["users", "list"]).fails(3, &["no hub is running for the data folder"]);
    hub.admin(&["users", "list", "--admin-socket", socket]).ok();
    Outcome::of(hub.admin_command(&["users", "list"]).env("STOA_ADMIN_SOCKET", socket), b"").ok();
    // A second hub does not take it.
    let other = Place::new();
    other.fails_to_start(&["--admin-socket", socket]).fails(1, &[socket, "another hub listens there"]);
    hub.admin(&["users", "list", "--admin-socket", socket]).ok();
    assert_eq!(hub.stop().code, Some(0));
    assert!(!fs::exists(socket).unwrap());
    // One that a crash left behind is replaced; what is no socket is left alone.
    drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
    assert_eq!(place.start_with(&["--admin-socket", socket]).stop().code, Some(0));
    fs::write(socket, "precious").unwrap();
    place.fails_to_start(&["--admin-socket", socket]).fails(1, &[socket, "not a socket"]);
    assert_eq!(fs::read(socket).unwrap(), b"precious");
}

#[test]
fn hubs_that_start_together_all_can_be_reached() {
    let places: Vec<_> = (0..6).map(|_| Place::new()).collect();
    let hubs: Vec<_> = std::thread::scope(|scope| {
        let starting: Vec<_> = places.iter().map(|place| scope.spawn(|| place.start())).collect();
        starting.into_iter().map(|hub| hub.join().unwrap()).collect()
    });
    for hub in &hubs {
        let info = hub.json(&["db", "info"]);
        assert_eq!(info["base_url"], format!("http://{}", hub.address));
    }
}

#[test]
fn another_user_is_refused() {
    if !can_be_another_user() {
        return;
    }
    let place = Place::empty();
    let hub = place.start();
    hub.create_user("ada");
    let data = place.data();
    let foreign =
        || Outcome::of(&mut stoa_as(Some(NOBODY), &["admin", "--data", data.to_str().unwrap(), "users", "list"]), b"");
    // The test's own folder is closed already.
    foreign().fails(3, &["is for the user root only"]);
    for folder in [place.root(), data.as_path()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let said = foreign();
    assert_eq!(said.code, Some(3), "{said:?}");

    // Even where the file lets everybody in, the hub does not.
    let socket = place.root().join("open.sock");
    let named = ["--admin-socket", socket.to_str().unwrap()];
    drop(hub);
    let hub = place.start_with(&named);
    let foreign = || {
        let arguments = [&["admin"][..], &named, &["users", "list"]].concat();
        Outcome::of(&mut stoa_as(Some(NOBODY), &arguments), b"")
    };
    foreign().fails(3, &["is for the user root only; run this as that user"]);
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    foreign().fails(3, &["is for the user root only; run this as that user"]);
    let said = hub.stop();
    assert!(said.stderr.contains("the admin socket refused another user"), "{said:?}");
}

#[test]
fn a_place_that_another_user_laid_out_is_not_trusted() {
    if !can_be_another_user() {
        return;
    }
    // A user id of our own, so that the shared place is ours alone.
    let user = 40_000 + std::process::id() % 20_000;
    let place = Place::empty();
    fs::set_permissions(place.root(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(place.data()).unwrap();
    chown(place.data(), Some(user), Some(user)).unwrap();
    let shared = Shared(PathBuf::from(format!("/tmp/stoa-{user}")));
    let shared = &shared.0;
    fs::create_dir(shared).unwrap();
    chown(shared, Some(NOBODY), Some(NOBODY)).unwrap();

    // The hub goes elsewhere, and the client does not even knock.
    let hub = Hub::start(&mut place.serve_as(Some(user), &[]), place.data());
    assert!(place.data().join("admin.sock").exists());
    let listener = std::os::unix::net::UnixListener::bind(shared.join("admin.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    fs::set_permissions(shared.join("admin.sock"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(shared, fs::Permissions::from_mode(0o755)).unwrap();
    let list = |data: &str| Outcome::of(&mut stoa_as(Some(user), &["admin", "--data", data, "users", "list"]), b"");
    list(place.data().to_str().unwrap()).ok();
    list("/does/not/exist").fails(3, &["no hub is running"]);
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    hub.stop();

    // In a place of our own the hub is there, also for those who do not know its data folder.
    fs::remove_dir_all(shared).unwrap();
    let hub = Hub::start(&mut place.serve_as(Some(user), &[]), place.data());
    assert!(!place.data().join("admin.sock").exists());
    let without_folder = &mut stoa_as(Some(user), &["admin", "users", "list"]);
    Outcome::of(without_folder.current_dir("/"), b"").ok();
    // Who names a folder means that one.
    list("/does/not/exist").fails(3, &["no hub is running"]);
    list(place.root().to_str().unwrap()).fails(3, &["no hub is running", "serves", place.data().to_str().unwrap()]);
    // Root finds it by the owner of the data folder.
    hub.admin(&["users", "list"]).ok();
}

/// A folder in a shared place, which goes with the test.
struct Shared(PathBuf);

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_socket_speaks_json_rpc() {
    let place = Place::new();
    let hub = place.start();
    let mut socket = hub.socket();
    let identity = socket.call("hub.identify", &json!({}));
    assert_eq!(identity["result"]["data"], fs::canonicalize(place.data()).unwrap().to_str().unwrap());
    assert_eq!((&identity["jsonrpc"], &identity["id"]), (&json!("2.0"), &json!(1)));

    // What is no request at all.
    for line in ["not json", "{", ""] {
        let answer = socket.ask(line);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null), "{line}");
    }
    for line in [
        "[]",
        "1",
        "null",
        "{}",
        r#"{"jsonrpc":"1.0","id":1,"method":"users.list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"users.list"}"#,
    ] {
        let answer = socket.ask(line);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{line}");
    }
    // Methods that do not exist, and parameters that do not fit.
    let answer = socket.call("user.list", &json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    assert!(answer["error"]["data"]["hint"].as_str().unwrap().contains("Did you mean users.list"), "{answer}");
    let answer = socket.call("xyzzy-and-nothing-like-it", &json!({}));
    assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["hint"]), (&json!(-32601), &Value::Null));
    for params in
        [json!({"username": 7}), json!({}), json!([1, 2, 3]), json!("x"), json!({"username": "ada", "more": 1})]
    {
        let answer = socket.call("users.disable", &params);
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(-32602), &json!("validation_failed"))
        );
    }
    assert_eq!(socket.call("users.disable", &json!({"username": "nobody"}))["error"]["code"], -32000);

    // Notifications are done and not answered; ids come back as they were.
    socket.send(&json!({"jsonrpc": "2.0", "method": "users.invite"}).to_string());
    socket.send("\n");
    socket.send(&json!({"jsonrpc": "2.0", "method": "no.such.method"}).to_string());
    socket.send("\n");
    let answer =
        socket.ask(r#"{"jsonrpc":"2.0","id":"a word","method":"audit.list","params":{"action":"user.invited"}}"#);
    assert_eq!((&answer["id"], answer["result"]["items"].as_array().unwrap().len()), (&json!("a word"), 1));
    // Batches.
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "users.list"},
        {"jsonrpc": "2.0", "method": "users.list"},
        {"jsonrpc": "2.0", "id": 2, "method": "no.such.method"},
        7,
    ]);
    let answers = socket.ask(&batch.to_string());
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!((&answers[0]["id"], &answers[1]["error"]["code"]), (&json!(1), &json!(-32601)));
    assert_eq!(answers[2]["error"]["code"], -32600);
    // A batch of notifications gets no answer: what comes next is the answer to what comes next.
    socket.send(&format!("{}\n", json!([{"jsonrpc": "2.0", "method": "users.list"}])));
    assert_eq!(socket.ask(r#"{"jsonrpc":"2.0","id":5,"method":"hub.identify"}"#)["id"], 5);
}

#[test]
fn a_line_has_an_end() {
    let place = Place::new();
    let hub = place.start();
    let mut socket = hub.socket();
    socket.send(&"x".repeat(5 * 1024 * 1024));
    let answer = socket.receive();
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"]),
        (&json!(-32600), &json!("The request is too long."))
    );
    assert_eq!(socket.receive(), Value::Null, "the hub hangs up");
    // The command line passes that on.
    hub.create_user("ada");
    let file = place.root().join("long");
    fs::write(&file, "x".repeat(3 * 1024 * 1024)).unwrap();
    let instructions = format!("@{}", file.display());
    let create = ["agents", "create", "scout", "--owner", "ada", "--instructions", &instructions];
    hub.admin(&create).fails(4, &["The request is too long."]);
    fs::write(&file, "x".repeat(1024 * 1024)).unwrap();
    hub.admin(&create).fails(4, &["instructions must be at most 65536 bytes"]);
}

#[test]
fn who_answers_in_riddles_is_not_a_hub() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let path = place.root().join("odd.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    for (answer, code, words) in [
        ("hello\n", 1, "is not a hub"),
        ("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n", 1, "is not a hub"),
        ("", 1, "closed the connection before it responded"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 1, "has no items"),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Broken.\",\"data\":{\"status\":500}}}\n",
            1,
            "Broken.",
        ),
    ] {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                BufReader::new(stream.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            });
            users_of(&["--admin-socket", path.to_str().unwrap()]).fails(code, &[words]);
        });
    }
}
