//! Moments, as UTC milliseconds inside and RFC 3339 outside.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// A moment in UTC milliseconds. On the wire it is RFC 3339 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-01-31T09:30:00.000Z")]
pub struct Timestamp(i64);

/// 9999-12-31T23:59:59.999Z, the last moment that RFC 3339 can write.
const LAST_MS: i64 = 253_402_300_799_999;

impl Timestamp {
    /// Moments before 1970 or after the year 9999 become the nearest one that can be written.
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.clamp(0, LAST_MS))
    }

    pub fn as_ms(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(formatter, "{moment:.3}")
    }
}

impl FromStr for Timestamp {
    type Err = &'static str;

    /// Reads RFC 3339, or a date alone, which means its first moment in UTC.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "needs a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z";
        let ms = match jiff::civil::Date::from_str(text) {
            Ok(date) if text.len() == 10 => {
                date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| WANTED)?.timestamp().as_millisecond()
            }
            _ => jiff::Timestamp::from_str(text).map_err(|_| WANTED)?.as_millisecond(),
        };
        if (0..=LAST_MS).contains(&ms) { Ok(Self(ms)) } else { Err("must be between the years 1970 and 9999") }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn is_written_with_milliseconds_and_z() {
        assert_eq!(Timestamp::from_ms(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_ms(1_800_000_000_120).to_string(), "2027-01-15T08:00:00.120Z");
    }

    #[test]
    fn reads_rfc_3339_and_dates() {
        let cases = [
            ("2027-01-15T08:00:00Z", 1_800_000_000_000),
            ("2027-01-15T09:00:00.5+01:00", 1_800_000_000_500),
            ("2027-01-15", 1_799_971_200_000),
        ];
        for (text, ms) in cases {
            assert_eq!(text.parse::<Timestamp>().map(Timestamp::as_ms), Ok(ms), "{text}");
        }
        for text in ["", "yesterday", "2027-13-01", "1969-12-31", "2027-01-15T08:00:00", "99999-01-01"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
