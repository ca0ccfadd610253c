//! Documents on disk: one file, or a folder of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::{Audience, Document, Finding, MAX_DOCUMENT_BYTES, Registry};

/// Most documents in a folder.
pub const MAX_FILES: usize = 256;

/// Those who may write a file besides its owner.
const GROUP_OR_OTHERS: u32 = 0o022;

/// May change every file anyway.
const ROOT: u32 = 0;

/// The registry of an audience from a file or a folder, or every fault of every document.
///
/// A file must be for that audience. In a folder documents for others are skipped once they are found to be valid.
pub fn load(path: &Path, audience: Audience) -> Result<Registry, Vec<Finding>> {
    let is_folder = path.is_dir();
    let mut documents = Vec::new();
    let mut faults = Vec::new();
    for file in list(path).map_err(|fault| vec![fault])? {
        let name = file.display().to_string();
        match read_document(&file) {
            Ok(document) if is_folder && document.audience() != audience => {}
            Ok(document) => documents.push((name, document)),
            Err(found) => faults.extend(found),
        }
    }
    // Faults between documents are looked for even if some cannot be read: all faults at once.
    let is_empty = documents.is_empty();
    let registry = Registry::new(audience, documents);
    match registry {
        Ok(mut registry) if faults.is_empty() => {
            if is_empty {
                registry.warn(
                    Finding::of_document(format!("the folder has no document for {audience}; nobody is known"))
                        .in_file(&path.display().to_string()),
                );
            }
            Ok(registry)
        }
        Ok(_) => Err(faults),
        Err(found) => {
            faults.extend(found);
            Err(faults)
        }
    }
}

/// One document from one file. The findings, also the warnings of the document, name the file.
pub fn read_document(path: &Path) -> Result<Document, Vec<Finding>> {
    let name = path.display().to_string();
    let bytes = read_file(path).map_err(|fault| vec![fault])?;
    match Document::parse(&bytes) {
        Ok(document) => Ok(document.in_file(&name)),
        Err(faults) => Err(faults.into_iter().map(|fault| fault.in_file(&name)).collect()),
    }
}

/// The files that a path stands for: itself, or those in the folder that end in `.json` and do not begin with a dot,
/// sorted by name.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, Finding> {
    let fault = |message: String| Finding::of_document(message).in_file(&path.display().to_string());
    let metadata = fs::metadata(path).map_err(|error| fault(cannot("be read", &error)))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| fault(cannot("be listed", &error)))? {
        let name = entry.map_err(|error| fault(cannot("be listed", &error)))?.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.ends_with(b".json") && !bytes.starts_with(b".") {
            files.push(path.join(name));
        }
        if files.len() > MAX_FILES {
            return Err(fault(format!("there are more than {MAX_FILES} documents in the folder")));
        }
    }
    files.sort();
    Ok(files)
}

/// What is in a file that nobody but root and the user of this process can change, and that is not larger than a document
/// may be: its owner is one of the two, and neither group nor others may write it. Links are followed; what counts is the
/// file that they lead to.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Finding> {
    read(path).map_err(|message| Finding::of_document(message).in_file(&path.display().to_string()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    // Looked at before it is opened, because opening can already do something: a pipe waits, a device may act.
    let metadata = fs::metadata(path).map_err(|error| cannot("be read", &error))?;
    check_kind(&metadata)?;
    let file = open(path).map_err(|error| cannot("be opened", &error))?;
    // And looked at again, because it may be another file by now.
    let metadata = file.metadata().map_err(|error| cannot("be read", &error))?;
    check_kind(&metadata)?;
    check_owner(metadata.uid(), geteuid().as_raw())?;
    if metadata.mode() & GROUP_OR_OTHERS != 0 {
        return Err(format!(
            "others than the owner can change the file (mode {:04o}), and with it who is believed: chmod go-w",
            metadata.mode() & 0o7777
        ));
    }
    let too_large = || format!("the file is larger than {MAX_DOCUMENT_BYTES} bytes (1 MiB)");
    let limit = MAX_DOCUMENT_BYTES as u64;
    if metadata.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| cannot("be read", &error))?;
    if bytes.len() > MAX_DOCUMENT_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// Without waiting, should a pipe have taken the place of the file in the meantime.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let mut options = OpenOptions::new();
    options.read(true);
    match i32::try_from(flags) {
        Ok(flags) => options.custom_flags(flags).open(path),
        Err(_) => options.open(path),
    }
}

fn check_kind(metadata: &fs::Metadata) -> Result<(), String> {
    if metadata.is_file() { Ok(()) } else { Err("it is not a regular file".to_owned()) }
}

/// Whoever owns a file can write it, whatever its mode is now.
fn check_owner(owner: u32, reader: u32) -> Result<(), String> {
    if owner == ROOT || owner == reader {
        return Ok(());
    }
    let ours = if reader == ROOT { String::new() } else { format!(" or to the user who reads it ({reader})") };
    Err(format!(
        "the file belongs to the user with the id {owner}, who can change it, and with it who is believed: chown it to \
         root{ours}"
    ))
}

fn cannot(what: &str, error: &io::Error) -> String {
    format!("it cannot {what}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_the_reader_are_believed() {
        for (owner, reader) in [(0, 0), (0, 1000), (1000, 1000)] {
            assert_eq!(check_owner(owner, reader), Ok(()), "{owner} {reader}");
        }
        assert_eq!(
            check_owner(1001, 1000).unwrap_err(),
            "the file belongs to the user with the id 1001, who can change it, and with it who is believed: chown it to \
             root or to the user who reads it (1000)"
        );
        assert!(check_owner(1000, 0).unwrap_err().ends_with("chown it to root"));
    }
}
