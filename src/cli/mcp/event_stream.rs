//! Server-sent events, as far as they carry messages.

/// Takes bytes as they come and gives the data of whole events. Names, ids and comments are passed over: every event is a
/// message, and nothing can be resumed.
pub(super) struct EventStream {
    max_bytes: usize,
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    was_return: bool,
    is_begun: bool,
}

/// An event has no end.
#[derive(Debug, PartialEq)]
pub(super) struct TooLong;

impl EventStream {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, line: Vec::new(), data: None, was_return: false, is_begun: false }
    }

    /// The data of the events that these bytes complete.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut events = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (piece, rest) = bytes.split_at(end);
            // A line ends with either or with both, and they may come apart.
            let is_second_half = piece.is_empty() && self.was_return && rest.first() == Some(&b'\n');
            self.was_return = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            if !is_second_half {
                self.line.extend_from_slice(piece);
                events.extend(self.end_line());
            }
        }
        if !bytes.is_empty() {
            self.was_return = false;
            self.line.extend_from_slice(bytes);
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held > self.max_bytes { Err(TooLong) } else { Ok(events) }
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.is_begun, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.data.take().filter(|data| !data.is_empty());
        }
        let value = match line.strip_prefix(b"data") {
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            Some([]) => &[],
            _ => return None,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let mut stream = EventStream::new(1000);
        let events = pieces.iter().flat_map(|piece| stream.push(piece).unwrap());
        events.map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn events_are_found_however_they_are_cut() {
        let text = "\u{feff}: hello\r\nid: 0\r\nretry: 3000\r\ndata:\r\n\r\ndata: {\"a\":\r\ndata: \"é\"}\r\n\r\n\
                    event: message\ndata:  two\ndatabase: no\n\ndata\ndata:three\r\rdata: unfinished";
        let expected = ["{\"a\":\n\"é\"}", " two", "\nthree"];
        assert_eq!(all(&[text.as_bytes()]), expected);
        for size in 1..20 {
            let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
            assert_eq!(all(&pieces), expected, "{size}");
        }
    }

    #[test]
    fn events_without_data_are_none() {
        assert!(all(&[b"\n\n\n: ping\n\nid: 1\n\nevent: x\n\ndata:\n\n"]).is_empty());
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut stream = EventStream::new(100);
        assert_eq!(stream.push(&[b'x'; 100]), Ok(Vec::new()));
        assert_eq!(stream.push(b"x"), Err(TooLong));
        let mut stream = EventStream::new(100);
        let mut outcome = Ok(Vec::new());
        for _ in 0..20 {
            outcome = outcome.and_then(|_| stream.push(b"data: abcdef\n"));
        }
        assert_eq!(outcome, Err(TooLong));
    }
}
