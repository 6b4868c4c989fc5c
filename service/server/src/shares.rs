//! Room that many draw from, such that nobody can take all of it.
//!
//! A holder may take more as long as no less stays free than it has then. So a lone holder gets half of the
//! room, two get a third each, and who comes last finds room, whatever the others hold.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Room of `most` units for holders that are told apart by `K`.
pub(crate) struct Shares<K> {
    most: usize,
    ledger: Mutex<Ledger<K>>,
}

struct Ledger<K> {
    all: usize,
    by_holder: HashMap<K, usize>,
}

impl<K: Clone + Eq + Hash> Shares<K> {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let ledger = Mutex::new(Ledger { all: 0, by_holder: HashMap::new() });
        Arc::new(Self { most, ledger })
    }

    /// The units that are taken at present.
    pub(crate) fn held(&self) -> usize {
        self.ledger().all
    }

    /// A share of `holder` with nothing in it.
    pub(crate) fn open(self: &Arc<Self>, holder: K) -> Share<K> {
        Share { shares: Arc::clone(self), holder, units: 0 }
    }

    /// A share of `holder` with `units`. `None` if there is no room.
    pub(crate) fn take(self: &Arc<Self>, holder: K, units: usize) -> Option<Share<K>> {
        let mut share = self.open(holder);
        share.grow_to(units).then_some(share)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger<K>> {
        self.ledger.lock()
    }
}

/// A part of the room, which is given back when it is dropped.
pub(crate) struct Share<K: Clone + Eq + Hash> {
    shares: Arc<Shares<K>>,
    holder: K,
    units: usize,
}

impl<K: Clone + Eq + Hash> Share<K> {
    /// Takes as much as is missing to `units`. Returns whether there was room; without room the share stays
    /// as it is.
    pub(crate) fn grow_to(&mut self, units: usize) -> bool {
        let more = units.saturating_sub(self.units);
        if more == 0 {
            return true;
        }
        let mut ledger = self.shares.ledger();
        let own = ledger.by_holder.get(&self.holder).copied().unwrap_or(0).saturating_add(more);
        let all = ledger.all.saturating_add(more);
        if self.shares.most.checked_sub(all).is_none_or(|free| own > free) {
            return false;
        }
        ledger.all = all;
        ledger.by_holder.insert(self.holder.clone(), own);
        drop(ledger);
        self.units = units;
        true
    }

    /// Gives back what is above `units`.
    pub(crate) fn shrink_to(&mut self, units: usize) {
        let less = self.units.saturating_sub(units);
        if less == 0 {
            return;
        }
        self.units -= less;
        let mut ledger = self.shares.ledger();
        ledger.all -= less;
        let own = ledger.by_holder.get(&self.holder).copied().unwrap_or(0).saturating_sub(less);
        match own {
            0 => ledger.by_holder.remove(&self.holder),
            own => ledger.by_holder.insert(self.holder.clone(), own),
        };
    }
}

impl<K: Clone + Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_all_and_who_comes_last_finds_room() {
        let shares = Shares::new(100);
        let mut greedy = shares.open("greedy");
        assert!(greedy.grow_to(50) && !greedy.grow_to(51));
        assert!(shares.take("greedy", 1).is_none());
        let second = shares.take("second", 25).unwrap();
        assert!(shares.take("second", 1).is_none());
        let third = shares.take("third", 12).unwrap();
        assert_eq!(shares.held(), 87);
        greedy.shrink_to(60);
        assert_eq!(shares.held(), 87);
        greedy.shrink_to(20);
        assert_eq!(shares.held(), 57);
        drop(greedy);
        assert_eq!(shares.held(), 37);
        // All of a holder's shares count together.
        let more = shares.take("third", 25).unwrap();
        assert!(shares.take("third", 1).is_none());
        drop((second, third, more));
        assert_eq!(shares.held(), 0);
        assert!(shares.ledger().by_holder.is_empty());
        assert!(shares.take("greedy", usize::MAX).is_none());
    }
}
