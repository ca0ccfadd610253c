//! Private keys in files that others can read too: OpenSSL, Python's cryptography, Node.js.

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

/// Reads a key that nobody but its owner could have read.
pub(super) fn read(path: &Path) -> Result<SigningKey, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mode = file.metadata().map_err(|error| error.to_string())?.mode();
    if mode & 0o077 != 0 {
        return Err(format!("others may read or write it; run `chmod 600 {}`", path.display()));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
    from_pem(&text).ok_or_else(|| {
        let hint = if text.contains("ENCRYPTED") { "; take its password off with `openssl pkey`" } else { "" };
        format!("it is not an Ed25519 private key (PKCS #8, PEM){hint}")
    })
}

/// What [`to_pem`] and OpenSSL write; nothing stands before or after it.
fn from_pem(text: &str) -> Option<SigningKey> {
    let text = text.trim().strip_prefix("-----BEGIN PRIVATE KEY-----")?.strip_suffix("-----END PRIVATE KEY-----")?;
    let text = Zeroizing::new(text.split_ascii_whitespace().collect::<String>());
    let der = Zeroizing::new(STANDARD.decode(text.as_str()).ok()?);
    let private_key = Zeroizing::new(<[u8; 32]>::try_from(der.strip_prefix(&PKCS8_PREFIX)?).ok()?);
    Some(SigningKey::from_bytes(&private_key))
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
    fn what_is_written_is_read() {
        let pem = to_pem(&vector());
        assert_eq!(from_pem(&pem).unwrap().to_bytes(), vector());
        assert_eq!(from_pem(&pem.replace('\n', "\r\n")).unwrap().to_bytes(), vector());
        for other in [
            String::new(),
            pem.replace("PRIVATE", "ENCRYPTED PRIVATE"),
            pem.replace("MC4CAQ", "MC4CAA"),
            pem.replace("HR4f", "HR4="),
            pem.replace("-----END", "AAAA\n-----END"),
            format!("{}{}", pem.as_str(), pem.as_str()),
        ] {
            assert!(from_pem(&other).is_none(), "{other}");
        }
    }
}
