//! Paddings: which one is asked for, and those that are made here.

use crate::failure::Failure;
use crate::names::param;
use crate::params::{Given, Value};
use std::ffi::CStr;
use zeroize::Zeroizing;

/// A padding, with OpenSSL's number for it (`rsa.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    Pkcs1v15 = 1,
    None = 3,
    Oaep = 4,
    X931 = 5,
    Pss = 6,
    /// PKCS #1 v1.5 around the premaster secret of TLS, which is taken off without telling whether it was
    /// right.
    Tls = 7,
}

const NAMES: [(Padding, &CStr); 5] = [
    (Padding::Pkcs1v15, c"pkcs1"),
    (Padding::None, c"none"),
    (Padding::Oaep, c"oaep"),
    (Padding::X931, c"x931"),
    (Padding::Pss, c"pss"),
];

impl Padding {
    /// The padding among parameters, by its number or its name.
    pub(crate) fn read(given: Given<'_>) -> Result<Option<Self>, Failure> {
        let unknown =
            |what: &dyn std::fmt::Display| Failure::Parameter(format!("there is no padding {what}"));
        if let Some(name) = given.text(param::PAD_MODE)? {
            // "oeap" is a name that OpenSSL has since a release with that error.
            let name = if name == "oeap" { "oaep" } else { &name };
            let known = NAMES.iter().find(|(_, known)| known.to_bytes() == name.as_bytes());
            return known.map(|(padding, _)| Some(*padding)).ok_or_else(|| unknown(&name));
        }
        let Some(number) = given.integer(param::PAD_MODE)? else { return Ok(None) };
        let all = [Self::Pkcs1v15, Self::None, Self::Oaep, Self::X931, Self::Pss, Self::Tls];
        all.into_iter().find(|padding| *padding as i64 == number).map(Some).ok_or_else(|| unknown(&number))
    }

    /// The padding as a parameter: a number or a name, as the caller asks.
    pub(crate) fn value(self, as_text: bool) -> Value<'static> {
        let name = NAMES.iter().find(|(padding, _)| *padding == self);
        match (as_text, name) {
            (true, Some((_, name))) => Value::Text(name),
            _ => Value::Integer(self as i64),
        }
    }
}

/// `00 01 ff .. ff 00 contents`, as long as a modulus of `size` bytes (RFC 8017, section 9.2).
pub(crate) fn signature_block(contents: &[&[u8]], size: usize) -> Result<Vec<u8>, Failure> {
    let contents = contents.concat();
    // At least eight bytes of padding.
    let zero = size.checked_sub(contents.len() + 1).filter(|zero| *zero >= 10).ok_or_else(|| {
        let room = size.saturating_sub(11);
        Failure::Parameter(format!("{} bytes are to be signed, and {room} fit", contents.len()))
    })?;
    let mut block = vec![0xff; size];
    block[..2].copy_from_slice(&[0, 1]);
    block[zero] = 0;
    block[zero + 1..].copy_from_slice(&contents);
    Ok(block)
}

/// The contents of a block of [`signature_block`]. All of it is public.
pub(crate) fn signature_contents(block: &[u8]) -> Option<&[u8]> {
    let padded = block.strip_prefix(&[0, 1])?;
    let zero = padded.iter().position(|octet| *octet != 0xff)?;
    (zero >= 8 && padded[zero] == 0).then(|| &padded[zero + 1..])
}

/// The message in `block`, `00 02 padding 00 message` with at least eight bytes of padding, none of them
/// zero. `None` if the block has another form. The time depends on that, and on the length of the message,
/// and on nothing else.
pub(crate) fn message(block: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (front, rest) = block.split_at_checked(2)?;
    let mut wrong = u32::from(front[0]) | u32::from(front[1] ^ 2);
    // All ones until the first zero.
    let (mut looking, mut padding) = (u32::MAX, 0);
    for octet in rest {
        looking &= is_zero(u32::from(*octet)).wrapping_sub(1);
        padding += looking & 1;
    }
    // The first of these is 1 if there is no zero, the second if there are fewer than eight bytes before it.
    wrong |= (looking & 1) | (padding.wrapping_sub(8) >> 31);
    let is_right = std::hint::black_box(wrong) == 0;
    is_right.then(|| Zeroizing::new(rest[padding as usize + 1..].to_vec()))
}

/// The premaster secret of TLS 1.2 and older: 48 bytes that begin with a version.
const PREMASTER: usize = 48;

/// The premaster secret in `block`, or `substitute` if the padding or the version is wrong. The time does not
/// depend on the block (RFC 5246, section 7.4.7.1). `alternative` is a second version that old clients send
/// by mistake, 0 for none.
pub(crate) fn premaster(
    block: &[u8],
    version: u16,
    alternative: u16,
    substitute: Zeroizing<[u8; PREMASTER]>,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let start = block.len().checked_sub(PREMASTER).filter(|start| *start >= 11);
    let start = start.ok_or_else(|| Failure::Key("the key is too short for TLS".into()))?;
    let (padding, secret) = block.split_at(start);
    // Each of these is zero if all is well.
    let mut wrong = u32::from(padding[0]) | u32::from(padding[1] ^ 2) | u32::from(padding[start - 1]);
    for octet in &padding[2..start - 1] {
        wrong |= is_zero(u32::from(*octet));
    }
    let found = u32::from(u16::from_be_bytes([secret[0], secret[1]]));
    let other = if alternative == 0 { version } else { alternative };
    let is_other = is_zero(found ^ u32::from(version)) | is_zero(found ^ u32::from(other));
    wrong |= is_other ^ 1;
    // All ones if nothing is wrong, otherwise all zeros.
    let right = std::hint::black_box(is_zero(wrong).wrapping_neg() as u8);
    let chosen = secret.iter().zip(substitute.iter()).map(|(a, b)| (a & right) | (b & !right));
    Ok(Zeroizing::new(chosen.collect()))
}

/// 1 if `value` is 0, otherwise 0, without a branch. The value is below 2^31.
fn is_zero(value: u32) -> u32 {
    value.wrapping_sub(1) >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_signatures_are_those_of_the_standard() {
        let block = signature_block(&[b"ab", b"c"], 16).unwrap();
        assert_eq!(block, b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00abc");
        assert_eq!(signature_contents(&block), Some(&b"abc"[..]));
        assert_eq!(signature_block(&[&[7; 5]], 16).unwrap().len(), 16);
        assert!(signature_block(&[&[7; 6]], 16).is_err(), "fewer than eight octets of padding");
        for wrong in [
            &b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\x00abcdef"[..],
            b"\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00abc",
            b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc",
            b"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            b"",
        ] {
            assert_eq!(signature_contents(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn messages_are_found_behind_eight_octets() {
        let block = |padding: &[u8], rest: &[u8]| [&[0, 2], padding, rest].concat();
        for text in [&b""[..], b"a", b"a\x00b"] {
            let found = message(&block(&[9; 8], &[&[0], text].concat())).unwrap();
            assert_eq!(found[..], *text);
        }
        for wrong in [
            block(&[9; 7], b"\x00a"),
            block(&[9; 8], b"a"),
            block(b"", b"\x00aaaaaaaaaaaaa"),
            [&[1, 2], &[9; 8][..], b"\x00a"].concat(),
            [&[0, 1], &[9; 8][..], b"\x00a"].concat(),
            vec![],
        ] {
            assert!(message(&wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_wrong_premaster_secret_is_replaced() {
        let mut block = vec![0xaa; 128];
        (block[0], block[1], block[79]) = (0, 2, 0);
        block[80..].copy_from_slice(&[3; 48]);
        let substitute = || Zeroizing::new([9; 48]);
        let is_taken = |block: &[u8], version, alternative| {
            premaster(block, version, alternative, substitute()).unwrap()[..] == [3; 48]
        };
        assert!(is_taken(&block, 0x0303, 0));
        assert!(is_taken(&block, 0x0304, 0x0303));
        assert!(!is_taken(&block, 0x0302, 0));
        for (place, octet) in [(0, 1), (1, 1), (79, 1), (2, 0), (40, 0), (78, 0), (80, 4), (81, 0)] {
            let mut wrong = block.clone();
            wrong[place] = octet;
            let taken = premaster(&wrong, 0x0303, 0, substitute()).unwrap();
            assert_eq!(taken[..], [9; 48], "{place}");
        }
        assert!(premaster(&block[..58], 0x0303, 0, substitute()).is_err());
    }
}
