//! Numbers of gigabits through the engine. All tests are ignored by default, because each takes gigabytes and
//! minutes.
//!
//! ```sh
//! cargo test --release -p modmill --test gigabits -- --ignored --test-threads 1 --nocapture
//! ```
//!
//! `MODMILL_GIGABITS` names the lengths of factors in bits, instead of 2.0 to 8.6 Gbit. The path is the
//! engine's choice: `MODMILL_CPU` limits the instruction set, and `MODMILL_BACKEND=cuda` takes a GPU, without
//! falling back to the CPU.

use modmill::{Backend, Batch, Engine, Family, Modulus, Operand, Public, TRANSFORM_MAX_BITS};
use modmill_testing::rng::Rng;
use std::time::Instant;

/// The lengths of factors, of which the last has the longest square.
fn lengths() -> Vec<usize> {
    let default = || vec![2_048_000_000, 2_208_000_000, 2_304_000_000, 4_300_000_000, TRANSFORM_MAX_BITS / 2];
    let parse = |text: String| text.split(',').map(|bits| bits.trim().parse().unwrap()).collect();
    std::env::var("MODMILL_GIGABITS").map_or_else(|_| default(), parse)
}

fn engine() -> Engine {
    let builder = Engine::builder().family(Family::Fft);
    let is_gpu = std::env::var("MODMILL_BACKEND").is_ok_and(|name| name == "cuda");
    let engine = if is_gpu { builder.backend(Backend::Cuda) } else { builder.backend(Backend::Cpu) };
    engine.fallback(false).build().unwrap()
}

/// A pseudorandom number of `bits` bits that depends on `seed` alone.
fn number(bits: usize, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed);
    let mut limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.word()).collect();
    limbs[(bits - 1) / 64] &= u64::MAX >> (64 * bits.div_ceil(64) - bits);
    limbs
}

/// `2^bits - 1`.
fn ones(bits: usize) -> Vec<u64> {
    let mut limbs = vec![u64::MAX; bits.div_ceil(64)];
    *limbs.last_mut().unwrap() >>= 64 * bits.div_ceil(64) - bits;
    limbs
}

fn operand(limbs: &[u64], bits: usize) -> Operand<'_> {
    Operand::Shared { bits, value: limbs }
}

/// Primes that no transform uses.
const PRIMES: [u64; 3] = [0xffff_ffff_ffff_ffc5, 0xffff_ffff_ffff_ff53, (1 << 61) - 1];

/// A number modulo each of the primes.
fn residues(limbs: &[u64]) -> [u128; 3] {
    PRIMES.map(|prime| {
        let step = |rest: u128, &limb: &u64| (rest << 64 | u128::from(limb)) % u128::from(prime);
        limbs.iter().rev().fold(0, step)
    })
}

/// The number with a one at each of the bits.
fn sparse(bits: &[usize], limbs: usize) -> Vec<u64> {
    let mut number = vec![0; limbs];
    for bit in bits {
        number[bit / 64] |= 1 << (bit % 64);
    }
    number
}

/// `2^(2 n) - 2^(n + 1) + 1` has ones from bit n + 1 to bit 2 n - 1, and at bit 0.
fn is_square_of_ones(square: &[u64], n: usize) -> bool {
    let expected = |index: usize| {
        let (start, end) = (64 * index, 64 * index + 64);
        let above = |bit: usize| {
            if bit <= start {
                u64::MAX
            } else if bit >= end {
                0
            } else {
                u64::MAX << (bit - start)
            }
        };
        (above(n + 1) & !above(2 * n)) | u64::from(index == 0)
    };
    square.iter().enumerate().all(|(index, &limb)| limb == expected(index))
}

fn product(engine: &Engine, a: (&[u64], usize), b: (&[u64], usize)) -> Batch {
    engine.mul(&Batch::from_limbs(a.1, a.0.to_vec()).unwrap(), operand(b.0, b.1)).unwrap()
}

#[test]
#[ignore = "gigabits: needs gigabytes and minutes"]
fn squares_of_ones() {
    let engine = engine();
    for bits in lengths() {
        let start = Instant::now();
        let square = engine.square(&Batch::from_limbs(bits, ones(bits)).unwrap()).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        assert!(is_square_of_ones(square.get(0), bits), "{bits} bits");
        println!("(2^{bits} - 1)^2 is right, {seconds:.1} s");
    }
}

#[test]
#[ignore = "gigabits: needs gigabytes and minutes"]
fn products_modulo_words() {
    let engine = engine();
    for bits in lengths() {
        let (a, b) = (number(bits, 1), number(bits / 3 * 2, 2));
        let answer = product(&engine, (&a, bits), (&b, bits / 3 * 2));
        let (a, b, found) = (residues(&a), residues(&b), residues(answer.get(0)));
        for (index, prime) in PRIMES.into_iter().enumerate() {
            assert_eq!(found[index], a[index] * b[index] % u128::from(prime), "{bits} bits modulo {prime}");
        }
        println!("a product of {bits} and {} bits is right modulo {} words", bits / 3 * 2, PRIMES.len());
    }
}

/// `q d + r` modulo d is r. The product is checked modulo words before.
#[test]
#[ignore = "gigabits: needs gigabytes and minutes"]
fn remainders() {
    let engine = engine();
    for bits in lengths().into_iter().filter(|bits| 2 * bits < TRANSFORM_MAX_BITS) {
        let (mut d, q, mut r) = (ones(bits), number(bits - 1, 4), number(bits - 2, 5));
        let (words, last) = (number(bits / 2, 3), d.len() - 1);
        d[..words.len()].copy_from_slice(&words);
        d[0] |= 1;
        d[last] |= 1 << ((bits - 1) % 64);
        let answer = product(&engine, (&d, bits), (&q, bits - 1));
        let mut x = answer.get(0).to_vec();
        drop(answer);
        assert!(
            residues(&x)
                .iter()
                .zip(PRIMES)
                .zip(residues(&d).iter().zip(residues(&q)))
                .all(|((&x, prime), (&d, q))| x == d * q % u128::from(prime))
        );
        let mut carry = false;
        for (index, limb) in x.iter_mut().enumerate() {
            let (sum, first) = limb.overflowing_add(r.get(index).copied().unwrap_or(0));
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*limb, carry) = (sum, first | second);
        }
        assert!(!carry);
        let start = Instant::now();
        let modulus = Modulus::new(&d).unwrap();
        let rest = engine.reduce(operand(&x, 64 * x.len()), &modulus).unwrap();
        r.resize(rest.get(0).len(), 0);
        assert!(rest.get(0) == r, "{bits} bits");
        println!("a remainder modulo {bits} bits is right, {:.1} s", start.elapsed().as_secs_f64());
    }
}

/// `2^n - 2` is -3 modulo `2^n + 1` and -1 modulo `2^n - 1`, and has the largest digits that there are.
#[test]
#[ignore = "gigabits: needs gigabytes and minutes"]
fn powers_in_rings() {
    let engine = engine();
    let two = Batch::from_values([[2]]);
    for bits in lengths().into_iter().map(|bits| bits / 64 * 64) {
        let mut base = ones(bits);
        base[0] -= 1;
        let base = Batch::from_limbs(bits, base).unwrap();
        let (minus, plus) = (ones(bits), sparse(&[0, bits], bits / 64 + 1));
        for (modulus, expected) in [(minus, 1), (plus, 9)] {
            let start = Instant::now();
            let power = engine.pow(&base, Public(&two), &Modulus::new(&modulus).unwrap()).unwrap();
            let (first, rest) = power.get(0).split_first().unwrap();
            assert!(*first == expected && rest.iter().all(|&limb| limb == 0), "{bits} bits");
            println!("a power modulo 2^{bits} -+ 1 is right, {:.1} s", start.elapsed().as_secs_f64());
        }
    }
}
