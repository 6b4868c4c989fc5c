//! Kernels compiled in advance, for hosts without NVRTC.

use modmill_core::{KERNEL_MAX_BITS, Op};
use modmill_cuda::cache::Cache;
use modmill_cuda::compiler::{self, Architecture, Compiler, Digest, Program, code_key};
use modmill_cuda::{
    Chip, Table, Variant, bundle, digits_programs, residue_matrix_programs, steps_program,
    transforms_programs, words_for,
};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Compile what the shipped table chooses among, with NVRTC, into one file. A host without NVRTC uses it
/// where MODMILL_CUDA_BUNDLE names it or where it stands in the program's folder. It serves the version of
/// modmill that it was made with, and no other.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compute capability of the GPUs.
    #[arg(long, value_name = "MAJOR.MINOR", default_value = "9.0", value_parser = architecture)]
    arch: Architecture,
    /// Lengths of moduli; each serves all lengths with as many words.
    #[arg(long, value_delimiter = ',', default_value = "256,512,1024,2048,3072,4096,8192", value_parser = length)]
    bits: Vec<usize>,
    /// The file to write.
    #[arg(long, default_value = bundle::FILE)]
    out: PathBuf,
}

fn architecture(text: &str) -> Result<Architecture, String> {
    let number = |part: &str| part.parse::<u32>().ok();
    let parts = text.split_once('.').and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
    let (major, minor) = parts.ok_or("a compute capability is two numbers with a point between, as 9.0")?;
    Ok(Architecture { major, minor })
}

fn length(text: &str) -> Result<usize, String> {
    let bits = text.parse().ok().filter(|bits| (2..=KERNEL_MAX_BITS).contains(bits));
    bits.ok_or_else(|| format!("a length is 2 to {KERNEL_MAX_BITS} bits"))
}

/// Everything that may be chosen for moduli of some length, with room above them and without.
fn variants(bits: usize) -> Vec<Variant> {
    let table = Table::shipped();
    let full = 32 * words_for(bits) as usize;
    let choices = [full, full - 2]
        .into_iter()
        .flat_map(|bits| table.choices(&Chip::H200.limits(), Op::Pow, bits, 1, bits));
    let mut found = Vec::new();
    for choice in choices {
        if !found.contains(&choice.variant) {
            found.push(choice.variant);
        }
    }
    found
}

/// The programs for moduli of these lengths, each once, and those of transforms, steps and matrices, with
/// what they are for.
fn programs(sizes: &[usize]) -> Vec<(String, Program)> {
    let mut found: Vec<(String, Program)> = Vec::new();
    for variant in sizes.iter().copied().flat_map(variants) {
        for program in variant.programs() {
            if found.iter().all(|(_, other)| *other != program) {
                found.push((describe(&variant), program));
            }
        }
    }
    let matrices = residue_matrix_programs(&Chip::H200.limits());
    let inverses = sizes.iter().copied().flat_map(digits_programs);
    let others = transforms_programs().chain([steps_program()]).chain(matrices).chain(inverses);
    found.extend(others.map(|program| (program.name.clone(), program)));
    found
}

fn describe(variant: &Variant) -> String {
    let Variant { family, words, room, layout, .. } = variant;
    let room = if *room { "with" } else { "without" };
    let (bits, threads, block, resident) = (32 * words, layout.threads, layout.block, layout.resident);
    format!("{bits} bits {room} room, {family} of {threads}, {resident} blocks of {block}")
}

/// Compiles and writes.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let Arguments { arch, bits, out } = arguments;
    let version = compiler::version().map_err(|reason| {
        format!("{reason}; install NVRTC (pip install nvidia-cuda-nvrtc has it), or name its library in MODMILL_NVRTC")
    })?;
    let mut sizes: Vec<usize> = bits.iter().map(|&bits| 32 * words_for(bits) as usize).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let programs = programs(&sizes);
    eprintln!("{} programs for {}.{}, by NVRTC {version}", programs.len(), arch.major, arch.minor);

    let compiler = Compiler::new(Cache::from_environment(), None);
    let done = AtomicUsize::new(0);
    let compile = |(name, program): &(String, Program)| -> Result<(Digest, Vec<u8>), String> {
        let start = Instant::now();
        let code = compiler.code(program, *arch).map_err(|error| format!("{name}: {error}"))?;
        let number = done.fetch_add(1, Ordering::Relaxed) + 1;
        let (kib, seconds) = (code.len().div_ceil(1024), start.elapsed().as_secs_f64());
        eprintln!("{number:4}/{}  {name}: {kib} KiB, {seconds:.1} s", programs.len());
        Ok((code_key(program, *arch), code))
    };
    let entries: Vec<(Digest, Vec<u8>)> = programs.par_iter().map(compile).collect::<Result<_, _>>()?;
    for warning in compiler.warnings() {
        eprintln!("warning: {warning}");
    }
    bundle::write(out, &entries).map_err(|error| format!("{} cannot be written: {error}", out.display()))?;
    let kib = entries.iter().map(|(_, code)| code.len()).sum::<usize>().div_ceil(1024);
    eprintln!("{}: {} programs, {kib} KiB", out.display(), entries.len());
    Ok(())
}
