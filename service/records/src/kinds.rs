//! The kinds of documents.

use super::RecordsError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A kind of document. It is kept as sealed JSON. A field that a later version adds has a default, so that
/// older documents can be read.
pub trait Document: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name of the kind in the store. It never changes.
    const KIND: &'static str;

    /// The document's identifier, unique within its kind.
    fn id(&self) -> &str;
}

pub(super) type AnyDocument = Arc<dyn Any + Send + Sync>;

type Read = fn(&[u8]) -> Result<AnyDocument, serde_json::Error>;

/// The kinds of documents that a service knows. Rows of other kinds are left alone.
#[derive(Clone, Default)]
pub struct Kinds(BTreeMap<&'static str, Read>);

impl Kinds {
    /// These kinds, and `T`.
    #[must_use]
    pub fn with<T: Document>(mut self) -> Self {
        self.0.insert(T::KIND, |plain| Ok(Arc::new(serde_json::from_slice::<T>(plain)?)));
        self
    }

    /// The name of a kind that is known.
    pub(super) fn name(&self, kind: &str) -> Option<&'static str> {
        self.0.get_key_value(kind).map(|(name, _)| *name)
    }

    pub(super) fn read(&self, kind: &'static str, plain: &[u8]) -> Result<AnyDocument, RecordsError> {
        let unreadable = |reason: String| RecordsError::Document { kind: kind.to_owned(), reason };
        let read = self.0.get(kind).ok_or_else(|| unreadable("the kind is not known".into()))?;
        read(plain).map_err(|error| unreadable(error.to_string()))
    }
}
