//! The key file: what the hub seals its secrets with and signs its cursors with.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

const FILE_NAME: &str = "key";
const LINE_PREFIX: &str = "stoa-key-v1:";
const SEALED_VERSION: u8 = 1;
const ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;

/// What a derived key is used for. Keys of one purpose are worthless for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Cursor,
    AnonymousCaller,
    IdempotencyAnswer,
    KeyCheck,
    RefreshSuccessor,
    ConsentForm,
    DeviceCookie,
    WebhookSecret,
    HookSecret,
    Secret,
}

impl Purpose {
    fn label(self) -> &'static [u8] {
        match self {
            Purpose::Cursor => b"stoa cursor v1",
            Purpose::AnonymousCaller => b"stoa anonymous caller v1",
            Purpose::IdempotencyAnswer => b"stoa idempotency answer v1",
            Purpose::KeyCheck => b"stoa key check v1",
            Purpose::RefreshSuccessor => b"stoa refresh token successor v1",
            Purpose::ConsentForm => b"stoa consent form v1",
            Purpose::DeviceCookie => b"stoa device cookie v1",
            Purpose::WebhookSecret => b"stoa webhook secret v1",
            Purpose::HookSecret => b"stoa hook secret v1",
            Purpose::Secret => b"stoa secret v1",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the key file {path} cannot be used: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("STOA_KEY must be 32 bytes in base64 (several keys comma-separated, the current one first)")]
    Environment,
    #[error("the system has no randomness: {0}")]
    Entropy(String),
    #[error("the sealed value was not made with a key that this hub has, or it was changed")]
    Sealed,
}

/// The current key and the ones before it, which still open what they sealed.
#[derive(Clone)]
pub struct KeyRing {
    keys: Vec<MasterKey>,
}

#[derive(Clone)]
struct MasterKey {
    id: [u8; ID_BYTES],
    bytes: Zeroizing<[u8; 32]>,
}

impl KeyRing {
    /// Reads the key from the environment's value if there is one, else from the data folder, where
    /// it is made at the first start.
    pub fn load_or_create(folder: &Path, environment: Option<&str>) -> Result<Self, KeyError> {
        if let Some(text) = environment {
            return Self::parse(text.split(',')).ok_or(KeyError::Environment);
        }
        let path = folder.join(FILE_NAME);
        let fault = |reason: String| KeyError::File { path: path.clone(), reason };
        match fs::read_to_string(&path) {
            Ok(text) => {
                let mode = fs::metadata(&path).map_err(|error| fault(error.to_string()))?.mode();
                if mode & 0o077 != 0 {
                    return Err(fault("others may read or write it; run `chmod 600` on it".to_owned()));
                }
                Self::read(&text).ok_or_else(|| fault("it does not hold a key".to_owned()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let ring = Self { keys: vec![MasterKey::random()?] };
                ring.store(folder)?;
                Ok(ring)
            }
            Err(error) => Err(fault(error.to_string())),
        }
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    pub fn read(text: &str) -> Option<Self> {
        Self::parse(text.lines().map(|line| line.trim().strip_prefix(LINE_PREFIX).unwrap_or("")))
    }

    fn parse<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let keys = parts
            .map(|part| {
                let part = part.trim();
                let bytes = STANDARD
                    .decode(part)
                    .or_else(|_| STANDARD_NO_PAD.decode(part))
                    .or_else(|_| URL_SAFE_NO_PAD.decode(part))
                    .ok()?;
                Some(MasterKey::new(Zeroizing::new(bytes.try_into().ok()?)))
            })
            .collect::<Option<Vec<_>>>()?;
        (!keys.is_empty()).then_some(Self { keys })
    }

    /// A ring with a new current key in front of the ones there are.
    pub fn with_new_key(&self) -> Result<Self, KeyError> {
        let mut keys = vec![MasterKey::random()?];
        keys.extend(self.keys.iter().cloned());
        Ok(Self { keys })
    }

    /// A ring of the current key alone.
    #[must_use]
    pub fn without_old_keys(&self) -> Self {
        Self { keys: self.keys[..1].to_vec() }
    }

    /// The lines of the key file.
    pub fn to_text(&self) -> Zeroizing<String> {
        let lines = self.keys.iter().map(|key| format!("{LINE_PREFIX}{}\n", STANDARD.encode(*key.bytes)));
        Zeroizing::new(lines.collect())
    }

    /// Where a hub with this data folder keeps its key.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    /// Writes the key file so that it is either the old one or the new one, whatever happens.
    pub fn store(&self, folder: &Path) -> Result<(), KeyError> {
        let path = folder.join(FILE_NAME);
        let write = || -> std::io::Result<()> {
            let temporary = folder.join(format!("{FILE_NAME}.new"));
            let _ = fs::remove_file(&temporary);
            let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&temporary)?;
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            fs::File::open(folder)?.sync_all()
        };
        write().map_err(|error| KeyError::File { path: path.clone(), reason: error.to_string() })
    }

    /// Encrypts a secret for storage. `context` says where it is stored; it opens only there.
    pub fn seal(
        &self,
        purpose: Purpose,
        context: &str,
        nonce: [u8; NONCE_BYTES],
        plain: &[u8],
    ) -> Result<Vec<u8>, KeyError> {
        let key = self.keys.first().ok_or(KeyError::Sealed)?;
        let payload = Payload { msg: plain, aad: context.as_bytes() };
        let sealed = key.cipher(purpose).encrypt(&XNonce::from(nonce), payload).map_err(|_| KeyError::Sealed)?;
        let mut output = Vec::with_capacity(1 + ID_BYTES + NONCE_BYTES + sealed.len());
        output.push(SEALED_VERSION);
        output.extend_from_slice(&key.id);
        output.extend_from_slice(&nonce);
        output.extend_from_slice(&sealed);
        Ok(output)
    }

    pub fn open(&self, purpose: Purpose, context: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let (header, cipher_text) = sealed.split_at_checked(1 + ID_BYTES + NONCE_BYTES).ok_or(KeyError::Sealed)?;
        let (version, id, nonce) = (header[0], &header[1..=ID_BYTES], &header[1 + ID_BYTES..]);
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| KeyError::Sealed)?;
        let key = self.keys.iter().find(|key| version == SEALED_VERSION && key.id == id).ok_or(KeyError::Sealed)?;
        let payload = Payload { msg: cipher_text, aad: context.as_bytes() };
        let plain = key.cipher(purpose).decrypt(&XNonce::from(nonce), payload).map_err(|_| KeyError::Sealed)?;
        Ok(Zeroizing::new(plain))
    }

    /// A keyed hash of `parts`, which cannot run into each other.
    pub fn sign(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        self.keys.first().map_or([0; 32], |key| key.sign(purpose, parts))
    }

    /// Whether one of the keys made this signature.
    pub fn verify(&self, purpose: Purpose, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.keys.iter().any(|key| key.sign(purpose, parts).ct_eq(signature).into())
    }

    /// Whether one of the keys made a signature that begins like this.
    pub fn verify_prefix(&self, purpose: Purpose, parts: &[&[u8]], prefix: &[u8]) -> bool {
        self.keys.iter().any(|key| key.sign(purpose, parts)[..prefix.len().min(32)].ct_eq(prefix).into())
    }

    /// Tells one key from another without giving it away, for the database to remember.
    pub fn check_value(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.sign(Purpose::KeyCheck, &[]))
    }

    /// Whether `stored` is the check value of one of the keys.
    pub fn has_check_value(&self, stored: &str) -> bool {
        URL_SAFE_NO_PAD.decode(stored).is_ok_and(|bytes| self.verify(Purpose::KeyCheck, &[], &bytes))
    }
}

impl MasterKey {
    fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        let mut key = Self { id: [0; ID_BYTES], bytes };
        let derived = key.derive(b"stoa key id v1");
        key.id.copy_from_slice(&derived[..ID_BYTES]);
        key
    }

    fn random() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(|error| KeyError::Entropy(error.to_string()))?;
        Ok(Self::new(bytes))
    }

    fn derive(&self, label: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut derived = Zeroizing::new([0; 32]);
        // HKDF refuses only outputs longer than 255 hashes.
        let expanded = Hkdf::<Sha256>::new(None, &*self.bytes).expand(label, &mut *derived);
        debug_assert!(expanded.is_ok());
        derived
    }

    fn cipher(&self, purpose: Purpose) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&Key::from(*self.derive(purpose.label())))
    }

    fn sign(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        let key = self.derive(purpose.label());
        // HMAC takes keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&*key) else { return [0; 32] };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> KeyRing {
        KeyRing::parse(["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="].into_iter()).unwrap()
    }

    #[test]
    fn a_sealed_value_opens_only_where_it_belongs() {
        let sealed = ring().seal(Purpose::IdempotencyAnswer, "row 1", [7; 24], b"secret").unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
        assert_eq!(**ring().open(Purpose::IdempotencyAnswer, "row 1", &sealed).unwrap(), *b"secret");
        assert!(ring().open(Purpose::IdempotencyAnswer, "row 2", &sealed).is_err());
        assert!(ring().open(Purpose::Cursor, "row 1", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(ring().open(Purpose::IdempotencyAnswer, "row 1", &changed).is_err(), "byte {at}");
        }
        assert!(ring().open(Purpose::IdempotencyAnswer, "row 1", &[]).is_err());
    }

    #[test]
    fn an_old_key_still_opens_and_verifies() {
        let old = ring();
        let new = old.with_new_key().unwrap();
        let sealed = old.seal(Purpose::IdempotencyAnswer, "", [1; 24], b"x").unwrap();
        assert!(new.open(Purpose::IdempotencyAnswer, "", &sealed).is_ok());
        assert!(new.verify(Purpose::Cursor, &[b"a"], &old.sign(Purpose::Cursor, &[b"a"])));
        assert!(new.has_check_value(&old.check_value()));
        let only_new = new.without_old_keys();
        assert!(only_new.open(Purpose::IdempotencyAnswer, "", &sealed).is_err());
        assert!(!only_new.has_check_value(&old.check_value()));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(ring().sign(Purpose::Cursor, &[b"ab", b"c"]), ring().sign(Purpose::Cursor, &[b"a", b"bc"]));
    }

    #[test]
    fn the_file_is_made_once_and_refused_when_others_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let made = KeyRing::load_or_create(folder.path(), None).unwrap();
        let read = KeyRing::load_or_create(folder.path(), None).unwrap();
        assert_eq!(made.check_value(), read.check_value());
        let path = folder.path().join(FILE_NAME);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(KeyRing::load_or_create(folder.path(), None).is_err());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "abc", "AAEC", ","] {
            assert!(KeyRing::load_or_create(Path::new("/nonexistent"), Some(text)).is_err(), "{text:?}");
        }
    }
}
