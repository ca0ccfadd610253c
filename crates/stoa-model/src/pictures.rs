//! The width and height of a picture, read from its header while it comes in. Nothing is decoded.
//!
//! A picture of 48 KB can have so many pixels that drawing it takes 2 GB. A program that draws it must know that before.

/// Pictures with more pixels are not drawn unless somebody asks for it.
pub const MAX_DRAWN_PIXELS: u64 = 40_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    pub width: u32,
    pub height: u32,
}

impl PictureSize {
    /// None if there is nothing to draw.
    fn new(width: u32, height: u32) -> Option<Self> {
        (width > 0 && height > 0).then_some(Self { width, height })
    }
}

/// Reads the size of a PNG, JPEG, GIF or WebP, which are the kinds that browsers are shown. The file may come in pieces of any size.
#[derive(Debug, Default)]
pub struct Measurer {
    step: Step,
    /// What has come of what the step needs.
    buffer: Vec<u8>,
    /// Bytes to pass over before the step.
    skip: u64,
    size: Option<PictureSize>,
}

/// What is read next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The first bytes, which say what it is. Other steps until `GifScreen` count from the beginning of the file, too.
    #[default]
    Start,
    Png,
    WebpStart,
    WebpRest,
    GifScreen,
    GifBlock,
    GifLabel,
    GifSubBlock,
    GifImage,
    /// Up to the 0xff before a marker.
    JpegSearch,
    /// The byte after it.
    JpegMarker,
    JpegLength {
        is_frame: bool,
    },
    JpegFrame,
    Done,
}

impl Step {
    fn needs(self) -> usize {
        match self {
            Step::Start => 3,
            Step::Png => 24,
            Step::WebpStart => 25,
            Step::WebpRest => 30,
            Step::GifScreen => 13,
            Step::GifImage => 8,
            Step::JpegLength { .. } => 2,
            Step::JpegFrame => 5,
            Step::GifBlock | Step::GifLabel | Step::GifSubBlock | Step::JpegSearch | Step::JpegMarker => 1,
            Step::Done => 0,
        }
    }
}

impl Measurer {
    /// Looks at the next bytes.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.step != Step::Done {
            let passed = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.skip -= passed as u64;
            let missing = self.step.needs().saturating_sub(self.buffer.len());
            let taken = missing.min(bytes.len() - passed);
            self.buffer.extend_from_slice(&bytes[passed..passed + taken]);
            bytes = &bytes[passed + taken..];
            if self.skip == 0 && self.buffer.len() >= self.step.needs() {
                let read = std::mem::take(&mut self.buffer);
                self.step = self.next(&read).unwrap_or(Step::Done);
                if matches!(self.step, Step::Png | Step::WebpStart | Step::WebpRest | Step::GifScreen) {
                    self.buffer = read;
                }
            }
        }
    }

    /// The size; none if the file is no such picture, or is too short to tell.
    pub fn finish(self) -> Option<PictureSize> {
        self.size
    }

    /// Reads what the step needed. None if that is not how such a file goes on.
    fn next(&mut self, read: &[u8]) -> Option<Step> {
        Some(match self.step {
            Step::Start => match read {
                b"\x89PN" => Step::Png,
                b"RIF" => Step::WebpStart,
                b"GIF" => Step::GifScreen,
                b"\xff\xd8\xff" => Step::JpegMarker,
                _ => Step::Done,
            },
            Step::Png => {
                if read.get(12..16)? == b"IHDR" {
                    self.size = PictureSize::new(big(read.get(16..20)?), big(read.get(20..24)?));
                }
                Step::Done
            }
            Step::WebpStart => match read.get(12..16)? {
                b"VP8L" => {
                    let bits = little(read.get(21..25)?);
                    self.size = PictureSize::new((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
                    Step::Done
                }
                _ => Step::WebpRest,
            },
            Step::WebpRest => {
                self.size = match read.get(12..16)? {
                    b"VP8 " => {
                        let side = |at: usize| Some(little(read.get(at..at + 2)?) & 0x3fff);
                        PictureSize::new(side(26)?, side(28)?)
                    }
                    b"VP8X" => PictureSize::new(little(read.get(24..27)?) + 1, little(read.get(27..30)?) + 1),
                    _ => None,
                };
                Step::Done
            }
            Step::GifScreen => {
                self.size = PictureSize::new(little(read.get(6..8)?), little(read.get(8..10)?));
                let flags = *read.get(10)?;
                if flags & 0x80 != 0 {
                    self.skip = 3 << ((flags & 7) + 1);
                }
                Step::GifBlock
            }
            Step::GifBlock => match *read.first()? {
                b',' => Step::GifImage,
                b'!' => Step::GifLabel,
                _ => Step::Done,
            },
            Step::GifLabel => Step::GifSubBlock,
            Step::GifSubBlock => match *read.first()? {
                0 => Step::GifBlock,
                length => {
                    self.skip = u64::from(length);
                    Step::GifSubBlock
                }
            },
            // Browsers enlarge the screen to the first image.
            Step::GifImage => {
                let end = |at: usize| Some(little(read.get(at..at + 2)?) + little(read.get(at + 4..at + 6)?));
                let screen = self.size.unwrap_or(PictureSize { width: 0, height: 0 });
                self.size = PictureSize::new(screen.width.max(end(0)?), screen.height.max(end(2)?));
                Step::Done
            }
            Step::JpegSearch => match *read.first()? {
                0xff => Step::JpegMarker,
                _ => Step::JpegSearch,
            },
            Step::JpegMarker => match *read.first()? {
                0xff => Step::JpegMarker,
                0 | 1 | 0xd0..=0xd7 => Step::JpegSearch,
                // The picture itself, or its end.
                0xd8..=0xda => Step::Done,
                0xc4 | 0xc8 | 0xcc => Step::JpegLength { is_frame: false },
                marker => Step::JpegLength { is_frame: (0xc0..=0xcf).contains(&marker) },
            },
            Step::JpegLength { is_frame: true } => Step::JpegFrame,
            Step::JpegLength { is_frame: false } => {
                self.skip = u64::from(big(read).checked_sub(2)?);
                Step::JpegSearch
            }
            Step::JpegFrame => {
                self.size = PictureSize::new(big(read.get(3..5)?), big(read.get(1..3)?));
                Step::Done
            }
            Step::Done => Step::Done,
        })
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sides = Option<(u32, u32)>;

    fn measure(bytes: &[u8], piece: usize) -> Sides {
        let mut measurer = Measurer::default();
        for piece in bytes.chunks(piece) {
            measurer.feed(piece);
        }
        measurer.finish().map(|size| (size.width, size.height))
    }

    fn webp(kind: &[u8], rest: &[u8]) -> Vec<u8> {
        [b"RIFF\x40\0\0\0WEBP", kind, b"\x20\0\0\0", rest].concat()
    }

    #[test]
    fn sizes_are_read_whatever_the_pieces() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x4e\x20\0\0\x61\xa8\x08\x06\0\0\0, and so on";
        let exif = [&b"\xff\xe1\xff\xff"[..], &[0xc0; 65533]].concat();
        let frame = b"\xff\xc2\0\x11\x08\x0b\xb8\x0f\xa0\x03";
        let jpeg = [b"\xff\xd8", &exif[..], &exif, b"\xff\xff\xff\xc4\0\x03\x09", b"\xff\xd0\x09", frame].concat();
        let gif = b"GIF89a\x0a\0\x14\0\x80\0\0abcdef!\xf9\x04abcd\0!\xfe\x02,,\x01,\0,\x05\0\0\0\x0a\0\x20\x03\0\0";
        let no_image = b"GIF89a\x0a\0\x14\0\0\0\0;";
        let cases: &[(&[u8], Sides)] = &[
            (png, Some((20_000, 25_000))),
            (&jpeg, Some((4000, 3000))),
            // The image reaches beyond the screen.
            (gif, Some((15, 800))),
            (no_image, Some((10, 20))),
            (&webp(b"VP8 ", b"\x30\x01\0\x9d\x01\x2a\x80\x02\xe0\x41"), Some((640, 480))),
            (&webp(b"VP8L", b"\x2f\x7f\xc2\x77\0"), Some((640, 480))),
            (&webp(b"VP8X", b"\x10\0\0\0\x1f\x4e\0\xa7\x61\0"), Some((20_000, 25_000))),
            (&webp(b"ALPH", &[0; 30]), None),
            (&png[..20], None),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIDAT\0\0\x4e\x20\0\0\x61\xa8", None),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\x61\xa8", None),
            (b"\xff\xd8\xff\xda\0\x08and then \xff\xc0\0\x11\x08\0\x01\0\x01\x03", None),
            (b"\xff\xd8\xff\xe0\0\x01\xff\xc0\0\x11\x08\0\x01\0\x01\x03", None),
            (b"GIF", None),
            (b"a text with \xff\xc0\0\x11\x08\0\x01\0\x01\x03", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            for piece in [1, 2, 3, 7, 24, 1000, usize::MAX] {
                assert_eq!(measure(bytes, piece), *expected, "{:?} by {piece}", &bytes[..bytes.len().min(40)]);
            }
        }
    }

    #[test]
    fn nothing_but_a_few_bytes_is_kept() {
        let mut measurer = Measurer::default();
        measurer.feed(b"\xff\xd8\xff");
        for _ in 0..1000 {
            measurer.feed(&[7; 1000]);
            assert!(measurer.buffer.len() <= 30);
        }
    }
}
