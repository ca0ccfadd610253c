//! Keys in files that others can read too: OpenSSL, Python's cryptography, Node.js.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use zeroize::Zeroizing;

/// What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, 7): version, algorithm, lengths.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// What stands before the 32 bytes of an Ed25519 public key (RFC 8410, 4): algorithm, length.
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// No key is longer, however it was written.
const MAX_BYTES: u64 = 16 * 1024;

/// PKCS #8 in PEM.
pub(super) fn to_pem(private_key: &[u8; 32]) -> Zeroizing<String> {
    let mut der = Zeroizing::new([0; 48]);
    der[..16].copy_from_slice(&PKCS8_PREFIX);
    der[16..].copy_from_slice(private_key);
    // 48 bytes are the 64 characters of one line.
    let text = Zeroizing::new(STANDARD.encode(der.as_slice()));
    Zeroizing::new(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", text.as_str()))
}

/// Writes a new file that only its owner can read. One that is there already stays as it is, also a link.
pub(super) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| sync_folder_of(path)).inspect_err(
        |_| {
            // A part of a key is of no use.
            let _ = fs::remove_file(path);
        },
    )
}

/// Without this a crash can forget the name of the file.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Reads a private key that nobody but its owner could have read.
pub(super) fn read_private_key(path: &Path) -> Result<SigningKey, String> {
    KeyFile::read(path)?.private_key("private key (PKCS #8, PEM)")
}

/// The public half of a key, from a file with either half.
pub(super) fn read_public_key(path: &Path) -> Result<[u8; 32], String> {
    let file = KeyFile::read(path)?;
    match file.text().and_then(public_from_pem) {
        Some(public_key) => Ok(public_key),
        None => Ok(file.private_key("key (PEM), neither a private nor a public one")?.verifying_key().to_bytes()),
    }
}

struct KeyFile<'a> {
    path: &'a Path,
    mode: u32,
    bytes: Zeroizing<Vec<u8>>,
}

impl<'a> KeyFile<'a> {
    fn read(path: &'a Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mode = file.metadata().map_err(|error| error.to_string())?.mode();
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(Self { path, mode, bytes })
    }

    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    fn private_key(&self, wanted: &str) -> Result<SigningKey, String> {
        let key = self.text().and_then(private_from_pem);
        let key = key.ok_or_else(|| format!("it is not an Ed25519 {wanted}{}", self.what_else_it_is()))?;
        if self.mode & 0o077 != 0 {
            return Err(format!("others may read or write it; run `chmod 600 {}`", self.path.display()));
        }
        Ok(key)
    }

    /// What to do with a file that has no key to be read, if that can be guessed.
    fn what_else_it_is(&self) -> String {
        let text = self.text().unwrap_or_default();
        if text.contains("ENCRYPTED") {
            "; take its password off with `openssl pkey`".to_owned()
        } else if public_from_pem(text).is_some() {
            "; it is a public key".to_owned()
        } else if text.contains("-----BEGIN ") {
            String::new()
        } else {
            let public = if self.bytes.starts_with(&SPKI_PREFIX) { " -pubin" } else { "" };
            format!(
                "; PEM has a line -----BEGIN, and DER becomes PEM with `openssl pkey{public} -inform DER -in {} -out key.pem`",
                self.path.display()
            )
        }
    }
}

/// What [`to_pem`] and OpenSSL write; nothing stands before or after it.
fn private_from_pem(text: &str) -> Option<SigningKey> {
    let der = der_of(text, "PRIVATE KEY")?;
    let private_key = Zeroizing::new(<[u8; 32]>::try_from(der.strip_prefix(&PKCS8_PREFIX)?).ok()?);
    Some(SigningKey::from_bytes(&private_key))
}

/// What `openssl pkey -pubout` writes.
fn public_from_pem(text: &str) -> Option<[u8; 32]> {
    der_of(text, "PUBLIC KEY")?.strip_prefix(&SPKI_PREFIX)?.try_into().ok()
}

fn der_of(text: &str, what: &str) -> Option<Zeroizing<Vec<u8>>> {
    let text = text.trim().strip_prefix(&format!("-----BEGIN {what}-----"))?;
    let text = text.strip_suffix(&format!("-----END {what}-----"))?;
    let text = Zeroizing::new(text.split_ascii_whitespace().collect::<String>());
    Some(Zeroizing::new(STANDARD.decode(text.as_str()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector() -> [u8; 32] {
        std::array::from_fn(|index| index as u8)
    }

    #[test]
    fn the_key_of_the_test_vector() {
        assert_eq!(
            to_pem(&vector()).as_str(),
            "-----BEGIN PRIVATE KEY-----\n\
             MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n\
             -----END PRIVATE KEY-----\n"
        );
    }

    #[test]
    fn the_public_half_is_read_too() {
        // What `openssl pkey -pubout` makes of the key of the test vector.
        let pem = "-----BEGIN PUBLIC KEY-----\n\
                   MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n\
                   -----END PUBLIC KEY-----\n";
        let public_key = SigningKey::from_bytes(&vector()).verifying_key().to_bytes();
        assert_eq!(public_from_pem(pem), Some(public_key));
        assert!(private_from_pem(pem).is_none() && public_from_pem(&to_pem(&vector())).is_none());
        assert!(public_from_pem(&pem.replace("K2Vw", "K2Vu")).is_none(), "X25519");
    }

    #[test]
    fn what_is_written_is_read() {
        let pem = to_pem(&vector());
        assert_eq!(private_from_pem(&pem).unwrap().to_bytes(), vector());
        assert_eq!(private_from_pem(&pem.replace('\n', "\r\n")).unwrap().to_bytes(), vector());
        for other in [
            String::new(),
            pem.replace("PRIVATE", "ENCRYPTED PRIVATE"),
            pem.replace("MC4CAQ", "MC4CAA"),
            pem.replace("HR4f", "HR4="),
            pem.replace("-----END", "AAAA\n-----END"),
            format!("{}{}", pem.as_str(), pem.as_str()),
        ] {
            assert!(private_from_pem(&other).is_none(), "{other}");
        }
    }
}
