//! How the memory for pages of SQLite is divided among its connections.

use crate::database::Options;

/// For connections that are opened for one task and closed after it.
pub(crate) const PASSING_KIB: u32 = 8192;

/// KiB of pages that each connection may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caches {
    pub(crate) writer: u32,
    pub(crate) reader: u32,
    pub(crate) companion_writer: u32,
    /// Of the companion's pages, for a reader that has it attached.
    pub(crate) companion_reader: u32,
}

impl Caches {
    /// Writers get most, because they keep every page that they change until the commit. Readers find most pages in the file, which is
    /// mapped into memory.
    pub(crate) fn of(options: &Options) -> Self {
        let total = options.cache_kib;
        let readers =
            u32::try_from(options.readers + options.urgent_readers + options.long_readers).unwrap_or(u32::MAX).max(1);
        let of_readers = total / 8 * 3 / readers;
        if options.companion.is_none() {
            return Self { writer: total / 8 * 5, reader: of_readers, companion_writer: 0, companion_reader: 0 };
        }
        let companion_reader = of_readers / 3;
        Self {
            writer: total / 8 * 3,
            reader: of_readers - companion_reader,
            companion_writer: total / 4,
            companion_reader,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Companion;

    #[test]
    fn all_of_it_is_given_out_and_no_more() {
        let mut options = Options::new("data");
        for companion in [None, Some(Companion { name: "side", version: 1, schema: "" })] {
            for (total, readers) in [(8 * 1024, 4), (64 * 1024, 4), (64 * 1024, 1), (64 * 1024 * 1024, 64)] {
                options.companion = companion;
                options.cache_kib = total;
                options.readers = readers;
                let caches = Caches::of(&options);
                let of_reader = caches.reader + caches.companion_reader;
                let readers = u32::try_from(options.readers + options.urgent_readers + options.long_readers).unwrap();
                let given = caches.writer + caches.companion_writer + of_reader * readers;
                assert!(given <= total && given > total / 10 * 9, "{caches:?} of {total}");
            }
        }
    }
}
