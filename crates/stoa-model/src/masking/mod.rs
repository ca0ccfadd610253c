//! Masking of secrets in text: what a run prints, says or stores must not show the values that it was given.
//!
//! The masker finds a value as it is, in base64 (wherever the value stands in what was encoded), in hex, and with escapes of URLs, JSON,
//! Python or shells in it. Of short values it also finds pieces. It cannot find a value that was reversed, spelled or encrypted.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::credentials;

/// What the text has in place of a secret.
pub const MASK: &str = "***";
/// Shorter values are not masked: they are parts of ordinary words.
pub const MIN_MASKED_CHARACTERS: usize = 6;
/// Values up to this length are also found in pieces.
pub const MAX_PIECED_BYTES: usize = 512;
/// The shortest piece that is found.
pub const PIECE_BYTES: usize = 16;

/// Pieces with fewer different bytes are not secret: they look like a ruler or an indentation.
const MIN_DIFFERENT_BYTES: u32 = 4;
/// Words of a long file that are masked one by one.
const LONG_WORD_BYTES: usize = 20;
/// Needles are looked up by their first bytes.
const START_BYTES: usize = 6;
/// The longest usual escape of one byte, which is that of JSON inside of JSON: `\\u0041`.
const MAX_ESCAPE_BYTES: usize = 7;
/// What a match can grow at its ends, and the longest escape that may be incomplete at the end of a stream so far.
const MARGIN_BYTES: usize = 256;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_OF_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Finds the values of secrets in text, and credentials of the hub. Building one is cheap enough to do it for each run.
#[derive(Clone)]
pub struct Masker {
    values: Vec<Vec<u8>>,
    needles: Vec<Needle>,
    needles_by_start: HashMap<u64, Vec<usize>>,
    starts: Filter,
    /// Each is `PIECE_BYTES` long.
    pieces: HashSet<u128>,
    piece_filter: Filter,
    /// The longest match, in bytes of the text.
    reach: usize,
}

/// One form of one value. Its bytes are computed when they are compared, so that a long value is in memory once.
#[derive(Clone, Copy)]
struct Needle {
    value: usize,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Plain,
    Hex(&'static [u8; 16]),
    /// With this number of bytes before it, modulo 3. Only digits that depend on nothing but the value.
    Base64 {
        offset: usize,
        alphabet: &'static [u8; 64],
    },
}

impl Form {
    fn all() -> impl Iterator<Item = Form> {
        let hex = [Form::Hex(b"0123456789abcdef"), Form::Hex(b"0123456789ABCDEF")];
        let base64 = [BASE64, BASE64_OF_URLS]
            .into_iter()
            .flat_map(|alphabet| (0..3).map(move |offset| Form::Base64 { offset, alphabet }));
        [Form::Plain].into_iter().chain(hex).chain(base64)
    }

    fn length(self, value: &[u8]) -> usize {
        match self {
            Form::Plain => value.len(),
            Form::Hex(_) => value.len() * 2,
            Form::Base64 { offset, .. } => (offset + value.len()) * 8 / 6 - first_digit(offset),
        }
    }

    fn byte(self, value: &[u8], at: usize) -> u8 {
        match self {
            Form::Plain => value[at],
            Form::Hex(digits) => {
                let byte = value[at / 2];
                digits[usize::from(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 })]
            }
            Form::Base64 { offset, alphabet } => {
                let bit = (first_digit(offset) + at) * 6 - offset * 8;
                let next = value.get(bit / 8 + 1).copied().unwrap_or(0);
                let pair = u16::from_be_bytes([value[bit / 8], next]);
                alphabet[usize::from(pair >> (10 - bit % 8) & 63)]
            }
        }
    }

    fn bytes(self, value: &[u8]) -> impl Iterator<Item = u8> {
        (0..self.length(value)).map(move |at| self.byte(value, at))
    }

    /// A match with the digits at its ends that have some bits of the value, and the padding.
    fn grown(self, range: Range<usize>, value: &[u8], text: &[u8]) -> Range<usize> {
        let Form::Base64 { offset, .. } = self else { return range };
        let is_digit = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
        };
        let (mut start, mut end) = (range.start, range.end);
        if offset > 0 && start > 0 && is_digit(text.get(start - 1)) {
            start -= 1;
        }
        if !((offset + value.len()) * 8).is_multiple_of(6) && is_digit(text.get(end)) {
            end += 1;
        }
        let padding = text[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        start..end + padding
    }
}

/// The first digit of base64 in which there is no bit of what precedes the value.
fn first_digit(offset: usize) -> usize {
    (offset * 8).div_ceil(6)
}

impl Masker {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut wholes, mut lines) = (HashSet::new(), HashSet::new());
        for secret in secrets {
            let value = secret.trim();
            if is_maskable(value) {
                wholes.insert(value.to_owned());
                lines.extend(pem_lines(value));
                lines.extend(long_words(value));
                let unescaped = Layer::plain(value.as_bytes()).decoded(escape_of_json);
                lines.extend(pem_lines(&String::from_utf8_lossy(&unescaped.bytes)));
            }
        }
        let mut masker = Self {
            values: Vec::new(),
            needles: Vec::new(),
            needles_by_start: HashMap::new(),
            starts: Filter::new(0),
            pieces: HashSet::new(),
            piece_filter: Filter::new(0),
            reach: credentials::MAX_LENGTH * MAX_ESCAPE_BYTES,
        };
        for line in lines.difference(&wholes) {
            masker.add(line, [Form::Plain].into_iter(), false);
        }
        for whole in &wholes {
            masker.add(whole, Form::all(), whole.len() <= MAX_PIECED_BYTES);
        }
        masker.starts = Filter::of(masker.needles_by_start.keys().map(|start| u128::from(*start)));
        masker.piece_filter = Filter::of(masker.pieces.iter().copied());
        masker
    }

    fn add(&mut self, value: &str, forms: impl Iterator<Item = Form>, is_pieced: bool) {
        let value = value.as_bytes().to_vec();
        self.reach = self.reach.max(value.len() * MAX_ESCAPE_BYTES);
        let indexed_bytes = if is_pieced { usize::MAX } else { START_BYTES };
        for form in forms {
            let mut window = 0;
            for (at, byte) in form.bytes(&value).take(indexed_bytes).enumerate() {
                window = window << 8 | u128::from(byte);
                if at + 1 == START_BYTES {
                    let needle = Needle { value: self.values.len(), form };
                    self.needles_by_start.entry(start_of(window)).or_default().push(self.needles.len());
                    self.needles.push(needle);
                }
                if is_pieced && at + 1 >= PIECE_BYTES && is_varied(window) {
                    self.pieces.insert(window);
                }
            }
        }
        self.values.push(value);
    }

    /// The text with `***` in place of each secret.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = merged(self.spans(&layers(text.as_bytes())));
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut masked, mut at) = (String::with_capacity(text.len()), 0);
        for span in spans {
            masked.push_str(&text[at..span.start]);
            masked.push_str(MASK);
            at = span.end;
        }
        masked.push_str(&text[at..]);
        Cow::Owned(masked)
    }

    /// Whether there is a secret in the text.
    pub fn finds_secret(&self, text: &str) -> bool {
        !self.spans(&layers(text.as_bytes())).is_empty()
    }

    /// Where secrets are, in no order.
    fn spans(&self, layers: &[Layer<'_>]) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for layer in layers {
            let text = &*layer.bytes;
            let mut add = |found: Range<usize>, grown: Range<usize>| {
                // A stream holds back no more than this. Longer matches are left out here too, so that both find the same.
                if layer.source(found).len() <= self.reach {
                    spans.push(whole_characters(layers, layer.source(grown)));
                }
            };
            let mut window = 0;
            for (at, byte) in text.iter().enumerate() {
                window = window << 8 | u128::from(*byte);
                let end = at + 1;
                if end >= PIECE_BYTES && self.piece_filter.may_have(window) && self.pieces.contains(&window) {
                    add(end - PIECE_BYTES..end, end - PIECE_BYTES..end);
                }
                if end < START_BYTES {
                    continue;
                }
                let (start, first) = (end - START_BYTES, start_of(window));
                if self.starts.may_have(u128::from(first)) {
                    for needle in self.needles_by_start.get(&first).into_iter().flatten() {
                        let Needle { value, form } = self.needles[*needle];
                        let value = &self.values[value];
                        let range = start..start + form.length(value);
                        if text.get(range.clone()).is_some_and(|found| form.bytes(value).eq(found.iter().copied())) {
                            add(range.clone(), form.grown(range, value, text));
                        }
                    }
                }
                if let Some(length) = credentials::length_at_start(&text[start..]) {
                    add(start..start + length, start..start + length);
                }
            }
        }
        spans
    }

    /// How many bytes a stream holds back. Who cuts a text masks so much more of it first.
    pub fn held_bytes(&self) -> usize {
        self.reach + MARGIN_BYTES
    }
}

impl fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Masker").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

/// Masks text that comes in pieces, like the output of a program. The result is that of [`Masker::mask`] for the whole text, however it
/// was cut: the end of what came is held back while it can be the beginning of a secret.
#[derive(Debug)]
pub struct MaskedStream {
    masker: Arc<Masker>,
    held: Held,
}

struct Held {
    bytes: Vec<u8>,
    /// How many came since the last search.
    new_bytes: usize,
    /// The first bytes that are left belong to a secret whose mask is in the output.
    masked: usize,
    /// Whether the output ends with a mask.
    ends_with_mask: bool,
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Held").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl MaskedStream {
    pub fn new(masker: Arc<Masker>) -> Self {
        Self { masker, held: Held { bytes: Vec::new(), new_bytes: 0, masked: 0, ends_with_mask: false } }
    }

    /// Takes more text and returns what can be shown by now, which may end inside of a character.
    pub fn push(&mut self, text: &[u8]) -> Vec<u8> {
        self.held.bytes.extend_from_slice(text);
        self.held.new_bytes += text.len();
        // What is held back is searched again each time. Small pieces wait for each other, so that this stays cheap.
        let limit = self.held.bytes.len().saturating_sub(self.masker.held_bytes());
        if limit == 0 || self.held.new_bytes < self.masker.held_bytes() / 8 {
            return Vec::new();
        }
        self.release(Some(limit))
    }

    /// Returns the rest.
    pub fn finish(mut self) -> Vec<u8> {
        self.release(None)
    }

    /// Masks the first bytes, up to the limit, and forgets them.
    fn release(&mut self, limit: Option<usize>) -> Vec<u8> {
        let held = &mut self.held;
        let layers = layers(&held.bytes);
        let end = limit.map_or(held.bytes.len(), |limit| last_boundary(&layers, limit));
        let mut spans = self.masker.spans(&layers);
        // Others are found again when more of the text is there.
        spans.retain(|span| span.start < end);
        if held.masked > 0 {
            spans.push(0..held.masked);
        }
        let (mut shown, mut at) = (Vec::with_capacity(end), 0);
        for span in merged(spans) {
            if span.start > at {
                shown.extend_from_slice(&held.bytes[at..span.start]);
                held.ends_with_mask = false;
            }
            if !held.ends_with_mask {
                shown.extend_from_slice(MASK.as_bytes());
                held.ends_with_mask = true;
            }
            at = span.end;
        }
        if at < end {
            shown.extend_from_slice(&held.bytes[at..end]);
            held.ends_with_mask = false;
        }
        held.masked = at.saturating_sub(end);
        held.new_bytes = 0;
        held.bytes.drain(..end);
        shown
    }
}

/// The text as it is, or with one kind of escapes taken out of it.
struct Layer<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where in the text each byte comes from; none where nothing was taken out.
    origins: Option<Vec<usize>>,
    text_length: usize,
}

impl<'a> Layer<'a> {
    fn plain(text: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), origins: None, text_length: text.len() }
    }

    fn decoded(&self, escape_at_start: fn(&[u8]) -> Option<Escape>) -> Layer<'static> {
        let (mut bytes, mut origins) = (Vec::with_capacity(self.bytes.len()), Vec::with_capacity(self.bytes.len()));
        let mut at = 0;
        while let Some(byte) = self.bytes.get(at) {
            let escape = escape_at_start(&self.bytes[at..]).unwrap_or(Escape::of_byte(1, *byte));
            for byte in &escape.meaning[..escape.meaning_length] {
                bytes.push(*byte);
                origins.push(self.origin(at));
            }
            at += escape.length;
        }
        Layer { bytes: Cow::Owned(bytes), origins: Some(origins), text_length: self.text_length }
    }

    fn origin(&self, at: usize) -> usize {
        match &self.origins {
            Some(origins) => origins.get(at).copied().unwrap_or(self.text_length),
            None => at,
        }
    }

    /// The part of the text that these bytes come from.
    fn source(&self, range: Range<usize>) -> Range<usize> {
        let Some(origins) = &self.origins else { return range };
        let start = self.origin(range.start);
        let last = range.end.checked_sub(1).map_or(start, |last| self.origin(last));
        // An escape may stand for several bytes, of which the range need not have all.
        let end = origins[range.end..].iter().copied().find(|origin| *origin > last);
        start..end.unwrap_or(self.text_length)
    }

    /// Whether the text could begin here and mean the same.
    fn is_boundary(&self, at: usize) -> bool {
        self.origins.as_ref().is_none_or(|origins| origins.binary_search(&at).is_ok())
    }
}

/// The ways to read a text. Most texts have no escapes, and there is one.
fn layers(text: &[u8]) -> Vec<Layer<'_>> {
    let mut layers = vec![Layer::plain(text)];
    if text.contains(&b'\\') {
        let once = layers[0].decoded(escape_of_json);
        // Transcripts of agent programs are JSON that has JSON in it.
        let twice = once.bytes.contains(&b'\\').then(|| once.decoded(escape_of_json));
        layers.push(once);
        layers.extend(twice);
    }
    if text.contains(&b'%') {
        layers.push(layers[0].decoded(escape_of_urls));
    }
    if text.contains(&b'+') {
        layers.push(layers[0].decoded(escape_of_forms));
    }
    layers
}

/// The last place up to `limit` where no layer is inside of an escape.
fn last_boundary(layers: &[Layer<'_>], limit: usize) -> usize {
    let is_boundary = |at: &usize| layers.iter().all(|layer| layer.is_boundary(*at));
    (0..=limit).rev().find(is_boundary).unwrap_or(0)
}

/// Some bytes of a text that stand for others.
#[derive(Clone, Copy)]
struct Escape {
    length: usize,
    meaning: [u8; 4],
    meaning_length: usize,
}

impl Escape {
    fn of_byte(length: usize, byte: u8) -> Self {
        Self { length, meaning: [byte, 0, 0, 0], meaning_length: 1 }
    }

    fn of_character(length: usize, character: char) -> Self {
        let mut meaning = [0; 4];
        let meaning_length = character.encode_utf8(&mut meaning).len();
        Self { length, meaning, meaning_length }
    }
}

/// JSON, and what Python and shells add to it.
fn escape_of_json(text: &[u8]) -> Option<Escape> {
    let [b'\\', kind, rest @ ..] = text else { return None };
    let byte = match kind {
        b'"' | b'\\' | b'/' | b'\'' => *kind,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'x' => return Some(Escape::of_byte(4, u8::try_from(hex(rest, 2)?).ok()?)),
        b'u' => {
            let unit = hex(rest, 4)?;
            if let Some(character) = char::from_u32(unit) {
                return Some(Escape::of_character(6, character));
            }
            let low = hex(rest.get(4..)?.strip_prefix(b"\\u")?, 4)?;
            let is_pair = (0xd800..0xdc00).contains(&unit) && (0xdc00..0xe000).contains(&low);
            let character = is_pair.then(|| char::from_u32(0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00))))??;
            return Some(Escape::of_character(12, character));
        }
        _ => return None,
    };
    Some(Escape::of_byte(2, byte))
}

fn escape_of_urls(text: &[u8]) -> Option<Escape> {
    let digits = text.strip_prefix(b"%")?;
    Some(Escape::of_byte(3, u8::try_from(hex(digits, 2)?).ok()?))
}

/// Forms of web pages have their own escape of the blank.
fn escape_of_forms(text: &[u8]) -> Option<Escape> {
    if text.first() == Some(&b'+') { Some(Escape::of_byte(1, b' ')) } else { escape_of_urls(text) }
}

/// The number that a text begins with, if it has that many digits.
fn hex(text: &[u8], digits: usize) -> Option<u32> {
    let digits = text.get(..digits)?;
    digits.iter().try_fold(0, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)?))
}

/// Sorted, and those that overlap or touch made one.
fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// The same with all bytes of the characters at its ends.
fn whole_characters(layers: &[Layer<'_>], span: Range<usize>) -> Range<usize> {
    let text: &[u8] = layers.first().map_or(&[], |layer| &layer.bytes);
    let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let start = (0..3).fold(span.start, |start, _| if start > 0 && is_inside(start) { start - 1 } else { start });
    let end = (0..3).fold(span.end, |end, _| if is_inside(end) { end + 1 } else { end });
    start..end
}

pub(crate) fn is_maskable(value: &str) -> bool {
    value.chars().take(MIN_MASKED_CHARACTERS).count() == MIN_MASKED_CHARACTERS
}

/// The lines of a PEM file that hold the key: programs print them one by one.
fn pem_lines(value: &str) -> Vec<String> {
    let (mut lines, mut is_inside) = (Vec::new(), false);
    for line in value.lines().map(str::trim) {
        if line.contains("-----BEGIN ") {
            is_inside = true;
        } else if line.contains("-----END ") {
            is_inside = false;
        } else if is_inside && is_maskable(line) {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// The long words of a file that is too long to be found in pieces. Something that puts a sign before each line, like a patch, leaves them
/// as they are.
fn long_words(value: &str) -> Vec<String> {
    if value.len() <= MAX_PIECED_BYTES || !value.contains('\n') {
        return Vec::new();
    }
    let words = value.split(|character: char| character.is_whitespace() || matches!(character, '"' | '\'' | ','));
    words.filter(|word| word.len() >= LONG_WORD_BYTES).map(str::to_owned).collect()
}

/// The last `START_BYTES` of a window.
fn start_of(window: u128) -> u64 {
    (window & ((1 << (8 * START_BYTES)) - 1)) as u64
}

fn is_varied(window: u128) -> bool {
    let mut seen = [0u64; 4];
    for byte in window.to_be_bytes() {
        seen[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    seen.iter().map(|bits| bits.count_ones()).sum::<u32>() >= MIN_DIFFERENT_BYTES
}

/// Says quickly of most keys that a set does not have them.
#[derive(Clone)]
struct Filter {
    bits: Vec<u64>,
    shift: u32,
}

impl Filter {
    fn new(keys: usize) -> Self {
        let bits = (keys * 16).next_power_of_two().clamp(1 << 10, 1 << 24);
        Self { bits: vec![0; bits / 64], shift: 64 - bits.ilog2() }
    }

    fn of(keys: impl ExactSizeIterator<Item = u128>) -> Self {
        let mut filter = Self::new(keys.len());
        for key in keys {
            let bit = filter.bit(key);
            filter.bits[bit / 64] |= 1 << (bit % 64);
        }
        filter
    }

    fn may_have(&self, key: u128) -> bool {
        let bit = self.bit(key);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn bit(&self, key: u128) -> usize {
        let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
        (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests;
