//! A form with one file in it (RFC 7578), read as it arrives: however long the file is, little of it is in memory.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::{Buf, Bytes, BytesMut};
use memchr::memmem::{self, Finder};
use stoa_model::attachments::MAX_ATTACHMENT_BYTES;

use super::arriving::Pieces;
use crate::error::{ErrorKind, HubError};
use crate::hub::Hub;
use crate::json::media_type;

/// The name that the part with the file has.
const FILE: &str = "file";
/// What is around a file in such a form.
const MAX_FRAME_BYTES: u64 = 64 * 1024;
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// A boundary is at most this long, by its RFC.
const MAX_BOUNDARY: usize = 70;
/// The longest wait for all of it.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A body that is a form. It is opened, read to its end, and finished: before that, nothing of it may be kept.
pub struct FileForm {
    pieces: Pieces,
    /// What parts are separated by, with the line break before it.
    delimiter: Finder<'static>,
    buffer: BytesMut,
    /// Bytes that were read and are no part of the file.
    overhead: u64,
}

impl FromRequest<Hub> for FileForm {
    type Rejection = HubError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, HubError> {
        let (parts, body) = request.into_parts();
        let boundary = boundary(&parts.headers)?;
        let announced = parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: u64| length > MAX_ATTACHMENT_BYTES + MAX_FRAME_BYTES) {
            return Err(HubError::file_too_large(MAX_ATTACHMENT_BYTES));
        }
        let mut pieces = Pieces::new(hub, body);
        pieces.finish_within(WHOLE_TIMEOUT);
        Ok(Self {
            pieces,
            delimiter: Finder::new(&format!("\r\n--{boundary}")).into_owned(),
            // The first boundary has no line break before it.
            buffer: BytesMut::from("\r\n"),
            overhead: 0,
        })
    }
}

fn malformed(what: &str) -> HubError {
    HubError::malformed(format!("Invalid form: {what}."))
}

fn boundary(headers: &HeaderMap) -> Result<String, HubError> {
    if media_type(headers).as_deref() != Some("multipart/form-data") {
        let detail = "The body must be multipart/form-data, with the file in a part named `file`.";
        return Err(HubError::new(ErrorKind::UnsupportedMediaType, "unsupported_media_type", detail)
            .hint("With curl: -F file=@report.pdf"));
    }
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let boundary = parameters(value).into_iter().find(|(name, _)| name == "boundary").map(|(_, value)| value);
    let is_good = |boundary: &String| (1..=MAX_BOUNDARY).contains(&boundary.len()) && boundary.is_ascii();
    boundary.filter(is_good).ok_or_else(|| malformed("its content type has no boundary"))
}

/// The parameters of a header's value, with lower-case names.
fn parameters(value: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, behind)) = rest.split_once('=') {
        let name = name.trim_matches([' ', '\t', ';']).to_ascii_lowercase();
        let behind = behind.trim_start();
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => {
                let end = behind.find(';').unwrap_or(behind.len());
                (behind[..end].trim_end().to_owned(), &behind[end..])
            }
        };
        found.push((name, value));
        rest = behind;
    }
    found
}

/// The text up to the closing quotation mark, and what is behind it. Browsers write `%22` for such a mark, others `\"`; a backslash
/// before anything else is itself, as in the paths that some clients send.
fn unquote(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' if matches!(characters.peek(), Some((_, '"'))) => {
                value.push('"');
                characters.next();
            }
            other => value.push(other),
        }
    }
    (value, "")
}

/// What a part says about itself.
#[derive(Debug, Default, PartialEq)]
struct Disposition {
    name: Option<String>,
    filename: Option<String>,
}

fn disposition(headers: &[u8]) -> Disposition {
    let headers = String::from_utf8_lossy(headers);
    let value = headers.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    });
    let mut found = Disposition::default();
    for (name, value) in parameters(value.unwrap_or_default()) {
        match name.as_str() {
            "name" => found.name = Some(value),
            "filename" => found.filename = Some(value.replace("%22", "\"")),
            _ => {}
        }
    }
    found
}

impl FileForm {
    /// Goes to the file, and says what it is called. None if its sender has not said.
    pub async fn open(&mut self) -> Result<Option<String>, HubError> {
        // Whatever is before the first boundary means nothing.
        while let Some(preamble) = self.next().await? {
            self.count(preamble.len())?;
        }
        let Some(part) = self.next_part().await? else { return Err(no_file()) };
        if part.name.as_deref() != Some(FILE) {
            return Err(unknown_part(part.name.as_deref()));
        }
        Ok(part.filename)
    }

    /// The next bytes of the part that is being read; none when it has come to its end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HubError> {
        loop {
            if let Some(end) = self.delimiter.find(&self.buffer) {
                let piece = self.buffer.split_to(end).freeze();
                return Ok((!piece.is_empty()).then_some(piece));
            }
            // A boundary may have begun in the last bytes.
            let safe = (self.buffer.len() + 1).saturating_sub(self.delimiter.needle().len());
            if safe > 0 {
                return Ok(Some(self.buffer.split_to(safe).freeze()));
            }
            self.read_more().await?;
        }
    }

    /// Makes sure that there was nothing but the file.
    pub async fn finish(mut self) -> Result<(), HubError> {
        match self.next_part().await? {
            Some(part) if part.name.as_deref() == Some(FILE) => {
                Err(HubError::invalid_field(FILE, "was sent twice: upload one file at a time"))
            }
            Some(part) => Err(unknown_part(part.name.as_deref())),
            None => Ok(()),
        }
    }

    /// Goes over a boundary to the part behind it; none if it was the last one.
    async fn next_part(&mut self) -> Result<Option<Disposition>, HubError> {
        let boundary = self.delimiter.needle().len();
        if !self.buffer.starts_with(self.delimiter.needle()) {
            return Err(HubError::internal("a part of a form was not read to its end"));
        }
        self.buffer.advance(boundary);
        loop {
            if self.buffer.starts_with(b"--") {
                return Ok(None);
            }
            let end = memmem::find(&self.buffer, b"\r\n\r\n");
            if end.unwrap_or(self.buffer.len()) > MAX_HEADER_BYTES {
                return Err(malformed("the headers of a part are too long"));
            }
            if let Some(end) = end {
                let headers = self.buffer.split_to(end).freeze();
                self.buffer.advance(4);
                self.count(headers.len())?;
                // Behind the boundary there may be blanks, and then its line ends.
                let line_end = headers.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(headers.len());
                return match headers.get(line_end..).and_then(|rest| rest.strip_prefix(b"\r\n")) {
                    Some(headers) => Ok(Some(disposition(headers))),
                    None => Err(malformed("a boundary is followed by something else")),
                };
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), HubError> {
        match self.pieces.next().await? {
            Some(bytes) => {
                self.buffer.extend_from_slice(&bytes);
                Ok(())
            }
            None => Err(malformed("it ends before its last boundary")),
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), HubError> {
        self.overhead += bytes as u64;
        if self.overhead > MAX_FRAME_BYTES { Err(malformed("there is too much around the file")) } else { Ok(()) }
    }
}

fn no_file() -> HubError {
    HubError::invalid_field(FILE, "is required: the form has no part with this name")
}

fn unknown_part(name: Option<&str>) -> HubError {
    let shown: String = name.unwrap_or_default().chars().take(60).collect();
    HubError::invalid_field(&shown, "is unknown: the form has one part, named `file`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispositions() {
        let cases = [
            ("form-data; name=\"file\"; filename=\"a.txt\"", Some("file"), Some("a.txt")),
            ("form-data;name=file;filename=a.txt", Some("file"), Some("a.txt")),
            ("form-data; filename=\"a; name=x.txt\"; name=\"file\"", Some("file"), Some("a; name=x.txt")),
            (r#"form-data; name="file"; filename="C:\a\"b.txt""#, Some("file"), Some(r#"C:\a"b.txt"#)),
            ("form-data; name=\"file\"; filename=\"%22x%22\"", Some("file"), Some("\"x\"")),
            ("form-data; NAME=\"file\"; FileName=\"\"", Some("file"), Some("")),
            ("form-data; name=\"file", Some("file"), None),
            ("form-data", None, None),
            ("", None, None),
        ];
        for (value, name, filename) in cases {
            let headers = format!("Content-Type: text/plain\r\ncontent-DISPOSITION: {value}\r\nX: y");
            let expected = Disposition { name: name.map(str::to_owned), filename: filename.map(str::to_owned) };
            assert_eq!(disposition(headers.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn boundaries() {
        let of = |value: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]);
            boundary(&headers).map_err(|error| error.code)
        };
        assert_eq!(of("multipart/form-data; boundary=abc").unwrap(), "abc");
        assert_eq!(of("Multipart/Form-Data; charset=x; Boundary=\"a b\"").unwrap(), "a b");
        assert_eq!(of("multipart/form-data").unwrap_err(), "malformed_request");
        assert_eq!(of("multipart/form-data; boundary=").unwrap_err(), "malformed_request");
        assert_eq!(of(&format!("multipart/form-data; boundary={}", "x".repeat(71))).unwrap_err(), "malformed_request");
        assert_eq!(of("multipart/mixed; boundary=abc").unwrap_err(), "unsupported_media_type");
        assert_eq!(of("text/plain").unwrap_err(), "unsupported_media_type");
    }
}
