//! Tasks read from a file, answered by the engine in groups of one shape.

use modmill::{Batch, Engine, Error, HUGE_BITS, ItemError, Modulus, hex};
use modmill_core::limbs;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A number as a user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    limbs: Vec<u64>,
    /// Its length as written, leading zeros counted: what a constant-time operation may show.
    bits: usize,
}

impl Number {
    pub(crate) fn from_hex(text: &str) -> Result<Self, String> {
        let value = hex::parse(text).map_err(|error| error.to_string())?;
        Self::new(value, hex::declared_bits(text))
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn from_be_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Err("an empty string is not a number".to_owned());
        }
        let mut value = vec![0; bytes.len().div_ceil(8)];
        limbs::copy_be_bytes(bytes, &mut value);
        Self::new(value, 8 * bytes.len())
    }

    fn new(mut limbs: Vec<u64>, mut bits: usize) -> Result<Self, String> {
        if bits > HUGE_BITS {
            // Leading zeros alone do not make a number too long.
            bits = limbs::bit_length(&limbs);
            limbs.truncate(bits.div_ceil(64).max(1));
        }
        if bits > HUGE_BITS {
            return Err(format!("the number has {bits} bits; the limit is {HUGE_BITS}"));
        }
        Ok(Self { limbs, bits: bits.max(1) })
    }

    /// The same number as a modulus: not zero, and as short as its value (moduli are public).
    pub(crate) fn into_modulus(mut self) -> Result<Self, String> {
        self.bits = limbs::bit_length(&self.limbs);
        self.limbs.truncate(self.bits.div_ceil(64));
        if self.bits == 0 { Err("the modulus is zero".to_owned()) } else { Ok(self) }
    }

    fn len(&self) -> usize {
        self.limbs.len()
    }
}

/// One item: a power (`a` to the `b`) or a product, reduced if there is a modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) a: Number,
    pub(crate) b: Number,
    pub(crate) modulus: Option<Number>,
}

/// What to do with tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// `a^b mod N`, exponents secret.
    Pow,
    /// `a^b mod N`, exponents public.
    PowVartime,
    /// `a b`, or `a b mod N`.
    Mul,
}

/// The answer's limbs, or what was wrong.
pub(crate) type Answer = Result<Vec<u64>, String>;

/// Answers tasks in order; those that are errors already stay so.
///
/// Tasks are grouped by the lengths of their numbers, so that a mixed file does not pay for its
/// longest member; groups are computed beside each other, long ones first.
pub(crate) fn answer(engine: &Engine, work: Work, tasks: &[Result<Task, String>]) -> Vec<Answer> {
    let mut answers: Vec<Answer> = Vec::with_capacity(tasks.len());
    let mut groups: BTreeMap<[usize; 3], Vec<usize>> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        match task {
            Ok(task) => {
                let shape = [task.modulus.as_ref().map_or(0, Number::len), task.b.len(), task.a.len()];
                groups.entry(shape).or_default().push(index);
                answers.push(Ok(Vec::new()));
            }
            Err(error) => answers.push(Err(error.clone())),
        }
    }
    // Popped from the end: the longest moduli first.
    let queue = Mutex::new(groups.into_values().collect::<Vec<_>>());
    let workers = engine.threads().min(queue.lock().map_or(1, |groups| groups.len()));
    let done = Mutex::new(Vec::new());
    let worker = || {
        while let Some(group) = queue.lock().ok().and_then(|mut groups| groups.pop()) {
            let members: Vec<&Task> = group.iter().filter_map(|&index| tasks[index].as_ref().ok()).collect();
            let results = compute(engine, work, &members);
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
    for (group, results) in done.into_inner().unwrap_or_default() {
        for (index, result) in group.into_iter().zip(results) {
            answers[index] = result;
        }
    }
    answers
}

/// Computes tasks whose numbers need the same limbs: one call of the engine.
fn compute(engine: &Engine, work: Work, tasks: &[&Task]) -> Vec<Answer> {
    let a = collect(tasks.iter().map(|task| &task.a));
    let b = collect(tasks.iter().map(|task| &task.b));
    let moduli: Vec<&Number> = tasks.iter().filter_map(|task| task.modulus.as_ref()).collect();
    let result = match moduli.split_first() {
        None => engine.mul(&a, &b),
        // One modulus for all: its constants are computed once.
        Some((first, rest)) if !rest.is_empty() && rest.iter().all(|other| other.limbs == first.limbs) => {
            Modulus::new(&first.limbs).and_then(|modulus| match work {
                Work::Pow => engine.pow(&a, &b, &modulus),
                Work::PowVartime => engine.pow_vartime(&a, &b, &modulus),
                Work::Mul => engine.mul_mod(&a, &b, &modulus),
            })
        }
        Some(_) => {
            let moduli = collect(moduli.iter().copied());
            match work {
                Work::Pow => engine.pow(&a, &b, &moduli),
                Work::PowVartime => engine.pow_vartime(&a, &b, &moduli),
                Work::Mul => engine.mul_mod(&a, &b, &moduli),
            }
        }
    };
    let all = |batch: &Batch| batch.iter().map(|value| Ok(value.to_vec())).collect::<Vec<Answer>>();
    match result {
        Ok(batch) => all(&batch),
        Err(Error::Items(partial)) => {
            let mut answers = all(&partial.answers);
            for ItemError { index, kind } in partial.failed {
                answers[index] = Err(kind.to_string());
            }
            answers
        }
        Err(error) => vec![Err(error.to_string()); tasks.len()],
    }
}

/// A batch as wide as its longest number is written.
fn collect<'a>(numbers: impl ExactSizeIterator<Item = &'a Number> + Clone) -> Batch {
    let bits = numbers.clone().map(|number| number.bits).max().unwrap_or(1);
    let mut batch = Batch::zeros(bits, numbers.len());
    for (index, number) in numbers.enumerate() {
        batch.get_mut(index)[..number.len()].copy_from_slice(&number.limbs);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_taken_as_written() {
        let number = Number::from_hex("0x0000000000000000ff").unwrap();
        assert_eq!((number.bits, number.len()), (72, 2));
        let modulus = number.into_modulus().unwrap();
        assert_eq!((modulus.bits, modulus.len()), (8, 1));
        assert!(Number::from_hex("00").unwrap().into_modulus().is_err());
    }

    #[test]
    fn only_leading_zeros_may_pass_the_limit() {
        let long = |limbs: Vec<u64>| Number::new(limbs, HUGE_BITS + 8);
        let number = long(vec![0x12, 0, 0]).unwrap();
        assert_eq!((number.bits, number.limbs), (5, vec![0x12]));
        assert_eq!(long(vec![0, 0]).unwrap().limbs, [0]);
    }

    #[test]
    fn groups_of_many_shapes_come_back_in_order() {
        let engine = Engine::builder().threads(2).build().unwrap();
        let number = |text: &str| Number::from_hex(text).unwrap();
        let tasks: Vec<Result<Task, String>> = (0..100usize)
            .map(|i| {
                if i % 7 == 3 {
                    return Err(format!("bad {i}"));
                }
                let (a, b) = (number(&format!("{:0>1$x}", i, 1 + 16 * (i % 3))), number("2"));
                let modulus = (i % 2 == 0).then(|| number(&format!("1{}1", "0".repeat(10 * (i % 5)))));
                Ok(Task { a, b, modulus })
            })
            .collect();
        for (index, answer) in answer(&engine, Work::Mul, &tasks).into_iter().enumerate() {
            match answer {
                Ok(_) if index % 2 == 0 && index % 5 == 0 => {}
                Ok(value) => assert_eq!(limbs::bits_at(&value, 0, 64), 2 * index as u64),
                Err(error) => assert_eq!(error, format!("bad {index}")),
            }
        }
    }
}
