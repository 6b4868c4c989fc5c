//! Keys as bytes, in the container of [`modmill_fhe::file`]: a version, a fingerprint and a checksum. A public key has the section `n`, a
//! private key `p` and `q`, and either may have `hs`; all are big-endian.

use super::{PrivateKey, PublicKey};
use crate::Error;
use crate::file::{SCHEME, VERSION, check_scheme};
use crate::key::short_name;
use modmill::number;
use modmill_fhe::file::{Header, Kind, Reader, Writer};
use zeroize::Zeroizing;

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
        let key = match base {
            Some(base) => Self::with_short_base(&n, &base)?,
            None => Self::new(&n)?,
        };
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
        // Allocated at once: a buffer that grew would leave parts of the key behind. The numbers have at most 3 times the length of n.
        let buffer = Vec::with_capacity(1024 + self.bits());
        let mut writer = Writer::new(buffer, &header(self.public_key(), Kind::SecretKey))?;
        for (name, prime) in ["p", "q"].into_iter().zip(self.primes()) {
            writer.bytes(name, &number::to_short_be_bytes(prime))?;
        }
        write_short_base(&mut writer, self.public_key())?;
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
        let fingerprint = reader.header().fingerprint;
        reader.finish()?;
        let key = match base {
            Some(base) => Self::with_short_base(&p, &q, &base)?,
            None => Self::new(&p, &q)?,
        };
        check_fingerprint(key.public_key(), fingerprint)?;
        Ok(key)
    }
}

fn header(key: &PublicKey, kind: Kind) -> Header {
    let parameters = vec![
        ("version".to_owned(), VERSION),
        ("bits".to_owned(), key.bits() as u64),
        ("short".to_owned(), u64::from(key.short_base().is_some())),
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
fn short_base(reader: &mut Reader<&[u8]>) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    if reader.header().parameter("short")? == 0 {
        return Ok(None);
    }
    reader.expect("hs")?;
    Ok(Some(reader.rest()?))
}

/// Refuses a key whose fingerprint is not the one of its header.
fn check_fingerprint(key: &PublicKey, fingerprint: [u8; 32]) -> Result<(), Error> {
    if fingerprint == *key.fingerprint() {
        return Ok(());
    }
    Err(Error::WrongKey { what: "the header", expected: key.short_name(), found: short_name(&fingerprint) })
}
