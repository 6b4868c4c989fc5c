//! Small steps between products: sums, differences, shifts, comparisons, choices.

use crate::{Error, Operand, TRANSFORM_MAX_BITS, limbs, mask};

/// A small step of a computation on every item: it multiplies nothing and has no modulus. Its time depends on
/// declared widths alone.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The operation.
    pub kind: StepKind<'a>,
    /// The first operand.
    pub a: Operand<'a>,
    /// The second operand; of no bits where the step has one.
    pub b: Operand<'a>,
    /// The flags that choose; of no bits where nothing is chosen.
    pub flags: Operand<'a>,
}

/// The operation of a step on its operands `a` and `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind<'a> {
    /// `a + b`, one bit wider than the wider operand.
    Add,
    /// `a - b` modulo 2 to the width of the wider operand.
    Subtract,
    /// `2^bits a`.
    ShiftLeft(usize),
    /// `floor(a / 2^bits)`.
    ShiftRight(usize),
    /// One if `a < b`, else zero.
    Less,
    /// One if `a = b`, else zero.
    Equal,
    /// `a` where the lowest bit of the flag is set, else `b`.
    Select,
    /// The items of `a` at some indices.
    Gather(&'a [usize]),
}

/// An operand that a step does not have.
const NOTHING: Operand<'static> = Operand::Shared { bits: 0, value: &[] };

impl<'a> Step<'a> {
    /// A step with one operand.
    #[must_use]
    pub fn one(kind: StepKind<'a>, a: Operand<'a>) -> Self {
        Self { kind, a, b: NOTHING, flags: NOTHING }
    }

    /// A step with two operands.
    #[must_use]
    pub fn two(kind: StepKind<'a>, a: Operand<'a>, b: Operand<'a>) -> Self {
        Self { kind, a, b, flags: NOTHING }
    }

    /// Declared width of the answers, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        let widest = self.a.bits().max(self.b.bits());
        match self.kind {
            StepKind::Add => widest + 1,
            StepKind::Subtract | StepKind::Select => widest,
            StepKind::ShiftLeft(bits) => widest.saturating_add(bits),
            StepKind::ShiftRight(bits) => widest.saturating_sub(bits).max(1),
            StepKind::Less | StepKind::Equal => 1,
            StepKind::Gather(_) => self.a.bits(),
        }
    }

    /// The number of answers. An error if the operands are of different lengths, an index is beyond the last
    /// item, or the answers would be too long.
    pub fn count(&self) -> Result<usize, Error> {
        let (what, bits, limit) = ("an answer", self.bits(), TRANSFORM_MAX_BITS);
        if bits > limit {
            return Err(Error::TooLong { what, bits, limit });
        }
        if let StepKind::Gather(indices) = self.kind {
            let items = self.a.len().unwrap_or(1);
            let most = items.saturating_sub(1);
            return match indices.iter().find(|&&index| index >= items) {
                Some(&value) => Err(Error::OutOfRange { what: "an index", value, least: 0, most }),
                None => Ok(indices.len()),
            };
        }
        let mut lens = [("a", self.a.len()), ("b", self.b.len()), ("flags", self.flags.len())]
            .into_iter()
            .filter_map(|(what, len)| Some((what, len?)));
        let Some((_, expected)) = lens.next() else { return Ok(1) };
        match lens.find(|(_, found)| *found != expected) {
            Some((what, found)) => Err(Error::LengthMismatch { what, expected, found }),
            None => Ok(expected),
        }
    }

    /// The operands.
    #[must_use]
    pub fn operands(&self) -> [Operand<'a>; 3] {
        [self.a, self.b, self.flags]
    }

    /// The answer of item `item` into `out`, which has as many limbs as the answers and holds zeros. The
    /// operands are on the host.
    pub fn compute(&self, item: usize, out: &mut [u64]) {
        if let StepKind::Gather(indices) = self.kind {
            return copy(self.a.limbs(indices[item]), out);
        }
        let (a, b) = (self.a.limbs(item), self.b.limbs(item));
        let pairs = (0..a.len().max(b.len())).map(|place| (limb(a, place), limb(b, place)));
        match self.kind {
            StepKind::Add => {
                copy(a, out);
                limbs::add_assign(out, b);
            }
            StepKind::Subtract => {
                copy(a, out);
                limbs::sub_assign(out, b);
                if let (Some(top), used @ 1..) = (out.last_mut(), self.bits() % 64) {
                    *top &= (1 << used) - 1;
                }
            }
            StepKind::ShiftLeft(bits) => limbs::shift_left(a, bits, out),
            StepKind::ShiftRight(bits) => limbs::shift_right(a, bits, out),
            StepKind::Less => {
                let borrow = pairs.fold(false, |borrow, (a, b)| limbs::sub_borrowing(a, b, borrow).1);
                out[0] = u64::from(borrow);
            }
            StepKind::Equal => {
                let different = pairs.fold(0, |different, (a, b)| different | (a ^ b));
                out[0] = mask::equal(different, 0) & 1;
            }
            StepKind::Select => {
                let chosen = mask::from_bit(limb(self.flags.limbs(item), 0) & 1);
                out.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = b ^ (chosen & (a ^ b)));
            }
            StepKind::Gather(_) => {}
        }
    }
}

/// The limb at a place; zero beyond the last one.
fn limb(number: &[u64], place: usize) -> u64 {
    number.get(place).copied().unwrap_or(0)
}

/// Copies a number into limbs that hold zeros.
fn copy(number: &[u64], out: &mut [u64]) {
    let common = number.len().min(out.len());
    out[..common].copy_from_slice(&number[..common]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Batch;

    fn compute(step: &Step<'_>) -> Batch {
        let mut answers = Batch::zeros(step.bits(), step.count().unwrap());
        (0..answers.len()).for_each(|item| step.compute(item, answers.get_mut(item)));
        answers
    }

    #[test]
    fn steps_do_what_their_names_say() {
        let a = Batch::from_hex(["ffffffffffffffffffff", "5", "0"]).unwrap();
        let b = Batch::from_hex(["1", "7", "0"]).unwrap();
        let two = |kind| compute(&Step::two(kind, (&a).into(), (&b).into()));
        let texts = |batch: Batch| (0..batch.len()).map(|item| batch.to_hex(item)).collect::<Vec<_>>();
        assert_eq!(texts(two(StepKind::Add)), ["100000000000000000000", "c", "0"]);
        assert_eq!(texts(two(StepKind::Subtract)), ["fffffffffffffffffffe", "fffffffffffffffffffe", "0"]);
        assert_eq!(texts(two(StepKind::Less)), ["0", "1", "0"]);
        assert_eq!(texts(two(StepKind::Equal)), ["0", "0", "1"]);
        let one = |kind| compute(&Step::one(kind, (&a).into()));
        assert_eq!(texts(one(StepKind::ShiftLeft(4))), ["ffffffffffffffffffff0", "50", "0"]);
        assert_eq!(texts(one(StepKind::ShiftRight(68))), ["fff", "0", "0"]);
        assert_eq!(texts(one(StepKind::ShiftRight(1000))), ["0", "0", "0"]);
        assert_eq!(texts(one(StepKind::Gather(&[1, 1, 0]))), ["5", "5", "ffffffffffffffffffff"]);
        let flags = Batch::from_hex(["0", "1", "1"]).unwrap();
        let select = Step { flags: (&flags).into(), ..Step::two(StepKind::Select, (&a).into(), (&b).into()) };
        assert_eq!(texts(compute(&select)), ["1", "5", "0"]);
    }

    #[test]
    fn bad_operands_are_named() {
        let (two, three) = (Batch::zeros(8, 2), Batch::zeros(8, 3));
        let step = Step::two(StepKind::Add, (&two).into(), (&three).into());
        assert_eq!(step.count(), Err(Error::LengthMismatch { what: "b", expected: 2, found: 3 }));
        let step = Step::one(StepKind::Gather(&[0, 2]), (&two).into());
        assert_eq!(step.count(), Err(Error::OutOfRange { what: "an index", value: 2, least: 0, most: 1 }));
        let step = Step::one(StepKind::ShiftLeft(usize::MAX), (&two).into());
        assert!(matches!(step.count(), Err(Error::TooLong { .. })));
    }
}
