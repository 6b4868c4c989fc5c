//! Records of numbers, answered by the engine in groups of one shape.

mod column;
mod groups;
mod number;

use crate::failure::Failure;
use crate::records::{AnswerField, Answers, FileRules, Layout, Notation, Operation, OtherFields, Records};
pub(crate) use column::SharedFactors;
use groups::{Group, GroupModuli, Groups, Places};
use modmill::{Batch, Engine, Error, ItemError, ItemErrorKind, Moduli, Public, Watch, integers};
use parking_lot::Mutex;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// The quotient and the remainder of `a` and `b`.
    Quotient,
    /// The square root of `a`, rounded down, and the remainder.
    Root,
    /// The Jacobi symbol of `a` modulo N.
    Symbol,
}

impl Arithmetic {
    fn layout(self) -> Layout {
        let (required, optional, others): (&[_], &[_], _) = match self {
            Self::Power | Self::PowerVartime => (&["base", "exp", "mod"], &[], OtherFields::Ignore),
            // A misspelt "mod" would change the answer.
            Self::Product => (&["a", "b"], &["mod"], OtherFields::Refuse),
            Self::Inverse | Self::Symbol => (&["a", "mod"], &[], OtherFields::Ignore),
            Self::Divisor | Self::Quotient => (&["a", "b"], &[], OtherFields::Ignore),
            Self::Root => (&["a"], &[], OtherFields::Ignore),
        };
        let answer = match self {
            Self::Quotient => AnswerField::Pair(["quotient", "remainder"]),
            Self::Root => AnswerField::Pair(["result", "remainder"]),
            Self::Symbol => AnswerField::Sign("result"),
            _ => AnswerField::Octets("result"),
        };
        Layout { required, optional, notation: Notation::Number, others, answer }
    }

    /// The field of moduli and divisors, and the word for them.
    fn modulus(self) -> (&'static str, &'static str) {
        if let Self::Quotient = self { ("b", "divisor") } else { ("mod", "modulus") }
    }

    /// Computes a group in one call of the engine: one or two numbers for each item.
    fn call(self, engine: &Engine, group: &Group) -> Result<Vec<Batch>, Error> {
        let operand = |index: usize| &group.operands[index];
        let modulus = || group.moduli.as_ref().map(GroupModuli::get).ok_or(Error::ZeroModulus);
        let two = |(first, second): (Batch, Batch)| vec![first, second];
        let one = match self {
            Self::Quotient => return engine.div_rem(operand(0), modulus()?).map(two),
            Self::Root => return integers::sqrt_rem(engine, operand(0)).map(two),
            Self::Symbol => symbols(engine, operand(0), modulus()?),
            Self::Power => engine.pow(operand(0), operand(1), modulus()?),
            Self::PowerVartime => engine.pow(operand(0), Public(operand(1)), modulus()?),
            Self::Product if group.moduli.is_none() => engine.mul(operand(0), operand(1)),
            Self::Product => engine.mul_mod(operand(0), operand(1), modulus()?),
            Self::Inverse => engine.inv(operand(0), modulus()?),
            Self::Divisor => engine.gcd(operand(0), operand(1)),
        };
        one.map(|batch| vec![batch])
    }

    fn compute(self, engine: &Engine, group: &Group) -> GroupAnswers {
        GroupAnswers::new(self.call(engine, group))
    }
}

/// Jacobi symbols as signed bytes. Items with even moduli have none.
fn symbols(engine: &Engine, a: &Batch, moduli: Moduli<'_>) -> Result<Batch, Error> {
    let symbols = engine.jacobi(a, moduli)?;
    let mut batch = Batch::try_zeros(8, symbols.len())?;
    let mut failed = Vec::new();
    for (index, symbol) in symbols.into_iter().enumerate() {
        match symbol {
            Some(symbol) => batch.get_mut(index)[0] = u64::from(i8::from(symbol).cast_unsigned()),
            None => failed.push(ItemError { index, kind: ItemErrorKind::EvenModulus }),
        }
    }
    if failed.is_empty() { Ok(batch) } else { Err(Error::items(batch, failed)) }
}

/// An operation on the numbers of records.
///
/// Records are grouped by the lengths of their numbers, so that a mixed file does not pay for its longest
/// record. Groups are computed at the same time, those with the longest moduli first.
pub(crate) struct NumberOperation {
    arithmetic: Arithmetic,
    engine: Engine,
    /// Counts the records of calls of the engine.
    watch: Arc<Watch>,
}

impl NumberOperation {
    pub(crate) fn new(arithmetic: Arithmetic, engine: &Engine) -> Self {
        let watch = Arc::new(Watch::new());
        Self { arithmetic, engine: engine.watched_by(&watch), watch }
    }
}

/// The answers of a group.
pub(crate) struct GroupAnswers {
    /// One or two numbers for each item, or why there are none.
    answers: Result<Vec<Batch>, String>,
    /// Items without an answer.
    failed: BTreeMap<usize, String>,
}

impl GroupAnswers {
    /// The outcome of a call of the engine.
    fn new(outcome: Result<Vec<Batch>, Error>) -> Self {
        match outcome {
            Ok(answers) => Self { answers: Ok(answers), failed: BTreeMap::new() },
            Err(Error::Items(partial)) => {
                let failed =
                    partial.failed.iter().map(|ItemError { index, kind }| (*index, kind.to_string()));
                Self { failed: failed.collect(), answers: Ok(vec![partial.answers]) }
            }
            Err(error) => Self { answers: Err(error.to_string()), failed: BTreeMap::new() },
        }
    }

    /// The bytes that an answer takes at most.
    fn octets(&self) -> usize {
        let longest = |answers: &Vec<Batch>| answers.iter().map(|batch| batch.stride().max(1)).max();
        let numbers = self.answers.as_ref().map_or(0, Vec::len);
        8 * numbers * self.answers.as_ref().ok().and_then(longest).unwrap_or(0)
    }

    fn append(&self, item: usize, answers: &mut Answers) {
        match (self.failed.get(&item), &self.answers) {
            (Some(reason), _) | (None, Err(reason)) => answers.push_error(reason.clone().into()),
            (None, Ok(batches)) => match &batches[..] {
                [first, second] => answers.push_pair(first.get(item), second.get(item)),
                batches => batches.iter().for_each(|batch| answers.push_number(batch.get(item))),
            },
        }
    }
}

/// The groups of a chunk, and where each record is among them.
pub(crate) struct Computed {
    groups: Vec<GroupAnswers>,
    places: Vec<Places>,
}

impl Operation for NumberOperation {
    type Prepared = Result<Groups, Error>;
    type Computed = Computed;

    fn layout(&self) -> Layout {
        self.arithmetic.layout()
    }

    fn files(&self) -> Option<FileRules> {
        None
    }

    fn prepare(&self, records: Vec<Records>) -> Result<Groups, Error> {
        Groups::new(&self.engine, (&self.layout(), self.arithmetic.modulus()), records)
    }

    fn compute(&self, groups: Result<Groups, Error>) -> Result<Computed, Failure> {
        let Groups { groups, places } = groups.map_err(|error| Failure::Usage(error.to_string()))?;
        let compute = |group: Group| self.arithmetic.compute(&self.engine, &group);
        if groups.len() < 2 {
            return Ok(Computed { groups: groups.into_iter().map(compute).collect(), places });
        }
        let count = groups.len();
        // Groups are taken from the end.
        let queue = Mutex::new(groups.into_iter().enumerate().collect::<Vec<_>>());
        let done = Mutex::new(BTreeMap::new());
        let next = || queue.lock().pop();
        let worker = || {
            while let Some((index, group)) = next() {
                let answers = compute(group);
                done.lock().insert(index, answers);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.engine.threads().min(count) {
                scope.spawn(worker);
            }
            worker();
        });
        let groups: Vec<GroupAnswers> = done.into_inner().into_values().collect();
        if groups.len() < count {
            return Err(Failure::Usage("a thread that computes failed".to_owned()));
        }
        Ok(Computed { groups, places })
    }

    fn finish(&self, Computed { groups, places }: Computed) -> Vec<Answers> {
        let answer = |places: Places| {
            let mut answers = Answers::with_room(places.octets(&groups), places.len());
            places.for_each(|place| match place {
                Ok((group, item)) => groups[group].append(item, &mut answers),
                Err(reason) => answers.push_error(reason),
            });
            answers
        };
        match places.len() {
            1 => places.into_iter().map(answer).collect(),
            _ => self.engine.install(|| places.into_par_iter().map(answer).collect()),
        }
    }

    fn watch(&self) -> Option<&Watch> {
        Some(&self.watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers records whose fields are written in hexadecimal, in several pieces.
    fn answer(arithmetic: Arithmetic, rows: &[Vec<Option<String>>]) -> Vec<Result<Vec<u8>, String>> {
        let engine = Engine::builder().threads(2).build().unwrap();
        let operation = NumberOperation::new(arithmetic, &engine);
        let pieces = rows.chunks(30).map(|rows| Records::from_text(&operation.layout(), rows)).collect();
        let prepared = operation.prepare(pieces);
        let computed = operation.compute(prepared).ok().unwrap();
        let owned = |answer: Result<&[u8], &str>| answer.map(<[u8]>::to_vec).map_err(str::to_owned);
        operation
            .finish(computed)
            .iter()
            .flat_map(|answers| answers.iter().map(owned).collect::<Vec<_>>())
            .collect()
    }

    fn field(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn groups_of_many_shapes_come_back_in_order() {
        let records: Vec<_> = (0..100usize)
            .map(|i| {
                let modulus = match i % 7 {
                    3 => field("00"),
                    _ => (i % 2 == 0).then(|| format!("1{}1", "0".repeat(2 + 10 * (i % 5)))),
                };
                vec![Some(format!("{:0>1$x}", i, 1 + 16 * (i % 3))), field("2"), modulus]
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
    fn records_are_counted_while_they_are_computed() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let operation = NumberOperation::new(Arithmetic::Power, &engine);
        let rows = vec![vec![field("3"), field("10001"), field("fffffffb")]; 50];
        let records = Records::from_text(&operation.layout(), &rows);
        operation.compute(operation.prepare(vec![records])).ok().unwrap();
        assert_eq!(operation.watch().unwrap().done(), 50);
    }

    #[test]
    fn unreadable_records_keep_their_places() {
        let records: Vec<_> = (0..100usize)
            .map(|i| vec![field(if i % 9 == 4 { "x" } else { "3" }), Some(format!("{:x}", 2 * i + 9))])
            .collect();
        for (index, answer) in answer(Arithmetic::Divisor, &records).into_iter().enumerate() {
            match answer {
                Ok(value) => assert_eq!(*value, [if index % 3 == 0 { 3 } else { 1 }]),
                Err(error) => assert_eq!((error.as_str(), index % 9), ("no number", 4)),
            }
        }
    }

    #[test]
    fn inverses_and_divisors_are_found() {
        let inverse = |a: &str, modulus: &str| vec![field(a), field(modulus)];
        let found = answer(Arithmetic::Inverse, &[inverse("3", "7"), inverse("3", "9"), inverse("3", "a")]);
        assert_eq!((&found[0], &found[2]), (&Ok(vec![5]), &Ok(vec![7])));
        assert!(found[1].as_ref().unwrap_err().contains("shares a factor"));
        let found = answer(Arithmetic::Divisor, &[inverse("12", "c"), inverse("0", "5"), inverse("0", "0")]);
        let found: Vec<u8> = found.into_iter().map(|answer| answer.unwrap()[0]).collect();
        assert_eq!(found, [6, 5, 0]);
    }

    #[test]
    fn quotients_and_roots_have_two_numbers() {
        let pair = |a: &str, b: &str| vec![field(a), field(b)];
        let found = answer(Arithmetic::Quotient, &[pair("ffff", "10"), pair("3", "0"), pair("2", "300")]);
        assert_eq!((&found[0], &found[2]), (&Ok(vec![0x0f, 0xff, 0, 15]), &Ok(vec![0, 2])));
        assert_eq!(found[1], Err("b: the divisor is zero".to_owned()));
        let found = answer(Arithmetic::Root, &[vec![field("101")], vec![field("0")]]);
        assert_eq!(found, [Ok(vec![16, 1]), Ok(vec![0, 0])]);
    }

    #[test]
    fn symbols_are_signed_bytes() {
        let pair = |a: &str, modulus: &str| vec![field(a), field(modulus)];
        let records = [pair("2", "7"), pair("3", "7"), pair("e", "7"), pair("3", "8")];
        let found = answer(Arithmetic::Symbol, &records);
        assert_eq!(found[..3], [Ok(vec![1]), Ok(vec![255]), Ok(vec![0])]);
        assert!(found[3].as_ref().unwrap_err().contains("even"));
    }

    #[test]
    fn a_modulus_for_all_gives_the_answers_of_equal_moduli() {
        let rows: Vec<_> = (0..50)
            .map(|i| vec![Some(format!("{i:x}")), field("2"), field("00000000000000000065")])
            .collect();
        for (index, answer) in answer(Arithmetic::Power, &rows).into_iter().enumerate() {
            assert_eq!(answer, Ok(vec![(index * index % 101) as u8]));
        }
    }
}
