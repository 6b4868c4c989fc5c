//! Keys as bytes, in the container of [`modmill_container`]: a version, a fingerprint and a checksum. A
//! public key has the section `n`, a private key `p` and `q`, and either may have `hs`; a private key with a
//! small subgroup has `u` and `v` as well. All are big-endian. The parameter `exponent_bits` is the length of
//! the exponents of `hs`, or 0 if there is none.

use super::{PrivateKey, PublicKey, ShortBase};
use crate::file::{SCHEME, VERSION, check_scheme};
use crate::{Error, KeyError};
use modmill::number::{self, Number};
use modmill_container::{FileError, Header, Kind, Reader, Writer};
use zeroize::Zeroizing;

const EXPONENT_BITS: &str = "exponent_bits";
const SUBGROUP: &str = "subgroup";

impl PublicKey {
    /// Writes the key as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::new(Vec::new(), &header(self, Kind::PublicKey))?;
        writer.bytes("n", &number::to_short_be_bytes(self.modulus().value()))?;
        write_short_base(&mut writer, self)?;
        Ok(writer.finish()?)
    }

    /// Reads what [`PublicKey::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (header, n, base) = public_parts(bytes).map_err(unreadable)?;
        let key = Self::of_stranger(&n, base)?;
        key.expect_fingerprint("the header", &header.fingerprint)?;
        Ok(key)
    }
}

impl PrivateKey {
    /// Writes the key as bytes. They are not encrypted.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{PrivateKey, Randomness};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 1024, Randomness::Short)?;
    /// let again = PrivateKey::from_bytes(&key.to_bytes()?)?;
    /// assert_eq!(again.public_key(), key.public_key());
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        // Allocated at once: a buffer that grew would leave parts of the key behind. The numbers have at most
        // 4 times the length of n.
        let buffer = Vec::with_capacity(1024 + self.bits());
        let mut header = header(self.public_key(), Kind::SecretKey);
        header.parameters.push((SUBGROUP.to_owned(), u64::from(self.subgroup().is_some())));
        let mut writer = Writer::new(buffer, &header)?;
        for (name, prime) in ["p", "q"].into_iter().zip(self.primes()) {
            writer.bytes(name, &number::to_short_be_bytes(prime))?;
        }
        write_short_base(&mut writer, self.public_key())?;
        for (name, order) in ["u", "v"].into_iter().zip(self.subgroup().into_iter().flatten()) {
            writer.bytes(name, &number::to_short_be_bytes(&order))?;
        }
        Ok(Zeroizing::new(writer.finish()?))
    }

    /// Reads what [`PrivateKey::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (header, [p, q], base, orders) = private_parts(bytes).map_err(unreadable)?;
        let key = Self::of_stranger(&p, &q, base, orders)?;
        key.public_key().expect_fingerprint("the header", &header.fingerprint)?;
        Ok(key)
    }
}

fn header(key: &PublicKey, kind: Kind) -> Header {
    let parameters = vec![
        ("version".to_owned(), VERSION),
        ("bits".to_owned(), key.bits() as u64),
        (EXPONENT_BITS.to_owned(), key.short_base().map_or(0, |_| key.short_exponent_bits()) as u64),
    ];
    Header { kind, scheme: SCHEME.to_owned(), fingerprint: *key.fingerprint(), parameters }
}

fn write_short_base(writer: &mut Writer<Vec<u8>>, key: &PublicKey) -> Result<(), Error> {
    match key.short_base() {
        Some(base) => Ok(writer.bytes("hs", &number::to_short_be_bytes(base))?),
        None => Ok(()),
    }
}

/// The header, n and the base of a public key.
fn public_parts(bytes: &[u8]) -> Result<(Header, Number, Option<ShortBase>), FileError> {
    let mut reader = reader(bytes, Kind::PublicKey)?;
    let n = number(&mut reader, "n")?;
    let base = short_base(&mut reader)?;
    let header = reader.header().clone();
    reader.finish()?;
    Ok((header, n, base))
}

/// The header, the primes, the base and the primes of the subgroup of a private key.
type PrivateParts = (Header, [Number; 2], Option<ShortBase>, Option<[Number; 2]>);

fn private_parts(bytes: &[u8]) -> Result<PrivateParts, FileError> {
    let mut reader = reader(bytes, Kind::SecretKey)?;
    let primes = [number(&mut reader, "p")?, number(&mut reader, "q")?];
    let base = short_base(&mut reader)?;
    let orders = subgroup(&mut reader)?;
    let header = reader.header().clone();
    reader.finish()?;
    Ok((header, primes, base, orders))
}

fn reader(bytes: &[u8], kind: Kind) -> Result<Reader<&[u8]>, FileError> {
    let reader = Reader::new(bytes, bytes.len() as u64)?;
    reader.header().expect_kind(kind)?;
    check_scheme(reader.header())?;
    Ok(reader)
}

/// The number of the next section.
fn number(reader: &mut Reader<&[u8]>, section: &str) -> Result<Number, FileError> {
    reader.expect(section)?;
    Ok(number::from_be_bytes(&reader.rest()?))
}

/// The base for short exponents, if the header says that there is one.
fn short_base(reader: &mut Reader<&[u8]>) -> Result<Option<ShortBase>, FileError> {
    let exponent_bits = reader.header().parameter(EXPONENT_BITS)?;
    if exponent_bits == 0 {
        return Ok(None);
    }
    let hs = number(reader, "hs")?;
    // A number that does not fit is too long, which is an error of the key.
    Ok(Some(ShortBase { hs, exponent_bits: Some(usize::try_from(exponent_bits).unwrap_or(usize::MAX)) }))
}

/// The primes of a small subgroup, if the header says that there is one.
fn subgroup(reader: &mut Reader<&[u8]>) -> Result<Option<[Number; 2]>, FileError> {
    if reader.header().parameter(SUBGROUP)? == 0 {
        return Ok(None);
    }
    Ok(Some([number(reader, "u")?, number(reader, "v")?]))
}

fn unreadable(error: FileError) -> Error {
    KeyError::Format(error.to_string()).into()
}
