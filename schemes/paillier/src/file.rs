//! Columns as bytes, in the container of [`modmill_container`]: a version, the fingerprint of the key, and a
//! checksum.
//!
//! | section | bytes |
//! |---|---|
//! | `ciphertexts` | the ciphertexts, big-endian, each as long as `n^2` |
//! | `exponents` | only if every item has one: 4 bytes for each, little-endian |
//!
//! | parameter | of |
//! |---|---|
//! | `version` | all: 1 |
//! | `column` | all: 0 plain, 1 encoded, 2 packed |
//! | `count` | all: the number of ciphertexts |
//! | `exponent` | encoded columns with one exponent, as 64 bits in two's complement |
//! | `magnitude_bits` | encoded columns |
//! | `value_bits`, `terms_limit`, `signed`, `len`, `terms` | packed columns |

use crate::{Ciphertexts, EncryptedColumn, Error, Exponents, PackedColumn, Packing, PublicKey};
use modmill::{Batch, number};
use modmill_container::{FileError, Header, Kind, Reader, Writer};

/// The name of the scheme in the header.
pub(crate) const SCHEME: &str = "paillier";

/// The version of the contents that is written, and the only one that is read.
pub(crate) const VERSION: u64 = 1;

const CIPHERTEXTS: &str = "ciphertexts";
const EXPONENTS: &str = "exponents";

/// The kinds of columns.
const PLAIN: u64 = 0;
const ENCODED: u64 = 1;
const PACKED: u64 = 2;

impl Ciphertexts {
    /// Writes the column as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(writer(self, PLAIN, &[])?.finish()?)
    }

    /// Reads what [`Ciphertexts::to_bytes`] wrote, for the same key.
    pub fn from_bytes(key: &PublicKey, bytes: &[u8]) -> Result<Self, Error> {
        let (column, reader) = reader(key, bytes, PLAIN)?;
        reader.finish().map_err(Error::Column)?;
        Ok(column)
    }
}

impl EncryptedColumn {
    /// Writes the column as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut parameters = vec![("magnitude_bits", self.magnitude_bits() as u64)];
        if let Exponents::Shared(exponent) = self.exponents() {
            parameters.push(("exponent", i64::from(*exponent).cast_unsigned()));
        }
        let mut writer = writer(self.ciphertexts(), ENCODED, &parameters)?;
        if let Exponents::Each(exponents) = self.exponents() {
            let bytes: Vec<u8> = exponents.iter().flat_map(|exponent| exponent.to_le_bytes()).collect();
            writer.bytes(EXPONENTS, &bytes)?;
        }
        Ok(writer.finish()?)
    }

    /// Reads what [`EncryptedColumn::to_bytes`] wrote, for the same key.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{EncodedColumn, EncryptedColumn, Paillier, PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let paillier = Paillier::new(&engine);
    /// let column = EncodedColumn::from_f64(key.public_key(), &[0.5, 2.0], None)?.encrypt(&paillier)?;
    /// assert_eq!(EncryptedColumn::from_bytes(key.public_key(), &column.to_bytes()?)?, column);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn from_bytes(key: &PublicKey, bytes: &[u8]) -> Result<Self, Error> {
        let (ciphertexts, mut reader) = reader(key, bytes, ENCODED)?;
        let magnitude_bits = small(&reader, "magnitude_bits")?;
        let exponents = match reader.header().parameter("exponent") {
            Ok(exponent) => {
                let exponent = exponent.cast_signed();
                Exponents::Shared(i32::try_from(exponent).map_err(|_| Error::Exponent(exponent))?)
            }
            Err(_) => {
                reader.expect_length(EXPONENTS, 4 * ciphertexts.len() as u64).map_err(Error::Column)?;
                let bytes = reader.rest().map_err(Error::Column)?;
                let (words, _) = bytes.as_chunks::<4>();
                Exponents::Each(words.iter().map(|word| i32::from_le_bytes(*word)).collect())
            }
        };
        reader.finish().map_err(Error::Column)?;
        Self::new(ciphertexts, exponents, magnitude_bits)
    }
}

impl PackedColumn {
    /// Writes the column as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let packing = self.packing();
        let too_many = |_| FileError::Unwritable("the number of terms");
        let parameters = [
            ("value_bits", packing.value_bits() as u64),
            ("terms_limit", u64::try_from(packing.terms()).map_err(too_many)?),
            ("signed", u64::from(packing.is_signed())),
            ("len", self.len() as u64),
            ("terms", u64::try_from(self.terms()).map_err(too_many)?),
        ];
        Ok(writer(self.ciphertexts(), PACKED, &parameters)?.finish()?)
    }

    /// Reads what [`PackedColumn::to_bytes`] wrote, for the same key.
    pub fn from_bytes(key: &PublicKey, bytes: &[u8]) -> Result<Self, Error> {
        let (ciphertexts, reader) = reader(key, bytes, PACKED)?;
        let value_bits = small(&reader, "value_bits")?;
        let [limit, signed, terms] = ["terms_limit", "signed", "terms"]
            .map(|name| reader.header().parameter(name).map_err(Error::Column));
        let (limit, signed, terms, len) = (limit?, signed?, terms?, small(&reader, "len")?);
        reader.finish().map_err(Error::Column)?;
        let packing = match signed {
            0 => Packing::unsigned(value_bits, limit)?,
            _ => Packing::signed(value_bits, limit)?,
        };
        Self::new(packing, ciphertexts, len, u128::from(terms))
    }
}

/// The start of a file of a column: its header and its ciphertexts.
fn writer(column: &Ciphertexts, kind: u64, more: &[(&str, u64)]) -> Result<Writer<Vec<u8>>, Error> {
    let own = [("version", VERSION), ("column", kind), ("count", column.len() as u64)];
    let parameters = own.iter().chain(more).map(|&(name, value)| (name.to_owned(), value)).collect();
    let header = Header {
        kind: Kind::Ciphertexts,
        scheme: SCHEME.to_owned(),
        fingerprint: *column.key().fingerprint(),
        parameters,
    };
    let size = size(column.key());
    let mut bytes = Vec::new();
    // Room for the other sections too, which have a few bytes for each item.
    let wanted = (size + 8).saturating_mul(column.len());
    bytes.try_reserve(wanted).map_err(|_| modmill::Error::no_memory(wanted))?;
    let mut writer = Writer::new(bytes, &header)?;
    writer.section(CIPHERTEXTS, (size * column.len()) as u64, |output| {
        let mut bytes = vec![0; size];
        column.values().iter().try_for_each(|value| {
            number::write_be_bytes(value, &mut bytes);
            output.write_all(&bytes)
        })
    })?;
    Ok(writer)
}

/// Reads the header and the ciphertexts of a column. What is returned can be trusted once the reader has
/// compared the checksum.
fn reader<'a>(key: &PublicKey, bytes: &'a [u8], kind: u64) -> Result<(Ciphertexts, Reader<&'a [u8]>), Error> {
    let mut reader = column(bytes, kind).map_err(Error::Column)?;
    key.expect_fingerprint("the file", &reader.header().fingerprint)?;
    let (count, size) = (small(&reader, "count")?, size(key));
    let length = (size as u64).saturating_mul(count as u64);
    reader.expect_length(CIPHERTEXTS, length).map_err(Error::Column)?;
    let bytes = reader.rest().map_err(Error::Column)?;
    let mut values = Batch::try_zeros(8 * size, count)?;
    for (index, value) in bytes.chunks_exact(size).enumerate() {
        number::copy_be_bytes(value, values.get_mut(index));
    }
    Ok((Ciphertexts::new(key, &values)?, reader))
}

/// A file of this kind of column, after its header.
fn column(bytes: &[u8], kind: u64) -> Result<Reader<&[u8]>, FileError> {
    let reader = Reader::new(bytes, bytes.len() as u64)?;
    reader.header().expect_kind(Kind::Ciphertexts)?;
    check_scheme(reader.header())?;
    expect(reader.header(), "column", kind, "another kind of column is needed")?;
    Ok(reader)
}

/// Refuses a file of another scheme or version.
pub(crate) fn check_scheme(header: &Header) -> Result<(), FileError> {
    header.expect_scheme(SCHEME)?;
    expect(header, "version", VERSION, "only version 1 is known")
}

/// Refuses a parameter that has another value.
fn expect(header: &Header, name: &str, expected: u64, reason: &str) -> Result<(), FileError> {
    let value = header.parameter(name)?;
    if value == expected {
        return Ok(());
    }
    Err(FileError::Parameter { name: name.to_owned(), value, reason: reason.to_owned() })
}

/// A parameter that is a length.
fn small(reader: &Reader<&[u8]>, name: &str) -> Result<usize, Error> {
    let value = reader.header().parameter(name).map_err(Error::Column)?;
    // Nothing that fits memory is longer.
    let fits = usize::try_from(value).ok().filter(|&value| value <= isize::MAX as usize / 8);
    let (name, reason) = (name.to_owned(), "it is too large".to_owned());
    fits.ok_or(Error::Column(FileError::Parameter { name, value, reason }))
}

/// The bytes of a ciphertext.
fn size(key: &PublicKey) -> usize {
    key.square().bits().div_ceil(8)
}
