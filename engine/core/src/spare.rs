//! Memory of dropped batches for the next ones.
//!
//! New memory costs the system a page fault and a page of zeros at a time, which takes longer than a GPU
//! takes for the answers that go there.

use crate::sync::Mutex;

/// Vectors whose contents nobody needs any more, kept for the next that are as long.
pub struct Spare<T> {
    least: usize,
    most: usize,
    kept: Mutex<Vec<Vec<T>>>,
}

impl<T: Copy + Default> Spare<T> {
    /// Keeps vectors of at least `least` elements, and at most `most` elements in all.
    #[must_use]
    pub const fn new(least: usize, most: usize) -> Self {
        Self { least, most, kept: Mutex::new(Vec::new()) }
    }

    /// A vector of `len` elements that was kept, with what it held, if there is one.
    pub fn take_kept(&self, len: usize) -> Option<Vec<T>> {
        let mut elements = if len < self.least { None } else { self.smallest(len) }?;
        elements.truncate(len);
        Some(elements)
    }

    /// The smallest kept vector of at least `len` elements that is less than twice as long.
    fn smallest(&self, len: usize) -> Option<Vec<T>> {
        let mut kept = self.kept.lock();
        let fits = |elements: &Vec<T>| (len..len.saturating_mul(2)).contains(&elements.len());
        let found = kept.iter().enumerate().filter(|(_, kept)| fits(kept)).min_by_key(|(_, kept)| kept.len());
        let (place, _) = found?;
        Some(kept.swap_remove(place))
    }

    /// Keeps a vector as it is. Where there is no room for it, those that were kept first go.
    pub fn keep(&self, elements: Vec<T>) {
        if !(self.least..=self.most).contains(&elements.len()) {
            return;
        }
        let mut kept = self.kept.lock();
        let mut total = elements.len() + kept.iter().map(Vec::len).sum::<usize>();
        while total > self.most {
            total -= kept.remove(0).len();
        }
        kept.push(elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_memory_comes_back_only_where_it_fits() {
        let spare = Spare::new(1000, 4000);
        let address = |elements: &[u8]| elements.as_ptr() as usize;
        let first = vec![7; 3001];
        let place = address(&first);
        spare.keep(first);
        assert!(spare.smallest(1500).is_none() && spare.smallest(3002).is_none());
        let again = spare.take(2990);
        assert_eq!((address(&again), again.len()), (place, 2990));
        spare.keep(vec![7; 999]);
        assert_eq!(spare.take(999), [0; 999], "small vectors are not kept");
    }

    #[test]
    fn the_oldest_go_where_there_is_no_room() {
        let spare = Spare::new(1, 10);
        for len in [3, 4, 8] {
            spare.keep(vec![len as u8; len]);
        }
        assert_eq!((spare.take(3), spare.take(8)), (vec![0; 3], vec![8; 8]));
    }
}
