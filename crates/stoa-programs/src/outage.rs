//! Whether a model's provider is out of capacity, and until when, from the words of programs.

use jiff::Timestamp;

/// Times beyond this are not believed.
const MAX_AHEAD_MS: i64 = 24 * 3600 * 1000;
/// Numbers above are milliseconds, below are seconds.
const FIRST_MILLISECONDS: i64 = 100_000_000_000;

/// A moment in seconds or milliseconds since 1970.
pub(crate) fn as_ms(number: i64) -> i64 {
    if number < FIRST_MILLISECONDS { number.saturating_mul(1000) } else { number }
}

/// Whether trying again later may help, without anyone changing anything.
pub(crate) fn is_outage(status: Option<i64>, text: &str) -> bool {
    let text = text.to_lowercase();
    // Money is not a matter of time.
    if ["insufficient_quota", "credit balance", "billing"].iter().any(|word| text.contains(word)) {
        return false;
    }
    if let Some(status) = status {
        return matches!(status, 429 | 500 | 502 | 503 | 504 | 529);
    }
    [
        "overloaded",
        "rate limit",
        "increase your limits",
        "try again later",
        "usage limit",
        "too many requests",
        "high demand",
        "resource_exhausted",
        "unavailable",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// The HTTP status that a text names.
pub(crate) fn status_in(text: &str) -> Option<i64> {
    let numbers = text.split(|character: char| !character.is_ascii_digit()).filter(|number| number.len() == 3);
    numbers.filter_map(|number| number.parse().ok()).find(|number| (400..600).contains(number))
}

/// When the provider takes requests again, if the text says so: as a date, as a number of seconds since 1970, or as a span from now.
pub(crate) fn reset_in(text: &str, now_ms: i64) -> Option<i64> {
    let is_believable = |at: &i64| (now_ms..=now_ms + MAX_AHEAD_MS).contains(at);
    // Programs often pass on the provider's JSON as it is.
    let is_between = |character: char| character.is_whitespace() || "\"',;|()[]{}<>".contains(character);
    let words = text.split(is_between).filter(|word| word.contains(|character: char| character.is_alphanumeric()));
    let words: Vec<&str> = words.collect();
    let bare = |word: &str| -> String {
        word.trim_matches(|character: char| !character.is_ascii_alphanumeric() && character != '+').to_owned()
    };
    let mut dates = words.iter().filter_map(|word| bare(word).parse::<Timestamp>().ok()).map(Timestamp::as_millisecond);
    if let Some(at) = dates.find(is_believable) {
        return Some(at);
    }
    let pieces = text.split(|character: char| !character.is_ascii_digit());
    let moments = pieces.filter(|piece| (10..=13).contains(&piece.len())).filter_map(|piece| piece.parse().ok());
    if let Some(at) = moments.map(as_ms).find(is_believable) {
        return Some(at);
    }
    let is_announced =
        |word: &str| matches!(bare(word).to_lowercase().as_str(), "in" | "after" | "retrydelay" | "retry-after");
    (0..words.len())
        .filter(|place| is_announced(words[*place]))
        .filter_map(|place| span(&words[place + 1..]))
        .map(|ahead| now_ms + ahead)
        .find(is_believable)
}

/// A span at the beginning of these words: `34s`, `1.5s`, `3h12m5s`, `3 hours 12 minutes`.
fn span(words: &[&str]) -> Option<i64> {
    let mut total = 0.0;
    let mut number = String::new();
    let mut unit = String::new();
    let mut is_any = false;
    let mut add = |number: &mut String, unit: &mut String| -> bool {
        let factor = match unit.as_str() {
            "ms" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => 86_400_000.0,
            _ => return false,
        };
        let Ok(count) = number.parse::<f64>() else { return false };
        total += count * factor;
        is_any = true;
        number.clear();
        unit.clear();
        true
    };
    'words: for word in words.iter().take(8) {
        if ["and", "about"].contains(word) {
            continue;
        }
        for character in word.trim_matches(|character: char| !character.is_ascii_alphanumeric()).chars() {
            if character.is_ascii_digit() || character == '.' {
                if !unit.is_empty() && !add(&mut number, &mut unit) {
                    break 'words;
                }
                number.push(character);
            } else {
                unit.push(character.to_ascii_lowercase());
            }
        }
        if !unit.is_empty() && !add(&mut number, &mut unit) {
            break;
        }
    }
    // A day's worth at most is believed, so this fits.
    (is_any && (0.0..1e12).contains(&total)).then_some(total as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_790_000_000_000;

    #[test]
    fn outages_are_told_from_errors() {
        for (status, text) in [
            (Some(429), "slow down"),
            (Some(529), ""),
            (Some(503), ""),
            (None, "We’re currently experiencing high demand, which may cause temporary errors."),
            (None, "Claude AI usage limit reached|1790003600"),
        ] {
            assert!(is_outage(status, text), "{status:?} {text}");
        }
        for (status, text) in [
            (Some(401), "invalid x-api-key"),
            (Some(400), "prompt is too long"),
            (Some(429), "You exceeded your current quota: insufficient_quota"),
            (None, "stream disconnected before completion"),
            (None, "Your credit balance is too low; the model is unavailable"),
        ] {
            assert!(!is_outage(status, text), "{status:?} {text}");
        }
    }

    #[test]
    fn a_status_is_found_in_a_sentence() {
        assert_eq!(status_in("exceeded retry limit, last status: 429 Too Many Requests"), Some(429));
        assert_eq!(status_in("[API Error: {\"error\":{\"code\":401,\"message\":\"no\"}}]"), Some(401));
        assert_eq!(status_in("read 5000 tokens, 200 lines"), None);
    }

    #[test]
    fn resets_are_read_in_many_forms() {
        for (text, ahead_seconds) in [
            ("Overloaded, resets at 2026-09-21T14:26:40Z.", 800),
            ("Claude AI usage limit reached|1790000060", 60),
            ("Please try again in 34s.", 34),
            ("Please try again in 1.5s (model busy)", 1),
            ("Your quota will reset after 3h12m5s.", 11_525),
            ("try again in 3 hours 12 minutes.", 11_520),
            ("{\"retryDelay\": \"51s\"}", 51),
            ("{\"retryDelay\":\"51s\",\"x\":1}", 51),
            ("[{\"message\":\"Overloaded until 2026-09-21T14:26:40.000Z\",\"status\":\"UNAVAILABLE\"}]", 800),
            ("Try again in 1 day", 86_400),
        ] {
            let expected = NOW + ahead_seconds * 1000 + if text.contains("1.5s") { 500 } else { 0 };
            assert_eq!(reset_in(text, NOW), Some(expected), "{text}");
        }
        for text in [
            "",
            "in a while",
            "resets at 2020-01-01T00:00:00Z",
            "in 30 days",
            "after 99999999999999999999s",
            "in 5 tries",
        ] {
            assert_eq!(reset_in(text, NOW), None, "{text}");
        }
    }
}
