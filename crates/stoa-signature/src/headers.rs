//! Headers as text, without the ways in which two programs could read them differently.

use http::HeaderMap;
use http::header::HeaderName;

use crate::SignatureError;
use crate::fields::{self, Dictionary};

/// The text of a header that may appear once only. Joining several lines is legal, but what stands in the second one is
/// what some proxy, or an attacker, has added.
pub(crate) fn only_line<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    name: &str,
) -> Result<Option<&'a str>, SignatureError> {
    let mut lines = headers.get_all(header).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(SignatureError::malformed(format!("The request has more than one {name} header.")));
    }
    match line.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(SignatureError::malformed(format!("{name} has characters that are not ASCII."))),
    }
}

pub(crate) fn dictionary<'a>(text: &'a str, name: &str) -> Result<Dictionary<'a>, SignatureError> {
    fields::parse_dictionary(text).map_err(|fault| {
        SignatureError::malformed(format!("{name} cannot be read at character {}: {}.", fault.position, fault.reason))
    })
}
