//! The sum of s numbers of one bit before and p bits after the point, from their encrypted bits, rounded,
//! modulo 2.
//!
//! Column 0 has the integer bits, column k the k-th bits after the point. A column's bits sum up to a number
//! whose binary digit `2^k` is, modulo 2, the elementary symmetric polynomial `e_(2^k)` of the bits (Lucas):
//! it belongs k columns to the left. The rounded sum modulo 2 is the sum of column 0 and of column 1, carries
//! included.
//!
//! The polynomials of a column come from a tree: `e_q` of two groups of bits together is `sum_i e_i e_(q-i)`.
//! All products that are ready in all columns make up one round.

/// A product of one number with a sum of numbers, or that sum alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The number that the sum is multiplied by.
    pub(super) left: Option<usize>,
    /// The numbers of the sum.
    pub(super) rights: Vec<usize>,
}

/// The sum of terms that makes one number.
pub(super) type Output = Vec<Term>;

/// The circuit: rounds of sums of products, and the numbers whose sum is the answer.
///
/// Numbers are counted through all rounds: the inputs first, bit k of number i at `i (p + 1) + k`, and then
/// the outputs of each round.
pub(super) struct ColumnSums {
    pub(super) rounds: Vec<Vec<Output>>,
    pub(super) result: Vec<usize>,
}

/// Elementary symmetric polynomials e_1, e_2, ... of some bits of a column.
struct Group {
    bits: usize,
    symmetric: Vec<Option<usize>>,
}

struct Column {
    groups: Vec<Group>,
    /// Bits that the column will have, with all carries.
    total: usize,
    /// The greatest index of a polynomial that is carried.
    greatest: usize,
    is_carried: bool,
}

impl ColumnSums {
    /// The circuit for s numbers of p bits after the point.
    pub(super) fn new(s: usize, p: usize) -> Self {
        let mut result: Vec<usize> = (0..s).flat_map(|i| [i * (p + 1), i * (p + 1) + 1]).collect();
        let mut columns = columns(s, p);
        let mut rounds = Vec::new();
        let mut known = s * (p + 1);
        loop {
            // Carries of complete columns, which may complete others.
            for right in (1..=p).rev() {
                for (place, number) in take_carries(&mut columns[right], right) {
                    if place <= 1 {
                        result.push(number);
                    }
                    columns[place].groups.push(Group { bits: 1, symmetric: vec![Some(number)] });
                }
            }
            let mut round = Vec::new();
            for column in &mut columns[1..] {
                column.merge_pairs(known, &mut round);
            }
            if round.is_empty() {
                return Self { rounds, result };
            }
            known += round.len();
            rounds.push(round);
        }
    }
}

impl ColumnSums {
    /// The encrypted bit, from all numbers.
    pub(super) fn last_sum(&self) -> Output {
        vec![Term { left: None, rights: self.result.clone() }]
    }

    /// The most products and numbers that are added at once.
    pub(super) fn most_products(&self) -> usize {
        let products = |output: &Output| output.iter().map(|term| term.rights.len()).sum();
        self.rounds.iter().flatten().map(products).max().unwrap_or(0).max(self.result.len())
    }
}

/// The columns with the bits of the s numbers.
fn columns(s: usize, p: usize) -> Vec<Column> {
    let mut totals = vec![s; p + 1];
    for right in (1..=p).rev() {
        for distance in 1..=right {
            if 1 << distance <= totals[right] {
                totals[right - distance] += 1;
            }
        }
    }
    let column = |(k, total): (usize, usize)| Column {
        groups: (0..s).map(|i| Group { bits: 1, symmetric: vec![Some(i * (p + 1) + k)] }).collect(),
        total,
        greatest: 1 << k.min(total.ilog2() as usize),
        is_carried: false,
    };
    totals.into_iter().enumerate().map(column).collect()
}

/// The carries of a column whose bits are all in one group: for each the column and the number.
fn take_carries(column: &mut Column, place: usize) -> Vec<(usize, usize)> {
    let [group] = &column.groups[..] else { return Vec::new() };
    if group.bits < column.total || std::mem::replace(&mut column.is_carried, true) {
        return Vec::new();
    }
    let carry = |distance: usize| Some((place - distance, (*group.symmetric.get((1 << distance) - 1)?)?));
    (1..=place).filter_map(carry).collect()
}

impl Column {
    /// Merges groups in pairs, the smallest first.
    fn merge_pairs(&mut self, known: usize, round: &mut Vec<Output>) {
        self.groups.sort_by_key(|group| group.bits);
        let mut merged = Vec::new();
        let mut groups = std::mem::take(&mut self.groups).into_iter();
        while let Some(first) = groups.next() {
            merged.push(match groups.next() {
                Some(second) => self.merge(&first, &second, known, round),
                None => first,
            });
        }
        self.groups = merged;
    }

    fn merge(&self, a: &Group, b: &Group, known: usize, round: &mut Vec<Output>) -> Group {
        let bits = a.bits + b.bits;
        let is_last = bits == self.total;
        let at = |group: &Group, index: usize| group.symmetric.get(index - 1).copied().flatten();
        let mut symmetric = Vec::new();
        for q in 1..=bits.min(self.greatest) {
            // Of a whole column only the polynomials that are carried are wanted.
            if is_last && !(q > 1 && q.is_power_of_two()) {
                symmetric.push(None);
                continue;
            }
            let product = |i: usize| Some(Term { left: Some(at(a, i)?), rights: vec![at(b, q - i)?] });
            let mut output: Output = (1..q).filter_map(product).collect();
            output.push(Term { left: None, rights: [at(a, q), at(b, q)].into_iter().flatten().collect() });
            output.retain(|term| !term.rights.is_empty());
            symmetric.push(Some(known + round.len()));
            round.push(output);
        }
        Group { bits, symmetric }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::rng::Rng;

    /// The circuit modulo 2.
    fn run(circuit: &ColumnSums, mut numbers: Vec<bool>) -> bool {
        let sum = |numbers: &[bool], places: &[usize]| {
            places.iter().fold(false, |sum, &place| sum ^ numbers[place])
        };
        for round in &circuit.rounds {
            let outputs: Vec<bool> = round
                .iter()
                .map(|output| {
                    let term = |term: &Term| {
                        term.left.is_none_or(|left| numbers[left]) & sum(&numbers, &term.rights)
                    };
                    output.iter().fold(false, |sum, next| sum ^ term(next))
                })
                .collect();
            numbers.extend(outputs);
        }
        sum(&numbers, &circuit.result)
    }

    #[test]
    fn sums_are_rounded_and_taken_modulo_two() {
        for (s, p) in [(3, 2), (7, 3), (15, 4), (31, 5)] {
            let circuit = ColumnSums::new(s, p);
            let mut rng = Rng::new(1);
            for trial in 0..500 {
                let summands: Vec<u64> = (0..s)
                    // Extremes first.
                    .map(|_| [0, (2 << p) - 1, rng.word()][trial.min(2)] & ((2 << p) - 1))
                    .collect();
                let bits =
                    summands.iter().flat_map(|z| (0..=p).map(move |k| z >> (p - k) & 1 == 1)).collect();
                let half = 1 << (p - 1);
                let expected = (summands.iter().sum::<u64>() + half) >> p & 1 == 1;
                assert_eq!(run(&circuit, bits), expected, "{s} numbers of {p} bits: {summands:?}");
            }
        }
    }

    #[test]
    fn the_published_circuit_has_few_rounds() {
        let circuit = ColumnSums::new(15, 4);
        let products: usize =
            circuit.rounds.iter().flatten().flatten().filter(|term| term.left.is_some()).count();
        // One after the other they would be 75 dependent products, 289 in all.
        assert_eq!((circuit.rounds.len(), products), (7, 201));
    }
}
