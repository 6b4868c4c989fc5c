//! Every family with every number of threads: hard numbers of every operation, at lengths around those
//! of words and samples.

use crate::items::{Items, Operation, Shared};
use crate::{chunks, devices, held_to, limits, on_gpus, tile, variant};
use modmill_core::rns::Bases;
use modmill_core::{Family, Op};
use modmill_cuda::{Choice, Cuda, Cut, Layout, Table, Variant};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

use Operation::{MulMod, MultiplyChain, Pow, PowBy, PowVartime, SquareChain, SquareMod};

/// A test for each family with few threads, with two and, for samples in doubles, with many, at some lengths
/// of moduli. Every number of words is compiled, once for lengths that leave room above the modulus and once
/// for those that do not.
macro_rules! families {
    ($($name:ident: $family:ident, $threads:literal threads, $cut:expr, $lengths:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check(Family::$family, $threads, $cut, &$lengths);
            }
        )*
    };
}

families! {
    row_of_1: Row, 1 threads, None, [2, 3, 31, 33, 63, 64, 65, 97, 126, 127, 128, 254, 256, 384, 600];
    row_of_2: Row, 2 threads, None, [2, 64, 65, 126, 127, 128];
    two_pass_of_1: TwoPass, 1 threads, tile(4), [2, 64, 65, 126, 127, 128, 256];
    two_pass_of_1_by_8: TwoPass, 1 threads, tile(8), [255, 512];
    wide_of_1: Wide, 1 threads, None, [2, 51, 52, 53, 64, 65, 104, 126, 128, 255, 256];
    wide_of_2: Wide, 2 threads, None, [2, 65, 127, 128, 850];
    wide_of_32: Wide, 32 threads, None, [2000];
    narrow_of_1: Narrow, 1 threads, None, [2, 22, 23, 46, 64, 65, 115, 127, 128, 256];
    narrow_of_2: Narrow, 2 threads, None, [2, 64, 65, 127, 128];
    narrow_of_32: Narrow, 32 threads, None, [2048];
    residues_in_1_and_1: Rns, 2 threads, chunks(1, 1), [2, 31, 64, 65, 126, 128, 255, 512];
    residues_in_2_and_3: Rns, 2 threads, chunks(2, 3), [384];
}

fn check(family: Family, threads: u32, cut: Option<Cut>, lengths: &[usize]) {
    for &bits in lengths {
        let variant = variant(family, threads, cut, bits);
        let Some(cuda) = held_to(devices(), variant) else { return };
        check_operations(&cuda, variant, bits);
    }
}

/// The numbers of threads between few and many, and as many as a warp has for products of integers.
#[test]
#[ignore = "slow: .ci/run has it"]
fn families_with_other_numbers_of_threads() {
    let cases: [(Family, u32, Option<Cut>, &[usize]); 15] = [
        (Family::Row, 4, None, &[129, 200, 254, 255, 256]),
        (Family::Row, 8, None, &[450, 510, 512]),
        (Family::Row, 16, None, &[1022, 1024]),
        (Family::Row, 32, None, &[2046, 2048]),
        (Family::TwoPass, 1, tile(16), &[512, 1022]),
        (Family::TwoPass, 2, tile(8), &[256, 510]),
        (Family::TwoPass, 4, tile(16), &[512, 1022]),
        (Family::TwoPass, 8, tile(32), &[1022, 1024]),
        (Family::TwoPass, 32, tile(128), &[4094]),
        (Family::Wide, 4, None, &[256]),
        (Family::Wide, 8, None, &[512]),
        (Family::Wide, 16, None, &[1024]),
        (Family::Narrow, 4, None, &[256]),
        (Family::Narrow, 8, None, &[1500]),
        (Family::Narrow, 16, None, &[1024]),
    ];
    for (family, threads, cut, lengths) in cases {
        println!("{family} of {threads}");
        check(family, threads, cut, lengths);
    }
}

/// The more blocks share a multiprocessor, the fewer of a number's three arrays are in its shared memory:
/// here two of them, and one.
#[test]
#[ignore = "slow: .ci/run has it"]
fn two_pass_with_numbers_in_tables() {
    for (longest, arrays) in [(640, 2), (1024, 1)] {
        for bits in [longest - 2, longest] {
            let whole = variant(Family::TwoPass, 1, tile(4), bits);
            let layout = Layout { resident: 32, ..whole.layout };
            let variant = Variant::new(Family::TwoPass, bits, layout, &limits()).unwrap();
            assert_eq!(3 * variant.shared_bytes(), arrays * whole.shared_bytes());
            let Some(cuda) = held_to(devices(), variant) else { return };
            check_operations(&cuda, variant, bits);
        }
    }
}

pub(crate) fn check_operations(cuda: &Cuda, variant: Variant, bits: usize) {
    let mut rng = Rng::new(bits as u64);
    let (count, exponent_bits) = if bits <= 128 || on_gpus() { (75, bits + 3) } else { (25, 20) };
    // The longest numbers that are taken as they are, and numbers that are reduced first.
    let items = Items::hard(bits, variant.input_bits(), exponent_bits, count, &mut rng);
    let long = Items::hard(bits, 2 * bits + 70, exponent_bits, count / 2, &mut rng);
    let factors = items.with_b(|n| n - 1u8);
    let each = Shared::default();

    for operation in [Pow, PowVartime, MulMod, SquareMod] {
        items.check(cuda, variant, operation, each);
        long.check(cuda, variant, operation, each);
    }
    factors.check(cuda, variant, MulMod, each);
    // The radix of residues is no power of two, and chains of them are of no use.
    if variant.family != Family::Rns {
        for operation in [MultiplyChain(0), MultiplyChain(5), SquareChain(0), SquareChain(7)] {
            factors.check(cuda, variant, operation, each);
        }
    }
    for shared in [
        Shared { n: true, ..each },
        Shared { a: true, ..each },
        Shared { b: true, ..each },
        Shared { a: true, b: true, n: true },
    ] {
        // The first exponents are 0, 1, all ones and a single bit.
        for rotation in 0..4 {
            let items = items.rotated(rotation).first(4);
            items.check(cuda, variant, Pow, shared);
            items.check(cuda, variant, PowVartime, shared);
        }
        long.check(cuda, variant, MulMod, shared);
    }
    // Exponents of no bits at all.
    let nothing = items.first(4).with_b(|_| BigUint::ZERO);
    nothing.check(cuda, variant, Pow, each);
    nothing.check(cuda, variant, PowVartime, each);
    let public = items.first(4).with_b(|_| BigUint::from(65537u32));
    public.check(cuda, variant, PowVartime, Shared { b: true, ..each });
    for window in 1..=6 {
        items.first(7).check(cuda, variant, PowBy(window, true), each);
        items.first(7).check(cuda, variant, PowBy(window, false), each);
    }
}

/// Residues at real sizes: matrices in shared memory, streamed through it, with sums beyond a word, and with
/// base B's words in shared memory.
#[test]
#[ignore = "slow: .ci/run has it"]
fn residues_of_long_numbers() {
    let shapes = [(1024, 1, 3), (2048, 2, 2), (3072, 4, 5), (4096, 5, 7), (6144, 9, 11), (8192, 12, 14)];
    for (bits, to_b, to_a) in shapes {
        let variant = variant(Family::Rns, 2, chunks(to_b, to_a), bits);
        let Some(cuda) = held_to(devices(), variant) else { return };
        let items = Items::hard(bits, bits, 5, 18, &mut Rng::new(bits as u64));
        for operation in [Pow, PowVartime, MulMod] {
            items.check(&cuda, variant, operation, Shared::default());
        }
        items.first(3).check(&cuda, variant, Pow, Shared { n: true, ..Shared::default() });
    }
}

/// A modulus that a whole wave of items shares is merged into the matrices: even and odd numbers of groups,
/// and one and several chunks.
#[test]
#[ignore = "slow: .ci/run has it"]
fn one_modulus_in_the_matrices() {
    for bits in [100, 200, 256, 512] {
        let variant = variant(Family::Rns, 2, chunks(1, 1), bits);
        let Some(cuda) = held_to(devices(), variant) else { return };
        let batch = cuda.wave(variant).unwrap() + 5;
        let items = Items::hard(bits, bits, 37, 23, &mut Rng::new(bits as u64));
        let order: Vec<usize> = (0..batch).map(|place| place % 23).collect();
        let shared = Shared { n: true, ..Shared::default() };
        for first in [0, 1, 5, 9, 13] {
            items.rotated(first).check_order(&cuda, variant, Pow, shared, &order);
        }
        items.check_order(&cuda, variant, PowVartime, shared, &order);
    }
}

/// Residues are Montgomery's by the product of a base's primes: moduli that these divide are computed
/// otherwise, and the others of the batch are not disturbed.
#[test]
fn moduli_with_primes_of_the_radix_are_right_too() {
    let variant = variant(Family::Rns, 2, chunks(1, 1), 256);
    let Some(cuda) = held_to(devices(), variant) else { return };
    let primes = Bases::for_bits(256).unwrap();
    let mut items = Items::hard(256, 256, 20, 40, &mut Rng::new(7));
    for (place, channel) in [(0, 0), (7, 3), (8, 1), (39, primes.channels() - 1)] {
        let prime = BigUint::from(primes.b()[channel].p);
        let top = BigUint::from(1u8) << 255u32;
        // The odd multiple of the prime next above the longest length's middle.
        let factor = (&top / &prime) | BigUint::from(1u8);
        items.n[place] = factor * prime;
    }
    for operation in [Pow, PowVartime, MulMod, SquareMod] {
        items.check(&cuda, variant, operation, Shared::default());
        items.first(5).check(&cuda, variant, operation, Shared { n: true, ..Shared::default() });
    }
}

/// One over this modulus overflowed where squares were not reduced on the way.
#[test]
fn inverses_of_residues_stay_in_range() {
    let variant = variant(Family::Rns, 2, chunks(1, 1), 64);
    let Some(cuda) = held_to(devices(), variant) else { return };
    let items = Items::hard(64, 198, 67, 20, &mut Rng::new(64));
    let modulus = BigUint::from(0xea45_6469_4845_c8ab_u64);
    let items = Items { n: vec![modulus; 20], ..items };
    items.check(&cuda, variant, Pow, Shared::default());
}

/// A test for each length: what the shipped table chooses.
macro_rules! choices {
    ($($name:ident: $bits:literal bits;)*) => {
        $(
            #[test]
            fn $name() {
                check_choices($bits);
            }
        )*
    };
}

choices! {
    choices_at_256: 256 bits;
    choices_at_512: 512 bits;
    choices_at_768: 768 bits;
    choices_at_1000: 1000 bits;
    choices_at_1024: 1024 bits;
    choices_at_1536: 1536 bits;
    choices_at_2046: 2046 bits;
    choices_at_2048: 2048 bits;
    choices_at_3072: 3072 bits;
    choices_at_4096: 4096 bits;
    choices_at_8192: 8192 bits;
}

/// On GPUs every choice, in batches of several waves; on the emulated device a few lengths, one choice
/// for each, and short exponents.
fn check_choices(bits: usize) {
    const EMULATED: [usize; 3] = [1024, 2046, 4096];
    if !on_gpus() && !EMULATED.contains(&bits) {
        return println!("skipped: for GPUs");
    }
    let mut choices = Table::shipped().choices(&limits(), Op::Pow, bits, 1000, bits);
    let exponent_bits = if on_gpus() { bits.min(2048) } else { 9 };
    choices.truncate(if on_gpus() { choices.len() } else { 1 });
    let items = Items::hard(bits, bits, exponent_bits, 12, &mut Rng::new(bits as u64));
    for Choice { variant, .. } in choices {
        let Some(cuda) = held_to(devices(), variant) else { return };
        let batch = if on_gpus() { 2 * cuda.wave(variant).unwrap() + 5 } else { 12 };
        let order: Vec<usize> = (0..batch).map(|place| place % 12).collect();
        for operation in [Pow, PowVartime, MulMod] {
            items.check_order(&cuda, variant, operation, Shared::default(), &order);
        }
    }
}
