//! Products.

use crate::circuit::{Builder, Wire, Word};
use std::collections::VecDeque;

/// Bits by their weight.
type Columns = Vec<VecDeque<Wire>>;

impl Builder {
    /// The product of two words of n bits, 2n bits wide, with a depth of about 2 log2 n + 2.
    ///
    /// The products of bits are added in rounds (carry-save) until two bits of each weight are left; these
    /// are two words, which [`Builder::add`] adds. A round adds one AND gate to the depth and halves the
    /// number of bits of a weight.
    pub fn multiply(&mut self, a: &Word, b: &Word) -> Word {
        let width = a.width() + b.width();
        let mut columns: Columns = vec![VecDeque::new(); width];
        for (i, &a) in a.iter().enumerate() {
            for (j, &b) in b.iter().enumerate() {
                columns[i + j].push_back(self.and(a, b));
            }
        }
        loop {
            self.drop_zeros(&mut columns);
            let highest = columns.iter().map(VecDeque::len).max().unwrap_or(0);
            if highest <= 2 {
                break;
            }
            self.round(&mut columns, target(highest));
        }
        let zero = self.constant(false);
        let row =
            |columns: &mut Columns| columns.iter_mut().map(|bits| bits.pop_front().unwrap_or(zero)).collect();
        let (first, second): (Word, Word) = (row(&mut columns), row(&mut columns));
        self.add(&first, &second)[..width].to_vec().into()
    }

    fn drop_zeros(&mut self, columns: &mut Columns) {
        let zero = self.constant(false);
        columns.iter_mut().for_each(|column| column.retain(|&wire| wire != zero));
    }

    /// Leaves at most `target` bits of each weight, carries included. No bit of this round's carries is added
    /// in this round, so that none becomes deeper than the others.
    fn round(&mut self, columns: &mut Columns, target: usize) {
        let mut carries = Vec::new();
        for column in columns {
            let carried_on = self.compress(column, target.saturating_sub(carries.len()));
            column.extend(carries);
            carries = carried_on;
        }
        // The product is below 2^width: the carry of the last column is 0.
    }
}

/// How many bits a weight keeps in a round that starts with `highest` of them. Among h bits at most h/2
/// carries arise, so that 1 + h/2 are left in the next column. The targets 2, 3, 5, 9, 17, ... reach two bits
/// in the fewest rounds, and the largest one below `highest` takes the fewest gates.
fn target(highest: usize) -> usize {
    let mut target = 2;
    while 2 * target - 1 < highest {
        target = 2 * target - 1;
    }
    target
}
