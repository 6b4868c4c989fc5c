//! Hashing of data that comes in pieces.

use super::{Digest, Hash};
use digest::{ExtendableOutput, Update, XofReader};
use std::fmt;
use std::io;

/// Hashes data piece by piece, so that a file need not be in memory as a whole. [`crate::Rsa::sign_digests`]
/// and [`crate::Rsa::verify_digests`] take the digest.
///
/// ```
/// use modmill_rsa::Hash;
///
/// let mut file: &[u8] = b"the contents of a long file";
/// let mut hasher = Hash::Sha256.hasher();
/// std::io::copy(&mut file, &mut hasher)?;
/// assert_eq!(hasher.finish(), Hash::Sha256.digest(&[b"the contents of a long file"]));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Hasher {
    hash: Hash,
    state: Box<dyn Absorb + Send>,
}

impl Hasher {
    pub(super) fn new(hash: Hash) -> Self {
        Self { hash, state: with_state!(hash, |State| Box::new(State::default())) }
    }

    /// The hash function that this hasher computes.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Appends `data` to the message that is hashed.
    pub fn update(&mut self, data: &[u8]) {
        self.state.absorb(data);
    }

    /// Returns the digest of everything that was appended.
    #[must_use]
    pub fn finish(mut self) -> Digest {
        self.hash.finish(|out| self.state.squeeze(out))
    }
}

impl io::Write for Hasher {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Clone for Hasher {
    /// A hasher that goes on from the message so far.
    fn clone(&self) -> Self {
        Self { hash: self.hash, state: self.state.duplicate() }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({})", self.hash)
    }
}

/// The running state of a hash function.
pub(super) trait Absorb {
    /// Appends `data` to the message that is hashed.
    fn absorb(&mut self, data: &[u8]);

    /// Fills `out` with the digest, and starts anew. `out` is as long as the digest, or of any length for an
    /// extendable-output function.
    fn squeeze(&mut self, out: &mut [u8]);

    /// A copy of the state.
    fn duplicate(&self) -> Box<dyn Absorb + Send>;
}

/// The state of a hash function whose output has a fixed length.
#[derive(Clone, Default)]
pub(super) struct Fixed<D>(D);

impl<D: digest::Digest + digest::FixedOutputReset + Clone + Send + 'static> Absorb for Fixed<D> {
    fn absorb(&mut self, data: &[u8]) {
        digest::Digest::update(&mut self.0, data);
    }

    fn squeeze(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&digest::Digest::finalize_reset(&mut self.0));
    }

    fn duplicate(&self) -> Box<dyn Absorb + Send> {
        Box::new(self.clone())
    }
}

/// The state of an extendable-output function.
#[derive(Clone, Default)]
pub(super) struct Extendable<X>(X);

impl<X: ExtendableOutput + Default + Clone + Send + 'static> Absorb for Extendable<X> {
    fn absorb(&mut self, data: &[u8]) {
        Update::update(&mut self.0, data);
    }

    fn squeeze(&mut self, out: &mut [u8]) {
        std::mem::take(&mut self.0).finalize_xof().read(out);
    }

    fn duplicate(&self) -> Box<dyn Absorb + Send> {
        Box::new(self.clone())
    }
}

/// Evaluates `$body` with `$State` as the state type of `$hash`.
macro_rules! with_state {
    ($hash:expr, |$State:ident| $body:expr) => {{
        use $crate::hash::hasher::{Extendable, Fixed};
        macro_rules! with {
            ($type:ty) => {{
                type $State = $type;
                $body
            }};
        }
        match $hash {
            Hash::Sha1 => with!(Fixed<sha1::Sha1>),
            Hash::Sha224 => with!(Fixed<sha2::Sha224>),
            Hash::Sha256 => with!(Fixed<sha2::Sha256>),
            Hash::Sha384 => with!(Fixed<sha2::Sha384>),
            Hash::Sha512 => with!(Fixed<sha2::Sha512>),
            Hash::Sha512_224 => with!(Fixed<sha2::Sha512_224>),
            Hash::Sha512_256 => with!(Fixed<sha2::Sha512_256>),
            Hash::Sha3_224 => with!(Fixed<sha3::Sha3_224>),
            Hash::Sha3_256 => with!(Fixed<sha3::Sha3_256>),
            Hash::Sha3_384 => with!(Fixed<sha3::Sha3_384>),
            Hash::Sha3_512 => with!(Fixed<sha3::Sha3_512>),
            Hash::Shake128 => with!(Extendable<shake::Shake128>),
            Hash::Shake256 => with!(Extendable<shake::Shake256>),
        }
    }};
}

pub(super) use with_state;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hash_to_the_digest_of_the_whole() {
        let data: Vec<u8> = (0..1000u32).map(|index| (index % 251) as u8).collect();
        for hash in Hash::all() {
            for piece in [1, 7, 64, 136, 1000] {
                let mut hasher = hash.hasher();
                data.chunks(piece).for_each(|piece| hasher.update(piece));
                assert_eq!(hasher.hash(), hash);
                let mut other = hasher.clone();
                other.update(b"more");
                assert_eq!(other.finish(), hash.digest(&[&data, b"more"]), "{hash} goes on from a copy");
                assert_eq!(hasher.finish(), hash.digest(&[&data]), "{hash} in pieces of {piece}");
            }
            assert_eq!(hash.hasher().finish(), hash.digest(&[]));
        }
    }
}
