//! Reading a content piece by piece, so that none has to fit into memory.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use tokio::runtime::Handle;

use super::BlobError;

/// What is read at once.
const PIECE: u64 = 128 * 1024;

/// A part of a content that is being read.
pub struct BlobReader {
    object: String,
    source: Source,
    left: u64,
}

enum Source {
    File(File),
    #[cfg(feature = "s3")]
    Stream(super::s3::Pieces),
}

impl BlobReader {
    pub(super) fn of_file(object: String, file: File, length: u64) -> Self {
        Self { object, source: Source::File(file), left: length }
    }

    #[cfg(feature = "s3")]
    pub(super) fn of_stream(object: String, pieces: super::s3::Pieces, length: u64) -> Self {
        Self { object, source: Source::Stream(pieces), left: length }
    }

    /// The next piece and the reader for what comes behind it; none at the end.
    pub async fn next(self) -> Result<Option<(Bytes, Self)>, BlobError> {
        let Self { object, source, left } = self;
        if left == 0 {
            return Ok(None);
        }
        let (piece, source) = match source {
            Source::File(file) => read_file(&object, file, left).await?,
            #[cfg(feature = "s3")]
            Source::Stream(mut pieces) => {
                let piece = super::s3::next(&mut pieces).await?;
                (piece.unwrap_or_default(), Source::Stream(pieces))
            }
        };
        match left.checked_sub(piece.len() as u64) {
            Some(left) if !piece.is_empty() => Ok(Some((piece, Self { object, source, left }))),
            _ => Err(BlobError::Missing(object)),
        }
    }

    /// The same for threads that may block.
    pub fn blocking(self, runtime: Handle) -> Blocking {
        Blocking { runtime, reader: Some(self), piece: Bytes::new() }
    }
}

async fn read_file(object: &str, mut file: File, left: u64) -> Result<(Bytes, Source), BlobError> {
    let object = object.to_owned();
    tokio::task::spawn_blocking(move || {
        let mut piece = vec![0; usize::try_from(left.min(PIECE)).unwrap_or(0)];
        file.read_exact(&mut piece).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => BlobError::Missing(object),
            _ => error.into(),
        })?;
        Ok((piece.into(), Source::File(file)))
    })
    .await?
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
