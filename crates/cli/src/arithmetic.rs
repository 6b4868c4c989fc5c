//! Records of numbers, answered by the engine in groups of one shape.

use crate::records::{Answer, AnswerField, Field, Layout, Notation, OtherFields, Record};
use modmill::{Batch, Engine, Error, ItemError, Moduli, Modulus, TRANSFORM_MAX_BITS};
use std::collections::BTreeMap;
use std::sync::Mutex;
use zeroize::Zeroizing;

/// An operation on numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// `base^exp mod N` for secret exponents.
    Power,
    /// `base^exp mod N` for public exponents.
    PowerVartime,
    /// `a b`, or `a b mod N`.
    Product,
    /// `1 / a mod N`.
    Inverse,
    /// The greatest common divisor of `a` and `b`.
    Divisor,
}

/// The field of moduli.
const MODULUS: &str = "mod";

impl Arithmetic {
    pub(crate) fn layout(self) -> Layout {
        let (required, optional, others): (&[_], &[_], _) = match self {
            Self::Power | Self::PowerVartime => (&["base", "exp", MODULUS], &[], OtherFields::Ignore),
            // A misspelt "mod" would change the answer.
            Self::Product => (&["a", "b"], &[MODULUS], OtherFields::Refuse),
            Self::Inverse => (&["a", MODULUS], &[], OtherFields::Ignore),
            Self::Divisor => (&["a", "b"], &[], OtherFields::Ignore),
        };
        let answer = AnswerField::Octets("result");
        Layout { required, optional, notation: Notation::Number, others, answer }
    }

    /// Answers records in order.
    ///
    /// Records are grouped by the lengths of their numbers, so that a mixed file does not pay for its longest
    /// record. Groups are computed beside each other, those with the longest moduli first.
    pub(crate) fn answer(self, engine: &Engine, records: &[Record]) -> Vec<Answer> {
        let layout = self.layout();
        let tasks: Vec<Result<Task<'_>, String>> =
            records.iter().map(|record| Task::new(&layout, record)).collect();
        let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (index, task) in tasks.iter().enumerate() {
            if let Ok(task) = task {
                groups.entry(task.shape()).or_default().push(index);
            }
        }
        // Groups are taken from the end.
        let queue = Mutex::new(groups.into_values().collect::<Vec<_>>());
        let workers = engine.threads().min(queue.lock().map_or(1, |groups| groups.len()));
        let done = Mutex::new(Vec::new());
        let worker = || {
            while let Some(group) = queue.lock().ok().and_then(|mut groups| groups.pop()) {
                let members: Vec<&Task<'_>> =
                    group.iter().filter_map(|&index| tasks[index].as_ref().ok()).collect();
                let results = self.compute(engine, &members);
                if let Ok(mut done) = done.lock() {
                    done.push((group, results));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(worker);
            }
            worker();
        });
        let mut answers: Vec<Answer> =
            tasks.into_iter().map(|task| task.and(Ok(Zeroizing::default()))).collect();
        for (group, results) in done.into_inner().unwrap_or_default() {
            for (index, result) in group.into_iter().zip(results) {
                answers[index] = result;
            }
        }
        answers
    }

    /// Computes tasks of one shape in one call of the engine.
    fn compute(self, engine: &Engine, tasks: &[&Task<'_>]) -> Vec<Answer> {
        match self.call(engine, tasks) {
            Ok(batch) => batch.iter().map(|value| Ok(octets(value))).collect(),
            Err(Error::Items(partial)) => {
                let mut answers: Vec<Answer> =
                    partial.answers.iter().map(|value| Ok(octets(value))).collect();
                for ItemError { index, kind } in partial.failed {
                    answers[index] = Err(kind.to_string());
                }
                answers
            }
            Err(error) => vec![Err(error.to_string()); tasks.len()],
        }
    }

    fn call(self, engine: &Engine, tasks: &[&Task<'_>]) -> Result<Batch, Error> {
        let operand = |index: usize| batch(tasks.iter().map(|task| task.operands[index]));
        let moduli = GroupModuli::new(tasks)?;
        let modulus = || moduli.as_ref().map(GroupModuli::get).ok_or(Error::ZeroModulus);
        match self {
            Self::Power => engine.pow(&operand(0), &operand(1), modulus()?),
            Self::PowerVartime => engine.pow_vartime(&operand(0), &operand(1), modulus()?),
            Self::Product if moduli.is_none() => engine.mul(&operand(0), &operand(1)),
            Self::Product => engine.mul_mod(&operand(0), &operand(1), modulus()?),
            Self::Inverse => engine.inv(&operand(0), modulus()?),
            Self::Divisor => engine.gcd(&operand(0), &operand(1)),
        }
    }
}

/// A number in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number<'a> {
    /// The most significant octet comes first.
    octets: &'a [u8],
    /// The declared length, which may be longer than the value.
    bits: usize,
}

impl<'a> Number<'a> {
    /// The number of a field with the length that it is written with.
    fn new(field: &'a Field) -> Result<Self, String> {
        let number = Self { octets: &field.octets, bits: field.bits.max(1) };
        // Leading zeros alone do not make a number too long.
        let number = if number.bits > TRANSFORM_MAX_BITS { number.shortened() } else { number };
        if number.bits > TRANSFORM_MAX_BITS {
            return Err(format!("the number has {} bits; the limit is {TRANSFORM_MAX_BITS}", number.bits));
        }
        Ok(number)
    }

    /// The number without leading zeros.
    fn shortened(self) -> Self {
        let zeros = self.octets.iter().take_while(|&&octet| octet == 0).count();
        let octets = &self.octets[zeros..];
        let bits = octets.first().map_or(0, |first| 8 * octets.len() - first.leading_zeros() as usize);
        Self { octets, bits: bits.max(1) }
    }

    /// Whether the number is zero. Looks at all of it.
    fn is_zero(self) -> bool {
        self.octets.iter().all(|&octet| octet == 0)
    }

    fn limbs(self) -> usize {
        self.bits.div_ceil(64)
    }

    /// Writes the number as limbs, the least significant first.
    fn copy_to(self, limbs: &mut [u64]) {
        for (limb, octets) in limbs.iter_mut().zip(self.octets.rchunks(8)) {
            let mut padded = [0; 8];
            padded[8 - octets.len()..].copy_from_slice(octets);
            *limb = u64::from_be_bytes(padded);
        }
    }
}

/// The numbers of one record.
struct Task<'a> {
    operands: Vec<Number<'a>>,
    modulus: Option<Number<'a>>,
}

impl<'a> Task<'a> {
    fn new(layout: &Layout, record: &'a [Option<Field>]) -> Result<Self, String> {
        let mut task = Self { operands: Vec::with_capacity(2), modulus: None };
        for (name, field) in layout.names().zip(record) {
            let Some(field) = field else { continue };
            let number = Number::new(field).map_err(|reason| format!("{name}: {reason}"))?;
            if name != MODULUS {
                task.operands.push(number);
            } else if number.is_zero() {
                return Err(format!("{name}: the modulus is zero"));
            } else {
                // Moduli are public: their length is that of their value.
                task.modulus = Some(number.shortened());
            }
        }
        Ok(task)
    }

    /// The lengths in limbs, that of the modulus first.
    fn shape(&self) -> Vec<usize> {
        let modulus = self.modulus.map_or(0, Number::limbs);
        std::iter::once(modulus).chain(self.operands.iter().rev().map(|operand| operand.limbs())).collect()
    }
}

/// The moduli of a group.
enum GroupModuli {
    /// One modulus for all items, whose constants are computed once.
    Shared(Modulus),
    Each(Batch),
}

impl GroupModuli {
    fn new(tasks: &[&Task<'_>]) -> Result<Option<Self>, Error> {
        let moduli: Vec<Number<'_>> = tasks.iter().filter_map(|task| task.modulus).collect();
        Ok(match moduli.split_first() {
            None => None,
            Some((first, rest)) if !rest.is_empty() && rest.iter().all(|other| other == first) => {
                Some(Self::Shared(Modulus::from_be_bytes(first.octets)?))
            }
            Some(_) => Some(Self::Each(batch(moduli.into_iter()))),
        })
    }

    fn get(&self) -> Moduli<'_> {
        match self {
            Self::Shared(modulus) => modulus.into(),
            Self::Each(batch) => batch.into(),
        }
    }
}

/// A batch as wide as its longest number is declared.
fn batch<'a>(numbers: impl ExactSizeIterator<Item = Number<'a>> + Clone) -> Batch {
    let bits = numbers.clone().map(|number| number.bits).max().unwrap_or(1);
    let mut batch = Batch::zeros(bits, numbers.len());
    for (index, number) in numbers.enumerate() {
        number.copy_to(batch.get_mut(index));
    }
    batch
}

/// The octets of a number without leading zeros, the most significant first; zero has one octet.
fn octets(limbs: &[u64]) -> Zeroizing<Vec<u8>> {
    let top = limbs.iter().rposition(|&limb| limb != 0);
    let length = top.map_or(1, |top| 8 * (top + 1) - limbs[top].leading_zeros() as usize / 8);
    let mut octets = Zeroizing::new(vec![0; length]);
    for (octets, limb) in octets.rchunks_mut(8).zip(limbs) {
        let length = octets.len();
        octets.copy_from_slice(&limb.to_be_bytes()[8 - length..]);
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hexadecimal;

    fn field(text: &str) -> Field {
        let (octets, bits) = hexadecimal::number(text).unwrap();
        Field { octets, bits }
    }

    fn answer(arithmetic: Arithmetic, records: &[Record]) -> Vec<Answer> {
        arithmetic.answer(&Engine::builder().threads(2).build().unwrap(), records)
    }

    #[test]
    fn lengths_are_taken_as_written() {
        let field = field("0x0000000000000000ff");
        let number = Number::new(&field).unwrap();
        assert_eq!((number.bits, number.limbs()), (72, 2));
        assert_eq!((number.shortened().bits, number.shortened().octets), (8, &[0xff][..]));
    }

    #[test]
    fn only_leading_zeros_may_pass_the_limit() {
        let long = |octets: Vec<u8>| Field { octets: Zeroizing::new(octets), bits: TRANSFORM_MAX_BITS + 8 };
        let (short, zero) = (long(vec![0, 0, 0x12]), long(vec![0, 0]));
        assert_eq!(Number::new(&short), Ok(Number { octets: &[0x12], bits: 5 }));
        assert_eq!(Number::new(&zero), Ok(Number { octets: &[], bits: 1 }));
    }

    #[test]
    fn limbs_and_octets_belong_together() {
        for text in
            ["0", "1", "ff", "100", "ffffffffffffffff", "10000000000000000", "123456789abcdef01234567"]
        {
            let field = field(text);
            let batch = batch(std::iter::once(Number::new(&field).unwrap()));
            assert_eq!(batch.to_hex(0), text);
            let mut again = Vec::new();
            hexadecimal::append_number(&mut again, &octets(batch.get(0)));
            assert_eq!(again, text.as_bytes());
        }
        assert_eq!(*octets(&[0, 0]), [0]);
        assert_eq!(*octets(&[0x100, 0]), [1, 0]);
    }

    #[test]
    fn groups_of_many_shapes_come_back_in_order() {
        let records: Vec<Record> = (0..100usize)
            .map(|i| {
                let modulus = match i % 7 {
                    3 => Some(field("00")),
                    _ => (i % 2 == 0).then(|| field(&format!("1{}1", "0".repeat(2 + 10 * (i % 5))))),
                };
                vec![Some(field(&format!("{:0>1$x}", i, 1 + 16 * (i % 3)))), Some(field("2")), modulus]
            })
            .collect();
        for (index, answer) in answer(Arithmetic::Product, &records).into_iter().enumerate() {
            match answer {
                Ok(value) => assert_eq!(*value, [2 * index as u8]),
                Err(error) => assert_eq!((error.as_str(), index % 7), ("mod: the modulus is zero", 3)),
            }
        }
    }

    #[test]
    fn inverses_and_divisors_are_found() {
        let inverse = |a: &str, modulus: &str| vec![Some(field(a)), Some(field(modulus))];
        let found = answer(Arithmetic::Inverse, &[inverse("3", "7"), inverse("3", "9"), inverse("3", "a")]);
        assert_eq!((found[0].as_deref(), found[2].as_deref()), (Ok(&vec![5]), Ok(&vec![7])));
        assert!(found[1].as_ref().unwrap_err().contains("shares a factor"));
        let found = answer(Arithmetic::Divisor, &[inverse("12", "c"), inverse("0", "5"), inverse("0", "0")]);
        let found: Vec<u8> = found.into_iter().map(|answer| answer.unwrap()[0]).collect();
        assert_eq!(found, [6, 5, 0]);
    }
}
