//! Keys as bytes, in the container of [`modmill_fhe::file`]: a version, a fingerprint and a checksum. A public key has the section `n`, a
//! private key `p` and `q`, and either may have `hs`; a private key with a small subgroup has `u` and `v` as well. All are big-endian. The
//! parameter `exponent_bits` is the length of the exponents of `hs`, or 0 if there is none.

use super::{PrivateKey, PublicKey, ShortBase};
use crate::Error;
use crate::file::{SCHEME, VERSION, check_scheme};
use crate::key::short_name;
use modmill::number::{self, Number};
use modmill_fhe::file::{Header, Kind, Reader, Writer};
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
        let mut reader = reader(bytes, Kind::PublicKey)?;
        reader.expect("n")?;
        let n = reader.rest()?;
        let base = short_base(&mut reader)?;
        let fingerprint = reader.header().fingerprint;
        reader.finish()?;
        let key = Self::of_number(&number::from_be_bytes(&n), base)?;
        check_fingerprint(&key, fingerprint)?;
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
        // Allocated at once: a buffer that grew would leave parts of the key behind. The numbers have at most 4 times the length of n.
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
        let mut reader = reader(bytes, Kind::SecretKey)?;
        reader.expect("p")?;
        let p = reader.rest()?;
        reader.expect("q")?;
        let q = reader.rest()?;
        let base = short_base(&mut reader)?;
        let orders = subgroup(&mut reader)?;
        let fingerprint = reader.header().fingerprint;
        reader.finish()?;
        let key = Self::of_numbers(&number::from_be_bytes(&p), &number::from_be_bytes(&q), base, orders)?;
        check_fingerprint(key.public_key(), fingerprint)?;
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

fn reader(bytes: &[u8], kind: Kind) -> Result<Reader<&[u8]>, Error> {
    let reader = Reader::new(bytes, bytes.len() as u64)?;
    reader.header().expect_kind(kind)?;
    check_scheme(reader.header())?;
    Ok(reader)
}

/// The base for short exponents, if the header says that there is one.
fn short_base(reader: &mut Reader<&[u8]>) -> Result<Option<ShortBase>, Error> {
    let exponent_bits = reader.header().parameter(EXPONENT_BITS)?;
    if exponent_bits == 0 {
        return Ok(None);
    }
    reader.expect("hs")?;
    let hs = number::from_be_bytes(&reader.rest()?);
    // A number that does not fit is too long, which is an error of the key.
    Ok(Some(ShortBase { hs, exponent_bits: Some(usize::try_from(exponent_bits).unwrap_or(usize::MAX)) }))
}

/// The primes of a small subgroup, if the header says that there is one.
fn subgroup(reader: &mut Reader<&[u8]>) -> Result<Option<[Number; 2]>, Error> {
    if reader.header().parameter(SUBGROUP)? == 0 {
        return Ok(None);
    }
    reader.expect("u")?;
    let u = number::from_be_bytes(&reader.rest()?);
    reader.expect("v")?;
    Ok(Some([u, number::from_be_bytes(&reader.rest()?)]))
}

/// Refuses a key whose fingerprint is not the one of its header.
fn check_fingerprint(key: &PublicKey, fingerprint: [u8; 32]) -> Result<(), Error> {
    if fingerprint == *key.fingerprint() {
        return Ok(());
    }
    Err(Error::WrongKey { what: "the header", expected: key.short_name(), found: short_name(&fingerprint) })
}
