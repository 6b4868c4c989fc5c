//! Changes that are made together.

use super::{Document, RecordsError, Sealer};
use crate::store::{Change, Write};
use zeroize::Zeroizing;

/// A document as JSON.
type Plain = Result<Zeroizing<Vec<u8>>, RecordsError>;

/// Documents to be written or deleted in one commit.
#[derive(Default)]
pub struct Changes(Vec<(&'static str, String, Option<Plain>)>);

impl Changes {
    /// No change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes `document`, instead of the one with its identifier if there is one.
    #[must_use]
    pub fn put<T: Document>(mut self, document: &T) -> Self {
        self.0.push((T::KIND, document.id().to_owned(), Some(plain(document))));
        self
    }

    /// Deletes the document of type `T` with identifier `id`.
    #[must_use]
    pub fn delete<T: Document>(mut self, id: &str) -> Self {
        self.0.push((T::KIND, id.to_owned(), None));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changes of rows. `version` is the version of a document that `decide` has seen.
    pub(super) fn seal(
        self,
        sealer: &Sealer,
        version: impl Fn(&'static str, &str) -> Option<u64>,
    ) -> Result<Vec<Change>, RecordsError> {
        let seal = |(kind, id, plain): (&'static str, String, Option<Plain>)| {
            let write = match plain {
                Some(plain) => Write::Put(sealer.seal(kind, &id, &plain?)?),
                None => Write::Delete,
            };
            Ok(Change { kind: kind.to_owned(), expected: version(kind, &id), id, write })
        };
        self.0.into_iter().map(seal).collect()
    }
}

/// A document as JSON, in memory that is cleared. Room for it is found before anything is written, because
/// memory that grows leaves copies behind.
fn plain<T: Document>(document: &T) -> Plain {
    /// Counts bytes.
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let unwritable = |error: serde_json::Error| RecordsError::Document {
        kind: T::KIND.to_owned(),
        reason: error.to_string(),
    };
    let mut count = Count(0);
    serde_json::to_writer(&mut count, document).map_err(unwritable)?;
    let mut plain = Zeroizing::new(Vec::with_capacity(count.0));
    serde_json::to_writer(&mut *plain, document).map_err(unwritable)?;
    Ok(plain)
}
