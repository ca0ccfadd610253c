//! Secrets of webhooks, and what they sign: <https://www.standardwebhooks.com>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stoa_db::Tx;
use stoa_model::{Secret, WebhookId};
use zeroize::Zeroizing;

use super::store::{self, SealedSecrets};
use crate::access::webhook_signature;
use crate::error::HubError;
use crate::storage::keys::{KeyRing, Purpose};

const PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;

/// A secret as its owner is given it.
pub fn render(secret: &[u8]) -> Secret {
    Secret::new(format!("{PREFIX}{}", STANDARD.encode(secret)))
}

/// The secrets that sign now, the newest first.
pub struct Secrets(Vec<Zeroizing<Vec<u8>>>);

/// Signs with these, the newest first.
pub fn sign_with(secrets: Vec<Zeroizing<Vec<u8>>>) -> Secrets {
    Secrets(secrets)
}

impl Secrets {
    /// All signatures of a body, with a space between them.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> Result<String, HubError> {
        let timestamp = timestamp.to_string();
        let sign = |secret: &Zeroizing<Vec<u8>>| webhook_signature::sign(secret, id, &timestamp, body);
        let signatures: Result<Vec<String>, HubError> = self.0.iter().map(sign).collect();
        Ok(signatures?.join(" "))
    }
}

/// Draws a new secret and stores it. The one before goes on signing until `old_until`, or not at all.
pub(super) fn replace(
    tx: &mut Tx<'_>,
    keys: &KeyRing,
    webhook: WebhookId,
    old_until: Option<i64>,
) -> Result<Secret, HubError> {
    let secret: [u8; SECRET_BYTES] = tx.random_bytes();
    let before = store::find_secrets(tx, webhook)?.filter(|_| old_until.is_some()).map(|secrets| secrets.current);
    let sealed = seal(tx, keys, webhook, &secret)?;
    let old_until = old_until.filter(|_| before.is_some());
    store::update_secrets(tx, webhook, &SealedSecrets { current: sealed, old: before, old_until })?;
    Ok(render(&secret))
}

pub(super) fn read(tx: &mut Tx<'_>, keys: &KeyRing, webhook: WebhookId) -> Result<Secrets, HubError> {
    let sealed = store::find_secrets(tx, webhook)?.ok_or_else(|| HubError::not_found("webhook"))?;
    let now = tx.now_ms();
    let old = sealed.old.filter(|_| sealed.old_until.is_some_and(|until| until > now));
    let opened = [Some(sealed.current), old].into_iter().flatten().map(|sealed| open(keys, webhook, &sealed));
    Ok(Secrets(opened.collect::<Result<_, HubError>>()?))
}

/// Seals all secrets with the current key, so that an older one can go.
pub(super) fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    for (webhook, sealed) in store::list_secrets(tx)? {
        let current = open(keys, webhook, &sealed.current)?;
        let current = seal(tx, keys, webhook, &current)?;
        let old = match &sealed.old {
            Some(old) => {
                let old = open(keys, webhook, old)?;
                Some(seal(tx, keys, webhook, &old)?)
            }
            None => None,
        };
        store::update_secrets(tx, webhook, &SealedSecrets { current, old, old_until: sealed.old_until })?;
    }
    Ok(())
}

fn seal(tx: &mut Tx<'_>, keys: &KeyRing, webhook: WebhookId, secret: &[u8]) -> Result<Vec<u8>, HubError> {
    keys.seal(Purpose::WebhookSecret, &context(webhook), tx.random_bytes(), secret).map_err(HubError::internal)
}

fn open(keys: &KeyRing, webhook: WebhookId, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, HubError> {
    keys.open(Purpose::WebhookSecret, &context(webhook), sealed).map_err(HubError::internal)
}

/// Where a secret belongs: it cannot be opened anywhere else.
fn context(webhook: WebhookId) -> String {
    format!("webhook {webhook}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_rendered_as_receivers_expect_them() {
        let secret: Vec<u8> = (0..32).collect();
        assert_eq!(render(&secret).expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    }
}
