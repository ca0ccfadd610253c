//! Lines of any sensible length from an input that never says how long they are.

use std::io::{self, BufRead};

pub(super) enum Line {
    /// Without the end of the line.
    Whole(Vec<u8>),
    /// It was longer than it may be, and is gone.
    TooLong,
}

pub(super) struct Lines<R> {
    input: R,
    max_bytes: usize,
    begun: Vec<u8>,
    is_too_long: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input, max_bytes, begun: Vec::new(), is_too_long: false }
    }

    /// The next line that is not empty; none at the end of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.input.fill_buf()?;
            let (piece, used, is_end) = match read.iter().position(|byte| *byte == b'\n') {
                Some(end) => (read.get(..end).unwrap_or_default(), end + 1, true),
                None => (read, read.len(), read.is_empty()),
            };
            let is_over = read.is_empty();
            if self.begun.len() + piece.len() > self.max_bytes {
                self.is_too_long = true;
                self.begun = Vec::new();
            }
            if !self.is_too_long {
                self.begun.extend_from_slice(piece);
            }
            self.input.consume(used);
            if !is_end {
                continue;
            }
            let line = std::mem::take(&mut self.begun);
            if std::mem::take(&mut self.is_too_long) {
                return Ok(Some(Line::TooLong));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Line::Whole(line)));
            }
            if is_over {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &str) -> Vec<Option<String>> {
        // Small, so that lines come in pieces.
        let mut lines = Lines::new(BufReader::with_capacity(3, text.as_bytes()), 10);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(String::from_utf8(line).unwrap()),
                Line::TooLong => None,
            });
        }
        found
    }

    #[test]
    fn lines_come_whole() {
        let whole = |text: &str| Some(text.to_owned());
        assert_eq!(lines(""), []);
        assert_eq!(lines("\n \r\n\n"), []);
        assert_eq!(lines("one\n\ntwo\r\n"), [whole("one"), whole("two\r")]);
        assert_eq!(lines("one\nno end"), [whole("one"), whole("no end")]);
        assert_eq!(lines("0123456789\n0123456789a\nlast"), [whole("0123456789"), None, whole("last")]);
    }
}
