//! The frames between a client and the socket of the signing service.
//!
//! Numbers are little-endian. A frame is `u32 length | u64 id | u8 kind | body`, and the length counts what
//! follows it. An answer has the id of its request; answers come in any order. The first request of a
//! connection is [`Request::Hello`].
//!
//! | kind | request | body |
//! |---|---|---|
//! | 1 | hello | the token of a credential |
//! | 2 | describe | the name of a key |
//! | 3 | sign | `u16 length, name \| u8 scheme \| u8 hash \| u8 mask \| u32 salt \| digest` |
//!
//! | kind | answer | body |
//! |---|---|---|
//! | 1 | welcome | nothing |
//! | 2 | key | `u16 length, modulus \| exponent` |
//! | 3 | signature | the signature |
//! | 4 | refused | `u8 reason \| text` |

use crate::Error;
use modmill_rsa::{Digest, Hash, Pss, SaltLength, SignatureScheme};

/// The most bytes of a frame after its length.
pub const LONGEST: usize = 16 << 10;

/// The salts of PSS that are no number of bytes.
const SALT_DIGEST: u32 = u32::MAX;
const SALT_LONGEST: u32 = u32::MAX - 1;

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Says who asks.
    Hello {
        /// The token of a credential.
        token: String,
    },
    /// Asks for the public half of a key.
    Describe {
        /// The name of the key.
        key: String,
    },
    /// Asks for a signature.
    Sign {
        /// The name of the key.
        key: String,
        /// The scheme.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: Digest,
    },
}

/// An answer of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// The token is known.
    Welcome,
    /// The public half of a key, as big-endian bytes.
    Key {
        /// The modulus.
        modulus: Vec<u8>,
        /// The public exponent.
        exponent: Vec<u8>,
    },
    /// A signature.
    Signature(Vec<u8>),
    /// There is no answer.
    Refused {
        /// Why.
        reason: Reason,
        /// Why, in words.
        text: String,
    },
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The token is unknown, or the credential lacks the right.
    Denied = 1,
    /// There is no such key.
    NoSuchKey = 2,
    /// The service is busy. The client may ask again.
    Busy = 3,
    /// The operation is not possible.
    Impossible = 4,
}

fn frame(id: u64, kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length = 9 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut frame = Vec::with_capacity(4 + length);
    frame.extend((length as u32).to_le_bytes());
    frame.extend(id.to_le_bytes());
    frame.push(kind);
    parts.iter().for_each(|part| frame.extend(*part));
    frame
}

/// Reads a body from its front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (front, rest) =
            self.0.split_at_checked(count).ok_or(Error::Protocol("a frame ends too early"))?;
        self.0 = rest;
        Ok(front)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.take(1)?[0])
    }

    /// Bytes behind their length.
    fn counted(&mut self) -> Result<&'a [u8], Error> {
        let length = self.take(2)?;
        self.take(usize::from(u16::from_le_bytes([length[0], length[1]])))
    }

    fn text(octets: &[u8]) -> Result<String, Error> {
        String::from_utf8(octets.to_vec()).map_err(|_| Error::Protocol("a name is no UTF-8"))
    }

    fn hash(&mut self) -> Result<Hash, Error> {
        let number = usize::from(self.byte()?);
        Hash::all().nth(number).ok_or(Error::Protocol("there is no hash of this number"))
    }
}

/// The id and the kind of a frame without its length, and the rest.
fn split(frame: &[u8]) -> Result<(u64, u8, Reader<'_>), Error> {
    let mut reader = Reader(frame);
    let id = reader.take(8)?.try_into().map_err(|_| Error::Protocol("a frame ends too early"))?;
    let kind = reader.byte()?;
    Ok((u64::from_le_bytes(id), kind, reader))
}

/// Bytes behind their length. Names and moduli are shorter than 2^16 bytes.
fn counted(octets: &[u8]) -> Vec<u8> {
    [&(octets.len() as u16).to_le_bytes()[..], octets].concat()
}

impl Request {
    /// The frame of the request.
    #[must_use]
    pub fn encode(&self, id: u64) -> Vec<u8> {
        match self {
            Self::Hello { token } => frame(id, 1, &[token.as_bytes()]),
            Self::Describe { key } => frame(id, 2, &[key.as_bytes()]),
            Self::Sign { key, scheme, digest } => {
                let (kind, hash, mask, salt) = match scheme {
                    SignatureScheme::Pss(pss) => {
                        let salt = match pss.salt {
                            SaltLength::Digest | SaltLength::Any => SALT_DIGEST,
                            SaltLength::Longest => SALT_LONGEST,
                            // No key has room for so long a salt, and the service says so.
                            SaltLength::Bytes(len) => u32::try_from(len).unwrap_or(SALT_LONGEST - 1),
                        };
                        (2, pss.hash, pss.mask_hash, salt)
                    }
                    scheme => (1, scheme.hash(), scheme.hash(), 0),
                };
                let numbers = [kind, hash as u8, mask as u8];
                frame(id, 3, &[&counted(key.as_bytes()), &numbers, &salt.to_le_bytes(), digest.as_ref()])
            }
        }
    }

    /// Reads a frame without its length.
    pub fn decode(frame: &[u8]) -> Result<(u64, Self), Error> {
        let (id, kind, mut reader) = split(frame)?;
        let request = match kind {
            1 => Self::Hello { token: Reader::text(reader.0)? },
            2 => Self::Describe { key: Reader::text(reader.0)? },
            3 => {
                let key = Reader::text(reader.counted()?)?;
                let (kind, hash, mask_hash) = (reader.byte()?, reader.hash()?, reader.hash()?);
                let salt =
                    reader.take(4)?.try_into().map_err(|_| Error::Protocol("a frame ends too early"))?;
                let salt = match u32::from_le_bytes(salt) {
                    SALT_DIGEST => SaltLength::Digest,
                    SALT_LONGEST => SaltLength::Longest,
                    len => SaltLength::Bytes(len as usize),
                };
                let scheme = match kind {
                    1 => SignatureScheme::Pkcs1v15(hash),
                    2 => SignatureScheme::Pss(Pss { hash, mask_hash, salt }),
                    _ => return Err(Error::Protocol("there is no scheme of this number")),
                };
                let digest = Digest::from_bytes(reader.0).ok_or(Error::Protocol("a digest is too long"))?;
                Self::Sign { key, scheme, digest }
            }
            _ => return Err(Error::Protocol("there is no request of this kind")),
        };
        Ok((id, request))
    }
}

impl Response {
    /// The frame of the answer.
    #[must_use]
    pub fn encode(&self, id: u64) -> Vec<u8> {
        match self {
            Self::Welcome => frame(id, 1, &[]),
            Self::Key { modulus, exponent } => frame(id, 2, &[&counted(modulus), exponent]),
            Self::Signature(signature) => frame(id, 3, &[signature]),
            Self::Refused { reason, text } => frame(id, 4, &[&[*reason as u8], text.as_bytes()]),
        }
    }

    /// Reads a frame without its length.
    pub fn decode(frame: &[u8]) -> Result<(u64, Self), Error> {
        let (id, kind, mut reader) = split(frame)?;
        let response = match kind {
            1 => Self::Welcome,
            2 => Self::Key { modulus: reader.counted()?.to_vec(), exponent: reader.0.to_vec() },
            3 => Self::Signature(reader.0.to_vec()),
            4 => {
                let reason = match reader.byte()? {
                    1 => Reason::Denied,
                    2 => Reason::NoSuchKey,
                    3 => Reason::Busy,
                    _ => Reason::Impossible,
                };
                Self::Refused { reason, text: String::from_utf8_lossy(reader.0).into_owned() }
            }
            _ => return Err(Error::Protocol("there is no answer of this kind")),
        };
        Ok((id, response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let digest = Hash::Sha384.digest(&[b"message"]);
        let pss = |salt| SignatureScheme::Pss(Pss { hash: Hash::Sha384, mask_hash: Hash::Sha256, salt });
        let sign = |scheme| Request::Sign { key: "transit/web".into(), scheme, digest };
        let requests = [
            Request::Hello { token: "mm.token".into() },
            Request::Describe { key: "alias/tls".into() },
            sign(SignatureScheme::Pkcs1v15(Hash::Sha384)),
            sign(pss(SaltLength::Digest)),
            sign(pss(SaltLength::Longest)),
            sign(pss(SaltLength::Bytes(0))),
        ];
        for request in requests {
            let frame = request.encode(7);
            assert_eq!(frame.len(), 4 + u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize);
            assert_eq!(Request::decode(&frame[4..]), Ok((7, request.clone())));
            for end in 4..frame.len() {
                // A part of a frame is an error or another frame, and never a panic.
                let _ = Request::decode(&frame[4..end]);
            }
        }
        for response in [
            Response::Welcome,
            Response::Key { modulus: vec![1; 256], exponent: vec![1, 0, 1] },
            Response::Signature(vec![2; 512]),
            Response::Refused { reason: Reason::Busy, text: "later".into() },
        ] {
            assert_eq!(Response::decode(&response.encode(u64::MAX)[4..]), Ok((u64::MAX, response)));
        }
        for wrong in [&[][..], &[0; 8], &[0; 9], &[9; 9], &[0, 0, 0, 0, 0, 0, 0, 0, 2, 255, 255, 1]] {
            assert!(Response::decode(wrong).is_err(), "{wrong:?}");
        }
        for wrong in [&[][..], &[0; 8], &[0; 9], &[9; 9], &[0, 0, 0, 0, 0, 0, 0, 0, 3, 255, 255, 1]] {
            assert!(Request::decode(wrong).is_err(), "{wrong:?}");
        }
    }
}
