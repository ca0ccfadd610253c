//! A file on its way in: written, measured, summed and judged in one go, with little of it in memory.

use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};
use stoa_model::attachments::{Detector, FileType, MAX_ATTACHMENT_BYTES};
use stoa_model::pictures::{Measurer, PictureSize};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{ErrorKind, HubError};
use crate::storage::blobs::{BlobError, BlobStore};
use crate::storage::tarball;

/// What has come so far. It goes with this, unless it is finished and put in its place.
pub(super) struct Receiving {
    file: NamedTempFile,
    sum: Sha256,
    size: u64,
    detector: Detector,
    measurer: Measurer,
    /// Whether it cannot become a file that is allowed. Its sender is told when they have sent it all: many would not
    /// listen before.
    is_refused: bool,
}

/// A whole file, on disk.
pub(super) struct Received {
    pub(super) file: TempPath,
    pub(super) sha256: String,
    pub(super) size: u64,
    pub(super) kind: FileType,
    pub(super) picture: Option<PictureSize>,
}

impl Receiving {
    pub(super) fn new(store: &BlobStore) -> Result<Self, BlobError> {
        Self::in_folder(&store.incoming())
    }

    pub(super) fn in_folder(folder: &Path) -> Result<Self, BlobError> {
        Ok(Self {
            file: tempfile::Builder::new().prefix("upload-").tempfile_in(folder)?,
            sum: Sha256::new(),
            size: 0,
            detector: Detector::default(),
            measurer: Measurer::default(),
            is_refused: false,
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), HubError> {
        self.size += bytes.len() as u64;
        if self.size > MAX_ATTACHMENT_BYTES {
            return Err(HubError::file_too_large(MAX_ATTACHMENT_BYTES));
        }
        self.is_refused = self.is_refused || !self.detector.feed(bytes);
        if !self.is_refused {
            self.measurer.feed(bytes);
            self.sum.update(bytes);
            self.file.write_all(bytes).map_err(BlobError::from)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Received, HubError> {
        let kind = self.detector.finish().filter(|_| !self.is_refused).ok_or_else(type_not_allowed)?;
        self.file.as_file().sync_all().map_err(BlobError::from)?;
        let sha256 = tarball::hex(&self.sum.finalize());
        let picture = self.measurer.finish();
        Ok(Received { file: self.file.into_temp_path(), sha256, size: self.size, kind, picture })
    }
}

fn type_not_allowed() -> HubError {
    let detail = "This file type is not supported. Upload images, PDFs or text.";
    HubError::new(ErrorKind::Invalid, "type_not_allowed", detail)
        .hint("The type is detected from the content, not from the name. Text must be UTF-8.")
}
