//! The operations.

pub(super) mod algorithms;
pub(super) mod aliases;
pub(super) mod data_keys;
pub(super) mod encrypt;
pub(super) mod grants;
pub(super) mod import;
pub(super) mod keys;
mod lists;
pub(super) mod material;
pub(super) mod metadata;
pub(super) mod policies;
pub(super) mod sign;
pub(super) mod state;
pub(super) mod tags;

use super::codec::Encoded;

/// The answer of operations that answer nothing.
fn nothing() -> Encoded {
    Encoded::default()
}
