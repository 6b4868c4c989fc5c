//! Encryption and decryption.

use super::{allow, public_power, public_task, widened};
use crate::mechanism::{Mechanism, Parameter, Scheme};
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_client::{Encryption, Task};
use modmill_rsa::{PublicTask, Sizes};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The most bytes of a message or a ciphertext: the longest modulus.
const LONGEST: usize = Sizes::MAX_BITS / 8;

/// How a mechanism encrypts; `None` without a padding.
pub(super) fn encryption(mechanism: &Mechanism) -> Answer<Option<Encryption>> {
    match (mechanism.row.scheme, &mechanism.parameter) {
        (Scheme::Pkcs1v15, Parameter::None) => Ok(Some(Encryption::Pkcs1v15)),
        (Scheme::Oaep, Parameter::Oaep(oaep)) => Ok(Some(oaep.clone())),
        (Scheme::Raw, Parameter::None) => Ok(None),
        _ => refuse(CKR_MECHANISM_INVALID, "the mechanism does not encrypt"),
    }
}

/// Encrypts `data` for the owner of the key `object`.
pub(super) fn encrypt(object: &Object, scheme: Option<&Encryption>, data: &[u8]) -> Answer<Vec<u8>> {
    let key = object.encryption_key()?;
    match scheme {
        Some(scheme) => {
            let (scheme, message) = (scheme.clone(), data.to_vec().into());
            public_task(key, PublicTask::Encrypt { scheme, message })
        }
        None => {
            let number = widened(data, key.size()).filter(|number| number[..] < *key.modulus_bytes());
            let reason = "the data is not a number below the modulus";
            public_power(key, &number.ok_or_else(|| Refusal::new(CKR_DATA_LEN_RANGE, reason))?)
        }
    }
}

/// Decrypts `ciphertext` with the private key `object`. Waits for it, in one batch with those of other
/// threads.
pub(super) fn decrypt(
    object: &Object,
    scheme: Option<&Encryption>,
    ciphertext: &[u8],
) -> Answer<Zeroizing<Vec<u8>>> {
    let key = object.private_key()?;
    let size = key.public_key().size();
    if ciphertext.len() != size {
        let reason = format!("the ciphertext has {} bytes, and the modulus {size}", ciphertext.len());
        return refuse(CKR_ENCRYPTED_DATA_LEN_RANGE, reason);
    }
    let task = match scheme {
        Some(scheme) => Task::Decrypt { scheme: scheme.clone(), ciphertext: ciphertext.to_vec() },
        None => Task::Raw { number: ciphertext.to_vec().into() },
    };
    key.compute(task).map_err(|error| {
        let refusal = Refusal::from(error);
        match refusal.code {
            CKR_DATA_INVALID | CKR_DATA_LEN_RANGE => Refusal { code: CKR_ENCRYPTED_DATA_INVALID, ..refusal },
            _ => refusal,
        }
    })
}

fn append(whole: &mut Zeroizing<Vec<u8>>, data: &[u8], code: CK_RV) -> Answer {
    if whole.len() + data.len() > LONGEST {
        return refuse(code, "the data is longer than any modulus");
    }
    whole.extend_from_slice(data);
    Ok(())
}

/// An encryption that has begun.
pub(crate) struct Encrypting {
    object: Arc<Object>,
    scheme: Option<Encryption>,
    data: Zeroizing<Vec<u8>>,
}

impl Encrypting {
    /// Begins an encryption with the public key `object`.
    pub(crate) fn new(object: Arc<Object>, mechanism: &Mechanism) -> Answer<Self> {
        mechanism.row.serves(CKF_ENCRYPT)?;
        if object.class() != CKO_PUBLIC_KEY {
            return refuse(CKR_KEY_TYPE_INCONSISTENT, "a public key encrypts");
        }
        object.encryption_key()?;
        allow(&object, mechanism, CKA_ENCRYPT, "CKA_ENCRYPT")?;
        let scheme = encryption(mechanism)?;
        Ok(Self { object, scheme, data: Zeroizing::default() })
    }

    /// The length of the ciphertext, in bytes.
    pub(crate) fn size(&self) -> Answer<usize> {
        Ok(self.object.public_key()?.size())
    }

    /// Appends `data` to the message.
    pub(crate) fn update(&mut self, data: &[u8]) -> Answer {
        append(&mut self.data, data, CKR_DATA_LEN_RANGE)
    }

    /// The ciphertext.
    pub(crate) fn finish(self) -> Answer<Vec<u8>> {
        encrypt(&self.object, self.scheme.as_ref(), &self.data)
    }
}

/// A decryption that has begun.
pub(crate) struct Decrypting {
    object: Arc<Object>,
    scheme: Option<Encryption>,
    data: Zeroizing<Vec<u8>>,
    /// The message, once it is known. It is kept while the program's buffer is too small.
    message: Option<Zeroizing<Vec<u8>>>,
}

impl Decrypting {
    /// Begins a decryption with the private key `object`.
    pub(crate) fn new(object: Arc<Object>, mechanism: &Mechanism) -> Answer<Self> {
        mechanism.row.serves(CKF_DECRYPT)?;
        object.private_key()?;
        allow(&object, mechanism, CKA_DECRYPT, "CKA_DECRYPT")?;
        let scheme = encryption(mechanism)?;
        Ok(Self { object, scheme, data: Zeroizing::default(), message: None })
    }

    /// A length that no message exceeds, in bytes.
    pub(crate) fn bound(&self) -> Answer<usize> {
        Ok(self.object.private_key()?.public_key().size())
    }

    /// Appends `data` to the ciphertext.
    pub(crate) fn update(&mut self, data: &[u8]) -> Answer {
        append(&mut self.data, data, CKR_ENCRYPTED_DATA_LEN_RANGE)
    }

    /// Whether the message is known already.
    pub(crate) fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// The message.
    pub(crate) fn message(&mut self) -> Answer<&[u8]> {
        if self.message.is_none() {
            self.message = Some(decrypt(&self.object, self.scheme.as_ref(), &self.data)?);
        }
        Ok(self.message.as_deref().map_or(&[], Vec::as_slice))
    }
}
