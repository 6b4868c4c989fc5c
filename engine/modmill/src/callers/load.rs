//! The items that all calls of a shape have under way, wherever they are computed.

use modmill_core::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::hash::Hash;

/// Items under way, by shape.
pub(crate) struct Load<Shape>(Mutex<HashMap<Shape, usize>>);

/// Items of a call, under way until this is dropped.
pub(crate) struct UnderWay<'a, Shape: Hash + Eq> {
    load: &'a Load<Shape>,
    pub(crate) shape: Shape,
    items: usize,
}

impl<Shape> Default for Load<Shape> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Shape: Hash + Eq + Clone> Load<Shape> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Shape, usize>> {
        self.0.lock()
    }

    /// Counts the items of a call.
    pub(crate) fn add(&self, shape: Shape, items: usize) -> UnderWay<'_, Shape> {
        *self.lock().entry(shape.clone()).or_default() += items;
        UnderWay { load: self, shape, items }
    }
}

impl<Shape: Hash + Eq + Clone> UnderWay<'_, Shape> {
    /// Items of all calls of this shape, this one's among them.
    pub(crate) fn of_all(&self) -> usize {
        self.load.lock().get(&self.shape).copied().unwrap_or(0)
    }
}

impl<Shape: Hash + Eq> Drop for UnderWay<'_, Shape> {
    fn drop(&mut self) {
        let mut load = self.load.0.lock();
        if let Some(items) = load.get_mut(&self.shape) {
            *items -= self.items;
            if *items == 0 {
                load.remove(&self.shape);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_shape_are_counted_while_they_live() {
        let load = Load::default();
        let first = load.add("a", 5);
        let second = load.add("a", 6);
        let other = load.add("b", 7);
        assert_eq!([&first, &second, &other].map(UnderWay::of_all), [11, 11, 7]);
        drop(first);
        assert_eq!(second.of_all(), 6);
        drop((second, other));
        assert!(load.lock().is_empty());
    }
}
