//! The machine code that the GPU's compiler makes of the kernels: registers, spills and instructions of the
//! powers that the shipped table chooses, within budgets. Needs NVRTC and no GPU; without NVRTC it is
//! skipped, unless `MODMILL_REQUIRE_NVRTC` is 1.

mod chips;

use modmill_core::rns::Bases;
use modmill_core::{Family, Op};
use modmill_cuda::cache::Cache;
use modmill_cuda::compiler::{self, Architecture, Compiler, MachineCode};
use modmill_cuda::{
    Chip, Cut, Layout, Part, Table, Variant, digits_programs, residue_matrix_programs, steps_program,
    transforms_programs,
};

const HOPPER: Architecture = Architecture { major: 9, minor: 0 };

/// A power as NVRTC 13.0 compiled it. Registers decide how many numbers a multiprocessor holds; local
/// memory means spills; products are unrolled, and have to fit the instruction cache.
///
/// A test that fails prints the line as it is now.
#[rustfmt::skip]
const BUDGETS: &[Budget] = &[
    // bits     batch  chosen    registers  local  products  instructions
    (  256,     1_000, "row of 1",         64,      0,      223,     1056),
    (  256, 1_000_000, "row of 1",         64,      0,      223,     1056),
    (  512,     1_000, "row of 4",         56,      0,       80,      904),
    (  512, 1_000_000, "row of 1",         96,      0,      883,     2432),
    ( 1024,     1_000, "rns of 2",        232,      0,      140,     2432),
    ( 1024, 1_000_000, "rns of 2",        168,      8,      140,     2456),
    ( 2048,     1_000, "row of 16",        56,      0,       80,      904),
    ( 2048, 1_000_000, "rns of 2",        168,     96,      251,     4000),
    ( 4096,     1_000, "row of 32",        63,      0,       81,      848),
    ( 4096, 1_000_000, "rns of 2",        255,    104,      460,     7880),
];

type Budget = (usize, usize, &'static str, u32, u32, usize, usize);

/// Whether an instruction multiplies 32 by 32 bits into 64 and adds (IMAD.WIDE), or is a multiply-add in
/// double precision (DFMA). Bits 9 to 11 tell where its operands are.
fn is_product(instruction: u64) -> bool {
    matches!(instruction & 0x1ff, 0x025 | 0x02b)
}

/// Whether an instruction is a product of a warpgroup's matrices (IGMMA).
fn is_matrix_product(instruction: u64) -> bool {
    instruction & 0x1ff == 0x1f1
}

/// Whether an instruction waits for such products (WARPGROUP.DEPBAR, not WARPGROUP.ARRIVE).
fn is_wait(instruction: u64) -> bool {
    instruction & 0x1ff == 0x1c5 && instruction >> 47 & 1 == 1
}

fn kernel_of(cubin: &[u8], kernel: &str) -> MachineCode {
    MachineCode::of(cubin, kernel).unwrap_or_else(|| panic!("no kernel {kernel}"))
}

#[test]
fn powers_of_256_bits() {
    check(256);
}

#[test]
fn powers_of_512_bits() {
    check(512);
}

#[test]
fn powers_of_1024_bits() {
    check(1024);
}

#[test]
fn powers_of_2048_bits() {
    check(2048);
}

#[test]
fn powers_of_4096_bits() {
    check(4096);
}

/// Samples in groups of threads: what NVRTC spills, if anything, is a few words outside of the loops.
#[test]
fn wide_samples_in_groups() {
    let Some(compiler) = compiler() else { return };
    for (bits, resident) in [(1536, 3), (2048, 3)] {
        let layout = Layout { threads: 2, block: 128, resident, cut: None };
        let variant = Variant::new(Family::Wide, bits, layout, &Chip::H200.limits()).unwrap();
        for (part, kernel) in [(Part::Power, "power"), (Part::PowerVartime, "power_vartime")] {
            let code = compiler.code(&variant.program(part).unwrap(), HOPPER).unwrap();
            let code = kernel_of(&code, kernel);
            let figures = (code.registers, code.local_bytes, code.instructions.len());
            assert!(
                figures.0 <= 168 && figures.1 <= 32 && figures.2 <= 5500,
                "{bits} bits, {kernel}: {figures:?}"
            );
        }
    }
}

/// Powers in residues: the compiler must not have the tensor cores wait for each product of a chunk, which it
/// does where registers are short (its warning C7512) or where a product adds to a part of the sums of
/// another (C7511).
#[test]
#[ignore = "slow: .ci/run has it"]
fn residues_on_tensor_cores() {
    let Some(compiler) = compiler() else { return };
    // Bits, threads of a block, chunks, and bytes of local memory: with a modulus for each item, and with
    // one.
    let shapes = [
        (1024, 384, (1, 2), 16, 16),
        (1536, 384, (2, 3), 32, 16),
        (2048, 384, (2, 5), 96, 64),
        (3072, 256, (3, 3), 88, 64),
        (4096, 256, (5, 7), 112, 48),
        (8192, 256, (12, 14), 24, 0),
    ];
    let mut beyond = Vec::new();
    for (bits, block, (to_b, to_a), each, one) in shapes {
        let layout = Layout { threads: 2, block, resident: 1, cut: Some(Cut::Chunks(to_b, to_a)) };
        let variant = Variant::new(Family::Rns, bits, layout, &Chip::H200.limits()).unwrap();
        let groups = Bases::for_bits(bits).unwrap().channels() / 4;
        let parts = [(Part::Power, "residue_power"), (Part::PowerVartime, "residue_power_vartime")];
        let programs = parts.into_iter().flat_map(|(part, kernel)| {
            let (plain, merged) = (variant.program(part), variant.merged_program(part));
            [(plain, kernel, each), (merged, kernel, one)]
        });
        let programs = programs.chain([(variant.fixed_base_program(), "residue_fixed_power", one)]);
        for (program, kernel, spilled) in programs {
            // Matrices of many channels have no room for a modulus.
            let Some(program) = program else {
                assert!(bits > 4096 && spilled == one, "{bits} bits, {kernel}");
                continue;
            };
            let code = compiler.code(&program, HOPPER).unwrap();
            let define = |name: &str| {
                let define = program.defines.iter().find(|define| define.0 == name).unwrap();
                define.1.parse::<usize>().unwrap()
            };
            // Words in shared memory: one loop for all chunks of a base, in which every piece but the first
            // has a wait.
            let (mut to_b, mut to_a, steps) = (define("CHUNKS_B"), define("CHUNKS_A"), groups.div_ceil(2));
            if define("SHARED_WORDS") == 1 {
                (to_b, to_a) = (1, 1);
            }
            // With one modulus products to base A are of two groups of columns, and have a step more.
            let products = if define("MERGED") == 1 { steps * (steps + 1) } else { to_a * steps };
            let waits = (to_b + to_a) * define("PIECES").max(2).saturating_sub(1);
            let code = kernel_of(&code, kernel);
            let count = |is: fn(u64) -> bool| code.instructions.iter().filter(|&&code| is(code)).count();
            let figures = (count(is_matrix_product), count(is_wait), code.local_bytes);
            let holds = figures.0 == to_b * steps + products && figures.1 <= waits && figures.2 <= spilled;
            if !holds {
                beyond.push(format!("{}: {figures:?}", program.name));
            }
        }
    }
    assert!(beyond.is_empty(), "products, waits and local memory: {beyond:#?}");
}

/// RSA around its powers: nothing but the few arrays that loops index is in local memory, and public powers
/// have no more registers than those with tables, and a copy of their arguments in local memory.
#[test]
fn rsa_beside_its_powers() {
    let Some(compiler) = compiler() else { return };
    for (bits, local) in [(1024, 128), (1536, 256), (2048, 768)] {
        let variant =
            Table::shipped().choices(&Chip::H200.limits(), Op::Pow, bits, 1_000_000, bits)[0].variant;
        let code = compiler.code(&variant.garner_program().unwrap(), HOPPER).unwrap();
        for kernel in ["rsa_bases", "rsa_join"] {
            let code = kernel_of(&code, kernel);
            assert!(code.local_bytes <= local, "{bits} bits, {kernel}: {} bytes", code.local_bytes);
        }
    }
    for bits in [2048, 4096] {
        let variant =
            Table::shipped().choices(&Chip::H200.limits(), Op::PowVartime, bits, 1_000_000, 17)[0].variant;
        let public = compiler.code(&variant.public_program().unwrap(), HOPPER).unwrap();
        let public = kernel_of(&public, "public_power");
        let powers = compiler.code(&variant.program(Part::PowerVartime).unwrap(), HOPPER).unwrap();
        let powers = kernel_of(&powers, "power_vartime");
        let figures =
            [&public, &powers].map(|code| (code.registers, code.local_bytes, code.instructions.len()));
        assert!(
            public.registers <= powers.registers + 8
                && public.local_bytes <= powers.local_bytes + 128
                && 10 * public.instructions.len() <= 14 * powers.instructions.len(),
            "{bits} bits by {}: {figures:?}",
            variant.family
        );
    }
}

/// Transforms: a thread has sixteen points of three words, and two blocks of threads share a multiprocessor;
/// what is spilled is a few addresses. Columns are read or written on the way, rows exchanged in shared
/// memory: per transform of sixteen points about 700 instructions.
#[test]
fn transforms() {
    let Some(compiler) = compiler() else { return };
    let code = |name: &str| {
        let program = transforms_programs().find(|program| program.name.ends_with(name)).unwrap();
        compiler.code(&program, HOPPER).unwrap()
    };
    let names = [
        "cuts",
        "passes",
        "short rows",
        "long rows",
        "carries of 24 bits",
        "transforms: sums",
        "carries of 32 bits",
    ];
    let programs = names.map(code);
    let budgets = [
        (0, "fft_cut_half_16", 0, 1150),
        (0, "fft_cut_2", 0, 350),
        (0, "fft_cut_rows_16", 128, 1700),
        (1, "fft_columns", 0, 950),
        (1, "fft_columns_back", 0, 950),
        (1, "fft_last_16", 0, 950),
        (1, "fft_remainder", 0, 2350),
        (1, "fft_choose", 0, 200),
        (2, "fft_rows", 0, 4500),
        (3, "fft_rows", 32, 7000),
        (3, "fft_kept_rows", 0, 4900),
        (3, "fft_square_rows", 0, 4800),
        (3, "fft_back_rows", 0, 2600),
        (4, "fft_carry", 0, 1450),
        (5, "fft_sums", 0, 320),
        (5, "fft_weighted", 0, 900),
        (6, "fft_carry", 0, 1700),
    ];
    for (program, kernel, spilled, instructions) in budgets {
        let code = kernel_of(&programs[program], kernel);
        let figures = (code.registers, code.local_bytes, code.instructions.len());
        assert!(
            figures.0 <= 128 && figures.1 <= spilled && figures.2 <= instructions,
            "{kernel}: {figures:?}"
        );
    }
}

/// Steps between products: memory bounds them, and so they are short and keep nothing in local memory.
#[test]
fn steps() {
    let Some(compiler) = compiler() else { return };
    let code = compiler.code(&steps_program(), HOPPER).unwrap();
    for (kernel, instructions) in [("step_sums", 700), ("step_long_sums", 1400), ("step_moves", 1000)] {
        let code = kernel_of(&code, kernel);
        let figures = (code.registers, code.local_bytes, code.instructions.len());
        assert!(figures.0 <= 64 && figures.1 == 0 && figures.2 <= instructions, "{kernel}: {figures:?}");
    }
}

/// Whether an instruction branches (BRA).
fn is_branch(instruction: u64) -> bool {
    instruction & 0xfff == 0x947
}

/// Division steps: the digits of a thread stay in registers, a product of digits is one instruction, and the
/// loop over batches of steps has no branch but its own.
#[test]
fn division_steps() {
    let Some(compiler) = compiler() else { return };
    // Bits; registers, bytes of local memory, products and instructions of inverses, and of divisors.
    let budgets = [
        (256, (80, 0, 111, 1170), (64, 0, 51, 1120)),
        (1024, (226, 0, 397, 2900), (128, 64, 155, 2440)),
        (4096, (230, 0, 391, 3600), (128, 192, 149, 2480)),
    ];
    for (bits, inverses, divisors) in budgets {
        let [first, second, quotients, remainders] = digits_programs(bits);
        for (program, kernel) in [(quotients, "quotients"), (remainders, "remainders")] {
            let code = kernel_of(&compiler.code(&program, HOPPER).unwrap(), kernel);
            let figures = (code.registers, code.local_bytes, code.instructions.len());
            assert!(
                figures.0 <= 128 && figures.1 <= 192 && figures.2 <= 2800,
                "{bits} bits, {kernel}: {figures:?}"
            );
        }
        for (program, kernel, budget) in [(first, "inverses", inverses), (second, "divisors", divisors)] {
            let code = kernel_of(&compiler.code(&program, HOPPER).unwrap(), kernel);
            let products = code.instructions.iter().filter(|&&code| is_product(code)).count();
            let figures = (code.registers, code.local_bytes, products, code.instructions.len());
            let (registers, local, most_products, instructions) = budget;
            let with_a_tenth_more = |number: usize| number + number / 10;
            assert!(
                figures.0 <= registers + registers / 10
                    && figures.1 <= local
                    && figures.2 <= with_a_tenth_more(most_products)
                    && figures.3 <= with_a_tenth_more(instructions),
                "{bits} bits, {kernel}: {figures:?}"
            );
            let runs = code.instructions.split(|&code| is_branch(code));
            let straight = runs.map(|run| run.iter().filter(|&&code| is_product(code)).count()).max();
            assert!(
                3 * straight.unwrap_or(0) >= 2 * products,
                "{bits} bits, {kernel}: the loop has branches"
            );
        }
    }
}

/// Whether an instruction is a product of a warp's matrices of bytes (IMMA).
fn is_warp_product(instruction: u64) -> bool {
    instruction & 0x1ff == 0x037
}

/// Whether an instruction reads or writes local memory (LDL, STL).
fn is_local(instruction: u64) -> bool {
    matches!(instruction & 0x1ff, 0x183 | 0x187)
}

/// Matrices in residues: nothing is spilled where memory and tensor cores work, and a stage has its 64
/// products of 16 x 32 by 32 x 8 bytes in a row.
#[test]
fn residue_matrices() {
    let Some(compiler) = compiler() else { return };
    let programs = residue_matrix_programs(&Chip::H200.limits());
    let code = programs.iter().map(|program| compiler.code(program, HOPPER).unwrap()).collect::<Vec<_>>();
    for (kernel, registers, local, instructions) in [
        ("matrix_layout", 80, 0, 1000),
        ("matrix_expand", 80, 96, 4000),
        ("matrix_vector_bits", 80, 0, 1500),
        ("matrix_vector_words", 80, 0, 2000),
    ] {
        let code = kernel_of(&code[0], kernel);
        let figures = (code.registers, code.local_bytes, code.instructions.len());
        assert!(
            figures.0 <= registers && figures.1 <= local && figures.2 <= instructions,
            "{kernel}: {figures:?}"
        );
    }
    for (program, code) in programs.iter().zip(&code).skip(1) {
        for kernel in ["matrix_product_bits", "matrix_product_words"] {
            let code = kernel_of(code, kernel);
            let products = code.instructions.iter().filter(|&&code| is_warp_product(code)).count();
            let figures = (code.registers, code.local_bytes, products, code.instructions.len());
            // Spilled registers are read again after the loop.
            let first = code.instructions.iter().position(|&code| is_warp_product(code)).unwrap();
            let last = code.instructions.iter().rposition(|&code| is_warp_product(code)).unwrap();
            let is_calm = !code.instructions[first..last].iter().any(|&code| is_local(code));
            assert!(
                is_calm && figures.1 <= 96 && figures.2 == 64 && figures.3 <= 3000,
                "{}, {kernel}: {figures:?}",
                program.name
            );
        }
    }
}

/// NVRTC, where there is one.
fn compiler() -> Option<Compiler> {
    if let Err(reason) = compiler::version() {
        assert!(std::env::var_os("MODMILL_REQUIRE_NVRTC").is_none_or(|value| value != "1"), "{reason}");
        println!("skipped: {reason}");
        return None;
    }
    Some(Compiler::new(Cache::from_environment(), None))
}

/// Compiles what the table chooses for a small batch and for a large one.
fn check(bits: usize) {
    let Some(compiler) = compiler() else { return };
    let mut beyond = Vec::new();
    for batch in [1000, 1_000_000] {
        let variant = Table::shipped().choices(&Chip::H200.limits(), Op::Pow, bits, batch, bits)[0].variant;
        let chosen = format!("{} of {}", variant.family, variant.layout.threads);
        let code = compiler.code(&variant.program(Part::Power).unwrap(), HOPPER).unwrap();
        let kernel = if variant.family == Family::Rns { "residue_power" } else { "power" };
        let MachineCode { registers, local_bytes, instructions } = kernel_of(&code, kernel);
        let products = instructions.iter().filter(|&&instruction| is_product(instruction)).count();
        let line = (bits, batch, chosen.as_str(), registers, local_bytes, products, instructions.len());
        let is_within = |budget: &Budget| {
            let with_a_tenth_more = |number: usize| number + number / 10;
            (budget.0, budget.1, budget.2) == (bits, batch, chosen.as_str())
                && registers as usize <= with_a_tenth_more(budget.3 as usize)
                && local_bytes <= budget.4
                && products <= with_a_tenth_more(budget.5)
                && instructions.len() <= with_a_tenth_more(budget.6)
        };
        if !BUDGETS.iter().any(is_within) {
            beyond.push(format!("{line:?}"));
        }
    }
    assert!(beyond.is_empty(), "beyond their budgets, or without one:\n{}", beyond.join("\n"));
}
