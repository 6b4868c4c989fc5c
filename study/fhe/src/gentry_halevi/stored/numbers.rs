//! Long numbers in sections, one after the other, without a second copy of them all.

use modmill::{Batch, Modulus};
use modmill_container::{FileError, Reader, Writer};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// The bytes of a number below the modulus.
fn bytes_of(modulus: &Modulus) -> usize {
    modulus.bits().div_ceil(8)
}

/// The error of a section with a number out of range.
pub(super) fn limit(section: &str) -> FileError {
    FileError::Content { section: section.to_owned(), reason: "holds a number out of range".to_owned() }
}

/// Writes a section with the numbers of a batch, which are at most the modulus.
pub(super) fn write_numbers(
    writer: &mut Writer<impl Write>,
    name: &str,
    numbers: &Batch,
    modulus: &Modulus,
) -> Result<(), FileError> {
    let length = bytes_of(modulus);
    writer.section(name, (length * numbers.len()) as u64, |output| {
        // Room for whole limbs; it does not grow, so that nothing is left behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(length + 8));
        numbers.iter().try_for_each(|number| {
            bytes.clear();
            number.iter().take(length.div_ceil(8)).for_each(|limb| bytes.extend(limb.to_le_bytes()));
            let whole = bytes.len().max(length);
            bytes.resize(whole, 0);
            output.write_all(&bytes[..length])
        })
    })
}

/// Reads a section with `count` numbers below the modulus.
pub(super) fn read_numbers(
    reader: &mut Reader<impl Read>,
    name: &str,
    count: usize,
    modulus: &Modulus,
) -> Result<Batch, FileError> {
    let length = bytes_of(modulus);
    let total = length.checked_mul(count).ok_or_else(|| limit(name))?;
    // From here on the file has as many bytes as the batch needs.
    reader.expect_length(name, total as u64)?;
    let mut numbers = Batch::try_zeros(modulus.bits(), count)
        .map_err(|_| FileError::Io(io::ErrorKind::OutOfMemory.into()))?;
    let mut bytes = Zeroizing::new(vec![0; length.next_multiple_of(8)]);
    for index in 0..count {
        reader.read(&mut bytes[..length])?;
        let number = numbers.get_mut(index);
        for (limb, bytes) in number.iter_mut().zip(bytes.as_chunks().0) {
            *limb = u64::from_le_bytes(*bytes);
        }
        if number.iter().rev().ge(modulus.value().iter().rev()) {
            return Err(limit(name));
        }
    }
    Ok(numbers)
}

/// Reads a section with `count` doubles.
pub(super) fn read_doubles(
    reader: &mut Reader<impl Read>,
    name: &str,
    count: usize,
) -> Result<Vec<f64>, FileError> {
    let total = count.checked_mul(8).ok_or_else(|| limit(name))?;
    reader.expect_length(name, total as u64)?;
    let bytes = reader.rest()?;
    Ok(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}
