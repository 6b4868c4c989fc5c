//! Measurements of files: the numbers that a program reads, and the library's rate on the same numbers in memory.

use crate::inputs::{Inputs, Workload};
use crate::record::{Header, json_lines};
use crate::table::{number, plain, right};
use modmill::{Batch, Engine, Error, Op, Request};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The numbers of one file.
pub struct FileInputs(Inputs);

impl FileInputs {
    /// Random numbers for `count` records: odd moduli and bases of `bits` bits, exponents of `exponent_bits` bits.
    #[must_use]
    pub fn random(op: Op, bits: usize, exponent_bits: usize, count: usize, seed: u64) -> Self {
        Self(Inputs::random(Workload { op, bits, exponent_bits, count, shared_modulus: false }, seed))
    }

    /// The records that an engine computes in about `time`, but at least `least`.
    ///
    /// It is an error if no path of the engine computes the operation.
    pub fn count_for(
        engine: &Engine,
        op: Op,
        (bits, exponent_bits): (usize, usize),
        time: Duration,
        least: usize,
    ) -> Result<usize, Error> {
        const MANY: usize = 1 << 18;
        let request = Request::new(op, bits, MANY);
        let request = if op.is_power() { request.exponents_of(exponent_bits) } else { request };
        let seconds = engine.plan(&request)?.seconds / MANY as f64;
        Ok(((time.as_secs_f64() / seconds.max(1e-9)) as usize).max(least))
    }

    /// The names of the fields, as the program calls them, and their numbers.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, &Batch)> {
        let Inputs { a, b, moduli, .. } = &self.0;
        match self.0.workload.op {
            Op::Pow | Op::PowVartime => vec![("base", a), ("exp", b), ("mod", moduli)],
            Op::Mul | Op::Gcd => vec![("a", a), ("b", b)],
            Op::MulMod => vec![("a", a), ("b", b), ("mod", moduli)],
            Op::Inv => vec![("a", a), ("mod", moduli)],
            Op::Square => vec![("a", a), ("b", a)],
            Op::SquareMod => vec![("a", a), ("b", a), ("mod", moduli)],
        }
    }

    /// The answers of one call of the library.
    pub fn compute(&self, engine: &Engine) -> Result<Batch, Error> {
        let Inputs { a, b, moduli, .. } = &self.0;
        match self.0.workload.op {
            Op::Pow => engine.pow(a, b, moduli),
            Op::PowVartime => engine.pow_vartime(a, b, moduli),
            Op::Mul => engine.mul(a, b),
            Op::MulMod => engine.mul_mod(a, b, moduli),
            Op::Square => engine.mul(a, a),
            Op::SquareMod => engine.mul_mod(a, a, moduli),
            Op::Inv => engine.inv(a, moduli),
            Op::Gcd => engine.gcd(a, b),
        }
    }

    /// The records per second of the library, in the best of the calls that fit in `time`.
    pub fn library_rate(&self, engine: &Engine, time: Duration) -> Result<f64, Error> {
        let best = best_time(time, || self.compute(engine).map(drop))?;
        Ok(self.0.workload.count as f64 / best.as_secs_f64())
    }
}

/// The shortest time of `work`, which is repeated until `time` has passed.
pub fn best_time<E>(time: Duration, mut work: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while best == Duration::MAX || start.elapsed() < time {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// The result of one file.
#[derive(Debug, Clone, Serialize)]
pub struct FileRecord {
    /// Always `file`.
    pub kind: &'static str,
    /// The operation.
    pub op: String,
    /// Bits of moduli and bases, or of factors.
    pub bits: usize,
    /// Bits of exponents, for powers.
    pub exponent_bits: Option<usize>,
    /// `lines`, `parquet` or `arrow`.
    pub format: &'static str,
    /// Records in the file.
    pub records: usize,
    /// Worker threads.
    pub threads: usize,
    /// The path that the library computes by.
    pub path: String,
    /// Bytes of the input and of the output.
    pub bytes: u64,
    /// Records per second from file to file, in the best run.
    pub records_per_s: f64,
    /// Megabytes of input and output per second, in the best run.
    pub megabytes_per_s: f64,
    /// Records per second of the library on the same numbers in memory, in the best call.
    pub library_per_s: f64,
    /// Whether all answers were right.
    pub verified: bool,
}

/// The header and all records as one JSON array, one record per line.
pub fn to_json(header: &Header, records: &[FileRecord]) -> Result<String, serde_json::Error> {
    json_lines(header, records)
}

/// The records as a table for people.
#[must_use]
pub fn table(records: &[FileRecord]) -> String {
    let mut table =
        plain(["op", "bits", "exp", "format", "path", "records", "records/s", "MB/s", "library/s", "share"]);
    for record in records {
        table.add_row(vec![
            record.op.as_str().into(),
            right(record.bits),
            right(record.exponent_bits.map_or_else(|| "-".to_owned(), |bits| bits.to_string())),
            record.format.into(),
            record.path.as_str().into(),
            right(record.records),
            right(number(record.records_per_s)),
            right(number(record.megabytes_per_s)),
            right(number(record.library_per_s)),
            right(format!("{:.0}%", 100.0 * record.records_per_s / record.library_per_s)),
        ]);
    }
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_answers_belong_together() {
        let engine = Engine::builder().threads(1).build().unwrap();
        for &op in Op::ALL {
            let inputs = FileInputs::random(op, 64, 64, 3, 1);
            let fields = inputs.fields();
            let [first, .., last] = &fields[..] else { panic!("{op} has two fields or more") };
            assert_eq!(first.1.len(), last.1.len());
            let answers = inputs.compute(&engine).unwrap();
            assert_eq!(answers.get(1), &inputs.0.expected(1)[..answers.stride()], "{op}");
            assert!(inputs.library_rate(&engine, Duration::ZERO).unwrap() > 0.0);
        }
        let count = FileInputs::count_for(&engine, Op::Pow, (512, 512), Duration::from_secs(1), 10).unwrap();
        assert!(count > 100);
    }
}
