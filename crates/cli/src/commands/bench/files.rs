//! `modmill bench --files`: the rate from file to file, beside the library's.

use super::file_inputs::{self, ScratchFolder};
use crate::arithmetic::{Arithmetic, NumberOperation};
use crate::failure::Failure;
use crate::io::Protected;
use crate::records::{self, Answers, FileRules, Format, Layout, Operation, Places, Records};
use modmill::{Batch, Engine, Op, Request};
use modmill_measure::files::{FileInputs, FileRecord, best_time};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The fewest records of a file.
const LEAST_RECORDS: usize = 1024;
/// The most bytes of a file, about.
const MOST_BYTES: usize = 1 << 30;
/// Exponents that cost next to nothing, so that the files decide.
const CHEAP_EXPONENT_BITS: usize = 2;

/// The settings of a measurement from file to file.
pub(super) struct FileBench<'a> {
    pub(super) engine: &'a Engine,
    pub(super) ops: &'a [Op],
    pub(super) bits: &'a [usize],
    /// Bits of exponents; `None` stands for full length, and beside it for next to none.
    pub(super) exponent_bits: Option<usize>,
    /// Records in a file; none stands for about `time` of computing.
    pub(super) counts: Vec<usize>,
    pub(super) time: Duration,
    pub(super) seed: u64,
    /// Bytes of memory for records.
    pub(super) memory: u64,
}

/// One file's numbers.
#[derive(Clone, Copy)]
struct Point {
    op: Op,
    bits: usize,
    exponent_bits: usize,
}

impl FileBench<'_> {
    /// Measures every operation, length and format.
    pub(super) fn run(&self, measuring: impl Fn(String)) -> Result<Vec<FileRecord>, Failure> {
        let folder = ScratchFolder::create()?;
        let mut records = Vec::new();
        for point in self.points() {
            let counts = if self.counts.is_empty() { vec![self.count(point)?] } else { self.counts.clone() };
            for count in counts {
                let Point { op, bits, exponent_bits } = point;
                let inputs = FileInputs::random(op, bits, exponent_bits, count, self.seed);
                let expected = inputs.compute(self.engine)?;
                let library = inputs.library_rate(self.engine, self.time)?;
                for format in file_inputs::FORMATS {
                    let name = file_inputs::name(format);
                    measuring(format!("{op} of {bits} bits, {name}"));
                    let input = folder.path().join(format!("in.{name}"));
                    file_inputs::write(format, &inputs, &input)?;
                    records.push(self.measure(point, format, &input, &expected, library)?);
                }
            }
        }
        Ok(records)
    }

    /// The number of files.
    pub(super) fn files(&self) -> usize {
        self.points().count() * self.counts.len().max(1) * file_inputs::FORMATS.len()
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        let with_exponents = move |op: Op, bits: usize| match self.exponent_bits {
            _ if !op.is_power() => vec![bits],
            Some(exponent_bits) => vec![exponent_bits],
            None => vec![bits, CHEAP_EXPONENT_BITS],
        };
        let lengths = move |op: Op| self.bits.iter().map(move |&bits| (op, bits));
        self.ops.iter().flat_map(move |&op| lengths(op)).flat_map(move |(op, bits)| {
            with_exponents(op, bits).into_iter().map(move |exponent_bits| Point { op, bits, exponent_bits })
        })
    }

    fn count(&self, Point { op, bits, exponent_bits }: Point) -> Result<usize, Failure> {
        let lengths = (bits, exponent_bits);
        let count = FileInputs::count_for(self.engine, op, lengths, self.time, LEAST_RECORDS)?;
        Ok(count.min(MOST_BYTES / (3 * bits / 4 + 64)).max(1))
    }

    /// Runs one file until the time is up; first once to see that the answers are right.
    fn measure(
        &self,
        point: Point,
        format: Format,
        input: &Path,
        expected: &Batch,
        library_per_s: f64,
    ) -> Result<FileRecord, Failure> {
        let name = file_inputs::name(format);
        let output = input.with_file_name(format!("out.{name}"));
        let operation = NumberOperation { arithmetic: arithmetic(point.op), engine: self.engine };
        let places = Places {
            format,
            is_format_given: true,
            inputs: vec![text(input)?],
            output: text(&output)?,
            protected: Protected::default(),
            max_line: 1 << 30,
            memory: self.memory,
            quiet: true,
        };
        let checked = Checked::new(&operation, expected);
        records::run(&checked, &places, self.engine)?.finish()?;
        let verified = checked.is_right();
        let best = best_time(self.time, || records::run(&operation, &places, self.engine)?.finish())?;
        let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let (bytes, count) = (length(input) + length(&output), expected.len());
        let seconds = best.as_secs_f64();
        let request = Request::new(point.op, point.bits, count);
        let power = point.op.is_power();
        let request = if power { request.exponents_of(point.exponent_bits) } else { request };
        Ok(FileRecord {
            kind: "file",
            op: point.op.to_string(),
            bits: point.bits,
            exponent_bits: power.then_some(point.exponent_bits),
            format: name,
            records: count,
            threads: self.engine.threads(),
            path: self.engine.plan(&request)?.path.to_string(),
            bytes,
            records_per_s: count as f64 / seconds,
            megabytes_per_s: bytes as f64 / 1e6 / seconds,
            library_per_s,
            verified,
        })
    }
}

fn text(path: &Path) -> Result<&str, Failure> {
    let reason = "the folder for temporary files has a name that is no text";
    path.to_str().ok_or_else(|| Failure::Usage(reason.to_owned()))
}

/// The program's operation.
fn arithmetic(op: Op) -> Arithmetic {
    match op {
        Op::Pow => Arithmetic::Power,
        Op::PowVartime => Arithmetic::PowerVartime,
        Op::Mul | Op::MulMod | Op::Square | Op::SquareMod => Arithmetic::Product,
        Op::Inv => Arithmetic::Inverse,
        Op::Gcd => Arithmetic::Divisor,
    }
}

/// An operation whose answers are compared with the library's.
struct Checked<'a, P> {
    operation: &'a P,
    expected: &'a Batch,
    /// The answers that were compared.
    compared: AtomicUsize,
    is_wrong: AtomicBool,
}

impl<'a, P> Checked<'a, P> {
    fn new(operation: &'a P, expected: &'a Batch) -> Self {
        Self { operation, expected, compared: AtomicUsize::new(0), is_wrong: AtomicBool::new(false) }
    }

    fn is_right(&self) -> bool {
        !self.is_wrong.load(Ordering::Relaxed) && self.compared.load(Ordering::Relaxed) == self.expected.len()
    }
}

impl<P: Operation> Operation for Checked<'_, P> {
    type Prepared = P::Prepared;
    type Computed = P::Computed;

    fn layout(&self) -> Layout {
        self.operation.layout()
    }

    fn files(&self) -> Option<FileRules> {
        self.operation.files()
    }

    fn prepare(&self, records: Vec<Records>) -> P::Prepared {
        self.operation.prepare(records)
    }

    fn compute(&self, prepared: P::Prepared) -> Result<P::Computed, Failure> {
        self.operation.compute(prepared)
    }

    fn finish(&self, computed: P::Computed) -> Vec<Answers> {
        let pieces = self.operation.finish(computed);
        for answer in pieces.iter().flat_map(Answers::iter) {
            let item = self.compared.fetch_add(1, Ordering::Relaxed);
            let octets = (item < self.expected.len()).then(|| self.expected.to_be_bytes(item));
            let without_zeros = |octets: &[u8]| {
                let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
                octets[zeros..].to_vec()
            };
            if answer.ok().map(without_zeros) != octets.as_deref().map(without_zeros) {
                self.is_wrong.store(true, Ordering::Relaxed);
            }
        }
        pieces
    }
}
