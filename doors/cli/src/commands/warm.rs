//! `modmill warm`: compiles kernels of GPUs before they are needed.

use super::bench::parse_bits;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::options::BackendOption;
use crate::progress::Bar;
use modmill::{Backend, Engine, Op, Request, warm};
use modmill_cuda::bundle::{self, MachineCodeEntry};
use modmill_measure::table;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

const LONG_ABOUT: &str = "\
Compiles the kernels of GPUs before they are needed, and keeps them in the cache: the first batch then \
starts at once.

For every operation, length and batch size it compiles what the engine would run, and nothing else. \
Small and large batches may take different kernels; threads that submit small batches at the same time take \
those of large ones. rsa stands for signatures, decryption and \
verification with keys of that length. paillier stands for encryption with short exponents, decryption and sums of \
columns; it runs them once. The cache is the folder that MODMILL_CACHE_DIR names, or modmill \
in the user's cache folder; it can be copied to another machine with the same GPU, driver and program.

--bundle also writes the kernels to one file, for machines without NVRTC or without a warm cache: a service \
or a package ships it. The program and the library find it where MODMILL_CUDA_BUNDLE names it, or as \
modmill-cubins.bin beside the program. It serves the same version of modmill, and GPUs of the same compute \
capability.";

const EXAMPLES: &str = "\
Examples:
  modmill warm                                     powers and RSA at 1024 to 4096 bits
  modmill warm --ops rsa --bits 2048 --batch 1,100000
  modmill warm --ops mul --bits 786432,16777216
  modmill warm --ops paillier --bits 2048          columns of one item, and of a million
  MODMILL_CACHE_DIR=/opt/kernels modmill warm      for a service to read
  modmill warm --bits 2048 --bundle modmill-cubins.bin";

/// Compiles the kernels of GPUs before they are needed
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Warm {
    /// Operations: mul, square, mul_mod, square_mod, pow, pow_vartime, inv, gcd, div_rem, rsa, paillier
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pow,rsa", value_parser = parse_task)]
    ops: Vec<Task>,
    /// Lengths of moduli, of factors for mul and square, of keys for rsa and paillier
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1024,2048,3072,4096")]
    #[arg(value_parser = parse_bits)]
    bits: Vec<usize>,
    /// Items in a batch
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,1000000")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    batch: Vec<u32>,
    /// All items have the same modulus
    #[arg(long)]
    shared_modulus: bool,
    /// Write the kernels to this file, too
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    backend: BackendOption,
    /// Write a JSON array to standard output
    #[arg(long)]
    json: bool,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

/// An operation whose kernels the user wants compiled.
#[derive(Debug, Clone, Copy)]
enum Task {
    Arithmetic(Op),
    Rsa,
    Paillier,
}

fn parse_task(text: &str) -> Result<Task, String> {
    for (task, name) in [(Task::Rsa, "rsa"), (Task::Paillier, "paillier")] {
        if text.eq_ignore_ascii_case(name) {
            return Ok(task);
        }
    }
    match text.parse().map_err(|unknown: String| format!("{unknown}, rsa, paillier"))? {
        op @ (Op::Mul
        | Op::Square
        | Op::MulMod
        | Op::SquareMod
        | Op::Pow
        | Op::PowVartime
        | Op::Inv
        | Op::Gcd
        | Op::Div) => Ok(Task::Arithmetic(op)),
        op => Err(format!("{op} is computed by the CPU, or by the kernels of other operations")),
    }
}

/// One line of the answer.
struct Line {
    op: String,
    bits: usize,
    batch: usize,
    /// The path that computes, or why there is nothing to compile.
    path: String,
    seconds: f64,
}

impl Warm {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.backend.builder(0).build()?;
        let Some(cuda) = engine.cuda() else {
            let why = engine.faults().pop().unwrap_or("GPUs are not to be used".to_owned());
            return Err(Failure::Usage(format!("there is no GPU to compile for: {why}")));
        };
        // A misspelt folder should not show after minutes of compiling.
        let bundle = self.bundle.as_deref().map(|path| Output::create_file(path, None)).transpose()?;
        let points = self.ops.len() * self.bits.len() * self.batch.len();
        let bar = Bar::new(Some(points as u64), self.quiet || self.json, "kernels");
        let mut lines = Vec::with_capacity(points);
        for &op in &self.ops {
            for &bits in &self.bits {
                for &batch in &self.batch {
                    bar.message(format!("{} of {bits} bits, {batch} a batch", name(op)));
                    lines.push(self.warm(&engine, op, bits, batch as usize)?);
                    bar.advance(1);
                }
            }
        }
        bar.finish();
        if let Some(bundle) = bundle {
            write_bundle(bundle, &cuda.machine_code().map_err(|error| Failure::Usage(error.to_string()))?)?;
        }
        io::print(&if self.json { to_json(&lines) } else { to_text(&lines) })
    }

    fn warm(&self, engine: &Engine, op: Task, bits: usize, batch: usize) -> Result<Line, Failure> {
        let start = Instant::now();
        let path = match op {
            Task::Arithmetic(op) => {
                let request = Request::new(op, bits, batch);
                let request =
                    if self.shared_modulus && op.is_modular() { request.one_modulus() } else { request };
                let plan = warm::plan(engine, &request)?;
                match plan.backend() {
                    Backend::Cuda => plan.path.to_string(),
                    Backend::Cpu => format!("{}, which compiles nothing", plan.path),
                }
            }
            Task::Rsa => where_computed(warm::rsa(engine, bits, batch)?),
            Task::Paillier => where_computed(warm_paillier(engine, bits, batch)?),
        };
        Ok(Line { op: name(op), bits, batch, path, seconds: start.elapsed().as_secs_f64() })
    }
}

/// Runs Paillier's operations once. Returns whether GPUs have kernels for them.
#[cfg(feature = "paillier")]
fn warm_paillier(engine: &Engine, bits: usize, batch: usize) -> Result<bool, Failure> {
    use modmill_paillier::{Paillier, Randomness};
    let is_on_gpu = Paillier::new(engine).warm(bits, Randomness::Short, batch);
    is_on_gpu.map_err(|error| Failure::Usage(error.to_string()))
}

#[cfg(not(feature = "paillier"))]
fn warm_paillier(_: &Engine, _: usize, _: usize) -> Result<bool, Failure> {
    Err(super::absent::failure("warm --ops paillier", "paillier"))
}

/// Writes the kernels to a file.
fn write_bundle(mut output: Output, entries: &[MachineCodeEntry]) -> Result<(), Failure> {
    if entries.is_empty() {
        return Err(Failure::Usage(
            "there are no kernels to write: no GPU computes these operations".to_owned(),
        ));
    }
    let mut bytes = Vec::new();
    bundle::write_to(&mut bytes, entries).map_err(|error| Failure::Usage(error.to_string()))?;
    output.write_bytes(&bytes)?;
    output.finish()
}

fn name(op: Task) -> String {
    match op {
        Task::Arithmetic(op) => op.to_string(),
        Task::Rsa => "rsa".to_owned(),
        Task::Paillier => "paillier".to_owned(),
    }
}

/// The column `computed by` of an operation; `is_on_gpu` says whether GPUs have kernels for it.
fn where_computed(is_on_gpu: bool) -> String {
    if is_on_gpu { "cuda" } else { "the CPU, which compiles nothing" }.to_owned()
}

fn to_text(lines: &[Line]) -> String {
    let mut table = table::plain(["op", "bits", "batch", "computed by", "seconds"]);
    for Line { op, bits, batch, path, seconds } in lines {
        table.add_row([
            op.clone(),
            bits.to_string(),
            batch.to_string(),
            path.clone(),
            format!("{seconds:.2}"),
        ]);
    }
    table::text(table)
}

fn to_json(lines: &[Line]) -> String {
    let lines = lines.iter().map(|Line { op, bits, batch, path, seconds }| {
        json!({ "op": op, "bits": bits, "batch": batch, "path": path, "seconds": seconds })
    });
    format!("{}\n", Value::from_iter(lines))
}
