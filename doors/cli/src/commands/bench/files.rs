//! `modmill bench --files`: the rate from file to file, compared with the library's.

use super::checked::Checked;
use super::file_inputs::{self, ScratchFolder};
use crate::arithmetic::{Arithmetic, NumberOperation};
use crate::commands::rsa::message_operation::{Columns, MessageOperation};
use crate::commands::rsa::sign;
use crate::failure::Failure;
use crate::io::Protected;
use crate::records::{self, FileNames, FileRules, Format, Operation, Places};
use modmill::{Batch, Engine, Op, Request, warm};
use modmill_measure::files::{FileInputs, FileRecord, SignInputs, best_time};
use modmill_measure::{BenchOp, RsaOp};
use modmill_rsa::Rsa;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The fewest records of a file.
const LEAST_RECORDS: usize = 1024;
/// The most bytes of a file, about.
const MOST_BYTES: usize = 1 << 30;
/// Exponents that cost next to nothing, so that the files decide.
const CHEAP_EXPONENT_BITS: usize = 2;

/// An operation that is measured from file to file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOp {
    /// A command on numbers.
    Numbers(Op),
    /// `modmill rsa sign --digest`.
    Sign,
}

impl FileOp {
    fn is_power(self) -> bool {
        matches!(self, Self::Numbers(op) if op.is_power())
    }
}

impl fmt::Display for FileOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers(op) => op.fmt(f),
            Self::Sign => BenchOp::Rsa(RsaOp::Sign).fmt(f),
        }
    }
}

/// The settings of a measurement from file to file.
pub(super) struct FileBench<'a> {
    pub(super) engine: &'a Engine,
    pub(super) ops: &'a [FileOp],
    pub(super) bits: &'a [usize],
    /// Bits of exponents; `None` stands for two measurements, with full length and with next to none.
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
    op: FileOp,
    bits: usize,
    exponent_bits: usize,
}

/// The records of a point, with their right answers and the library's rate.
struct Inputs<'a> {
    fields: Vec<(&'static str, &'a Batch)>,
    expected: Batch,
    library_per_s: f64,
    /// The request that the library answers for these records.
    request: Request,
}

impl FileBench<'_> {
    /// Measures every operation, length and format. `measuring` learns what comes next, and `done` what was
    /// measured.
    pub(super) fn run(
        &self,
        measuring: impl Fn(String),
        mut done: impl FnMut(FileRecord) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let folder = ScratchFolder::create()?;
        for point in self.points() {
            let counts = if self.counts.is_empty() { vec![self.count(point)?] } else { self.counts.clone() };
            for count in counts {
                let measuring = |format| {
                    measuring(format!("{} of {} bits, {}", point.op, point.bits, file_inputs::name(format)));
                };
                match point.op {
                    FileOp::Numbers(op) => self.numbers(point, op, count, &folder, measuring, &mut done)?,
                    FileOp::Sign => self.signatures(point, count, &folder, measuring, &mut done)?,
                }
            }
        }
        Ok(())
    }

    /// Measures a command on numbers.
    fn numbers(
        &self,
        point: Point,
        op: Op,
        count: usize,
        folder: &ScratchFolder,
        measuring: impl Fn(Format),
        done: impl FnMut(FileRecord) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let request = |count| match Request::new(op, point.bits, count) {
            request if op.is_power() => request.exponents_of(point.exponent_bits),
            request => request,
        };
        // Steady rates are measured: what has to be compiled is compiled before, for all records and for a
        // chunk of them.
        let lengths = (point.bits, point.exponent_bits);
        let chunk = FileInputs::count_for(self.engine, op, lengths, records::CHUNK_TIME, LEAST_RECORDS)?;
        for count in [count, chunk.min(count)] {
            warm::plan(self.engine, &request(count))?;
        }
        let numbers = FileInputs::random(op, point.bits, point.exponent_bits, count, self.seed);
        let inputs = Inputs {
            fields: numbers.fields(),
            expected: numbers.compute(self.engine)?,
            library_per_s: numbers.library_rate(self.engine, self.time)?,
            request: request(count),
        };
        let operation = NumberOperation::new(arithmetic(op), self.engine);
        self.formats(point, &operation, &inputs, folder, measuring, done)
    }

    /// Measures `modmill rsa sign --digest`.
    fn signatures(
        &self,
        point: Point,
        count: usize,
        folder: &ScratchFolder,
        measuring: impl Fn(Format),
        done: impl FnMut(FileRecord) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        warm::rsa(self.engine, point.bits, count)?;
        let digests = SignInputs::random(self.engine, point.bits, count)?;
        let inputs = Inputs {
            fields: digests.fields(),
            expected: digests.compute(self.engine)?,
            library_per_s: digests.library_rate(self.engine, self.time)?,
            request: SignInputs::powers(point.bits, count),
        };
        let rsa = Rsa::new(self.engine);
        let compute =
            |columns: Columns<'_>| rsa.sign_digests_rows(digests.key(), digests.scheme(), &columns[0]);
        let files = FileRules { names: FileNames::Add("sig"), hash: None };
        let operation = MessageOperation {
            layout: sign::layout(&["digest"]),
            files,
            mode: None,
            engine: self.engine,
            compute,
        };
        self.formats(point, &operation, &inputs, folder, measuring, done)
    }

    /// The number of files.
    pub(super) fn files(&self) -> usize {
        self.points().count() * self.counts.len().max(1) * file_inputs::FORMATS.len()
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        let with_exponents = move |op: FileOp, bits: usize| match self.exponent_bits {
            _ if !op.is_power() => vec![bits],
            Some(exponent_bits) => vec![exponent_bits],
            None => vec![bits, CHEAP_EXPONENT_BITS],
        };
        let lengths = move |op: FileOp| self.bits.iter().map(move |&bits| (op, bits));
        self.ops.iter().flat_map(move |&op| lengths(op)).flat_map(move |(op, bits)| {
            with_exponents(op, bits).into_iter().map(move |exponent_bits| Point { op, bits, exponent_bits })
        })
    }

    fn count(&self, Point { op, bits, exponent_bits }: Point) -> Result<usize, Failure> {
        let count = match op {
            FileOp::Numbers(op) => {
                FileInputs::count_for(self.engine, op, (bits, exponent_bits), self.time, LEAST_RECORDS)?
            }
            FileOp::Sign => SignInputs::count_for(self.engine, bits, self.time, LEAST_RECORDS)?,
        };
        Ok(count.min(MOST_BYTES / (3 * bits / 4 + 64)).max(1))
    }

    /// Measures an operation on files of every format.
    fn formats(
        &self,
        point: Point,
        operation: &impl Operation,
        inputs: &Inputs<'_>,
        folder: &ScratchFolder,
        measuring: impl Fn(Format),
        mut done: impl FnMut(FileRecord) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for format in file_inputs::FORMATS {
            measuring(format);
            let input = folder.path().join(format!("in.{}", file_inputs::name(format)));
            file_inputs::write(format, &inputs.fields, &input)?;
            done(self.measure(point, operation, format, &input, inputs)?)?;
        }
        Ok(())
    }

    /// Runs one file until the time is up; first once to see that the answers are right.
    fn measure(
        &self,
        point: Point,
        operation: &impl Operation,
        format: Format,
        input: &Path,
        inputs: &Inputs<'_>,
    ) -> Result<FileRecord, Failure> {
        let name = file_inputs::name(format);
        let output = input.with_file_name(format!("out.{name}"));
        let places = Places {
            format,
            output_format: format,
            missing_option: None,
            inputs: vec![text(input)?],
            output: text(&output)?,
            protected: Protected::default(),
            max_line: 1 << 30,
            memory: self.memory,
            quiet: true,
        };
        let checked = Checked::new(operation, &inputs.expected);
        records::run(&checked, &places, self.engine)?.finish()?;
        let verified = checked.is_right();
        let best = best_time(self.time, || records::run(operation, &places, self.engine)?.finish())?;
        let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let (bytes, count) = (length(input) + length(&output), inputs.expected.len());
        let seconds = best.as_secs_f64();
        Ok(FileRecord {
            kind: "file",
            op: point.op.to_string(),
            bits: point.bits,
            exponent_bits: point.op.is_power().then_some(point.exponent_bits),
            format: name,
            records: count,
            threads: self.engine.threads(),
            path: self.engine.plan(&inputs.request)?.path.to_string(),
            bytes,
            records_per_s: count as f64 / seconds,
            megabytes_per_s: bytes as f64 / 1e6 / seconds,
            library_per_s: inputs.library_per_s,
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
        Op::Inv => Arithmetic::Inverse,
        Op::Gcd => Arithmetic::Divisor,
        _ => Arithmetic::Product,
    }
}
