//! Token requests and responses as bytes.

/// The token type: Blind RSA (2048-bit).
pub(super) const TYPE: u16 = 2;
/// Bytes of a blinded message and of a blind signature.
const NK: usize = 256;

/// Why bytes are not token requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Wrong {
    /// The bytes have another structure.
    #[error("{0}")]
    Form(&'static str),
    /// The structure is right, and what it says is not.
    #[error("{0}")]
    Content(&'static str),
}

/// A token request (RFC 9578, section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenRequest<'a> {
    /// The last byte of the key's identifier.
    pub(super) truncated_key_id: u8,
    /// The blinded message.
    pub(super) blinded: &'a [u8; NK],
}

impl<'a> TokenRequest<'a> {
    /// The length of a token request.
    pub(super) const LEN: usize = 2 + 1 + NK;

    /// Takes a token request from the front of `bytes`.
    fn take(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Wrong> {
        let short = Wrong::Form("the request ends within a token request");
        let (kind, rest) = bytes.split_first_chunk().ok_or(short)?;
        if u16::from_be_bytes(*kind) != TYPE {
            return Err(Wrong::Content("the issuer has no tokens of this type"));
        }
        let (truncated_key_id, rest) = rest.split_first().ok_or(short)?;
        let (blinded, rest) = rest.split_first_chunk().ok_or(short)?;
        Ok((Self { truncated_key_id: *truncated_key_id, blinded }, rest))
    }
}

/// One token request.
pub(super) fn single(bytes: &[u8]) -> Result<TokenRequest<'_>, Wrong> {
    match TokenRequest::take(bytes)? {
        (request, []) => Ok(request),
        _ => Err(Wrong::Form("there are bytes after the token request")),
    }
}

/// A batch of at most `limit` token requests.
pub(super) fn batch(bytes: &[u8], limit: usize) -> Result<Vec<TokenRequest<'_>>, Wrong> {
    let (length, mut rest) = take_varint(bytes).ok_or(Wrong::Form("the batch has no length"))?;
    if u64::try_from(rest.len()) != Ok(length) {
        return Err(Wrong::Form("the batch has another length than it says"));
    }
    if rest.len() / TokenRequest::LEN > limit {
        return Err(Wrong::Content("the batch has too many token requests"));
    }
    let mut requests = Vec::with_capacity(rest.len() / TokenRequest::LEN);
    while !rest.is_empty() {
        let (request, next) = TokenRequest::take(rest)?;
        requests.push(request);
        rest = next;
    }
    if requests.is_empty() {
        return Err(Wrong::Content("the batch has no token request"));
    }
    Ok(requests)
}

/// The response to a batch.
pub(super) fn batch_response(signatures: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut responses = Vec::with_capacity(signatures.len() * (3 + NK));
    for signature in signatures {
        match signature {
            None => responses.push(0),
            Some(signature) => {
                responses.push(1);
                responses.extend_from_slice(&TYPE.to_be_bytes());
                responses.extend_from_slice(signature);
            }
        }
    }
    let mut response = varint(responses.len());
    response.extend_from_slice(&responses);
    response
}

/// Takes a variable-length integer (RFC 9000, section 16): the two upper bits of the first byte give its
/// length.
fn take_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1usize << (bytes.first()? >> 6);
    let (own, rest) = bytes.split_at_checked(length)?;
    let value = own.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value & (u64::MAX >> (66 - 8 * length).min(63) as u32), rest))
}

/// The shortest variable-length integer of `value`.
fn varint(value: usize) -> Vec<u8> {
    let value = value as u64;
    let prefix: u32 = match value {
        0..0x40 => 0,
        0x40..0x4000 => 1,
        0x4000..0x4000_0000 => 2,
        _ => 3,
    };
    let length = 1usize << prefix;
    let bytes = (value | u64::from(prefix) << (8 * length - 2)).to_be_bytes();
    bytes[8 - length..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_length() {
        // The examples of RFC 9000, appendix A.1.
        for (bytes, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
            (&[0x40, 0x25], 37),
        ] {
            assert_eq!(take_varint(bytes), Some((value, &[][..])));
        }
        for value in [0, 63, 64, 16_383, 16_384, (1 << 30) - 1, 1 << 30] {
            assert_eq!(take_varint(&varint(value)), Some((value as u64, &[][..])));
        }
        assert_eq!(varint(15_293), [0x7b, 0xbd]);
        for short in [&[][..], &[0x40], &[0x80, 0, 0], &[0xc0; 7]] {
            assert_eq!(take_varint(short), None);
        }
    }

    fn request(key: u8) -> Vec<u8> {
        [&[0, 2, key][..], &[key; NK]].concat()
    }

    #[test]
    fn batches_are_taken_apart() {
        let joined = [request(5), request(6)].concat();
        let bytes = [varint(joined.len()), joined.clone()].concat();
        let requests = batch(&bytes, 2).expect("a batch");
        assert_eq!(requests.iter().map(|request| request.truncated_key_id).collect::<Vec<_>>(), [5, 6]);
        assert!(matches!(batch(&bytes, 1), Err(Wrong::Content(_))));
        assert!(matches!(batch(&bytes[..bytes.len() - 1], 2), Err(Wrong::Form(_))));
        let cut = &joined[..joined.len() - 1];
        assert!(matches!(batch(&[varint(cut.len()), cut.to_vec()].concat(), 2), Err(Wrong::Form(_))));
        assert!(matches!(batch(&[0], 2), Err(Wrong::Content(_))));
        assert!(matches!(batch(&[], 2), Err(Wrong::Form(_))));
    }
}
