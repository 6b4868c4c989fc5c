//! Paillier's encryption.

pub(crate) mod arrow;
pub(crate) mod calls;
pub(crate) mod column;
pub(crate) mod encrypt;
pub(crate) mod keys;
pub(crate) mod packed;
pub(crate) mod raw;
