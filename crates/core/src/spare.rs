//! Memory of dropped batches, cleared, for the next ones.
//!
//! New memory costs the system a page fault and a page of zeros at a time, which takes longer than a GPU takes for the
//! answers that go there. A batch clears its memory anyway when it is dropped, so that the memory is as good as new.

use std::sync::{Mutex, PoisonError};

/// Vectors of fewer limbs are left to the allocator.
const LEAST: usize = 1 << 17;

/// Limbs that are kept at most: a gigabyte.
const MOST: usize = 1 << 27;

/// Vectors of zeros.
static SPARE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// A vector of `len` zeros.
pub(crate) fn zeros(len: usize) -> Vec<u64> {
    let kept = if len < LEAST { None } else { take(len) };
    match kept {
        Some(mut limbs) => {
            // The vector is at least as long, and all of it is zero.
            limbs.truncate(len);
            limbs
        }
        None => vec![0; len],
    }
}

/// The smallest vector of at least `len` limbs that is less than twice as long.
fn take(len: usize) -> Option<Vec<u64>> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |limbs: &Vec<u64>| (len..2 * len).contains(&limbs.len());
    let place =
        spare.iter().enumerate().filter(|(_, limbs)| fits(limbs)).min_by_key(|(_, limbs)| limbs.len());
    let (place, _) = place?;
    Some(spare.swap_remove(place))
}

/// Keeps a vector that holds nothing but zeros. Where there is no room for it, those that were kept first go.
pub(crate) fn keep(limbs: Vec<u64>) {
    if limbs.len() < LEAST || limbs.len() > MOST {
        return;
    }
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut kept: usize = limbs.len() + spare.iter().map(Vec::len).sum::<usize>();
    while kept > MOST {
        kept -= spare.remove(0).len();
    }
    spare.push(limbs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_memory_comes_back_as_zeros_and_only_where_it_fits() {
        // No other test uses vectors of this length.
        let len = 3 * LEAST + 1;
        let address = |limbs: &[u64]| limbs.as_ptr() as usize;
        let first = vec![0; len];
        let place = address(&first);
        keep(first);
        assert!(take(len / 2 - 1).is_none() && take(len + 1).is_none());
        let again = zeros(len - 10);
        assert!(address(&again) == place && again.len() == len - 10 && again.iter().all(|&limb| limb == 0));
        keep(vec![0; LEAST - 1]);
        assert!(take(LEAST - 1).is_none(), "small vectors are not kept");
    }
}
