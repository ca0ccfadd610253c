//! Reading a content piece by piece, so that none has to fit into memory.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use tokio::runtime::Handle;

use super::BlobError;

/// What is read at once.
const PIECE: u64 = 128 * 1024;

/// A part of a content that is being read.
#[derive(Debug)]
pub struct BlobReader {
    object: String,
    file: File,
    left: u64,
}

impl BlobReader {
    pub(super) fn of_file(object: String, file: File, length: u64) -> Self {
        Self { object, file, left: length }
    }

    /// The next piece and the reader for what comes behind it; none at the end.
    pub async fn next(self) -> Result<Option<(Bytes, Self)>, BlobError> {
        if self.left == 0 {
            return Ok(None);
        }
        tokio::task::spawn_blocking(move || {
            let Self { object, mut file, left } = self;
            let mut piece = vec![0; usize::try_from(left.min(PIECE)).unwrap_or(0)];
            file.read_exact(&mut piece).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => BlobError::Missing(object.clone()),
                _ => error.into(),
            })?;
            let left = left - piece.len() as u64;
            Ok(Some((piece.into(), Self { object, file, left })))
        })
        .await?
    }

    /// The same for threads that may block.
    pub fn blocking(self, runtime: Handle) -> Blocking {
        Blocking { runtime, reader: Some(self), piece: Bytes::new() }
    }
}

/// A content as a stream of the standard library.
pub struct Blocking {
    runtime: Handle,
    /// None at the end.
    reader: Option<BlobReader>,
    piece: Bytes,
}

impl Read for Blocking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty()
            && let Some(reader) = self.reader.take()
            && let Some((piece, reader)) = self.runtime.block_on(reader.next()).map_err(io::Error::other)?
        {
            (self.piece, self.reader) = (piece, Some(reader));
        }
        let piece = self.piece.split_to(self.piece.len().min(into.len()));
        if let Some(target) = into.get_mut(..piece.len()) {
            target.copy_from_slice(&piece);
        }
        Ok(piece.len())
    }
}
