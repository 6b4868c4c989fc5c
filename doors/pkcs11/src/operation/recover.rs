//! Signatures that give back what was signed.

use super::message::unpadded;
use super::sign::check_length;
use super::{allow, public_power};
use crate::mechanism::{Mechanism, Scheme};
use crate::object::Object;
use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use std::sync::Arc;

/// A recovery that has begun.
pub(crate) struct Recovering {
    object: Arc<Object>,
    scheme: Scheme,
}

impl Recovering {
    /// Begins a recovery with the public key `object`.
    pub(crate) fn new(object: Arc<Object>, mechanism: &Mechanism) -> Answer<Self> {
        mechanism.row.serves(CKF_VERIFY_RECOVER)?;
        if object.class() != CKO_PUBLIC_KEY {
            return refuse(CKR_KEY_TYPE_INCONSISTENT, "a public key verifies");
        }
        object.public_key()?;
        allow(&object, mechanism, CKA_VERIFY_RECOVER, "CKA_VERIFY_RECOVER")?;
        Ok(Self { object, scheme: mechanism.row.scheme })
    }

    /// The data that was signed, without its padding if the mechanism has one.
    pub(crate) fn recover(&self, signature: &[u8]) -> Answer<Vec<u8>> {
        let key = self.object.public_key()?;
        check_length(key, signature)?;
        let invalid = || refuse(CKR_SIGNATURE_INVALID, "the signature is not one by this key");
        if signature >= key.modulus_bytes() {
            return invalid();
        }
        let block = public_power(key, signature)?;
        match self.scheme {
            Scheme::Pkcs1v15 => unpadded(&block).map_or_else(invalid, |data| Ok(data.to_vec())),
            _ => Ok(block),
        }
    }
}
