//! Reads a log of `strace -f -y -xx` and checks that whoever was told "stored" was told so after
//! the write-ahead log was on disk.
//!
//! SQLite writes each frame of the log as a header of 24 bytes, whose second word is not zero in
//! the last frame of a commit, and a page. A commit is safe when a sync of the log that began after
//! its last frame has returned.
//!
//! The tests of the whole program read their logs with this file too.

use std::collections::HashMap;

/// A system call that was seen in the log.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    name: String,
    /// The file behind the descriptor, as `-y` shows it.
    file: Vec<u8>,
    /// What was written.
    data: Vec<u8>,
    /// The line on which it was entered.
    pub(crate) begin: usize,
    /// The line on which it returned, if it did, and without an error.
    pub(crate) end: Option<usize>,
}

/// A text that is found again in the pages that hold it and in the line that acknowledges it.
pub(crate) fn marker(number: usize) -> String {
    format!("marker-{number:08}")
}

impl Call {
    fn is_wal_write(&self) -> bool {
        self.name == "pwrite64" && self.file.ends_with(b"-wal")
    }

    pub(crate) fn is_wal_sync(&self) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync") && self.file.ends_with(b"-wal")
    }

    /// The marker, if this tells the caller that it is stored: by a line of its own, or by a 201 that
    /// repeats what was sent.
    pub(crate) fn acknowledges(&self) -> Option<&[u8]> {
        if let Some(line) = self.data.strip_prefix(b"child: ack ").filter(|_| self.name == "write") {
            return line.strip_suffix(b"\n");
        }
        let is_answer = matches!(self.name.as_str(), "write" | "writev" | "sendto" | "sendmsg");
        let answer = self.data.strip_prefix(b"HTTP/1.1 201").filter(|_| is_answer)?;
        let length = marker(0).len();
        answer.windows(length).find(|window| window.starts_with(b"marker-"))
    }

    fn ends_commit(&self) -> bool {
        self.is_wal_write() && self.data.len() == 24 && self.data[4..8] != [0; 4]
    }

    fn holds(&self, text: &[u8]) -> bool {
        self.data.windows(text.len()).any(|window| window == text)
    }
}

/// The calls of a log in the order in which they were entered.
pub(crate) fn parse(log: &str) -> Result<Vec<Call>, String> {
    let mut calls: Vec<Call> = Vec::new();
    let mut unfinished: HashMap<&str, usize> = HashMap::new();
    for (line_number, line) in log.lines().enumerate() {
        let fault = |what: &str| format!("line {line_number}: {what}: {line:.120}");
        let (thread, rest) = line.split_once(' ').ok_or_else(|| fault("no thread"))?;
        let rest = rest.trim_start();
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if rest.starts_with("<... ") {
            let call = unfinished.remove(thread).ok_or_else(|| fault("nothing to resume"))?;
            calls[call].end = succeeded(rest).then_some(line_number);
            continue;
        }
        let (name, arguments) = rest.split_once('(').ok_or_else(|| fault("no call"))?;
        let file = arguments.split_once('<').and_then(|(_, file)| file.split_once('>')).map_or("", |(file, _)| file);
        let file = decode(file).map_err(|reason| fault(&reason))?;
        // What is written from several places at once is shown in several strings.
        let strings: String = arguments.split('"').skip(1).step_by(2).collect();
        let data = decode(&strings).map_err(|reason| fault(&reason))?;
        let end = if rest.ends_with("<unfinished ...>") {
            unfinished.insert(thread, calls.len());
            None
        } else {
            succeeded(rest).then_some(line_number)
        };
        calls.push(Call { name: name.to_owned(), file, data, begin: line_number, end });
    }
    Ok(calls)
}

fn succeeded(line: &str) -> bool {
    line.rsplit_once(" = ").is_some_and(|(_, result)| result.starts_with(|first: char| first.is_ascii_digit()))
}

fn decode(hex: &str) -> Result<Vec<u8>, String> {
    hex.split("\\x").skip(1).map(|byte| u8::from_str_radix(byte, 16).map_err(|error| error.to_string())).collect()
}

/// How many acknowledgements there are, if every one of them came after the sync of its commit.
pub(crate) fn check(calls: &[Call]) -> Result<usize, String> {
    let mut acknowledged = 0;
    for call in calls {
        let Some(marker) = call.acknowledges() else { continue };
        let fault = |what: &str| format!("{}: {what}", String::from_utf8_lossy(marker));
        // Later commits write the page again, with what was on it already: the first one counts.
        let page = calls
            .iter()
            .position(|write| write.is_wal_write() && write.holds(marker))
            .ok_or_else(|| fault("never written"))?;
        // The page's own header stands right before it, so the last frame may be this one.
        let wal_writes = |from: usize| calls.iter().enumerate().skip(from).filter(|(_, write)| write.is_wal_write());
        let own_header = calls[..page].iter().rposition(Call::is_wal_write).ok_or_else(|| fault("no header"))?;
        let (last_header, _) =
            wal_writes(own_header).find(|(_, write)| write.ends_commit()).ok_or_else(|| fault("never committed"))?;
        let (_, last_page) = wal_writes(last_header + 1).next().ok_or_else(|| fault("half a frame"))?;
        let written = last_page.end.ok_or_else(|| fault("the last page was not written"))?;
        let synced = calls
            .iter()
            .filter(|sync| sync.is_wal_sync() && sync.begin > written)
            .find_map(|sync| sync.end)
            .ok_or_else(|| fault("never synced"))?;
        if synced > call.begin {
            return Err(fault("acknowledged before the sync returned"));
        }
        acknowledged += 1;
    }
    Ok(acknowledged)
}

/// Logs as `strace` would write them, good and bad.
struct Log(Vec<String>);

impl Log {
    fn hex(data: &[u8]) -> String {
        data.iter().map(|byte| format!("\\x{byte:02x}")).collect()
    }

    fn line(mut self, text: impl Into<String>) -> Self {
        self.0.push(text.into());
        self
    }

    fn frame(self, page: &str, ends_commit: bool) -> Self {
        let mut header = [1; 24];
        header[4..8].fill(u8::from(ends_commit));
        let write = |data: &[u8]| format!("7 pwrite64({}, \"{}\", 9, 9) = 9", wal(), Self::hex(data));
        self.line(write(&header)).line(write(page.as_bytes()))
    }

    fn acknowledge(self, marker: &str) -> Self {
        let data = Self::hex(format!("child: ack {marker}\n").as_bytes());
        self.line(format!("8 write({}, \"{data}\", 9) = 9", descriptor("pipe:[99]")))
    }

    fn answer(self, call: &str, marker: &str) -> Self {
        let (head, body) = (Self::hex(b"HTTP/1.1 201 Created\r\n\r\n"), Self::hex(format!("{{{marker}}}").as_bytes()));
        let data = match call {
            "writev" => format!("[{{iov_base=\"{head}\", iov_len=9}}, {{iov_base=\"{body}\", iov_len=9}}], 2"),
            _ => format!("\"{head}{body}\", 9"),
        };
        self.line(format!("8 {call}({}, {data}) = 9", descriptor("socket:[99]")))
    }

    fn sync(self) -> Self {
        self.line(format!("7 fdatasync({}) = 0", wal()))
    }

    fn check(&self) -> Result<usize, String> {
        check(&parse(&self.0.join("\n"))?)
    }
}

fn descriptor(file: &str) -> String {
    format!("5<{}>", Log::hex(file.as_bytes()))
}

fn wal() -> String {
    descriptor("/data/stoa.db-wal")
}

fn log() -> Log {
    Log(Vec::new()).line("7 +++ a line about a thread +++")
}

#[test]
fn a_log_in_order_passes() {
    let first = log().frame("..m1..", false).frame("index", true).sync().acknowledge("m1");
    assert_eq!(first.check(), Ok(1));
    // The next commit may be half written when the first is acknowledged, and repeats its page.
    let second = first.frame("..m1..m2..", true).acknowledge("m1").sync().acknowledge("m2");
    assert_eq!(second.check(), Ok(3));
    assert_eq!(log().check(), Ok(0));
    let marker = marker(1);
    for call in ["write", "writev", "sendto"] {
        assert_eq!(log().frame(&marker, true).sync().answer(call, &marker).check(), Ok(1));
        assert!(log().frame(&marker, true).answer(call, &marker).sync().check().is_err(), "{call} too early");
    }
}

#[test]
fn a_sync_that_is_interrupted_in_the_log_counts_from_its_return() {
    let begun = || log().frame("m1", true).line(format!("7 fdatasync({} <unfinished ...>", wal()));
    let returned = "7 <... fdatasync resumed>) = 0";
    assert_eq!(begun().line(returned).acknowledge("m1").check(), Ok(1));
    assert!(begun().acknowledge("m1").line(returned).check().is_err());
    assert!(begun().acknowledge("m1").check().is_err());
    assert!(
        begun().line("7 <... fdatasync resumed>) = -1 EIO (Input/output error)").acknowledge("m1").check().is_err()
    );
}

#[test]
fn logs_out_of_order_are_found_wanting() {
    let other_file = format!("7 fdatasync({}) = 0", descriptor("/data/stoa.db"));
    let failure = format!("7 fsync({}) = -1 EIO (Input/output error)", wal());
    for (what, log) in [
        ("no sync", log().frame("m1", true).acknowledge("m1")),
        ("too early", log().frame("m1", true).acknowledge("m1").sync()),
        ("synced before the frame", log().sync().frame("m1", true).acknowledge("m1")),
        ("synced before the last frame", log().frame("m1", false).sync().frame("x", true).acknowledge("m1").sync()),
        ("never committed", log().frame("m1", false).sync().acknowledge("m1")),
        ("never written", log().frame("m2", true).sync().acknowledge("m1")),
        ("another file", log().frame("m1", true).line(other_file).acknowledge("m1")),
        ("failed", log().frame("m1", true).line(failure).acknowledge("m1")),
    ] {
        assert!(log.check().is_err(), "{what}");
    }
    assert!(parse("7 <... fdatasync resumed>) = 0").is_err());
    assert!(parse("nonsense").is_err());
}
