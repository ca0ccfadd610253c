//! How principals, keys, nonces and tags are spelt. The first two are the patterns of the machine principal registry.

use crate::TAG_PREFIX;

/// `^svc:(sense|brain|bell):[a-z0-9][a-z0-9.-]{0,62}$`, a slash, and `^[A-Za-z0-9._-]{8,64}$`.
pub(crate) fn is_key_id(text: &str) -> bool {
    let Some((principal, kid)) = text.split_once('/') else { return false };
    is_principal_id(principal)
        && (8..=64).contains(&kid.len())
        && kid.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn is_principal_id(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let (Some("svc"), Some("sense" | "brain" | "bell"), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.bytes().all(is_inner)
}

pub(crate) fn is_nonce(text: &str) -> bool {
    (22..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The prefix and an audience that needs no escaping in a header.
pub(crate) fn is_tag(text: &str) -> bool {
    text.strip_prefix(TAG_PREFIX).is_some_and(|audience| {
        (1..=64).contains(&audience.len())
            && audience.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_ids_are_a_principal_and_a_kid() {
        let long = |length: usize| "a".repeat(length);
        for (text, is_good) in [
            ("svc:sense:demo/key-2026-01".to_owned(), true),
            ("svc:brain:0.a-b/A_.-zzzz".to_owned(), true),
            (format!("svc:bell:{}/{}", long(63), long(64)), true),
            (format!("svc:bell:{}/{}", long(64), long(64)), false),
            (format!("svc:bell:{}/{}", long(63), long(65)), false),
            ("svc:bell:a/1234567".to_owned(), false),
            ("svc:bell:/12345678".to_owned(), false),
            ("svc:bell:-a/12345678".to_owned(), false),
            ("svc:bell:A/12345678".to_owned(), false),
            ("svc:bell:aB/12345678".to_owned(), false),
            ("svc:bell:a_b/12345678".to_owned(), false),
            ("svc:bell:a:b/12345678".to_owned(), false),
            ("svc:other:a/12345678".to_owned(), false),
            ("SVC:bell:a/12345678".to_owned(), false),
            ("svc:bell:a".to_owned(), false),
            ("svc:bell:a/1234/5678".to_owned(), false),
            ("svc:bell:a/12345678\n".to_owned(), false),
            ("svc:bell:é/12345678".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_key_id(&text), is_good, "{text:?}");
        }
    }
}
