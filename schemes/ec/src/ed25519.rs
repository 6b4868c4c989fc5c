//! Ed25519 (RFC 8032, section 5.1).

pub(crate) mod check;
pub(crate) mod sign;
#[cfg(test)]
mod tests;
pub(crate) mod verify;

use crate::field::N25519;
use crate::scalar25519::read_scalar;
use crate::scheme::Signed;
use crate::{ItemError, PrivateKey, Variant};
use sha2::{Digest as _, Sha512};
use zeroize::{Zeroize, Zeroizing};

/// A message that is signed, or its digest.
pub(crate) struct Input<'a> {
    variant: Variant<'a>,
    text: Text<'a>,
}

enum Text<'a> {
    Message(&'a [u8]),
    Digest(crate::Digest),
}

impl<'a> Input<'a> {
    pub(crate) fn new(variant: Variant<'a>, signed: Signed<'a>, item: usize) -> Result<Self, ItemError> {
        let text = match (variant, signed) {
            (Variant::Prehashed(_), _) => Text::Digest(signed.digest(crate::Hash::Sha512, item)?),
            (_, Signed::Messages(messages)) => Text::Message(messages[item]),
            // Calls with digests are refused before.
            (_, Signed::Digests(_)) => return Err(ItemError::Verification),
        };
        Ok(Self { variant, text })
    }

    /// The hash of `dom2` (RFC 8032, section 2), the parts and the text.
    fn hash(&self, parts: [&[u8]; 2]) -> Zeroizing<[u8; 64]> {
        let mut hash = Sha512::new();
        let domain = match self.variant {
            Variant::Pure => None,
            Variant::Context(context) => Some((0, context)),
            Variant::Prehashed(context) => Some((1, context)),
        };
        if let Some((flag, context)) = domain {
            hash.update(b"SigEd25519 no Ed25519 collisions");
            // Contexts have 255 bytes at most.
            hash.update([flag, context.len() as u8]);
            hash.update(context);
        }
        parts.iter().for_each(|part| hash.update(part));
        match &self.text {
            Text::Message(message) => hash.update(message),
            Text::Digest(digest) => hash.update(digest),
        }
        let mut output = hash.finalize();
        let hash = Zeroizing::new(std::array::from_fn(|i| output[i]));
        output.as_mut_slice().zeroize();
        hash
    }

    /// The scalar of the hash.
    pub(crate) fn scalar(&self, parts: [&[u8]; 2]) -> N25519 {
        read_scalar(&*self.hash(parts))
    }
}

/// A message and the key that signs it.
pub(crate) struct Signing<'a> {
    pub(crate) key: &'a PrivateKey,
    pub(crate) input: Input<'a>,
}
