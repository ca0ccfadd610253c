//! Private keys in files that others can read too: OpenSSL, Python's cryptography, Node.js.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, 7): version, algorithm, lengths.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_the_test_vector() {
        let bytes: Vec<u8> = (0..32).collect();
        assert_eq!(
            to_pem(&bytes.try_into().unwrap()).as_str(),
            "-----BEGIN PRIVATE KEY-----\n\
             MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n\
             -----END PRIVATE KEY-----\n"
        );
    }
}
