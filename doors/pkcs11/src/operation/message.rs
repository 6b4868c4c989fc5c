//! The message that is signed: a digest, or a block that the program made.

use super::widened;
use crate::mechanism::{Mechanism, Parameter, Scheme};
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_rsa::{Digest, Hash, Hasher, SignatureScheme, Sizes};
use zeroize::Zeroizing;

/// A message on its way to a signature.
pub(super) struct Message {
    scheme: Scheme,
    /// The scheme of the digest, if it is known from the mechanism.
    digest: Option<SignatureScheme>,
    input: Input,
}

enum Input {
    /// The mechanism hashes the message.
    Hashed(Hasher),
    /// The message is signed as it is.
    Whole(Zeroizing<Vec<u8>>),
}

/// The input of the private operation.
pub(super) enum Encoded {
    /// A digest, which the scheme encodes.
    Digest(SignatureScheme, Digest),
    /// A block as long as the modulus.
    Block(Vec<u8>),
}

/// The most bytes that are kept of a message that is signed as it is: the longest modulus.
const LONGEST: usize = Sizes::MAX_BITS / 8;

impl Message {
    /// An empty message of `mechanism`.
    pub(super) fn new(mechanism: &Mechanism) -> Answer<Self> {
        let row = mechanism.row;
        let digest = match (row.scheme, &mechanism.parameter, row.hash) {
            (Scheme::Pss, Parameter::Pss(pss), _) => Some(SignatureScheme::Pss(*pss)),
            (Scheme::Pkcs1v15, Parameter::None, Some(hash)) => Some(SignatureScheme::Pkcs1v15(hash)),
            (Scheme::Pkcs1v15 | Scheme::Raw, Parameter::None, None) => None,
            _ => return refuse(CKR_MECHANISM_INVALID, "the mechanism does not sign"),
        };
        let input = match row.hash {
            Some(hash) => Input::Hashed(hash.hasher()),
            None => Input::Whole(Zeroizing::default()),
        };
        Ok(Self { scheme: row.scheme, digest, input })
    }

    /// Appends `data`.
    pub(super) fn update(&mut self, data: &[u8]) -> Answer {
        match &mut self.input {
            Input::Hashed(hasher) => hasher.update(data),
            Input::Whole(whole) if whole.len() + data.len() > LONGEST => {
                return refuse(CKR_DATA_LEN_RANGE, "the message is longer than the modulus");
            }
            Input::Whole(whole) => whole.extend_from_slice(data),
        }
        Ok(())
    }

    /// The message for a modulus of `size` bytes. `by_digest` asks for a digest where a `DigestInfo` holds
    /// one.
    pub(super) fn encode(self, size: usize, by_digest: bool) -> Answer<Encoded> {
        let whole = match (self.input, self.digest) {
            (Input::Hashed(hasher), Some(scheme)) => return Ok(Encoded::Digest(scheme, hasher.finish())),
            (Input::Hashed(_), None) => return refuse(CKR_GENERAL_ERROR, "the hash has no scheme"),
            (Input::Whole(whole), Some(scheme)) => {
                let digest = Digest::from_bytes(&whole).filter(|_| whole.len() == scheme.hash().len());
                let reason = format!(
                    "a digest of {} bytes was expected, and {} came",
                    scheme.hash().len(),
                    whole.len()
                );
                let digest = digest.ok_or_else(|| Refusal::new(CKR_DATA_LEN_RANGE, reason))?;
                return Ok(Encoded::Digest(scheme, digest));
            }
            (Input::Whole(whole), None) => whole,
        };
        if self.scheme == Scheme::Pkcs1v15 && by_digest {
            return match digest_info(&whole) {
                Some((hash, digest)) => Ok(Encoded::Digest(SignatureScheme::Pkcs1v15(hash), digest)),
                None => refuse(CKR_DATA_INVALID, "the service signs the DigestInfo of SHA-2 and SHA-3 only"),
            };
        }
        let block = match self.scheme {
            Scheme::Pkcs1v15 => padded(&whole, size),
            _ => widened(&whole, size),
        };
        let reason = || format!("{} bytes do not fit a modulus of {size}", whole.len());
        block.map(Encoded::Block).ok_or_else(|| Refusal::new(CKR_DATA_LEN_RANGE, reason()))
    }
}

/// The block `00 01 ff ... ff 00 data` of PKCS #1 v1.5 (RFC 8017, section 9.2), with at least eight bytes
/// `ff`.
fn padded(data: &[u8], size: usize) -> Option<Vec<u8>> {
    let filling = size.checked_sub(data.len() + 3).filter(|len| *len >= 8)?;
    Some([&[0, 1], &vec![0xff; filling][..], &[0], data].concat())
}

/// The data in a block of [`padded`]; `None` if it is none.
pub(super) fn unpadded(block: &[u8]) -> Option<&[u8]> {
    let rest = block.strip_prefix(&[0, 1])?;
    let filling = rest.iter().position(|byte| *byte != 0xff).filter(|len| *len >= 8)?;
    rest[filling..].strip_prefix(&[0])
}

/// The hash and the digest of a `DigestInfo` of SHA-2 or SHA-3 (RFC 8017, appendix A.2.4).
fn digest_info(data: &[u8]) -> Option<(Hash, Digest)> {
    Hash::all().filter(|hash| *hash != Hash::Sha1).find_map(|hash| {
        let digest = data.strip_prefix(&hash.digest_info_prefix()?[..])?;
        Some((hash, Digest::from_bytes(digest).filter(|_| digest.len() == hash.len())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padding_has_eight_bytes_at_least() {
        assert_eq!(padded(&[7; 2], 13).unwrap(), [&[0, 1][..], &[0xff; 8], &[0, 7, 7]].concat());
        assert!(padded(&[7; 3], 13).is_none() && padded(&[7; 30], 13).is_none());
        assert_eq!(unpadded(&padded(&[7; 2], 13).unwrap()), Some(&[7; 2][..]));
        assert_eq!(unpadded(&padded(&[], 13).unwrap()), Some(&[][..]));
        for wrong in [&[0, 1, 0xff, 0xff, 0, 7][..], &[0, 2], &[], &[&[0, 1][..], &[0xff; 20]].concat()] {
            assert_eq!(unpadded(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_digest_info_is_taken_apart() {
        let digest = Hash::Sha256.digest(&[b"message"]);
        let prefix = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
        let info = [&prefix[..], digest.as_ref()].concat();
        assert_eq!(digest_info(&info), Some((Hash::Sha256, digest)));
        assert_eq!(digest_info(&info[..info.len() - 1]), None);
        assert_eq!(digest_info(&[&info[..], &[0]].concat()), None);
        assert_eq!(digest_info(digest.as_ref()), None);
        let sha1 = [&Hash::Sha1.digest_info_prefix().unwrap()[..], &[7; 20]].concat();
        assert_eq!(digest_info(&sha1), None);
    }
}
