//! What a program prints, line by line: without secrets, and without what would change a terminal or a page.

use std::sync::Arc;
use std::time::Duration;

use stoa_model::masking::{MaskedStream, Masker};
use stoa_model::runs::{MAX_LOG_TEXT, MAX_STEP_TEXT, MAX_STEPS, StepKind};
use stoa_model::text::is_unprintable;
use stoa_programs::{Adapter, MAX_LINE_BYTES};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::Sender;

use super::progress::{cut, last_part};
use crate::hub::pause;

/// What is looked at. The rest is read and thrown away, so that the program does not stand still.
const MAX_LOOKED_AT: usize = 1024 * 1024;
/// The same for a program whose output is understood. After that only its end is.
const MAX_UNDERSTOOD: usize = 64 * 1024 * 1024;
/// What is kept as the text of an answer.
const MAX_KEPT: usize = 256 * 1024;
const CHUNK: usize = 16 * 1024;
/// What a secret that was cut can leave at the beginning of the rest.
const MAX_CUT_SECRET: usize = 1024;
/// After this time without output, what came so far is shown.
const QUIET: Duration = Duration::from_millis(200);

/// A line that a program printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: StepKind,
    pub(super) text: String,
}

/// All of one stream, as far as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Collected {
    pub(super) text: String,
    pub(super) is_cut: bool,
    /// The end of it.
    pub(super) last: String,
}

/// Reads a stream to its end. Lines go to `lines` as they come; those of a program that an adapter understands, as its steps.
pub(super) async fn collect(
    mut stream: impl AsyncRead + Unpin,
    kind: StepKind,
    masker: Arc<Masker>,
    adapter: Option<Adapter>,
    lines: Sender<Line>,
) -> (Collected, Option<Adapter>) {
    let most = if adapter.is_some() { MAX_UNDERSTOOD } else { MAX_LOOKED_AT };
    let mut reader = Reader::new(kind, masker, adapter);
    let mut chunk = vec![0; CHUNK];
    let mut looked_at = 0;
    loop {
        let read = tokio::select! {
            biased;
            read = stream.read(&mut chunk) => read,
            // People who look on must not wait for the line after this one. A secret does not go on after a pause and a new line.
            () = pause(QUIET), if reader.is_at_line_end => {
                for line in reader.show_held() {
                    let _ = lines.send(line).await;
                }
                continue;
            }
        };
        let read = match read {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        let wanted = read.min(most - looked_at);
        looked_at += wanted;
        reader.keep_last(chunk.get(wanted..read).unwrap_or_default());
        for line in reader.push(chunk.get(..wanted).unwrap_or_default()) {
            if lines.send(line).await.is_err() {
                break;
            }
        }
    }
    for line in reader.finish() {
        // Nobody listens any longer when the run was given up.
        let _ = lines.send(line).await;
    }
    (reader.collected, reader.adapter)
}

struct Reader {
    kind: StepKind,
    masker: Arc<Masker>,
    adapter: Option<Adapter>,
    masked: Option<MaskedStream>,
    /// Whether something is held back, and ends with a line.
    is_at_line_end: bool,
    /// The end of what was not looked at.
    unseen: Vec<u8>,
    /// Bytes of a character that has not come to its end: of what comes, and of what is shown.
    raw_rest: Vec<u8>,
    rest: Vec<u8>,
    cleaner: Cleaner,
    line: String,
    lines: i64,
    collected: Collected,
}

impl Reader {
    fn new(kind: StepKind, masker: Arc<Masker>, adapter: Option<Adapter>) -> Self {
        Self {
            kind,
            adapter,
            masked: Some(MaskedStream::new(masker.clone())),
            masker,
            is_at_line_end: false,
            unseen: Vec::new(),
            raw_rest: Vec::new(),
            rest: Vec::new(),
            cleaner: Cleaner::default(),
            line: String::new(),
            lines: 0,
            collected: Collected::default(),
        }
    }

    /// What is held back because it could be the beginning of a secret, now that nothing follows.
    fn show_held(&mut self) -> Vec<Line> {
        self.is_at_line_end = false;
        let next = MaskedStream::new(self.masker.clone());
        let shown = self.masked.replace(next).map(MaskedStream::finish).unwrap_or_default();
        self.take(&shown, false)
    }

    /// Keeps the end of what is not looked at.
    fn keep_last(&mut self, bytes: &[u8]) {
        self.collected.is_cut |= !bytes.is_empty();
        self.unseen.extend_from_slice(bytes);
        if self.unseen.len() > 8 * MAX_LOG_TEXT {
            self.unseen.drain(..self.unseen.len() - 2 * MAX_LOG_TEXT);
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        self.is_at_line_end = bytes.last().map_or(self.is_at_line_end, |last| *last == b'\n');
        let clean = self.clean(bytes, false);
        let shown = self.masked.as_mut().map(|masked| masked.push(clean.as_bytes())).unwrap_or_default();
        self.take(&shown, false)
    }

    fn finish(&mut self) -> Vec<Line> {
        let clean = self.clean(&[], true);
        let mut shown = self.masked.as_mut().map(|masked| masked.push(clean.as_bytes())).unwrap_or_default();
        shown.extend(self.masked.take().map(MaskedStream::finish).unwrap_or_default());
        let mut lines = self.take(&shown, true);
        if !self.line.trim().is_empty() {
            lines.extend(self.end_line());
        }
        if !self.unseen.is_empty() {
            let last = cleaned(&String::from_utf8_lossy(&self.unseen));
            let masked = self.masker.mask(&last);
            // The first bytes may be the end of a secret that was cut.
            self.collected.last = last_part(&masked, masked.len().saturating_sub(MAX_CUT_SECRET)).to_owned();
            // The record at the end says what came of it all. The first line is a part of one.
            let records: Vec<String> = self.collected.last.lines().skip(1).map(str::to_owned).collect();
            for record in records {
                lines.extend(self.understand(&record));
            }
        }
        lines
    }

    /// What comes, as text without what terminals obey. Secrets are looked for in this: an escape inside of one would hide it.
    fn clean(&mut self, bytes: &[u8], is_end: bool) -> String {
        self.raw_rest.extend_from_slice(bytes);
        let complete = if is_end { self.raw_rest.len() } else { complete_part(&self.raw_rest) };
        let text = String::from_utf8_lossy(self.raw_rest.get(..complete).unwrap_or_default()).into_owned();
        self.raw_rest.drain(..complete);
        text.chars().filter_map(|character| self.cleaner.clean(character)).collect()
    }

    /// Takes text without secrets.
    fn take(&mut self, bytes: &[u8], is_end: bool) -> Vec<Line> {
        self.rest.extend_from_slice(bytes);
        let complete = if is_end { self.rest.len() } else { complete_part(&self.rest) };
        let text = String::from_utf8_lossy(self.rest.get(..complete).unwrap_or_default()).into_owned();
        self.rest.drain(..complete);
        let mut lines = Vec::new();
        // A record must be whole to be understood.
        let most = if self.adapter.is_some() { MAX_LINE_BYTES } else { MAX_STEP_TEXT };
        for character in text.chars() {
            if self.collected.text.len() + character.len_utf8() <= MAX_KEPT {
                self.collected.text.push(character);
            } else {
                self.collected.is_cut = true;
            }
            self.collected.last.push(character);
            if self.collected.last.len() > 2 * MAX_LOG_TEXT {
                self.collected.last = last_part(&self.collected.last, MAX_LOG_TEXT).to_owned();
            }
            if character == '\n' {
                lines.extend(self.end_line());
            } else if self.line.len() + character.len_utf8() <= most {
                self.line.push(character);
            }
        }
        lines
    }

    fn end_line(&mut self) -> Vec<Line> {
        let text = std::mem::take(&mut self.line);
        if self.adapter.is_some() {
            return self.understand(&text);
        }
        self.lines += 1;
        let is_wanted = !text.trim().is_empty() && self.lines <= MAX_STEPS;
        if is_wanted { vec![Line { kind: self.kind, text }] } else { Vec::new() }
    }

    /// What a line of a known program means.
    fn understand(&mut self, text: &str) -> Vec<Line> {
        let steps = self.adapter.as_mut().map(|adapter| adapter.read_line(text)).unwrap_or_default();
        let room = usize::try_from(MAX_STEPS - self.lines).unwrap_or(0);
        let steps: Vec<Line> = steps
            .into_iter()
            .take(room)
            // What was escaped within JSON is bare now.
            .map(|step| Line { kind: step.kind, text: cut(&self.masker.mask(&cleaned(&step.text))).to_owned() })
            .collect();
        self.lines += i64::try_from(steps.len()).unwrap_or(0);
        steps
    }
}

/// How many bytes make up whole characters, or will never be one.
fn complete_part(bytes: &[u8]) -> usize {
    let begins = |byte: u8| byte & 0b1100_0000 != 0b1000_0000;
    for (back, byte) in bytes.iter().rev().take(4).enumerate() {
        if begins(*byte) {
            let length = match byte {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            return if length > back + 1 { bytes.len() - back - 1 } else { bytes.len() };
        }
    }
    bytes.len()
}

/// A text without what terminals obey.
pub(super) fn cleaned(text: &str) -> String {
    let mut cleaner = Cleaner::default();
    text.chars().filter_map(|character| cleaner.clean(character)).collect()
}

/// Takes out what terminals obey.
#[derive(Default)]
struct Cleaner(Escape);

#[derive(Default, PartialEq)]
enum Escape {
    #[default]
    None,
    /// After the escape character.
    Begun,
    /// A sequence that a letter ends: colours, moves.
    Control,
    /// A text for the terminal, which a bell or another escape ends: titles, the clipboard.
    Command,
}

impl Cleaner {
    fn clean(&mut self, character: char) -> Option<char> {
        match self.0 {
            Escape::None => {}
            Escape::Begun => {
                self.0 = match character {
                    '[' => Escape::Control,
                    ']' | 'P' | 'X' | '^' | '_' => Escape::Command,
                    _ => Escape::None,
                };
                return None;
            }
            Escape::Control => {
                if matches!(character, '\u{40}'..='\u{7e}' | '\n') {
                    self.0 = Escape::None;
                }
                return (character == '\n').then_some('\n');
            }
            Escape::Command => {
                match character {
                    '\u{7}' => self.0 = Escape::None,
                    '\u{1b}' => self.0 = Escape::Begun,
                    // What was never ended is not worth a whole log.
                    '\n' => {
                        self.0 = Escape::None;
                        return Some('\n');
                    }
                    _ => {}
                }
                return None;
            }
        }
        match character {
            '\u{1b}' => {
                self.0 = Escape::Begun;
                None
            }
            '\n' | '\t' => Some(character),
            '\r' => None,
            character if is_unprintable(character) => Some(char::REPLACEMENT_CHARACTER),
            character => Some(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<String>, Collected) {
        let mut reader = Reader::new(StepKind::Output, Arc::new(Masker::new(["correct-horse-battery"])), None);
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(reader.push(piece));
        }
        lines.extend(reader.finish());
        (lines.into_iter().map(|line| line.text).collect(), reader.collected)
    }

    #[test]
    fn lines_however_they_are_cut() {
        let text = "one\n\ntwö\nthree".as_bytes();
        for at in 0..=text.len() {
            let (lines, collected) = read(&[&text[..at], &text[at..]]);
            assert_eq!(lines, ["one", "twö", "three"], "cut at {at}");
            assert_eq!(collected.text.as_bytes(), text);
        }
    }

    #[test]
    fn secrets_and_escapes_are_taken_out() {
        let hostile = b"\x1b[31mred\x1b[0m \x1b]52;c;ZXZpbA==\x07done correct-horse-battery \xff\xe2\x80\xaeback\r\n";
        for at in 0..=hostile.len() {
            let (lines, _) = read(&[&hostile[..at], &hostile[at..]]);
            assert_eq!(lines, ["red done *** \u{fffd}\u{fffd}back"], "cut at {at}");
        }
        assert_eq!(read(&[b"\x1b]0;never ended\nnext\n"]).0, ["next"]);
        let split = b"correct-hor\x1b[0mse-battery and correct-horse-\rbattery\n";
        for at in 0..=split.len() {
            assert_eq!(read(&[&split[..at], &split[at..]]).0, ["*** and ***"], "cut at {at}");
        }
    }

    #[tokio::test]
    async fn a_gigabyte_is_read_and_hardly_kept() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(16);
        let counting = tokio::spawn(async move {
            let mut lines = 0;
            while receiver.recv().await.is_some() {
                lines += 1;
            }
            lines
        });
        let much = tokio::io::repeat(b'x').take(20 * 1024 * 1024);
        let lines = b"line\n".repeat(10_000);
        let end: &[u8] = b"\nthe last line\n";
        let masker = Arc::new(Masker::new([]));
        let (collected, _) = collect(lines.chain(much).chain(end), StepKind::Output, masker, None, sender).await;
        assert!(collected.is_cut && collected.text.len() <= MAX_KEPT && collected.last.len() <= 8 * MAX_LOG_TEXT);
        assert!(collected.last.ends_with("x\nthe last line\n"));
        assert_eq!(counting.await.unwrap(), MAX_STEPS);
    }
}
