//! Batches of tasks of different kinds, for services that gather the requests of many clients.

use crate::keys::Keys;
use crate::padding::{copy_number, copy_signature};
use crate::public::Public;
use crate::rows::{Form, SecretVectors, Vectors};
use crate::steps::{Answers, Refusal, Steps};
use crate::{EncryptionScheme, Error, ItemError, PrivateKey, PublicKey, Rsa, SignatureScheme};
use zeroize::Zeroizing;

/// A task for a private key.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum PrivateTask<'a> {
    /// Sign the message that has this digest. The answer is the signature.
    Sign {
        /// The scheme of the signature.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: &'a [u8],
    },
    /// Decrypt a ciphertext. The answer is the message. [`Rsa::decrypt`] says what a wrong ciphertext gets.
    Decrypt {
        /// The scheme of the ciphertext.
        scheme: EncryptionScheme<'a>,
        /// The ciphertext, as long as the modulus.
        ciphertext: &'a [u8],
    },
    /// Sign a blinded message (RFC 9474, section 4.3). The answer is the blind signature, as long as the
    /// modulus.
    ///
    /// [`Rsa::blind_sign`] does the same. The client chose the number, so that a key that signs blinded
    /// messages must do nothing else.
    BlindSign {
        /// A big-endian number below the modulus and as long as the modulus.
        blinded: &'a [u8],
    },
}

impl PrivateTask<'_> {
    fn encode(&self, key: &PrivateKey, block: &mut [u8]) -> Result<(), Refusal> {
        let modulus = key.public_key().modulus_bytes();
        match self {
            Self::Sign { scheme, digest } => {
                scheme.check_signing().map_err(ItemError::from)?;
                let prefix = scheme.prefix().map_err(ItemError::from)?;
                scheme.encode(&prefix, &scheme.read_digest(digest)?, key.bits(), block)
            }
            Self::Decrypt { scheme, ciphertext } => {
                scheme.check().map_err(ItemError::from)?;
                Ok(copy_number(ciphertext, modulus, block)?)
            }
            Self::BlindSign { blinded } => Ok(copy_number(blinded, modulus, block)?),
        }
    }

    /// The bytes of the answer.
    fn decode<'b>(&self, key: &PrivateKey, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
        match self {
            Self::Decrypt { scheme, ciphertext } => scheme.decode(key, ciphertext, block),
            Self::Sign { .. } | Self::BlindSign { .. } => Ok(block),
        }
    }
}

/// A task for a public key.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum PublicTask<'a> {
    /// Verify the signature of the message that has this digest. The answer is empty, or
    /// [`ItemError::Verification`].
    Verify {
        /// The scheme of the signature.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: &'a [u8],
        /// The signature.
        signature: &'a [u8],
    },
    /// Encrypt a message. The answer is the ciphertext.
    Encrypt {
        /// The scheme of the ciphertext.
        scheme: EncryptionScheme<'a>,
        /// The message.
        message: &'a [u8],
    },
}

impl PublicTask<'_> {
    fn encode(&self, key: &PublicKey, block: &mut [u8]) -> Result<(), Refusal> {
        match self {
            Self::Verify { signature, .. } => Ok(copy_signature(signature, key.modulus_bytes(), block)?),
            Self::Encrypt { scheme, message } => {
                scheme.check().map_err(ItemError::from)?;
                scheme.encode(message, block)
            }
        }
    }

    /// The bytes of the answer.
    fn decode<'b>(&self, key: &PublicKey, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
        match self {
            Self::Verify { scheme, digest, .. } => {
                scheme.verify(&scheme.prefix()?, &scheme.read_digest(digest)?, key.bits(), block)?;
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
    /// use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, PrivateTask, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let keys = PrivateKey::generate_many(&engine, 1024, 2, Sizes::AllowSmall)?;
    /// let (rsa, oaep) = (Rsa::new(&engine), EncryptionScheme::oaep(Hash::Sha256));
    /// let ciphertext = rsa.encrypt(keys[1].public_key(), oaep, &["message"])?.remove(0)?;
    /// let digest = Hash::Sha256.digest(&[b"other message"]);
    ///
    /// let sign = |hash| PrivateTask::Sign { scheme: SignatureScheme::Pkcs1v15(hash), digest: digest.as_ref() };
    /// let decrypt = PrivateTask::Decrypt { scheme: oaep, ciphertext: &ciphertext };
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
        tasks: &[PrivateTask<'_>],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        self.run_private(keys.into(), tasks)
    }

    fn run_private(
        &self,
        keys: Keys<'_, PrivateKey>,
        tasks: &[PrivateTask<'_>],
    ) -> Result<Answers<Zeroizing<Vec<u8>>>, Error> {
        let encode = |item: usize, key: &PrivateKey, block: &mut [u8]| tasks[item].encode(key, block);
        let decode = |item: usize, key: &PrivateKey, block: &mut [u8], row: &mut [u8]| {
            tasks[item].decode(key, block).map(|octets| SecretVectors::answer(octets, row))
        };
        let operation = &self.private();
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: SecretVectors::KIND };
        Ok(steps.run(self.engine, keys, tasks.len())?.0)
    }

    /// Runs tasks of public keys as [`Rsa::private_tasks`] runs those of private keys.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{EncryptionScheme, Hash, ItemError, PrivateKey, PublicTask, Rsa, SignatureScheme, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
    /// let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::pss(Hash::Sha256));
    /// let signature = rsa.sign(&key, scheme, &["message"])?.remove(0)?;
    /// let (digest, other) = (Hash::Sha256.digest(&[b"message"]), Hash::Sha256.digest(&[b"other"]));
    /// let tasks = [
    ///     PublicTask::Verify { scheme, digest: digest.as_ref(), signature: &signature },
    ///     PublicTask::Verify { scheme, digest: other.as_ref(), signature: &signature },
    ///     PublicTask::Encrypt { scheme: EncryptionScheme::oaep(Hash::Sha256), message: b"secret" },
    /// ];
    /// let answers = rsa.public_tasks(key.public_key(), &tasks)?;
    /// assert_eq!(answers[..2], [Ok(vec![]), Err(ItemError::Verification)]);
    /// assert_eq!(answers[2].as_ref().map(Vec::len), Ok(128));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn public_tasks<'k>(
        &self,
        keys: impl Into<Keys<'k, PublicKey>>,
        tasks: &[PublicTask<'_>],
    ) -> Result<Answers<Vec<u8>>, Error> {
        self.run_public(keys.into(), tasks)
    }

    fn run_public(
        &self,
        keys: Keys<'_, PublicKey>,
        tasks: &[PublicTask<'_>],
    ) -> Result<Answers<Vec<u8>>, Error> {
        let encode = |item: usize, key: &PublicKey, block: &mut [u8]| tasks[item].encode(key, block);
        let decode = |item: usize, key: &PublicKey, block: &mut [u8], row: &mut [u8]| {
            tasks[item].decode(key, block).map(|octets| Vectors::answer(octets, row))
        };
        let secret = tasks.iter().any(|task| matches!(task, PublicTask::Encrypt { .. }));
        let operation = &Public { secret };
        let steps = Steps { encode: &encode, operation, decode: &decode, kind: Vectors::KIND };
        Ok(steps.run(self.engine, keys, tasks.len())?.0)
    }
}
