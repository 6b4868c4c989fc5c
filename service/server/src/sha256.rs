//! SHA-256 by ring, which has vector code for processors without instructions for it.

use ring::digest::{Context, SHA256};

/// SHA-256 of `parts`, one after the other.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
