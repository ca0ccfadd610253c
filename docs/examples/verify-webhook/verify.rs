use std::collections::{HashSet, VecDeque};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const TOLERANCE_SECONDS: u64 = 300;
const REMEMBERED_IDS: usize = 10_000;

pub struct Verifier {
    key: Vec<u8>,
    // Keep the ids in your database if several processes receive deliveries.
    handled: HashSet<String>,
    order: VecDeque<String>,
}

impl Verifier {
    pub fn new(secret: &str) -> Result<Self, base64::DecodeError> {
        let key = STANDARD.decode(secret.trim_start_matches("whsec_"))?;
        Ok(Self { key, handled: HashSet::new(), order: VecDeque::new() })
    }

    /// Remembers a delivery that you have handled. Do this last: the hub sends again what you do not answer with 2xx.
    pub fn remember(&mut self, id: &str) {
        if self.handled.insert(id.to_owned()) {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > REMEMBERED_IDS {
            self.order.pop_front().map(|oldest| self.handled.remove(&oldest));
        }
    }

    /// Returns whether you have yet to handle the delivery, or an error if the request is not from the hub. `header` finds a header by its
    /// lower-case name, `body` is the body as it arrived, and `now` the time in seconds since 1970.
    pub fn verify<'a>(
        &mut self,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        now: u64,
    ) -> Result<bool, &'static str> {
        let id = header("webhook-id").ok_or("The id is missing.")?;
        let timestamp = header("webhook-timestamp").and_then(|text| text.parse::<u64>().ok());
        let timestamp = timestamp.filter(|timestamp| timestamp.abs_diff(now) <= TOLERANCE_SECONDS);
        let timestamp = timestamp.ok_or("The timestamp is missing or more than 5 minutes off.")?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).map_err(|_| "The secret is wrong.")?;
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        // After a rotation there are two signatures for 24 hours. `verify_slice` takes constant time.
        let is_signed = header("webhook-signature").unwrap_or_default().split(' ').any(|signature| {
            let given = signature.strip_prefix("v1,").and_then(|encoded| STANDARD.decode(encoded).ok());
            given.is_some_and(|given| mac.clone().verify_slice(&given).is_ok())
        });
        if !is_signed {
            return Err("The signature is wrong.");
        }
        Ok(!self.handled.contains(id))
    }
}
