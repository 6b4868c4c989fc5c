//! Batches of tasks of different kinds, for services that gather the requests of many clients.

use crate::keys::Keys;
use crate::padding::{copy_number, copy_signature};
use crate::public::Public;
use crate::rows::{Answers, Kind};
use crate::steps::{Refusal, Steps, decoding};
use crate::{
    Digest, EncryptionScheme, Error, Hash, ItemError, Oaep, PrivateKey, PublicKey, Rsa, SignatureScheme,
};
use std::borrow::Borrow;
use zeroize::Zeroizing;

/// How a message is encrypted: an [`EncryptionScheme`] with a label of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// RSAES-PKCS1-v1_5. A wrong padding is no error of decryption: see [`Rsa::decrypt`].
    Pkcs1v15,
    /// RSAES-OAEP.
    Oaep {
        /// The hash of the label.
        hash: Hash,
        /// The hash of the mask generation function.
        mask_hash: Hash,
        /// The label, often empty.
        label: Vec<u8>,
    },
}

impl Encryption {
    /// OAEP with `hash` for the label and for the mask, and an empty label.
    #[must_use]
    pub fn oaep(hash: Hash) -> Self {
        Self::Oaep { hash, mask_hash: hash, label: Vec::new() }
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> EncryptionScheme<'_> {
        match self {
            Self::Pkcs1v15 => EncryptionScheme::Pkcs1v15,
            Self::Oaep { hash, mask_hash, label } => {
                EncryptionScheme::Oaep(Oaep { hash: *hash, mask_hash: *mask_hash, label })
            }
        }
    }
}

/// A task for a private key.
#[derive(Debug, Clone)]
pub enum PrivateTask {
    /// Sign the message that has this digest. The answer is the signature.
    Sign {
        /// The scheme of the signature.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: Digest,
    },
    /// Decrypt a ciphertext. The answer is the message. [`Rsa::decrypt`] says what a wrong ciphertext gets.
    Decrypt {
        /// The scheme of the ciphertext.
        scheme: Encryption,
        /// The ciphertext, as long as the modulus.
        ciphertext: Vec<u8>,
    },
    /// Raise a number to the private exponent, without a padding. The answer is as long as the modulus.
    ///
    /// A blinded message is signed so (RFC 9474, section 4.3, [`Rsa::blind_sign`]), with a key that does
    /// nothing else, because the client chose the number. Other callers have made or will take off a padding
    /// themselves: RSA without a padding is easy to forge and to decrypt.
    Raw {
        /// A big-endian number below the modulus and as long as the modulus.
        number: Zeroizing<Vec<u8>>,
    },
}

impl PrivateTask {
    fn encode(&self, key: &PrivateKey, block: &mut [u8]) -> Result<(), Refusal> {
        let modulus = key.public_key().modulus_bytes();
        match self {
            Self::Sign { scheme, digest } => {
                scheme.check_signing().map_err(ItemError::from)?;
                let prefix = scheme.prefix().map_err(ItemError::from)?;
                scheme.encode(&prefix, &scheme.read_digest(digest.as_ref())?, key.bits(), block)
            }
            Self::Decrypt { scheme, ciphertext } => {
                scheme.scheme().check().map_err(ItemError::from)?;
                Ok(copy_number(ciphertext, modulus, block)?)
            }
            Self::Raw { number } => Ok(copy_number(number, modulus, block)?),
        }
    }

    /// The bytes of the answer.
    fn decode<'b>(&self, key: &PrivateKey, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
        match self {
            Self::Decrypt { scheme, ciphertext } => scheme.scheme().decode(key, ciphertext, block),
            Self::Sign { .. } | Self::Raw { .. } => Ok(block),
        }
    }
}

/// A task for a public key.
#[derive(Debug, Clone)]
pub enum PublicTask {
    /// Verify the signature of the message that has this digest. The answer is empty, or
    /// [`ItemError::Verification`].
    Verify {
        /// The scheme of the signature.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: Digest,
        /// The signature.
        signature: Vec<u8>,
    },
    /// Encrypt a message. The answer is the ciphertext.
    Encrypt {
        /// The scheme of the ciphertext.
        scheme: Encryption,
        /// The message.
        message: Zeroizing<Vec<u8>>,
    },
}

impl PublicTask {
    fn encode(&self, key: &PublicKey, block: &mut [u8]) -> Result<(), Refusal> {
        match self {
            Self::Verify { signature, .. } => Ok(copy_signature(signature, key.modulus_bytes(), block)?),
            Self::Encrypt { scheme, message } => {
                scheme.scheme().check().map_err(ItemError::from)?;
                scheme.scheme().encode(message, block)
            }
        }
    }

    /// The bytes of the answer.
    fn decode<'b>(&self, key: &PublicKey, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
        match self {
            Self::Verify { scheme, digest, .. } => {
                scheme.verify(&scheme.prefix()?, &scheme.read_digest(digest.as_ref())?, key.bits(), block)?;
                Ok(&[])
            }
            Self::Encrypt { .. } => Ok(block),
        }
    }
}

impl Rsa<'_> {
    /// Answers tasks of any mixture, with one key or a key for each task. All tasks whose keys have the same
    /// length are one batch. Every result is checked with the public exponent before it is returned.
    ///
    /// A task that cannot be answered gets an [`ItemError`], also if its scheme is not defined with its hash:
    /// one client's task does not take the answers from the others.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Encryption, Hash, PrivateKey, PrivateTask, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let keys = PrivateKey::generate_many(&engine, 1024, 2, Sizes::AllowSmall)?;
    /// let (rsa, oaep) = (Rsa::new(&engine), Encryption::oaep(Hash::Sha256));
    /// let ciphertext = rsa.encrypt(keys[1].public_key(), oaep.scheme(), &["message"])?.remove(0)?;
    /// let digest = Hash::Sha256.digest(&[b"other message"]);
    ///
    /// let sign = |hash| PrivateTask::Sign { scheme: SignatureScheme::Pkcs1v15(hash), digest };
    /// let decrypt = PrivateTask::Decrypt { scheme: oaep, ciphertext };
    /// let tasks = [sign(Hash::Sha256), decrypt, sign(Hash::Sha1)];
    /// let answers = rsa.private_tasks(&[&keys[0], &keys[1], &keys[0]][..], &tasks)?;
    /// assert_eq!(answers[0].as_ref().map(|signature| signature.len()), Ok(128));
    /// assert_eq!(answers[1].as_ref().map(|message| &message[..]), Ok(&b"message"[..]));
    /// assert!(answers[2].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn private_tasks<'k>(
        &self,
        keys: impl Into<Keys<'k, PrivateKey>>,
        tasks: &[impl Borrow<PrivateTask>],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        let tasks: Vec<&PrivateTask> = tasks.iter().map(Borrow::borrow).collect();
        self.run_private(keys.into(), &tasks)
    }

    fn run_private(
        &self,
        keys: Keys<'_, PrivateKey>,
        tasks: &[&PrivateTask],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| tasks[item].encode(key, block);
        let decode = decoding(|item, key, block| tasks[item].decode(key, block));
        let operation = &self.private();
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: Kind::Secret };
        Ok(steps.run(self.engine, keys, tasks.len())?.secrets(self.engine))
    }

    /// Runs tasks of public keys as [`Rsa::private_tasks`] runs those of private keys.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Encryption, Hash, ItemError, PrivateKey, PublicTask, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::pss(Hash::Sha256));
    /// let signature = rsa.sign(&key, scheme, &["message"])?.remove(0)?;
    /// let (digest, other) = (Hash::Sha256.digest(&[b"message"]), Hash::Sha256.digest(&[b"other"]));
    /// let tasks = [
    ///     PublicTask::Verify { scheme, digest, signature: signature.clone() },
    ///     PublicTask::Verify { scheme, digest: other, signature },
    ///     PublicTask::Encrypt { scheme: Encryption::oaep(Hash::Sha256), message: vec![1, 2].into() },
    /// ];
    /// let answers = rsa.public_tasks(key.public_key(), &tasks)?;
    /// assert_eq!(answers[..2], [Ok(vec![]), Err(ItemError::Verification)]);
    /// assert_eq!(answers[2].as_ref().map(Vec::len), Ok(128));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn public_tasks<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        tasks: &[impl Borrow<PublicTask>],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let tasks: Vec<&PublicTask> = tasks.iter().map(Borrow::borrow).collect();
        self.run_public(keys.into(), &tasks)
    }

    fn run_public(
        &self,
        keys: Keys<'_, PublicKey>,
        tasks: &[&PublicTask],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let encode = |item: usize, key: &PublicKey, block: &mut [u8]| tasks[item].encode(key, block);
        let decode = decoding(|item, key, block| tasks[item].decode(key, block));
        let secret = tasks.iter().any(|task| matches!(task, PublicTask::Encrypt { .. }));
        let operation = &Public { secret };
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: Kind::Public };
        Ok(steps.run(self.engine, keys, tasks.len())?.vectors(self.engine))
    }
}
