//! The items of a job: indices into its operands.

use std::ops::Range;

/// The items of a job, as indices into its operands, in the order of the answers.
///
/// # Examples
///
/// ```
/// use modmill_core::Items;
///
/// let all = Items::from(5..9);
/// let some = Items::from(&[7, 5][..]);
/// assert_eq!((all.get(2), some.get(1)), (7, 5));
/// assert_eq!(all.part(1..3).iter().collect::<Vec<_>>(), [6, 7]);
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Items<'a> {
    /// All items from `start` up to `end`, without `end`. Their numbers stand together in memory.
    Range {
        /// The first item.
        start: usize,
        /// The item behind the last one.
        end: usize,
    },
    /// The items of a list.
    List(&'a [usize]),
}

impl<'a> Items<'a> {
    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Range { start, end } => end.saturating_sub(*start),
            Self::List(list) => list.len(),
        }
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `place`.
    ///
    /// # Panics
    /// If a list has no such place, as indexing does.
    #[must_use]
    pub fn get(&self, place: usize) -> usize {
        match self {
            Self::Range { start, .. } => start + place,
            Self::List(list) => list[place],
        }
    }

    /// The items at some places.
    ///
    /// # Panics
    /// If a list has no such places, as indexing does.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        match self {
            Self::Range { start, .. } => Self::Range { start: start + places.start, end: start + places.end },
            Self::List(list) => Self::List(&list[places]),
        }
    }

    /// The items one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + use<'a> {
        let items = *self;
        (0..items.len()).map(move |place| items.get(place))
    }

    /// The items in groups of `size`; the last group may be smaller.
    pub fn chunks(&self, size: usize) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let items = *self;
        let size = size.max(1);
        (0..items.len().div_ceil(size)).map(move |group| items.chunk(group, size))
    }

    /// Group `group` of the groups that [`Items::chunks`] gives.
    #[must_use]
    pub fn chunk(&self, group: usize, size: usize) -> Self {
        self.part(group * size..self.len().min((group + 1) * size))
    }

    /// The largest item.
    #[must_use]
    pub fn last(&self) -> Option<usize> {
        match self {
            Self::Range { start, end } => end.checked_sub(1).filter(|last| last >= start),
            Self::List(list) => list.iter().copied().max(),
        }
    }
}

impl From<Range<usize>> for Items<'_> {
    fn from(Range { start, end }: Range<usize>) -> Self {
        Self::Range { start, end }
    }
}

impl<'a> From<&'a [usize]> for Items<'a> {
    fn from(list: &'a [usize]) -> Self {
        Self::List(list)
    }
}

impl<'a> From<&'a Vec<usize>> for Items<'a> {
    fn from(list: &'a Vec<usize>) -> Self {
        Self::List(list)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Items<'a> {
    fn from(list: &'a [usize; N]) -> Self {
        Self::List(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_list_of_its_items() {
        let list: Vec<usize> = (3..14).collect();
        let (range, listed) = (Items::from(3..14), Items::from(&list));
        assert_eq!((range.len(), range.last(), listed.last()), (11, Some(13), Some(13)));
        for size in [1, 4, 11, 20] {
            let groups = |items: Items<'_>| -> Vec<Vec<usize>> {
                items.chunks(size).map(|group| group.iter().collect()).collect()
            };
            assert_eq!(groups(range), groups(listed));
        }
        assert!(Items::from(5..5).is_empty() && Items::from(5..5).last().is_none());
        assert!(range.part(4..4).is_empty() && range.part(4..6).iter().eq([7, 8]));
    }
}
