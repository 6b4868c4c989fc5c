//! Vectors of integers in residues.

use super::moduli::ResidueModuli;
use crate::error::Error;
use crate::spare::Spare;
use std::fmt;
use std::num::NonZero;
use std::thread;
use zeroize::Zeroize;

/// Cleared memory of dropped vectors, from a megabyte to a gigabyte.
static CLEARED: Spare<u32> = Spare::new(1 << 18, 1 << 28);

/// Vectors of the same length with elements in residues. Residue i of element j of vector v is word
/// `(v k + i) length + j`: all residues of one modulus lie side by side. Cleared when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct ResidueVectors {
    moduli: ResidueModuli,
    count: usize,
    length: usize,
    words: Vec<u32>,
}

impl ResidueVectors {
    /// `count` vectors of `length` zeros.
    pub fn zeros(moduli: &ResidueModuli, count: usize, length: usize) -> Result<Self, Error> {
        let words = zero_words(words_of(moduli, count, length)?)?;
        Ok(Self { moduli: moduli.clone(), count, length, words })
    }

    /// Vectors from their words, in the order of the type. It is an error if they are not as many as that, or
    /// not below their moduli.
    pub fn from_words(
        moduli: &ResidueModuli,
        count: usize,
        length: usize,
        words: Vec<u32>,
    ) -> Result<Self, Error> {
        let expected = words_of(moduli, count, length)?;
        if words.len() != expected {
            return Err(Error::LengthMismatch { what: "the residues", expected, found: words.len() });
        }
        moduli.check_planes(length, &words)?;
        Ok(Self { moduli: moduli.clone(), count, length, words })
    }

    /// The moduli.
    #[must_use]
    pub fn moduli(&self) -> &ResidueModuli {
        &self.moduli
    }

    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The elements of a vector.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// All residues, in the order of the type.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.words
    }

    /// All residues, for writing. Each must stay below its modulus.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// The residues of a vector.
    #[must_use]
    pub fn vector(&self, vector: usize) -> &[u32] {
        let words = self.moduli.len() * self.length;
        &self.words[vector * words..][..words]
    }

    /// The residues of a vector modulo the modulus at `place`.
    #[must_use]
    pub fn plane(&self, vector: usize, place: usize) -> &[u32] {
        &self.vector(vector)[place * self.length..][..self.length]
    }
}

impl ResidueVectors {
    /// Checks that answers fit here: `count` vectors of `length` elements in residues of these moduli.
    pub fn check_answers(&self, moduli: &ResidueModuli, count: usize, length: usize) -> Result<(), Error> {
        for (what, expected, found) in
            [("the list of answers", count, self.count), ("a vector for answers", length, self.length)]
        {
            if found != expected {
                return Err(Error::LengthMismatch { what, expected, found });
            }
        }
        if self.moduli == *moduli { Ok(()) } else { Err(Error::OtherModuli) }
    }
}

impl ResidueModuli {
    /// Checks that words in planes of `length` words, one plane for each modulus in turn, are below their
    /// moduli.
    pub fn check_planes(&self, length: usize, words: &[u32]) -> Result<(), Error> {
        for (index, plane) in words.chunks(length.max(1)).enumerate() {
            let modulus = self.words()[index % self.len()].get();
            if let Some(place) = plane.iter().position(|&word| word >= modulus) {
                return Err(Error::NotReduced { index: index * length + place, modulus });
            }
        }
        Ok(())
    }
}

fn words_of(moduli: &ResidueModuli, count: usize, length: usize) -> Result<usize, Error> {
    let words = count.checked_mul(length).and_then(|words| words.checked_mul(moduli.len()));
    words.filter(|&words| words <= isize::MAX as usize / 8).ok_or(Error::no_memory(usize::MAX))
}

/// A vector of `count` zeros. It is an error if there is not enough memory.
pub(super) fn zero_words(count: usize) -> Result<Vec<u32>, Error> {
    CLEARED.try_take(count)
}

/// Overwrites words with zeros. Several threads do, where one would take longer than starting them: answers
/// of a GPU have hundreds of megabytes.
fn clear(words: &mut [u32]) {
    /// The fewest words of a thread.
    const SHARE: usize = 1 << 22;
    /// The most threads. More do not fill memory faster.
    const THREADS: usize = 8;
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(words.len() / SHARE).min(THREADS);
    let is_cleared = threads > 1
        && thread::scope(|scope| {
            let mut shares = words.chunks_mut(words.len().div_ceil(threads));
            shares.all(|share| thread::Builder::new().spawn_scoped(scope, || share.fill(0)).is_ok())
        });
    if !is_cleared {
        // Few words, or a thread that the system refused.
        words.fill(0);
    }
    zeroize::optimization_barrier(words);
}

impl Drop for ResidueVectors {
    fn drop(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        clear(&mut words);
        words.spare_capacity_mut().zeroize();
        CLEARED.keep(words);
    }
}

impl fmt::Debug for ResidueVectors {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResidueVectors({} x {} x {} residues)", self.count, self.length, self.moduli.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_are_cleared() {
        for count in [0, 1, 1000, (2 << 22) + 1] {
            let mut words = vec![u32::MAX; count];
            clear(&mut words);
            assert!(words.iter().all(|&word| word == 0), "{count} words");
        }
    }

    #[test]
    fn words_are_checked() {
        let moduli = ResidueModuli::new(&[5, 7]).unwrap();
        let vectors = ResidueVectors::from_words(&moduli, 1, 2, vec![4, 0, 6, 5]).unwrap();
        assert_eq!((vectors.plane(0, 0), vectors.plane(0, 1)), (&[4, 0][..], &[6, 5][..]));
        let wrong = ResidueVectors::from_words(&moduli, 1, 2, vec![4, 5, 6, 5]);
        assert_eq!(wrong, Err(Error::NotReduced { index: 1, modulus: 5 }));
        assert!(ResidueVectors::from_words(&moduli, 2, 2, vec![0; 4]).is_err());
        assert!(matches!(ResidueVectors::zeros(&moduli, usize::MAX, 2), Err(Error::OutOfMemory { .. })));
        assert!(matches!(ResidueVectors::zeros(&moduli, 1 << 58, 1), Err(Error::OutOfMemory { .. })));
        assert_eq!(format!("{vectors:?}"), "ResidueVectors(1 x 2 x 2 residues)");
        assert_eq!(vectors.check_answers(&moduli, 1, 2), Ok(()));
        for (count, length) in [(2, 2), (1, 3)] {
            let refused = vectors.check_answers(&moduli, count, length);
            assert!(matches!(refused, Err(Error::LengthMismatch { .. })), "{refused:?}");
        }
        let other = ResidueModuli::new(&[5, 9]).unwrap();
        assert_eq!(vectors.check_answers(&other, 1, 2), Err(Error::OtherModuli));
    }
}
