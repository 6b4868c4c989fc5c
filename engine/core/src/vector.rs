//! New vectors, or an error if memory runs out.

use crate::{Error, Spare};

/// A new vector of `len` default values, or an error if memory runs out.
pub fn try_vector<T: Copy + Default>(len: usize) -> Result<Vec<T>, Error> {
    /// The least number of bytes that the system hands out as new pages.
    const PAGES: usize = 1 << 20;
    let bytes = len.saturating_mul(size_of::<T>());
    let mut elements = Vec::new();
    elements.try_reserve_exact(len).map_err(|_| Error::no_memory(bytes))?;
    if bytes < PAGES {
        elements.resize(len, T::default());
        return Ok(elements);
    }
    // New pages are zero, and cost nothing before they are touched.
    drop(elements);
    Ok(vec![T::default(); len])
}

impl<T: Copy + Default> Spare<T> {
    /// A vector of `len` elements: one that was kept, with what it held, or a new one of default values.
    ///
    /// # Panics
    /// If memory runs out.
    pub fn take(&self, len: usize) -> Vec<T> {
        self.try_take(len).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Spare::take`], or an error if memory runs out.
    pub fn try_take(&self, len: usize) -> Result<Vec<T>, Error> {
        self.take_kept(len).map_or_else(|| try_vector(len), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let spare = Spare::<u64>::new(1000, 4000);
        assert_eq!(spare.try_take(7), Ok(vec![0; 7]));
        assert_eq!(spare.try_take(1007), Ok(vec![0; 1007]));
        for len in [1 << 58, usize::MAX] {
            let Err(Error::OutOfMemory { bytes, .. }) = spare.try_take(len) else { panic!("{len}") };
            assert_eq!(bytes, len.saturating_mul(8));
        }
    }
}
