//! Parts of keys and ciphertexts as bytes: numbers are little-endian, each of as many bytes as the modulus.

use super::Error;
use modmill::{Batch, Modulus};
use zeroize::Zeroizing;

/// A part of a key or of ciphertexts: its name and its bytes, which are zeroized when they are dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: &'static str,
    /// The bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl Section {
    pub(super) fn new(name: &'static str, bytes: Vec<u8>) -> Self {
        Self { name, bytes: Zeroizing::new(bytes) }
    }
}

impl std::fmt::Debug for Section {
    /// Shows the shape and never the bytes, which may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Section({}, {} bytes)", self.name, self.bytes.len())
    }
}

/// Parts that were given, by name.
pub(super) struct Parts<'a>(Vec<(&'a str, &'a [u8])>);

impl<'a> Parts<'a> {
    pub(super) fn new(sections: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        Self(sections.into_iter().collect())
    }

    /// The part of a name. It is an error if it is missing or there are two of it.
    pub(super) fn get(&self, name: &'static str) -> Result<&'a [u8], Error> {
        let mut found = self.0.iter().filter(|(other, _)| *other == name);
        match (found.next(), found.next()) {
            (Some((_, bytes)), None) => Ok(bytes),
            (None, _) => Err(Error::part(name, "is missing")),
            (Some(_), Some(_)) => Err(Error::part(name, "is there twice")),
        }
    }
}

/// The numbers of a batch, each of as many bytes as its width needs.
pub(super) fn encode_numbers(numbers: &Batch) -> Vec<u8> {
    let len = numbers.bits().div_ceil(8);
    let mut bytes = Vec::with_capacity(len * numbers.len());
    for number in numbers.iter() {
        let start = bytes.len();
        number.iter().for_each(|limb| bytes.extend_from_slice(&limb.to_le_bytes()));
        bytes.truncate(start + len);
    }
    bytes
}

/// The limbs of a little-endian number.
pub(super) fn limbs_of(bytes: &[u8]) -> Vec<u64> {
    let mut limbs = vec![0; bytes.len().div_ceil(8)];
    copy_limbs(bytes, &mut limbs);
    limbs
}

fn copy_limbs(bytes: &[u8], limbs: &mut [u64]) {
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *limb = u64::from_le_bytes(whole);
    }
}

/// `count` numbers below the modulus.
pub(super) fn decode_numbers(
    part: &'static str,
    bytes: &[u8],
    count: usize,
    modulus: &Modulus,
) -> Result<Batch, Error> {
    let len = modulus.bits().div_ceil(8);
    if len.checked_mul(count) != Some(bytes.len()) {
        return Err(Error::part(
            part,
            format!("has {} bytes where {count} numbers of {len} were expected", bytes.len()),
        ));
    }
    let mut numbers = Batch::try_zeros(modulus.bits(), count)?;
    for (index, bytes) in bytes.chunks(len).enumerate() {
        let number = numbers.get_mut(index);
        copy_limbs(bytes, number);
        if number.iter().rev().ge(modulus.value().iter().rev()) {
            return Err(Error::part(
                part,
                format!("has a number, item {index}, that is not below the modulus"),
            ));
        }
    }
    Ok(numbers)
}
