//! The kernels of every family compiled for every chip, and what the compiler made of them.

use modmill_core::{Family, Op};
use modmill_cuda::cache::Cache;
use modmill_cuda::compiler::{self, Architecture, Compiler, MachineCode};
use modmill_cuda::{Chip, Limits, Part, Table, Variant};
use rayon::prelude::*;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Items of the batch that plans are for: many more than any chip computes at once.
const BATCH: usize = 1_000_000;

/// The most local memory of a thread, in bytes: arguments that loops index, and a few values outside of the
/// loops.
const MOST_LOCAL_BYTES: u32 = 256;

/// The families whose kernels depend on the length of numbers.
const FAMILIES: [Family; 5] = [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns];

const INTRODUCTION: &str = "\
# GPUs

The kernels run on every NVIDIA GPU from compute capability 7.5 (Turing) on. An H200 was measured; the plans of
other GPUs are estimated from their rates, and `modmill tune` replaces the estimates by measurements.

A device's limits decide which kernels it has: shared memory of a block and of a multiprocessor, threads and
registers of a multiprocessor, and tensor instructions (`mma.m8n8k16` on 7.5, `wgmma` on 9.0, `mma.m16n8k32` on the
others). A layout that does not fit is never a candidate. A residue family whose matrices do not fit shared memory
streams them through it on 9.0, and reads them from global memory on other chips.

`cargo xtask chips` compiles the chosen kernels for each chip below, with NVRTC and without a GPU, checks registers,
local memory and shared memory against the chip's limits, and writes this page. With `--every-family` it compiles and
checks the kernels of the other families, too.
`MODMILL_CUDA_DEVICES=emulator:t4` runs on an emulated device with the limits of a T4; the names are `t4`, `a100`,
`a10`, `rtx4090`, `h200`, `b200` and `rtx5090`.
";

/// Compile every family for every chip, check the chip's limits, and write a page about it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Chips to compile for.
    #[arg(long, value_delimiter = ',', default_values_t = Chip::ALL)]
    chips: Vec<Chip>,
    /// Lengths of moduli.
    #[arg(long, value_delimiter = ',', default_value = "256,512,1024,2048,4096,8192")]
    bits: Vec<usize>,
    /// Compile the families that are not chosen, too.
    #[arg(long)]
    every_family: bool,
    /// The page to write.
    #[arg(long, default_value = "docs/inside/gpus.md")]
    out: PathBuf,
}

/// A family's kernels on a chip.
#[derive(Clone, Copy)]
struct Candidate {
    chip: Chip,
    bits: usize,
    variant: Variant,
    /// Whether no other family is faster.
    is_chosen: bool,
}

/// The registers and the local memory of a candidate's powers, as they were compiled.
struct Compiled {
    candidate: Candidate,
    registers: u32,
    local_bytes: u32,
}

impl Candidate {
    /// The kernels that the chip's table chooses; with `every_family` also the fastest way of each other
    /// family, or its first candidate where the table has none.
    fn all(chip: Chip, bits: usize, every_family: bool) -> Vec<Self> {
        let limits = chip.limits();
        let table = Table::for_device(chip.device_name(), &limits);
        let choices = table.choices(&limits, Op::Pow, bits, BATCH, bits);
        let first = |family: Family| Variant::candidates(family, bits, &limits).into_iter().next();
        let choices = choices.into_iter().map(|choice| choice.variant);
        let mut found: Vec<Self> = Vec::new();
        for variant in choices.chain(FAMILIES.into_iter().filter_map(first)) {
            if !found.iter().any(|other| other.variant.family == variant.family) {
                found.push(Self { chip, bits, variant, is_chosen: found.is_empty() });
            }
        }
        found.truncate(if every_family { FAMILIES.len() } else { 1 });
        found
    }

    fn describe(&self) -> String {
        let Variant { family, layout, .. } = self.variant;
        format!("{}, {} bits, {family} of {} threads", self.chip, self.bits, layout.threads)
    }

    fn compile(self, compiler: &Compiler) -> Result<Compiled, String> {
        let start = Instant::now();
        let variant = self.variant;
        let (major, minor) = self.chip.limits().capability;
        let prefix = if variant.family == Family::Rns { "residue_" } else { "" };
        let broken = || format!("{}: the machine code cannot be read", self.describe());
        // All parts compile; powers have the most registers.
        let mut kernels = Vec::new();
        for part in Part::ALL {
            let Some(program) = variant.program(part) else { continue };
            let code = compiler.code(&program, Architecture { major, minor });
            let code = code.map_err(|error| format!("{}: {error}", self.describe()))?;
            let name = match part {
                Part::Power => "power",
                Part::PowerVartime => "power_vartime",
                Part::Multiply | Part::Chains | Part::Preparation | Part::Conversion => continue,
            };
            kernels.push(MachineCode::of(&code, &format!("{prefix}{name}")).ok_or_else(broken)?);
        }
        let most = |of: fn(&MachineCode) -> u32| kernels.iter().map(of).max().unwrap_or(0);
        let compiled = Compiled {
            registers: most(|kernel| kernel.registers),
            local_bytes: most(|kernel| kernel.local_bytes),
            candidate: self,
        };
        eprintln!("{}: {:.1} s", compiled.candidate.describe(), start.elapsed().as_secs_f64());
        compiled.check()?;
        Ok(compiled)
    }
}

impl Compiled {
    fn variant(&self) -> Variant {
        self.candidate.variant
    }

    /// Whether the chip holds as many blocks as the layout says.
    fn check(&self) -> Result<(), String> {
        let limits: Limits = self.candidate.chip.limits();
        let (variant, layout) = (self.variant(), self.variant().layout);
        let registers = self.registers * layout.block * layout.resident;
        let shared = variant.shared_bytes();
        let fits = registers <= limits.registers_per_multiprocessor
            && limits.resident_blocks(layout.block, shared) >= layout.resident
            && self.local_bytes <= MOST_LOCAL_BYTES;
        let figures = format!(
            "{} registers, {} bytes of local memory, {shared} bytes of shared memory",
            self.registers, self.local_bytes
        );
        fits.then_some(())
            .ok_or_else(|| format!("{}: beyond the limits: {figures}", self.candidate.describe()))
    }
}

/// Compiles and writes.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let Arguments { chips, bits, every_family, out } = arguments;
    let version = compiler::version()?;
    let compiler = Compiler::new(Cache::from_environment(), None);
    let pairs = chips.iter().flat_map(|&chip| bits.iter().map(move |&bits| (chip, bits)));
    let candidates: Vec<Candidate> =
        pairs.flat_map(|(chip, bits)| Candidate::all(chip, bits, *every_family)).collect();
    eprintln!("{} programs, by NVRTC {version}", candidates.len());
    let results: Vec<Result<Compiled, String>> =
        candidates.into_par_iter().map(|candidate| candidate.compile(&compiler)).collect();
    let (compiled, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    if !failed.is_empty() {
        return Err(format!("{} programs failed:\n{}", failed.len(), failed.join("\n")));
    }
    let compiled: Vec<Compiled> = compiled.into_iter().flatten().collect();
    let page = page(arguments, &compiled, &version);
    std::fs::write(out, page).map_err(|error| format!("{} cannot be written: {error}", out.display()))
}

fn page(arguments: &Arguments, compiled: &[Compiled], version: &str) -> String {
    let Arguments { chips, bits, every_family, .. } = arguments;
    let mut text = INTRODUCTION.to_owned();
    text += "\n## Limits\n\n| chip | compute capability | multiprocessors | threads | KiB of a block | KiB of a multiprocessor |\n|---|---|---|---|---|---|\n";
    for &chip in chips {
        let limits = chip.limits();
        let (major, minor) = limits.capability;
        let _ = writeln!(
            text,
            "| {} | {major}.{minor} | {} | {} | {} | {} |",
            chip.device_name(),
            limits.multiprocessors,
            limits.threads_per_multiprocessor,
            limits.shared_per_block >> 10,
            limits.shared_per_multiprocessor >> 10
        );
    }
    let _ = writeln!(
        text,
        "\n## The choice for large batches\n\nSecret exponents as long as the modulus. Registers and local memory are \
         those of a thread, by NVRTC {version}."
    );
    for &chip in chips {
        let _ = writeln!(text, "\n### {}\n", chip.device_name());
        text += "| bits | family | threads a number | blocks x threads | registers | local bytes | shared KiB |\n|---|---|---|---|---|---|---|\n";
        for compiled in compiled.iter().filter(|it| it.candidate.chip == chip && it.candidate.is_chosen) {
            let (variant, layout) = (compiled.variant(), compiled.variant().layout);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} x {} | {} | {} | {:.1} |",
                compiled.candidate.bits,
                variant.family,
                layout.threads,
                layout.resident,
                layout.block,
                compiled.registers,
                compiled.local_bytes,
                f64::from(variant.shared_bytes()) / 1024.0
            );
        }
    }
    if !every_family {
        return text;
    }
    text += "\n## Every family\n\nThreads a number, registers of a thread and KiB of shared memory of a block; a dash \
             where the family has no layout of this length.\n";
    for family in FAMILIES {
        let heads: String = bits.iter().map(|bits| format!(" {bits} |")).collect();
        let _ = writeln!(text, "\n### {family}\n\n| chip |{heads}\n|---|{}", "---|".repeat(bits.len()));
        for &chip in chips {
            let cell = |bits: &usize| {
                let is_it = |it: &&Compiled| {
                    it.candidate.chip == chip && it.candidate.bits == *bits && it.variant().family == family
                };
                let figures = compiled.iter().find(is_it).map(|it| {
                    let kib = f64::from(it.variant().shared_bytes()) / 1024.0;
                    format!("{}, {}, {kib:.0}", it.variant().layout.threads, it.registers)
                });
                format!(" {} |", figures.unwrap_or_else(|| "-".to_owned()))
            };
            let cells: String = bits.iter().map(cell).collect();
            let _ = writeln!(text, "| {} |{cells}", chip.device_name());
        }
    }
    text
}
