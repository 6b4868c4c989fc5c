//! The key, the scheme and the digest with which a signature is made or checked.

use crate::context::Context;
use crate::core_handle::Core;
use crate::der;
use crate::digest::{Digest, Hashing};
use crate::failure::Failure;
use crate::key::Content;
use crate::names::param;
use crate::padding::{Padding, signature_block, signature_contents};
use crate::params::{Given, Value, Wanted};
use crate::x931;
use modmill_client::{Task, with_engine};
use modmill_rsa::{Hash, ItemError, Pss, PublicKey, Rsa, SaltLength, SignatureScheme, hazmat};
use zeroize::Zeroizing;

/// The lengths of a salt that OpenSSL has numbers for (`rsa.h`).
const SALT_DIGEST: i64 = -1;
const SALT_AUTO: i64 = -2;
const SALT_LONGEST: i64 = -3;
const SALT_AUTO_DIGEST: i64 = -4;
const SALT_NAMES: [(&str, i64); 4] = [
    ("digest", SALT_DIGEST),
    ("auto", SALT_AUTO),
    ("max", SALT_LONGEST),
    ("auto-digestmax", SALT_AUTO_DIGEST),
];

/// The context of a signature.
#[derive(Clone)]
pub(crate) struct Signature {
    pub(crate) core: Core,
    pub(crate) content: Content,
    pub(crate) padding: Padding,
    pub(crate) digest: Option<Digest>,
    mask: Option<Digest>,
    salt: i64,
    /// The message so far, where the provider hashes it.
    pub(crate) hashing: Option<Hashing>,
    /// Whether the digest belongs to the algorithm's name, and cannot be changed.
    pub(crate) is_fixed: bool,
    /// Whether the input of a single call is a message and not a digest.
    pub(crate) takes_message: bool,
    /// The signature that is to be checked, where it comes as a parameter.
    pub(crate) signature: Option<Vec<u8>>,
}

impl Context for Signature {
    fn core(&self) -> Core {
        self.core
    }
}

impl Signature {
    pub(crate) fn new(core: Core, fixed: Option<Hash>) -> Self {
        Self {
            core,
            content: Content::Empty,
            padding: Padding::Pkcs1v15,
            digest: fixed.map(Digest::Known),
            mask: None,
            salt: SALT_AUTO,
            hashing: None,
            is_fixed: fixed.is_some(),
            takes_message: false,
            signature: None,
        }
    }

    pub(crate) fn set(&mut self, given: Given<'_>) -> Result<(), Failure> {
        if let Some(name) = given.text(param::DIGEST)? {
            self.set_digest(&name)?;
        }
        // OpenSSL takes the name of a padding that signatures do not have, and keeps the one that there is.
        let is_named = given.text(param::PAD_MODE)?.is_some();
        let padding = Padding::read(given)?.filter(|padding| !(is_named && *padding == Padding::Oaep));
        if let Some(padding) = padding {
            match padding {
                Padding::Pkcs1v15 | Padding::None => {}
                Padding::X931 => {
                    x931::check(self.digest)?;
                }
                Padding::Pss => self.digest = self.digest.or(Some(Digest::Known(Hash::Sha1))),
                _ => return Err(Failure::Unsupported(format!("signatures with the padding {padding:?}"))),
            }
            if self.is_fixed && padding != Padding::Pkcs1v15 {
                return Err(Failure::Parameter("this algorithm has the padding PKCS #1 v1.5".into()));
            }
            self.padding = padding;
        }
        if given.has(param::SALT_LENGTH) && self.padding != Padding::Pss {
            return Err(Failure::Parameter("the padding pss has a salt, and is set before it".into()));
        }
        if let Some(text) = given.text(param::SALT_LENGTH)? {
            let known = SALT_NAMES.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
            let parsed = known.or_else(|| text.parse().ok());
            self.salt = parsed.ok_or_else(|| wrong_salt(&text))?;
        } else if let Some(salt) = given.integer(param::SALT_LENGTH)? {
            self.salt = salt;
        }
        if self.salt < SALT_AUTO_DIGEST || self.salt > 16_384 {
            let salt = std::mem::replace(&mut self.salt, SALT_AUTO);
            return Err(wrong_salt(&salt));
        }
        if let Some(name) = given.text(param::MGF1_DIGEST)? {
            if self.padding != Padding::Pss {
                return Err(Failure::Mask);
            }
            self.mask = Some(Digest::of_signature(&name)?);
        }
        if let Some(signature) = given.octets(param::SIGNATURE)? {
            self.signature = Some(signature);
        }
        match self.padding == Padding::None && self.digest.is_some() {
            true => Err(Failure::Parameter("without a padding no digest is named".into())),
            false => Ok(()),
        }
    }

    pub(crate) fn set_digest(&mut self, name: &str) -> Result<(), Failure> {
        let digest = Digest::of_signature(name)?;
        if self.is_fixed && self.digest != Some(digest) {
            return Err(Failure::Parameter("the digest belongs to this algorithm's name".into()));
        }
        if self.hashing.is_some() && self.digest != Some(digest) {
            return Err(Failure::Parameter("the digest cannot change while a message is hashed".into()));
        }
        self.digest = Some(digest);
        Ok(())
    }

    /// Takes parameters of the digest: the master secret, with which SSL 3.0 ends the hash of a handshake.
    pub(crate) fn set_for_digest(&mut self, given: Given<'_>) -> Result<(), Failure> {
        let none = || Failure::Unsupported("parameters of a digest other than SHA1 and MD5-SHA1".into());
        let digest = self.digest.filter(|digest| digest.takes_master_secret()).ok_or_else(none)?;
        let Some(secret) = given.octets(param::SSL3_MASTER_SECRET)?.map(Zeroizing::new) else {
            return Ok(());
        };
        if secret.len() != 48 {
            return Err(Failure::Parameter("the master secret of SSL 3.0 has 48 bytes".into()));
        }
        let hashing = self.hashing.take().ok_or(Failure::NotInitialised)?;
        self.hashing = Some(hashing.with_master_secret(digest, &secret)?);
        Ok(())
    }

    pub(crate) fn get(&self, wanted: &mut Wanted) -> Result<(), Failure> {
        let none = || Failure::Unsupported("this signature has no algorithm identifier".into());
        wanted
            .set(param::PAD_MODE, || Ok(self.padding.value(false)))
            .or_else(|_| wanted.set(param::PAD_MODE, || Ok(self.padding.value(true))))?;
        let digest = self.digest.map_or(c"", Digest::name);
        wanted.set(param::DIGEST, || Ok(Value::Text(digest)))?;
        let mask = self.mask.or(self.digest).map_or(c"", Digest::name);
        wanted.set(param::MGF1_DIGEST, || Ok(Value::Text(mask)))?;
        wanted.set(param::SALT_LENGTH, || Ok(Value::Integer(self.salt))).or_else(|_| {
            let name = SALT_NAMES.iter().find(|(_, number)| *number == self.salt);
            let text = name.map_or_else(|| self.salt.to_string(), |(name, _)| (*name).to_owned());
            wanted.set(param::SALT_LENGTH, || Ok(Value::String(text)))
        })?;
        // Made only if it is asked for: it needs a key and a digest.
        let mut identifier = Vec::new();
        wanted.set(param::ALGORITHM_ID, || {
            identifier = self.identifier()?.ok_or_else(none)?;
            Ok(Value::Octets(&identifier))
        })
    }

    /// The `AlgorithmIdentifier` of the signature, if it has one.
    fn identifier(&self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(match (self.padding, self.digest) {
            (Padding::Pkcs1v15, Some(digest)) => der::pkcs1v15(digest),
            (Padding::Pss, Some(_)) => {
                let pss = self.pss(true)?;
                let bits = self.public()?.bits();
                let longest = (bits - 1).div_ceil(8).saturating_sub(pss.hash.len() + 2);
                let salt = match pss.salt {
                    SaltLength::Bytes(len) => len,
                    SaltLength::Longest => longest,
                    SaltLength::Digest | SaltLength::Any => pss.hash.len(),
                };
                der::pss(pss.hash, pss.mask_hash, salt)
            }
            _ => None,
        })
    }

    /// The length of signatures, in bytes.
    pub(crate) fn size(&self) -> Result<usize, Failure> {
        Ok(self.public()?.size())
    }

    fn public(&self) -> Result<&PublicKey, Failure> {
        self.content.public()
    }

    /// The parameters of PSS.
    fn pss(&self, for_signing: bool) -> Result<Pss, Failure> {
        let hash = self.digest.unwrap_or(Digest::Known(Hash::Sha1)).hash()?;
        let mask_hash = self.mask.map_or(Ok(hash), Digest::hash)?;
        let longest = (self.public()?.bits() - 1).div_ceil(8).saturating_sub(hash.len() + 2);
        let salt = match self.salt {
            SALT_DIGEST => SaltLength::Digest,
            SALT_AUTO if for_signing => SaltLength::Longest,
            SALT_AUTO_DIGEST if for_signing => SaltLength::Bytes(longest.min(hash.len())),
            SALT_AUTO | SALT_AUTO_DIGEST => SaltLength::Any,
            SALT_LONGEST => SaltLength::Longest,
            len => SaltLength::Bytes(usize::try_from(len).map_err(|_| wrong_salt(&len))?),
        };
        Ok(Pss { hash, mask_hash, salt })
    }

    /// Refuses input that is no digest.
    fn check_digest(&self, input: &[u8]) -> Result<(), Failure> {
        match self.digest {
            Some(digest) if input.len() != digest.len() => {
                let (found, expected) = (input.len(), digest.len());
                Err(ItemError::WrongLength { expected, found }.into())
            }
            _ => Ok(()),
        }
    }

    /// Signs a digest, or bytes where no digest is named.
    pub(crate) fn sign(&self, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let (size, bits) = (self.public()?.size(), self.public()?.bits());
        let read = |input| modmill_rsa::Digest::from_bytes(input).ok_or(ItemError::KeyTooShort);
        let raw = |number: Vec<u8>| Task::Raw { number: number.into() };
        if self.padding != Padding::None {
            self.check_digest(input)?;
        }
        let task = match (self.padding, self.digest) {
            (Padding::None, _) if input.len() != size => {
                return Err(ItemError::WrongLength { expected: size, found: input.len() }.into());
            }
            (Padding::None, _) => raw(input.to_vec()),
            (Padding::Pkcs1v15, None) => raw(signature_block(&[input], size)?),
            (Padding::Pkcs1v15, Some(Digest::Known(hash))) if hash != Hash::Sha1 => {
                Task::Sign { scheme: SignatureScheme::Pkcs1v15(hash), digest: read(input)? }
            }
            // The RSA library makes no signatures with SHA-1. What OpenSSL's security level allows is
            // OpenSSL's to say.
            (Padding::Pkcs1v15, Some(digest)) => raw(signature_block(&[&digest.prefix()?, input], size)?),
            (Padding::Pss, _) => {
                let pss = self.pss(true)?;
                match pss.hash {
                    Hash::Sha1 => raw(hazmat::encode_pss(pss, input, bits).map_err(encoding)?),
                    _ => Task::Sign { scheme: SignatureScheme::Pss(pss), digest: read(input)? },
                }
            }
            (Padding::X931, digest) => {
                let block = x931::block(x931::check(digest)?, input, size)?;
                let power = self.content.compute(&self.core, raw(block))?;
                return Ok(x931::signature(self.public()?, &power).into());
            }
            (padding, _) => return Err(Failure::Unsupported(format!("signatures with {padding:?}"))),
        };
        self.content.compute(&self.core, task)
    }

    /// Checks the signature of a digest, or of bytes where no digest is named.
    pub(crate) fn verify(&self, input: &[u8], signature: &[u8]) -> Result<(), Failure> {
        if self.padding != Padding::None {
            self.check_digest(input)?;
        }
        if self.padding == Padding::Pss {
            let (key, scheme) = (self.public()?, SignatureScheme::Pss(self.pss(false)?));
            let verify = |engine: &_| Rsa::new(engine).verify_digests(key, scheme, &[input], &[signature]);
            with_engine(verify)??.pop().unwrap_or(Err(ItemError::Verification))?;
            return Ok(());
        }
        match self.recover(signature)? == input {
            true => Ok(()),
            false => Err(ItemError::Verification.into()),
        }
    }

    /// The digest or the bytes that were signed, as a signature shows them.
    pub(crate) fn recover(&self, signature: &[u8]) -> Result<Vec<u8>, Failure> {
        let block = self.block(signature)?;
        if self.padding == Padding::None {
            return Ok(block);
        }
        if self.padding == Padding::X931 {
            let digest = x931::check(self.digest)?;
            let found = block.len().checked_sub(digest.len() + 2).map(|at| &block[at..at + digest.len()]);
            let found = found.ok_or(ItemError::Verification)?;
            return match x931::block(digest, found, block.len())? == block {
                true => Ok(found.to_vec()),
                false => Err(ItemError::Verification.into()),
            };
        }
        if self.padding != Padding::Pkcs1v15 {
            return Err(Failure::Unsupported(format!("recovery with {:?}", self.padding)));
        }
        let contents = signature_contents(&block).ok_or(ItemError::Verification)?;
        let Some(digest) = self.digest else { return Ok(contents.to_vec()) };
        let prefixes = digest.prefixes()?;
        let found = prefixes.iter().find_map(|prefix| contents.strip_prefix(&prefix[..]));
        let found = found.ok_or(ItemError::Verification)?;
        self.check_digest(found).map_err(|_| ItemError::Verification)?;
        Ok(found.to_vec())
    }

    /// The padded digest that a signature shows.
    fn block(&self, signature: &[u8]) -> Result<Vec<u8>, Failure> {
        let power = self.power(signature)?;
        match self.padding {
            Padding::X931 => Ok(x931::signed(self.public()?, power)),
            _ => Ok(power),
        }
    }

    /// The public power of a signature.
    fn power(&self, signature: &[u8]) -> Result<Vec<u8>, Failure> {
        let half = self.content.half()?;
        if let Some(single) = &half.single
            // Counted like work of the engine, so that no fork happens in the middle.
            && let Some(power) = with_engine(|_| single.public_power(signature))?
        {
            return Ok(power);
        }
        let key = &half.key;
        let answer = with_engine(|engine| hazmat::public(&Rsa::new(engine), key, &[signature]))??.pop();
        // A number that no key of this length could have made is a wrong signature like every other.
        Ok(answer.unwrap_or(Err(ItemError::Verification)).map_err(|_| ItemError::Verification)?)
    }
}

fn wrong_salt(found: &dyn std::fmt::Display) -> Failure {
    Failure::Parameter(format!("there is no salt length {found}"))
}

fn encoding(error: hazmat::EncodeError) -> Failure {
    match error {
        hazmat::EncodeError::Item(error) => error.into(),
        other => Failure::Operation(modmill_client::Error::Engine(other.to_string())),
    }
}
