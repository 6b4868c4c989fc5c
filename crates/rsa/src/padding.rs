//! Paddings: between messages and numbers below the modulus (RFC 8017).

pub(crate) mod ct;
pub(crate) mod mask;
pub(crate) mod oaep;
pub(crate) mod pkcs1v15;
pub(crate) mod pss;
