//! The real program: `stoa serve` in a place of its own, `stoa admin` and plain HTTP to talk to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{TestDatabase, make_data_with_tables, off_the_runtime};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_stoa");
/// An account that owns nothing.
pub(crate) const NOBODY: u32 = 65534;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Says why a test could not be run here, past the harness, which hides what passing tests print.
pub(crate) fn skip(why: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped {name}: {why}");
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// For tests that need a second user. Only root can become one.
pub(crate) fn can_be_another_user() -> bool {
    let can = is_root() && Command::new("setpriv").arg("--version").output().is_ok();
    if !can {
        skip("it needs root and setpriv");
    }
    can
}

/// The program without anything from the environment of the tests.
pub(crate) fn stoa(arguments: &[&str]) -> Command {
    stoa_as(None, arguments)
}

/// The same as another user.
pub(crate) fn stoa_as(user: Option<u32>, arguments: &[&str]) -> Command {
    let mut command = match user {
        None => Command::new(PROGRAM),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups", "--", PROGRAM]);
            command
        }
    };
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // Whatever machine the tests run on, the shared place for sockets is tried as well.
    command.env("container", "tests").env("STOA_BCRYPT_COST", "4").args(arguments);
    command
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Runs a command to its end, which has to come.
    pub(crate) fn of(command: &mut Command, input: &[u8]) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that does not read its input closes it early.
        let _ = child.stdin.take().unwrap().write_all(input);
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        let status = wait(&mut child, PATIENCE).expect("the command hangs");
        Self { code: status.code(), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert!(self.code == Some(0) && self.stderr.is_empty(), "{self:?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Failed like this, with each of these on standard error and nothing on standard output.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing: {self:?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self.stderr
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The status, or none when the process is still there.
fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let step = Duration::from_millis(5);
    for _ in 0..=patience.as_millis() / step.as_millis() {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(step);
    }
    let _ = child.kill();
    None
}

/// Where a hub lives: a data folder, and on PostgreSQL a fresh database besides. Both go with it.
pub(crate) struct Place {
    folder: TempDir,
    database: Option<Arc<TestDatabase>>,
}

impl Place {
    /// One where a hub finds its tables, but nothing in them.
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap(), database: TestDatabase::create_with_tables() };
        make_data_with_tables(&place.data());
        place
    }

    /// One where a hub has everything to make by itself.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: TestDatabase::create() }
    }

    /// A folder around the data folder, for whatever else a test needs.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn data_text(&self) -> String {
        self.data().to_str().unwrap().to_owned()
    }

    /// Where the database is, asked for in another way.
    pub(crate) fn database_url(&self, parameters: &str) -> String {
        let url = &self.database.as_ref().expect("asked only on PostgreSQL").url;
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}{parameters}")
    }

    /// The SQLite database, read while a hub may be running on it; none on PostgreSQL.
    pub(crate) fn sqlite(&self) -> Option<rusqlite::Connection> {
        self.database.is_none().then(|| rusqlite::Connection::open(self.data().join("stoa.db")).unwrap())
    }

    /// A number that no caller could ask for, also while a hub is running.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        match &self.database {
            Some(database) => off_the_runtime(|| database.connect().query_one(sql, &[]).unwrap().get(0)),
            None => {
                let connection = rusqlite::Connection::open(self.data().join("stoa.db")).unwrap();
                connection.busy_timeout(PATIENCE).unwrap();
                connection.query_row(sql, [], |row| row.get(0)).unwrap()
            }
        }
    }

    /// Changes the database behind the back of a hub that is not running.
    pub(crate) fn tamper(&self, sql: &str) {
        match &self.database {
            Some(database) => off_the_runtime(|| database.connect().batch_execute(sql).unwrap()),
            None => rusqlite::Connection::open(self.data().join("stoa.db")).unwrap().execute_batch(sql).unwrap(),
        }
    }

    /// `stoa serve` here, on a port that is free.
    pub(crate) fn serve(&self, more: &[&str]) -> Command {
        self.serve_as(None, more)
    }

    /// The same with another data folder.
    pub(crate) fn serve_in(&self, data: &Path, more: &[&str]) -> Command {
        self.serve_from(None, data.to_str().unwrap(), more)
    }

    pub(crate) fn serve_as(&self, user: Option<u32>, more: &[&str]) -> Command {
        self.serve_from(user, &self.data_text(), more)
    }

    fn serve_from(&self, user: Option<u32>, data: &str, more: &[&str]) -> Command {
        let mut command = stoa_as(user, &["serve", "--data", data]);
        command.env("STOA_LISTEN", "127.0.0.1:0").env("STOA_LOG_FORMAT", "json");
        if let Some(database) = &self.database {
            command.env("STOA_DATABASE_URL", &database.url).env("STOA_DATABASE_CONNECTIONS", "4");
        }
        command.args(more);
        command
    }

    pub(crate) fn start(&self) -> Hub {
        self.start_with(&[])
    }

    pub(crate) fn start_with(&self, more: &[&str]) -> Hub {
        Hub::start(&mut self.serve(more), self.data())
    }

    /// Runs `stoa serve` where it has to give up by itself.
    pub(crate) fn fails_to_start(&self, more: &[&str]) -> Outcome {
        Outcome::of(&mut self.serve(more), b"")
    }
}

/// A hub that serves. It is stopped when this goes.
pub(crate) struct Hub {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    data: PathBuf,
    pub(crate) address: String,
}

impl Hub {
    pub(crate) fn start(command: &mut Command, data: PathBuf) -> Self {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command.stdout(Stdio::piped());
        Self::spawn(command, data)
    }

    /// The same, for commands whose standard output the test has seen to.
    pub(crate) fn spawn(command: &mut Command, data: PathBuf) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(collect);
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let (serving, is_serving) = mpsc::channel();
        let stderr = std::thread::spawn(move || {
            let mut log = String::new();
            loop {
                let begin = log.len();
                if lines.read_line(&mut log).unwrap_or(0) == 0 {
                    return log;
                }
                if log[begin..].contains("the hub is serving") {
                    let _ = serving.send(address_in(&log[begin..]));
                }
            }
        });
        let Ok(address) = is_serving.recv_timeout(PATIENCE) else {
            let _ = child.kill();
            panic!("the hub did not start: {}", stderr.join().unwrap());
        };
        Self { child, stdout, stderr: Some(stderr), data, address }
    }

    /// Asks the hub to stop, as a service manager does, and returns all it said.
    pub(crate) fn stop(mut self) -> Outcome {
        self.terminate(PATIENCE).expect("the hub does not stop")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the hub as a power cut would, without a word.
    pub(crate) fn kill(mut self) {
        self.kill_now();
    }

    /// The same, for a hub that is replaced by another.
    pub(crate) fn kill_now(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end of a hub that somebody else has asked to stop.
    pub(crate) fn ended(self) {
        assert_eq!(self.ended_by_itself().code, Some(0));
    }

    /// Waits for the end of a hub that nobody has asked to stop, and returns all it said.
    pub(crate) fn ended_by_itself(mut self) -> Outcome {
        let status = wait(&mut self.child, PATIENCE).expect("the hub does not stop");
        self.outcome(status)
    }

    pub(crate) fn terminate(&mut self, patience: Duration) -> Option<Outcome> {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        wait(&mut self.child, patience).map(|status| self.outcome(status))
    }

    fn outcome(&mut self, status: ExitStatus) -> Outcome {
        let text = |stream: Option<JoinHandle<String>>| stream.map(|text| text.join().unwrap()).unwrap_or_default();
        let (stdout, stderr) = (text(self.stdout.take()), text(self.stderr.take()));
        Outcome { code: status.code(), stdout, stderr }
    }

    /// `stoa admin` for this hub.
    pub(crate) fn admin(&self, arguments: &[&str]) -> Outcome {
        self.admin_with(arguments, "")
    }

    pub(crate) fn admin_with(&self, arguments: &[&str], input: &str) -> Outcome {
        Outcome::of(&mut self.admin_command(arguments), input.as_bytes())
    }

    pub(crate) fn admin_command(&self, arguments: &[&str]) -> Command {
        let mut command = stoa(&["admin", "--data", self.data.to_str().unwrap()]);
        command.args(arguments);
        command
    }

    /// The answer to a command with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.admin(&[&["--json"], arguments].concat()).json()
    }

    #[track_caller]
    pub(crate) fn create_user(&self, name: &str) {
        self.admin_with(&["users", "create", name], &format!("{}\n", password_of(name))).ok();
    }

    /// A connection to the admin socket itself.
    pub(crate) fn socket(&self) -> Socket {
        for path in stoa_sockets(&self.data) {
            if let Ok(stream) = UnixStream::connect(&path) {
                let mut socket = Socket(BufReader::new(stream));
                let who = socket.call("hub.identify", &json!({}));
                if who["result"]["pid"] == self.child.id() {
                    return socket;
                }
            }
        }
        panic!("the admin socket is not where it should be");
    }

    pub(crate) fn http(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        if !body.is_empty() {
            request.push_str("content-type: application/json\r\n");
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let cookies = headers.iter().filter(|(name, _)| name == "set-cookie").map(|(_, value)| value.clone()).collect();
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        Answer { status, headers: headers.into_iter().collect(), cookies, body }
    }

    /// A request of an agent with a body of any kind.
    pub(crate) fn exchange(&self, method: &str, path: &str, key: &str, content_type: &str, body: &[u8]) -> TextAnswer {
        self.exchange_watched(method, path, key, content_type, body, &|| {})
    }

    /// The same, calling `watch` from time to time while it is under way.
    pub(crate) fn exchange_watched(
        &self,
        method: &str,
        path: &str,
        key: &str,
        content_type: &str,
        body: &[u8],
        watch: &dyn Fn(),
    ) -> TextAnswer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {key}\r\n\
             content-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        for piece in body.chunks(1 << 20) {
            stream.write_all(piece).unwrap();
            watch();
        }
        let mut received = Vec::new();
        let mut piece = vec![0; 1 << 20];
        loop {
            let read = stream.read(&mut piece).unwrap();
            if read == 0 {
                break;
            }
            received.extend_from_slice(&piece[..read]);
            watch();
        }
        let text = String::from_utf8_lossy(&received);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        TextAnswer { status, body: serde_json::from_str(body).unwrap_or(Value::Null), text: body.to_owned() }
    }

    /// Tries to log in; the session cookie if it worked.
    pub(crate) fn log_in(&self, username: &str, password: &str) -> Option<String> {
        let request = json!({"username": username, "password": password});
        let answer = self.http("POST", "/auth/login", &[], Some(&request));
        assert!([200, 401].contains(&answer.status), "{answer:?}");
        answer.cookie().filter(|_| answer.status == 200)
    }

    /// The status of a request with a session.
    pub(crate) fn status_with_cookie(&self, cookie: &str) -> u16 {
        self.http("GET", "/auth/me", &[("cookie", cookie)], None).status
    }

    /// The status of a request with a key.
    pub(crate) fn status_with_key(&self, key: &str) -> u16 {
        self.http("GET", "/api/agents", &[("authorization", &format!("Bearer {key}"))], None).status
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A hub with the user `ada` and her agent `scout`.
pub(crate) fn with_scout(place: &Place) -> (Hub, String) {
    let hub = place.start();
    hub.create_user("ada");
    let created = hub.json(&["agents", "create", "scout", "--owner", "ada"]);
    (hub, created["key"].as_str().unwrap().to_owned())
}

/// The line with `note` on it is followed by a secret that stands alone.
#[track_caller]
pub(crate) fn secret_after(text: &str, note: &str, prefix: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.contains(note));
    assert!(lines.next().is_some(), "{note:?} is missing: {text}");
    let secret = lines.next().unwrap_or_default();
    assert!(secret.starts_with(prefix) && !secret.contains(' '), "{text}");
    secret.to_owned()
}

/// Where the hub serves, from its line in the log, in either format.
fn address_in(line: &str) -> String {
    let address = match serde_json::from_str::<Value>(line) {
        Ok(entry) => entry["address"].as_str().unwrap().to_owned(),
        Err(_) => line.split_once("address=").unwrap().1.split(' ').next().unwrap().trim().to_owned(),
    };
    address.trim_start_matches("http://").to_owned()
}

pub(crate) fn password_of(name: &str) -> String {
    format!("the password of {name}")
}

/// Where hubs look for a place for their socket, in their order.
fn stoa_sockets(data: &Path) -> [PathBuf; 2] {
    let own = fs::metadata("/proc/self").unwrap().uid();
    [PathBuf::from(format!("/tmp/stoa-{own}/admin.sock")), data.join("admin.sock")]
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    /// Those that it sets.
    pub(crate) cookies: Vec<String>,
    pub(crate) body: Value,
}

/// An answer with whatever is in it.
pub(crate) struct TextAnswer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl std::fmt::Debug for TextAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {:.500}", self.status, self.text)
    }
}

impl Answer {
    pub(crate) fn cookie(&self) -> Option<String> {
        Some(self.cookies.first()?.split(';').next()?.to_owned())
    }

    /// The cookie by which a browser is known at its next login.
    pub(crate) fn device(&self) -> Option<String> {
        Some(self.cookies.get(1)?.split(';').next()?.to_owned())
    }
}

/// JSON-RPC by hand.
pub(crate) struct Socket(BufReader<UnixStream>);

impl Socket {
    pub(crate) fn send(&mut self, line: &str) {
        // A hub that has heard enough closes before it has read everything.
        let _ = self.0.get_ref().write_all(line.as_bytes());
    }

    /// The next answer; null once the hub has hung up.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => Value::Null,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Value::Null,
            read => {
                read.unwrap();
                serde_json::from_str(&line).unwrap()
            }
        }
    }

    pub(crate) fn ask(&mut self, line: &str) -> Value {
        self.send(&format!("{line}\n"));
        self.receive()
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
    }
}
