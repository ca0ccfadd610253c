//! Signatures of [Standard Webhooks](https://www.standardwebhooks.com), which the hub makes for its deliveries and
//! checks on requests to hooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::HubError;

const VERSION: &str = "v1,";
/// Signatures of one request that are compared. A sender that rotates its secret sends two.
const MAX_SIGNATURES: usize = 8;

/// HMAC-SHA256 over the parts, one after another. Compare it with `verify_slice`, which takes constant time.
pub fn mac(key: &[u8], parts: &[&[u8]]) -> Result<Hmac<Sha256>, HubError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(HubError::internal)?;
    parts.iter().for_each(|part| mac.update(part));
    Ok(mac)
}

/// The value of `webhook-signature` for a body.
pub fn sign(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Result<String, HubError> {
    let signature = signed(key, id, timestamp, body)?.finalize().into_bytes();
    Ok(format!("{VERSION}{}", STANDARD.encode(signature)))
}

/// Whether one of the signatures in `webhook-signature` is right.
pub fn is_signed(key: &[u8], id: &str, timestamp: &str, body: &[u8], signatures: &str) -> Result<bool, HubError> {
    let mac = signed(key, id, timestamp, body)?;
    let given = signatures.split(' ').filter_map(|signature| STANDARD.decode(signature.strip_prefix(VERSION)?).ok());
    Ok(given
        .take(MAX_SIGNATURES)
        .fold(false, |is_right, signature| is_right | mac.clone().verify_slice(&signature).is_ok()))
}

fn signed(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Result<Hmac<Sha256>, HubError> {
    mac(key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The libraries `standardwebhooks` of npm and PyPI make the same signature.
    #[test]
    fn the_vector_of_other_implementations() {
        let key: Vec<u8> = (0..32).collect();
        let body = br#"{"type":"workflow.state_changed","timestamp":"2027-01-15T08:00:00Z","data":{"message_id":42}}"#;
        let signature = sign(&key, "msg_01HZX3V8Q0", "1800000000", body).unwrap();
        assert_eq!(signature, "v1,4tBBOxytc2WFq4E2JsZGk/gZ2hj336Pbo6hfWRx/Fiw=");
        let check = |signatures: &str| is_signed(&key, "msg_01HZX3V8Q0", "1800000000", body, signatures).unwrap();
        assert!(check(&signature) && check(&format!("v1,AAAA v2,x {signature}")));
        assert!(!check("") && !check("v1,AAAA") && !check(&signature.replace("v1", "v2")));
        assert!(!check(&format!("{}{signature}", "v1,AAAA ".repeat(MAX_SIGNATURES))));
    }
}
