//! Signatures as bytes.

use crate::field::Field;
use crate::{Format, ItemError};
use pkcs8::der::asn1::UintRef;
use pkcs8::der::{Decode, Encode};

/// Writes a signature.
pub(crate) fn write<F: Field>(r: F, s: F, format: Format) -> Result<Vec<u8>, ItemError> {
    let mut bytes = vec![0; 2 * F::BYTES];
    r.write(&mut bytes[..F::BYTES]);
    s.write(&mut bytes[F::BYTES..]);
    if format == Format::Raw {
        return Ok(bytes);
    }
    let der = || {
        let (r, s) = bytes.split_at(F::BYTES);
        [UintRef::new(r)?, UintRef::new(s)?].to_der()
    };
    der().map_err(|_| ItemError::Fault)
}

/// Reads a public signature: two numbers from 1 to the order less one.
pub(crate) fn read<F: Field>(bytes: &[u8], format: Format) -> Result<[F; 2], ItemError> {
    let [r, s] = match format {
        Format::Raw => {
            let (expected, found) = (2 * F::BYTES, bytes.len());
            if expected != found {
                return Err(ItemError::SignatureLength { expected, found });
            }
            let (r, s) = bytes.split_at(F::BYTES);
            [r, s]
        }
        Format::Der => {
            let numbers = <Vec<UintRef<'_>>>::from_der(bytes).map_err(|_| ItemError::NotDer)?;
            let [r, s] = numbers[..].try_into().map_err(|_| ItemError::NotDer)?;
            [r, s].map(|number: UintRef<'_>| number.as_bytes())
        }
    };
    Ok([number(r, "r")?, number(s, "s")?])
}

fn number<F: Field>(bytes: &[u8], name: &'static str) -> Result<F, ItemError> {
    let wrong = ItemError::OutOfRange(name);
    if bytes.len() > F::BYTES {
        return Err(wrong);
    }
    let (number, in_range) = F::read(bytes);
    if in_range & !number.is_zero() == 0 { Err(wrong) } else { Ok(number) }
}
