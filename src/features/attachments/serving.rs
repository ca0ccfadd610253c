//! How a file is answered over HTTP: whole or in part, and so that no browser runs what is in it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use stoa_model::attachments::AttachmentView;

use crate::error::HubError;

/// What may stand in an extended parameter as it is (RFC 8187).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The part of a file that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    /// From the first to the last byte, both included.
    Part {
        first: u64,
        last: u64,
    },
    Nothing,
}

/// Which part a request is for. Several at once, and what cannot be read, is the whole (RFC 9110, 14.2).
pub(super) fn wanted(headers: &HeaderMap, etag: &str, size: u64) -> Wanted {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let Some(range) = text(header::RANGE) else { return Wanted::Whole };
    // A part of something else than what the client has would not fit.
    if text(header::IF_RANGE).is_some_and(|condition| condition.trim() != etag) {
        return Wanted::Whole;
    }
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-')) else {
        return Wanted::Whole;
    };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than fit are beyond the end in any case.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => Wanted::Whole,
        (Some(first), end_given) if end_given.is_some() || last.is_empty() => match size.checked_sub(1) {
            Some(end) if first <= end => Wanted::Part { first, last: end_given.unwrap_or(end).min(end) },
            _ => Wanted::Nothing,
        },
        (None, Some(length)) if first.is_empty() => match size.checked_sub(1) {
            Some(end) if length > 0 => Wanted::Part { first: size.saturating_sub(length), last: end },
            _ => Wanted::Nothing,
        },
        _ => Wanted::Whole,
    }
}

/// Whether the client has the file already.
pub(super) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag == etag
    })
}

pub(super) fn etag(sha256: &str) -> String {
    format!("\"{sha256}\"")
}

/// What every answer about a file says, whether it has the file in it or not.
pub(super) fn common_headers(attachment: &AttachmentView) -> Result<HeaderMap, HubError> {
    let value = |text: String| HeaderValue::try_from(text).map_err(HubError::internal);
    Ok(HeaderMap::from_iter([
        (header::ETAG, value(etag(&attachment.sha256))?),
        // It may be kept by who asked, who has to ask again each time: what was sent may have been taken back.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (header::CONTENT_DISPOSITION, value(disposition(attachment))?),
    ]))
}

pub(super) fn content_type(mime_type: &str) -> Result<HeaderValue, HubError> {
    match mime_type {
        "text/plain" => Ok(HeaderValue::from_static("text/plain; charset=utf-8")),
        other => HeaderValue::try_from(other).map_err(HubError::internal),
    }
}

fn disposition(attachment: &AttachmentView) -> String {
    let how = if attachment.is_shown_inline() { "inline" } else { "attachment" };
    // For clients that do not know the other form: what is not plain is left out of the name.
    let plain: String = attachment
        .filename
        .chars()
        .map(|character| match character {
            '"' | '\\' | '%' => '_',
            ' '..='~' => character,
            _ => '_',
        })
        .collect();
    let encoded = utf8_percent_encode(&attachment.filename, ENCODED);
    format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(range: &str, condition: Option<&str>, size: u64) -> Wanted {
        let mut headers = HeaderMap::from_iter([(header::RANGE, range.parse().unwrap())]);
        if let Some(condition) = condition {
            headers.insert(header::IF_RANGE, condition.parse().unwrap());
        }
        wanted(&headers, "\"e\"", size)
    }

    #[test]
    fn ranges() {
        let part = |first, last| Wanted::Part { first, last };
        for (range, expected) in [
            ("bytes=0-0", part(0, 0)),
            ("bytes=0-", part(0, 9)),
            ("bytes=3-5", part(3, 5)),
            ("bytes=3-500", part(3, 9)),
            ("bytes=9-", part(9, 9)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=10-20", Wanted::Nothing),
            ("bytes=-3", part(7, 9)),
            ("bytes=-30", part(0, 9)),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=99999999999999999999999-", Wanted::Nothing),
            ("bytes=0-99999999999999999999999", part(0, 9)),
            ("bytes=5-3", Wanted::Whole),
            ("bytes=0-1,4-5", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=x-3", Wanted::Whole),
            ("bytes=3-x", Wanted::Whole),
            ("bytes=+3-5", Wanted::Whole),
            ("bytes", Wanted::Whole),
            ("lines=1-2", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(asked(range, None, 10), expected, "{range}");
        }
        assert_eq!(asked("bytes=0-", None, 0), Wanted::Nothing);
        assert_eq!(asked("bytes=-1", None, 0), Wanted::Nothing);
        assert_eq!(asked("bytes=3-5", Some("\"e\""), 10), part(3, 5));
        for other in ["\"f\"", "W/\"e\"", "Fri, 15 Jan 2027 08:00:00 GMT"] {
            assert_eq!(asked("bytes=3-5", Some(other), 10), Wanted::Whole, "{other}");
        }
    }

    #[test]
    fn names_arrive_as_they_are() {
        let picture = |mime_type: &str, filename: &str, width: Option<i64>| {
            disposition(&AttachmentView {
                sha256: String::new(),
                size: 0,
                mime_type: mime_type.to_owned(),
                filename: filename.to_owned(),
                width,
                height: width,
            })
        };
        let of = |mime_type: &str, filename: &str| picture(mime_type, filename, None);
        assert_eq!(of("image/png", "a.png"), "inline; filename=\"a.png\"; filename*=UTF-8''a.png");
        assert_eq!(
            of("text/plain", "Grüße \"x\"; y.html"),
            "attachment; filename=\"Gr__e _x_; y.html\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%22x%22%3B%20y.html"
        );
        for kind in ["application/pdf", "text/plain", "image/bmp", "image/avif"] {
            assert!(of(kind, "x").starts_with("attachment;"), "{kind}");
        }
        assert!(picture("image/png", "x", Some(6000)).starts_with("inline;"));
        assert!(picture("image/png", "x", Some(6400)).starts_with("attachment;"), "it has too many pixels to draw");
    }
}
