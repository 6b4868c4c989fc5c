//! Kernels for other chips than the one that was measured: they compile, within the chip's limits.
//! `cargo xtask chips` compiles all of them; here is a sample with every family and every form of an
//! instruction.

use crate::{compiler, kernel_of};
use modmill_core::Family;
use modmill_cuda::compiler::Architecture;
use modmill_cuda::{Chip, Part, Variant, digits_programs, residue_matrix_programs, transforms_programs};

/// The first candidate of a family: its power has no more registers than its blocks leave it, and next to
/// nothing in local memory.
fn check(chip: Chip, family: Family, bits: usize) {
    let Some(compiler) = compiler() else { return };
    let limits = chip.limits();
    let (major, minor) = limits.capability;
    let variant = Variant::candidates(family, bits, &limits)[0];
    let code = compiler.code(&variant.program(Part::Power).unwrap(), Architecture { major, minor }).unwrap();
    let kernel = if family == Family::Rns { "residue_power" } else { "power" };
    let code = kernel_of(&code, kernel);
    let threads = variant.layout.block * variant.layout.resident;
    assert!(
        code.registers * threads <= limits.registers_per_multiprocessor && code.local_bytes <= 128,
        "{chip}, {family} of {bits} bits: {} registers, {} bytes of local memory",
        code.registers,
        code.local_bytes
    );
}

/// Tensor instructions: quarters of a product on 7.5, one warp's products on 8.0 and 12.0, with the matrices
/// in shared memory and in global memory.
#[test]
fn residues_on_older_and_newer_tensor_cores() {
    for (chip, bits) in [(Chip::T4, 512), (Chip::A100, 512), (Chip::Rtx5090, 1024)] {
        check(chip, Family::Rns, bits);
    }
}

#[test]
fn samples_and_words_on_a_turing_chip() {
    for family in [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow] {
        check(Chip::T4, family, 256);
    }
}

/// Inverses, divisors, quotients and remainders keep their digits in registers on every chip.
#[test]
fn digits_on_every_chip() {
    let Some(compiler) = compiler() else { return };
    for chip in [Chip::T4, Chip::A100, Chip::Rtx5090] {
        let (major, minor) = chip.limits().capability;
        for program in digits_programs(1024) {
            let code = compiler.code(&program, Architecture { major, minor }).unwrap();
            let kernel = program.name.split(':').next().unwrap_or_default();
            let code = kernel_of(&code, kernel);
            assert!(code.registers <= 255 && code.local_bytes <= 256, "{chip}, {}", program.name);
        }
    }
}

/// Copies to shared memory during the arithmetic do not exist on 7.5.
#[test]
fn transforms_on_a_turing_chip() {
    let Some(compiler) = compiler() else { return };
    let program = transforms_programs().find(|program| program.name.ends_with("short rows")).unwrap();
    let code = compiler.code(&program, Architecture { major: 7, minor: 5 }).unwrap();
    assert!(kernel_of(&code, "fft_rows").registers <= 255);
}

/// Matrices in residues: their stages fit the shared memory of every chip.
#[test]
fn residue_matrices_on_every_chip() {
    let Some(compiler) = compiler() else { return };
    for chip in [Chip::T4, Chip::A100, Chip::Rtx5090] {
        let limits = chip.limits();
        let (major, minor) = limits.capability;
        for program in residue_matrix_programs(&limits) {
            let code = compiler.code(&program, Architecture { major, minor }).unwrap();
            let is_vector = program.name.ends_with("one vector");
            let kernel = if is_vector { "matrix_vector_words" } else { "matrix_product_words" };
            let code = kernel_of(&code, kernel);
            assert!(code.registers <= 255 && code.local_bytes <= 128, "{chip}, {}", program.name);
        }
    }
}
