//! Signatures, made and verified.

use super::message::{Encoded, Message};
use super::{allow, public_power, public_task};
use crate::mechanism::Mechanism;
use crate::object::Object;
use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use modmill_client::Task;
use modmill_rsa::{PublicKey, PublicTask};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A signature that has begun.
pub(crate) struct Signing {
    object: Arc<Object>,
    message: Message,
}

impl Signing {
    /// Begins a signature with the private key `object`.
    pub(crate) fn new(object: Arc<Object>, mechanism: &Mechanism) -> Answer<Self> {
        mechanism.row.serves(CKF_SIGN)?;
        object.private_key()?;
        allow(&object, mechanism, CKA_SIGN, "CKA_SIGN")?;
        Ok(Self { message: Message::new(mechanism)?, object })
    }

    /// The length of the signature, in bytes.
    pub(crate) fn size(&self) -> Answer<usize> {
        Ok(self.object.private_key()?.public_key().size())
    }

    /// Appends `data` to the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Answer {
        self.message.update(data)
    }

    /// The signature. Waits for it, in one batch with those of other threads.
    pub(crate) fn finish(self) -> Answer<Zeroizing<Vec<u8>>> {
        let key = self.object.private_key()?;
        let elsewhere = key.private_key().is_none();
        let task = match self.message.encode(key.public_key().size(), elsewhere)? {
            Encoded::Digest(scheme, digest) => Task::Sign { scheme, digest },
            Encoded::Block(block) => Task::Raw { number: block.into() },
        };
        Ok(key.compute(task)?)
    }
}

/// Refuses a signature that has not the length of the modulus.
pub(super) fn check_length(key: &PublicKey, signature: &[u8]) -> Answer {
    match signature.len() == key.size() {
        true => Ok(()),
        false => {
            let reason =
                format!("the signature has {} bytes, and the modulus {}", signature.len(), key.size());
            refuse(CKR_SIGNATURE_LEN_RANGE, reason)
        }
    }
}

/// A verification that has begun.
pub(crate) struct Verifying {
    object: Arc<Object>,
    message: Message,
}

impl Verifying {
    /// Begins a verification with the public key `object`.
    pub(crate) fn new(object: Arc<Object>, mechanism: &Mechanism) -> Answer<Self> {
        mechanism.row.serves(CKF_VERIFY)?;
        if object.class() != CKO_PUBLIC_KEY {
            return refuse(CKR_KEY_TYPE_INCONSISTENT, "a public key verifies");
        }
        object.public_key()?;
        allow(&object, mechanism, CKA_VERIFY, "CKA_VERIFY")?;
        Ok(Self { message: Message::new(mechanism)?, object })
    }

    /// Appends `data` to the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Answer {
        self.message.update(data)
    }

    /// Refuses a signature that is not one of the message.
    pub(crate) fn finish(self, signature: &[u8]) -> Answer {
        let key = self.object.public_key()?;
        check_length(key, signature)?;
        match self.message.encode(key.size(), false)? {
            Encoded::Digest(scheme, digest) => {
                let signature = signature.to_vec();
                public_task(key, PublicTask::Verify { scheme, digest, signature }).map(drop)
            }
            Encoded::Block(block) => {
                match signature < key.modulus_bytes() && public_power(key, signature)? == block {
                    true => Ok(()),
                    false => refuse(CKR_SIGNATURE_INVALID, "the signature does not verify"),
                }
            }
        }
    }
}
