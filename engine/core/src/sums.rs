//! Sums of products, named by the indices of their factors.

/// Sums of products of the numbers of a list. A sum has terms, and a term is one number of the list times a
/// sum of numbers of the list.
///
/// ```
/// use modmill_core::Sums;
///
/// // x_0 (x_1 + x_2) + x_3 x_3, and x_1 x_2.
/// let mut sums = Sums::default();
/// sums.push([(0, &[1, 2][..]), (3, &[3])]);
/// sums.push([(1, &[2][..])]);
/// assert_eq!((sums.len(), sums.numbers(), sums.most_products()), (2, 4, 3));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// For each sum, the number of terms up to its end.
    ends: Vec<usize>,
    terms: Vec<Term>,
    rights: Vec<u32>,
    most_products: usize,
    numbers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Term {
    left: u32,
    /// The number of right factors up to its end.
    end: usize,
}

impl Sums {
    /// Adds a sum: for each term the index of its left factor and the indices of the right factors that are
    /// added.
    ///
    /// # Panics
    /// If an index is `2^32` or more.
    pub fn push<'a>(&mut self, terms: impl IntoIterator<Item = (usize, &'a [usize])>) {
        let before = self.rights.len();
        for (left, rights) in terms {
            let greatest = rights.iter().fold(left, |greatest, &right| greatest.max(right));
            self.numbers = self.numbers.max(greatest + 1);
            self.rights.extend(rights.iter().map(|&right| index(right)));
            self.terms.push(Term { left: index(left), end: self.rights.len() });
        }
        self.ends.push(self.terms.len());
        self.most_products = self.most_products.max(self.rights.len() - before);
    }

    /// The number of sums.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sum.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The length of the shortest list that has all numbers.
    #[must_use]
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// The most products of two numbers that a sum has.
    #[must_use]
    pub fn most_products(&self) -> usize {
        self.most_products
    }

    /// The terms of a sum: the index of the left factor, and the indices of the right factors.
    ///
    /// # Panics
    /// If there are not that many sums.
    pub fn terms(&self, sum: usize) -> impl ExactSizeIterator<Item = (usize, &[u32])> {
        let start = if sum == 0 { 0 } else { self.ends[sum - 1] };
        (start..self.ends[sum]).map(|place| {
            let Term { left, end } = self.terms[place];
            let start = if place == 0 { 0 } else { self.terms[place - 1].end };
            (left as usize, &self.rights[start..end])
        })
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("an index has 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_those_that_were_pushed() {
        let mut sums = Sums::default();
        assert!(sums.is_empty() && sums.numbers() == 0);
        sums.push([]);
        sums.push([(5, &[][..]), (0, &[7, 7, 1])]);
        sums.push([(2, &[3][..])]);
        let terms = |sum| sums.terms(sum).map(|(left, rights)| (left, rights.to_vec())).collect::<Vec<_>>();
        assert_eq!(terms(0), []);
        assert_eq!(terms(1), [(5, vec![]), (0, vec![7, 7, 1])]);
        assert_eq!(terms(2), [(2, vec![3])]);
        assert_eq!((sums.len(), sums.numbers(), sums.most_products()), (3, 8, 3));
    }
}
