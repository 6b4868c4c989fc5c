//! Keys that this process holds.

use crate::alone::Alone;
use modmill_rsa::PrivateKey;
use std::sync::Arc;

/// A key that this process holds.
#[derive(Debug)]
pub(crate) struct LocalKey {
    pub(crate) private: Arc<PrivateKey>,
    /// Another way to the same power, for operations without company.
    pub(crate) alone: Option<Alone>,
}
