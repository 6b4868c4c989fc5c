//! Signatures that came from a service.

use bytes::Bytes;

/// Signatures in the order of their digests, in one piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signed {
    flags: Bytes,
    signatures: Bytes,
    length: usize,
}

impl Signed {
    /// `flags` has a byte for each digest, which is 0 if it was signed; `signatures` has `length` bytes for
    /// each.
    pub(super) fn new(flags: Bytes, signatures: Bytes, length: usize) -> Self {
        Self { flags, signatures, length }
    }

    pub(super) fn append(&mut self, other: Self) {
        let join = |first: &mut Bytes, second: Bytes| {
            // The memory is this value's own after the first call, so that it grows without being copied each
            // time.
            let mut joined = std::mem::take(first).try_into_mut().unwrap_or_else(|shared| shared[..].into());
            joined.extend_from_slice(&second);
            *first = joined.freeze();
        };
        join(&mut self.flags, other.flags);
        join(&mut self.signatures, other.signatures);
    }

    /// The number of digests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flags.len()
    }

    /// Whether there is no digest.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// The signature of a digest. `None` if the service could not sign it, or if there are not that many
    /// digests.
    #[must_use]
    pub fn get(&self, item: usize) -> Option<&[u8]> {
        let start = item.checked_mul(self.length)?;
        self.flags.get(item).filter(|flag| **flag == 0)?;
        self.signatures.get(start..start + self.length)
    }

    /// The signatures in order, as [`Signed::get`] gives them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|item| self.get(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_joined_in_order() {
        let mut signed = Signed::new(Bytes::from_static(&[0, 1]), Bytes::from_static(b"ab--"), 2);
        signed.append(Signed::new(Bytes::from_static(&[0]), Bytes::from_static(b"cd"), 2));
        let all: Vec<_> = signed.iter().collect();
        assert_eq!(all, [Some(&b"ab"[..]), None, Some(b"cd")]);
        assert_eq!(signed.get(3), None);
        assert_eq!(signed.get(usize::MAX), None);
    }
}
