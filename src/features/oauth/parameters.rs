//! The parameters of a request of the protocol, in a query or in a form.

use std::borrow::Cow;

/// Pairs of names and values, as they came.
pub(super) struct Parameters(Vec<(String, String)>);

/// A parameter that may come once came more than once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeated(pub(super) &'static str);

impl Repeated {
    pub(super) fn description(&self) -> String {
        format!("The parameter {} was sent more than once.", self.0)
    }
}

impl Parameters {
    /// None for what is not UTF-8 or contains NUL.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        // Decoding replaces what is not UTF-8, so it is looked at before.
        let decoded: Cow<'_, [u8]> = percent_encoding::percent_decode(text).into();
        if decoded.contains(&0) || str::from_utf8(&decoded).is_err() {
            return None;
        }
        Some(Self(form_urlencoded::parse(text).into_owned().collect()))
    }

    /// A parameter without a value counts as absent.
    pub(super) fn one(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.next().is_some() {
            return Err(Repeated(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_may_come_once() {
        let parameters = Parameters::parse(b"a=1&b=&c=1&c=2&d=x+y%20z").unwrap();
        assert_eq!(parameters.one("a"), Ok(Some("1")));
        assert_eq!(parameters.one("b"), Ok(None));
        assert_eq!(parameters.one("c"), Err(Repeated("c")));
        assert_eq!(parameters.one("d"), Ok(Some("x y z")));
        assert_eq!(parameters.one("e"), Ok(None));
        assert_eq!(parameters.all("c").collect::<Vec<_>>(), ["1", "2"]);
        for bad in [&b"a=%00"[..], b"a=%ff", b"a=\xff", b"%00"] {
            assert!(Parameters::parse(bad).is_none(), "{bad:?}");
        }
    }
}
