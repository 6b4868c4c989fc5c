//! The context of the provider, which its functions are called with.

use crate::core_handle::Core;

/// The provider in one library context of OpenSSL.
pub(crate) struct Provider {
    pub(crate) core: Core,
    /// Whether OpenSSL looks for signatures by names that include the hash: from 3.4 on.
    pub(crate) has_signatures_with_hash: bool,
}
