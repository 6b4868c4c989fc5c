//! Signatures of ANSI X9.31, which old programs make and check.

use crate::digest::Digest;
use crate::failure::Failure;
use modmill_rsa::{Hash, PublicKey};

/// The number that stands for a digest (ISO/IEC 10118).
fn identifier(digest: Digest) -> Result<u8, Failure> {
    match digest {
        Digest::Known(Hash::Sha1) => Ok(0x33),
        Digest::Known(Hash::Sha256) => Ok(0x34),
        Digest::Known(Hash::Sha384) => Ok(0x36),
        Digest::Known(Hash::Sha512) => Ok(0x35),
        other => {
            Err(Failure::Parameter(format!("X9.31 is not defined with {}", other.name().to_string_lossy())))
        }
    }
}

/// Refuses digests that X9.31 has no number for, and no digest at all.
pub(crate) fn check(digest: Option<Digest>) -> Result<Digest, Failure> {
    let digest = digest.ok_or_else(|| Failure::Parameter("the padding x931 needs a digest".into()))?;
    identifier(digest).map(|_| digest)
}

/// `6b bb .. bb ba digest identifier cc`, as long as a modulus of `size` bytes; `6a` alone stands before a
/// digest that leaves no room for more.
pub(crate) fn block(digest: Digest, input: &[u8], size: usize) -> Result<Vec<u8>, Failure> {
    let end = [input, &[identifier(digest)?, 0xcc]].concat();
    let front = size.checked_sub(end.len()).filter(|front| *front > 0);
    let front = front.ok_or_else(|| Failure::Key(format!("the digest does not fit into {size} bytes")))?;
    let mut block = vec![0xbb; front];
    (block[0], block[front - 1]) = (0x6b, 0xba);
    if front == 1 {
        block[0] = 0x6a;
    }
    block.extend(end);
    Ok(block)
}

/// The signature of a block: the private power or its difference from the modulus, whichever is less.
pub(crate) fn signature(key: &PublicKey, power: &[u8]) -> Vec<u8> {
    difference(key, power).min(power.to_vec())
}

/// The block of a signature, of which `power` is the public power. Blocks end with the digit c.
pub(crate) fn signed(key: &PublicKey, power: Vec<u8>) -> Vec<u8> {
    match power.last() {
        Some(last) if last & 15 != 12 => difference(key, &power),
        _ => power,
    }
}

/// The modulus without `number`, which is less and as long.
fn difference(key: &PublicKey, number: &[u8]) -> Vec<u8> {
    subtract(key.modulus_bytes(), number)
}

fn subtract(from: &[u8], number: &[u8]) -> Vec<u8> {
    let mut difference = from.to_vec();
    let mut borrow = false;
    for (octet, taken) in difference.iter_mut().zip(number).rev() {
        let (rest, first) = octet.overflowing_sub(*taken);
        let (rest, second) = rest.overflowing_sub(u8::from(borrow));
        (*octet, borrow) = (rest, first || second);
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_standard() {
        let sha1 = Digest::Known(Hash::Sha1);
        let of = |size| block(sha1, &[7; 20], size);
        assert_eq!(of(26).unwrap(), [&[0x6b, 0xbb, 0xbb, 0xba][..], &[7; 20], &[0x33, 0xcc]].concat());
        assert_eq!(of(24).unwrap(), [&[0x6b, 0xba][..], &[7; 20], &[0x33, 0xcc]].concat());
        assert_eq!(of(23).unwrap(), [&[0x6a][..], &[7; 20], &[0x33, 0xcc]].concat());
        assert!(of(22).is_err() && of(5).is_err());
        assert!(check(Some(Digest::Md5)).is_err() && check(Some(Digest::Known(Hash::Sha224))).is_err());
        assert!(check(None).is_err() && check(Some(sha1)).is_ok());
    }

    #[test]
    fn differences_borrow() {
        assert_eq!(subtract(&[1, 0, 0], &[0, 0, 1]), [0, 0xff, 0xff]);
        assert_eq!(subtract(&[9, 0, 5], &[8, 0xff, 6]), [0, 0, 0xff]);
    }
}
