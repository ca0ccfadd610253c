//! Addresses that the hub is asked to call.

use stoa_outbound::Url;

use crate::error::HubError;
use crate::hub::Hub;

impl Hub {
    /// The URL as it is called, if the hub calls it at all. `own` is the address by which the caller knows this hub, and `field` is where
    /// the URL was given.
    pub(crate) fn check_receiver(&self, own: &str, field: &str, url: &str) -> Result<String, HubError> {
        let checked = self.outbound()?.policy().check_url(url);
        let checked = checked.map_err(|error| {
            HubError::invalid_field(field, format!("is refused: {}", in_phrase(&error.to_string())))
        })?;
        let is_own = |base: &str| {
            let same = |base: &Url| {
                base.host() == checked.host() && base.port_or_known_default() == checked.port_or_known_default()
            };
            Url::parse(base).is_ok_and(|base| same(&base))
        };
        if is_own(own) || self.config().base_url.as_deref().is_some_and(is_own) {
            return Err(HubError::invalid_field(field, "is this hub itself"));
        }
        Ok(checked.into())
    }
}

/// A sentence as a part of another.
fn in_phrase(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    sentence.strip_prefix("The ").map_or_else(|| sentence.to_owned(), |rest| format!("the {rest}"))
}
