//! Attachments: files by their content, what they are called, and which kinds of them there may be.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::pictures::MAX_DRAWN_PIXELS;
use crate::text::{is_unprintable, without_stacked_marks};

pub const MAX_ATTACHMENT_BYTES: u64 = 50 * 1024 * 1024;
/// Files that one message can show.
pub const MAX_ATTACHMENTS: usize = 10;
const MAX_FILENAME_BYTES: usize = 255;
/// An ending longer than this is not worth keeping when a name is cut.
const MAX_EXTENSION_BYTES: usize = 16;
/// What a file is called that nobody has given a name.
const UNNAMED: &str = "file";

/// A file as its message shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachmentView {
    /// The SHA-256 sum of the content, in lowercase hexadecimal.
    pub sha256: String,
    pub size: i64,
    /// Detected from the content.
    pub mime_type: String,
    /// The sender's file name.
    pub filename: String,
    /// Of a picture, in pixels, as its header says. Left out where the hub does not know it: for other files, and for files that an
    /// earlier version has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<i64>,
}

impl AttachmentView {
    /// Whether programs that open it may show it in place. A picture with too many pixels is a download: drawing it could take all
    /// the memory there is.
    pub fn is_shown_inline(&self) -> bool {
        let pixels = self.width.unwrap_or(0).unsigned_abs().saturating_mul(self.height.unwrap_or(0).unsigned_abs());
        is_shown_inline(&self.mime_type) && pixels <= MAX_DRAWN_PIXELS
    }
}

/// A file that the caller may read, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachmentDetails {
    #[serde(flatten)]
    pub attachment: AttachmentView,
    /// When it was uploaded, or sent if another user uploaded it.
    pub created_at: Timestamp,
}

/// Whether a text is a SHA-256 sum as the hub writes them.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// What a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileType {
    Png,
    Jpeg,
    Gif,
    Webp,
    Avif,
    Bmp,
    Ico,
    Tiff,
    Pdf,
    /// Everything that is written in UTF-8: prose, source code, JSON, and also HTML and SVG, which nobody shall execute.
    Text,
}

impl FileType {
    pub fn mime_type(self) -> &'static str {
        match self {
            FileType::Png => "image/png",
            FileType::Jpeg => "image/jpeg",
            FileType::Gif => "image/gif",
            FileType::Webp => "image/webp",
            FileType::Avif => "image/avif",
            FileType::Bmp => "image/bmp",
            FileType::Ico => "image/vnd.microsoft.icon",
            FileType::Tiff => "image/tiff",
            FileType::Pdf => "application/pdf",
            FileType::Text => "text/plain",
        }
    }

    /// By the bytes that a file begins with. Text has no such mark.
    fn by_magic(start: &[u8]) -> Option<Self> {
        const DIB_HEADERS: [u8; 7] = [12, 40, 52, 56, 64, 108, 124];
        let has = |at: usize, mark: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(mark));
        let byte = |at: usize| start.get(at).copied().unwrap_or(0);
        Some(match () {
            () if has(0, b"\x89PNG\r\n\x1a\n") => FileType::Png,
            () if has(0, b"\xff\xd8\xff") => FileType::Jpeg,
            () if has(0, b"GIF87a") || has(0, b"GIF89a") => FileType::Gif,
            () if has(0, b"RIFF") && has(8, b"WEBP") => FileType::Webp,
            () if has(4, b"ftypavif") || has(4, b"ftypavis") => FileType::Avif,
            () if has(0, b"II*\0") || has(0, b"MM\0*") => FileType::Tiff,
            () if has(0, b"\0\0\x01\0") && byte(4) > 0 && byte(5) == 0 => FileType::Ico,
            // Two letters alone would be the beginning of many a text.
            () if has(0, b"BM") && has(15, b"\0\0\0") && DIB_HEADERS.contains(&byte(14)) => FileType::Bmp,
            () if has(0, b"%PDF-") => FileType::Pdf,
            () => return None,
        })
    }
}

/// Whether browsers may show a file of that type in place. Everything else is a download.
fn is_shown_inline(mime_type: &str) -> bool {
    matches!(mime_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Finds out what a file is while it comes in. Its name and what its sender says it is do not matter.
#[derive(Debug, Default)]
pub struct Detector {
    /// The beginning, in which all marks are.
    start: Vec<u8>,
    /// The beginning of a character whose rest has not come yet.
    cut_off: Vec<u8>,
    /// Whether something has come that is in no text.
    is_binary: bool,
}

impl Detector {
    /// All marks are within this.
    const START_BYTES: usize = 32;

    /// Looks at the next bytes. Says whether the file can still be one that is allowed.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let missing = Self::START_BYTES - self.start.len();
        self.start.extend(bytes.iter().take(missing));
        self.is_binary = self.is_binary || !self.continues_text(bytes);
        let is_judged = self.start.len() == Self::START_BYTES;
        !(self.is_binary && is_judged && FileType::by_magic(&self.start).is_none())
    }

    /// What the whole file is; none if it is nothing that is allowed.
    pub fn finish(self) -> Option<FileType> {
        let is_text = !self.is_binary && self.cut_off.is_empty();
        FileType::by_magic(&self.start).or(is_text.then_some(FileType::Text))
    }

    /// Whether what has come is text with these bytes behind it.
    fn continues_text(&mut self, mut bytes: &[u8]) -> bool {
        while !self.cut_off.is_empty() {
            let Some((first, rest)) = bytes.split_first() else { return true };
            self.cut_off.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.cut_off) {
                // A character that takes more than one byte is none of the control characters below.
                Ok(_) => self.cut_off.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        let whole = match std::str::from_utf8(bytes) {
            Ok(_) => bytes,
            Err(error) if error.error_len().is_none() => {
                let (whole, rest) = bytes.split_at(error.valid_up_to());
                self.cut_off = rest.to_vec();
                whole
            }
            Err(_) => return false,
        };
        !whole.iter().any(|byte| is_binary(*byte))
    }
}

/// Bytes that are in no text: control characters but those of line breaks, tabs, page breaks and terminals' colours.
fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0c | 0x1b)
}

/// What a file is called: the last part of the path that was sent, without what could deceive its reader, not too long.
pub fn clean_filename(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|character| !is_unprintable(*character)).collect();
    let name = without_stacked_marks(&name);
    let name = name.trim();
    if name.trim_matches('.').is_empty() { UNNAMED.to_owned() } else { cut_filename(name) }
}

/// Cuts a long name before its ending, which tells people what it is.
fn cut_filename(name: &str) -> String {
    if name.len() <= MAX_FILENAME_BYTES {
        return name.to_owned();
    }
    let extension = name.rfind('.').map_or("", |at| &name[at..]);
    let extension = if extension.len() <= MAX_EXTENSION_BYTES { extension } else { "" };
    let most = MAX_FILENAME_BYTES - extension.len();
    let end =
        name.char_indices().map(|(at, character)| at + character.len_utf8()).take_while(|end| *end <= most).last();
    format!("{}{extension}", name[..end.unwrap_or(0)].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(bytes: &[u8], piece: usize) -> Option<FileType> {
        let mut detector = Detector::default();
        for piece in bytes.chunks(piece) {
            detector.feed(piece);
        }
        detector.finish()
    }

    #[test]
    fn types_are_found_whatever_the_pieces() {
        let bmp = [&b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"[..], &[0; 40]].concat();
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        let cases: &[(&[u8], Option<FileType>)] = &[
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some(FileType::Png)),
            (b"\x89PNG\r\n\x1a\n<script>alert(1)</script>, and more than thirty-two bytes", Some(FileType::Png)),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some(FileType::Jpeg)),
            (b"GIF89a\x01\0\x01\0", Some(FileType::Gif)),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(FileType::Webp)),
            (b"\0\0\0\x1cftypavif\0\0\0\0", Some(FileType::Avif)),
            (b"II*\0\x08\0\0\0", Some(FileType::Tiff)),
            (b"\0\0\x01\0\x01\0\x10\x10", Some(FileType::Ico)),
            (&bmp, Some(FileType::Bmp)),
            (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", Some(FileType::Pdf)),
            (b"", Some(FileType::Text)),
            (b"BM is how this text begins, and it is none the less a text", Some(FileType::Text)),
            ("Grüße, 世界 🙂 and so on, for longer than the start".as_bytes(), Some(FileType::Text)),
            (svg, Some(FileType::Text)),
            (b"\x1b[31mred\x1b[0m\r\n\tindented\n", Some(FileType::Text)),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0", None),
            (b"PK\x03\x04\x14\0\0\0\x08\0", None),
            (b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41", None),
            (b"RIFF\x10\0\0\0WAVEfmt ", None),
            (b"MZ\x90\0\x03\0\0\0", None),
            (b"text with a \0 in it", None),
            (b"text that is long enough to be judged, with a \x01 in it", None),
            (b"latin-1 is not UTF-8: \xe4\xf6\xfc", None),
            (b"cut off in a character, behind the first bytes of it \xe4\xb8", None),
            (b"\xe4\xb8", None),
            (b"\xff\xfea\0b\0", None),
        ];
        for (bytes, expected) in cases {
            for piece in [1, 2, 3, 7, 31, 32, 33, 1000] {
                assert_eq!(detect(bytes, piece), *expected, "{:?} by {piece}", String::from_utf8_lossy(bytes));
            }
        }
    }

    #[test]
    fn what_cannot_become_right_is_known_at_once() {
        let mut detector = Detector::default();
        assert!(detector.feed(&[b'a'; 100]));
        assert!(!detector.feed(b"\0"));
        assert!(!detector.feed(b"text again"));
    }

    #[test]
    fn names_are_safe_to_show() {
        for (sent, shown) in [
            ("report.pdf", "report.pdf"),
            ("/etc/passwd", "passwd"),
            ("..\\..\\evil.txt", "evil.txt"),
            ("../", "file"),
            ("", "file"),
            ("..", "file"),
            (" . ", "file"),
            (".bashrc", ".bashrc"),
            ("a\nb\0c\u{202e}gnp.exe", "abcgnp.exe"),
            ("  Grüße 世界.txt ", "Grüße 世界.txt"),
            ("\"quoted\"; x=y.txt", "\"quoted\"; x=y.txt"),
        ] {
            assert_eq!(clean_filename(sent), shown, "{sent:?}");
        }
        let long = clean_filename(&format!("{}.tar.gz", "世".repeat(200)));
        assert!(long.len() <= 255 && long.starts_with('世') && long.ends_with(".gz"), "{long}");
        assert_eq!(clean_filename(&"x".repeat(300)).len(), 255);
        assert_eq!(clean_filename(&format!("a.{}", "x".repeat(300))).len(), 255);
    }

    #[test]
    fn sums_are_written_in_one_way() {
        assert!(is_sha256(&"0a".repeat(32)));
        for wrong in ["", "0", &"0A".repeat(32), &"0g".repeat(32), &"0a".repeat(33), &"é".repeat(32)] {
            assert!(!is_sha256(wrong), "{wrong}");
        }
    }
}
