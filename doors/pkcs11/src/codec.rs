//! Attributes as bytes, for the keystore file.
//!
//! One attribute after the other, in the order of their types: the type in eight bytes, the kind in one (0
//! for a flag, 1 for a number, 2 for bytes, 3 for an array of numbers), the length of the value in four, and
//! the value. All numbers are big-endian, whatever the processor.

use crate::attributes::Value;
use crate::object::Attributes;
use cryptoki_sys::CK_ATTRIBUTE_TYPE;
use zeroize::Zeroizing;

/// Bytes before each value.
const HEAD: usize = 13;

fn value_len(value: &Value) -> usize {
    match value {
        Value::Flag(_) => 1,
        Value::Number(_) => 8,
        Value::Bytes(bytes) => bytes.len(),
        Value::Numbers(numbers) => 8 * numbers.len(),
    }
}

/// The bytes of `attributes`.
pub(crate) fn encode(attributes: &Attributes) -> Zeroizing<Vec<u8>> {
    let len = attributes.values().map(|value| HEAD + value_len(value)).sum();
    // Room for it all at once: memory that grows leaves copies of secrets behind.
    let mut out = Zeroizing::new(Vec::with_capacity(len));
    for (attribute, value) in attributes {
        out.extend_from_slice(&(*attribute as u64).to_be_bytes());
        out.push(match value {
            Value::Flag(_) => 0,
            Value::Number(_) => 1,
            Value::Bytes(_) => 2,
            Value::Numbers(_) => 3,
        });
        // A value comes from a template, whose values are limited to far less than four gigabytes.
        out.extend_from_slice(&(value_len(value) as u32).to_be_bytes());
        match value {
            Value::Flag(flag) => out.push(u8::from(*flag)),
            Value::Number(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::Numbers(numbers) => {
                numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
            }
        }
    }
    out
}

/// The attributes in `bytes`; `None` if [`encode`] did not write them.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Attributes> {
    let mut attributes = Attributes::new();
    while !bytes.is_empty() {
        let (attribute, rest) = bytes.split_first_chunk::<8>()?;
        let (kind, rest) = rest.split_first()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*len)).ok()?)?;
        let value = match (kind, value) {
            (0, [flag @ (0 | 1)]) => Value::Flag(*flag == 1),
            (1, number) => Value::Number(u64::from_be_bytes(number.try_into().ok()?)),
            (2, bytes) => Value::from(bytes),
            (3, numbers) if numbers.len() % 8 == 0 => {
                let (numbers, _) = numbers.as_chunks();
                Value::Numbers(numbers.iter().map(|number| u64::from_be_bytes(*number)).collect())
            }
            _ => return None,
        };
        let attribute = CK_ATTRIBUTE_TYPE::try_from(u64::from_be_bytes(*attribute)).ok()?;
        if attributes.insert(attribute, value).is_some() {
            return None;
        }
        bytes = rest;
    }
    Some(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cryptoki_sys::{CKA_ALLOWED_MECHANISMS, CKA_CLASS, CKA_LABEL, CKA_TOKEN};

    fn sample() -> Attributes {
        let values = [Value::from(3), Value::from(&b"label"[..]), Value::from(true)];
        [CKA_CLASS, CKA_LABEL, CKA_TOKEN].into_iter().zip(values).collect()
    }

    #[test]
    fn attributes_come_back() {
        let list = |numbers: &[u64]| [(CKA_ALLOWED_MECHANISMS, Value::Numbers(numbers.to_vec()))].into();
        for attributes in [Attributes::new(), sample(), list(&[]), list(&[1, u64::MAX])] {
            assert!(decode(&encode(&attributes)) == Some(attributes));
        }
        let mut cut = encode(&list(&[7])).to_vec();
        cut[HEAD - 1] = 7;
        assert!(decode(&cut[..HEAD + 7]).is_none(), "a list has whole numbers");
    }

    #[test]
    fn every_other_length_is_refused() {
        let bytes = encode(&sample());
        let whole = [HEAD + 8, 2 * HEAD + 9, 0];
        for len in (0..bytes.len()).filter(|len| !whole.contains(len)) {
            assert!(decode(&bytes[..len]).is_none(), "{len}");
        }
        assert!(decode(&[&bytes[..], &bytes[..]].concat()).is_none(), "attributes are given once");
    }
}
