//! Operations of RSA from bytes to bytes, against num-bigint.

use crate::{chunks, devices, held_to, tile, variant};
use modmill_core::rns::Bases;
use modmill_core::{Blocks, CrtModulus, CrtPowers, Family, PerItem, PublicPowers, Request};
use modmill_cuda::{Cuda, Cut, Fault, Stage};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::ops::Range;

/// A key, also as limbs.
struct Key {
    n: BigUint,
    d: BigUint,
    p: BigUint,
    q: BigUint,
    limbs: [Vec<u64>; 6],
}

const E: u32 = 65_537;

/// A prime of exactly `bits` bits, by Fermat's test to some bases.
fn prime(bits: usize, rng: &mut Rng) -> BigUint {
    loop {
        let mut candidate = rng.exact(bits);
        candidate.set_bit(0, true);
        candidate.set_bit(bits as u64 - 2, true);
        let order = &candidate - 1u8;
        let one = BigUint::from(1u8);
        let is_prime = [2u8, 3, 5].iter().all(|&base| BigUint::from(base).modpow(&order, &candidate) == one);
        if is_prime && &candidate % E != one {
            return candidate;
        }
    }
}

impl Key {
    fn new(p: BigUint, q: BigUint) -> Self {
        let n = &p * &q;
        let d = BigUint::from(E).modinv(&((&p - 1u8) * (&q - 1u8))).unwrap();
        let coefficient = q.modinv(&p).unwrap();
        let (dp, dq) = (&d % (&p - 1u8), &d % (&q - 1u8));
        let limbs = [&n, &p, &q, &dp, &dq, &coefficient].map(BigUint::to_u64_digits);
        Self { n, d, p, q, limbs }
    }

    fn random(bits: usize, rng: &mut Rng) -> Self {
        Self::new(prime(bits / 2, rng), prime(bits / 2, rng))
    }

    /// This key with a random multiple of `p - 1` or `q - 1` added to each exponent.
    fn blinded(mut self, rng: &mut Rng) -> Self {
        for (place, prime) in [(3, &self.p), (4, &self.q)] {
            let exponent = BigUint::new(
                self.limbs[place].iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect(),
            );
            self.limbs[place] = (exponent + (prime - 1u8) * rng.word()).to_u64_digits();
        }
        self
    }

    fn parts(&self) -> CrtModulus<'_> {
        let [n, p, q, dp, dq, coefficient] = &self.limbs;
        CrtModulus { modulus: n, primes: [p, q], exponents: [dp, dq], coefficient }
    }

    /// 0, 1, numbers next to n, multiples of p and of q, and random ones.
    fn hard_inputs(&self, count: usize, rng: &mut Rng) -> Vec<BigUint> {
        let Self { n, p, q, .. } = self;
        let hard = [
            BigUint::ZERO,
            BigUint::from(1u8),
            BigUint::from(2u8),
            n - 1u8,
            n - 2u8,
            p.clone(),
            q.clone(),
            n - p,
            n - q,
            p - 1u8,
            q + 1u8,
            p * (q - 1u8),
            (BigUint::from(1u8) << (n.bits() - 1)) - 1u8,
        ];
        let random = std::iter::repeat_with(|| rng.number(n.bits() as usize) % n);
        hard.into_iter().chain(random).take(count).collect()
    }
}

/// Numbers as blocks, and the answers.
struct Numbers {
    inputs: Vec<BigUint>,
    limbs: usize,
    answers: Vec<BigUint>,
    wrong: Vec<usize>,
}

impl Numbers {
    fn new(inputs: Vec<BigUint>, bits: usize) -> Self {
        let answers = vec![BigUint::ZERO; inputs.len()];
        Self { inputs, limbs: bits.div_ceil(64), answers, wrong: Vec::new() }
    }
}

impl Blocks for Numbers {
    fn fill(&mut self, items: Range<usize>, blocks: &mut [u8]) {
        for (block, item) in blocks.chunks_exact_mut(8 * self.limbs).zip(items) {
            let bytes = self.inputs[item].to_bytes_be();
            let (front, back) = block.split_at_mut(8 * self.limbs - bytes.len());
            front.fill(0);
            back.copy_from_slice(&bytes);
        }
    }

    fn take(&mut self, items: Range<usize>, blocks: &mut [u8], wrong: &[u32]) {
        for ((block, item), &wrong) in blocks.chunks_exact(8 * self.limbs).zip(items).zip(wrong) {
            self.answers[item] = BigUint::from_bytes_be(block);
            if wrong != 0 {
                self.wrong.push(item);
            }
        }
    }
}

/// Devices whose residues are for primes of some bits.
fn cuda_for(bits: usize) -> Option<Cuda> {
    held_to(devices(), variant(Family::Rns, 2, chunks(1, 1), bits))
}

fn job<'a>(keys: PerItem<'a, CrtModulus<'a>>, count: usize, bits: usize, blinded: bool) -> CrtPowers<'a> {
    let prime_limbs = keys.get(0).primes[0].len();
    let exponent_bits = 64 * prime_limbs + if blinded { 64 } else { 0 };
    CrtPowers { count, moduli: keys, bits, prime_limbs, exponent_bits, blinded, public_exponent: &[E as u64] }
}

#[test]
fn one_key_for_all_items() {
    let mut rng = Rng::new(70);
    // Primes as long as their words hold, shorter ones, of different lengths, and p below and above q.
    for (first, second, count) in [(128, 128, 40), (256, 256, 17), (250, 250, 13), (250, 194, 13)] {
        let key = Key::new(prime(first, &mut rng), prime(second, &mut rng));
        let Some(cuda) = cuda_for(first) else { return };
        for key in [Key::new(key.q.clone(), key.p.clone()), key] {
            let inputs = key.hard_inputs(count, &mut rng);
            let expected: Vec<BigUint> = inputs.iter().map(|input| input.modpow(&key.d, &key.n)).collect();
            let key = key.blinded(&mut rng);
            let bits = key.n.bits() as usize;
            for blinded in [true, false] {
                // Blinded exponents are longer than the primes, but may be read under masks too.
                let mut numbers = Numbers::new(inputs.clone(), bits);
                let job = CrtPowers { blinded, ..job(PerItem::One(key.parts()), count, bits, true) };
                cuda.crt_pow(&cuda.plan_crt(&Request::of_crt(&job)).unwrap(), &job, &mut numbers).unwrap();
                assert!(numbers.wrong.is_empty());
                assert_eq!(numbers.answers, expected, "{bits} bits");
            }
        }
    }
}

#[test]
fn a_key_for_every_item() {
    let mut rng = Rng::new(71);
    let bits = 256;
    let Some(cuda) = cuda_for(bits / 2) else { return };
    let keys: Vec<Key> = (0..21).map(|_| Key::random(bits, &mut rng)).collect();
    let inputs: Vec<BigUint> = keys
        .iter()
        .enumerate()
        .map(|(item, key)| key.hard_inputs(item + 1, &mut rng)[item].clone())
        .collect();
    let expected: Vec<BigUint> =
        keys.iter().zip(&inputs).map(|(key, input)| input.modpow(&key.d, &key.n)).collect();
    let mut numbers = Numbers::new(inputs, bits);
    let get = |item: usize| keys[item].parts();
    let job = job(PerItem::Each(&get), keys.len(), bits, false);
    cuda.crt_pow(&cuda.plan_crt(&Request::of_crt(&job)).unwrap(), &job, &mut numbers).unwrap();
    assert!(numbers.wrong.is_empty());
    assert_eq!(numbers.answers, expected);
}

/// Batches of several chunks on two devices, whose halves go one after the other.
#[test]
fn many_items_with_one_key() {
    let mut rng = Rng::new(72);
    let bits = 128;
    let key = Key::random(bits, &mut rng);
    let two = devices().into_iter().chain(devices()).collect();
    let Some(cuda) = held_to(two, variant(Family::Rns, 2, chunks(1, 1), bits / 2)) else { return };
    let wave = cuda.wave(variant(Family::Rns, 2, chunks(1, 1), bits / 2)).unwrap();
    let count = 2 * wave + 37;
    let inputs = key.hard_inputs(count, &mut rng);
    let expected: Vec<BigUint> = inputs.iter().map(|input| input.modpow(&key.d, &key.n)).collect();
    let key = key.blinded(&mut rng);
    for blinded in [true, false] {
        let mut numbers = Numbers::new(inputs.clone(), bits);
        let job = CrtPowers { blinded, ..job(PerItem::One(key.parts()), count, bits, true) };
        cuda.crt_pow(&cuda.plan_crt(&Request::of_crt(&job)).unwrap(), &job, &mut numbers).unwrap();
        assert!(numbers.wrong.is_empty());
        assert!(numbers.answers == expected);
    }
}

#[test]
fn public_powers() {
    check_public_powers(&[(Family::Row, 1, None, 254), (Family::TwoPass, 2, tile(8), 510)]);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn public_powers_of_other_families_and_numbers_of_threads() {
    check_public_powers(&[
        (Family::Row, 4, None, 256),
        (Family::TwoPass, 4, tile(16), 512),
        (Family::Wide, 1, None, 256),
        (Family::Wide, 2, None, 500),
        (Family::Narrow, 1, None, 250),
    ]);
}

/// Checks public powers with one modulus and many items or few, and with a modulus each, for families with a
/// number of threads, a cut and a length in bits.
fn check_public_powers(cases: &[(Family, u32, Option<Cut>, usize)]) {
    let mut rng = Rng::new(73);
    for &(family, threads, cut, bits) in cases {
        let Some(cuda) = held_to(devices(), variant(family, threads, cut, bits)) else { return };
        let keys: Vec<Key> = (0..3).map(|_| Key::random(bits, &mut rng)).collect();
        let bits = keys[0].n.bits() as usize;
        for exponent in [vec![3], vec![E.into()], vec![u64::MAX; 4], vec![1, 0, 0, 1 << 63]] {
            let e =
                BigUint::new(exponent.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect());
            // From 4096 items on what leads out of Montgomery form is found once.
            for (shared, count) in
                [(true, 5), (true, if exponent == [3] && threads == 1 { 4100 } else { 40 }), (false, 40)]
            {
                let key = |item: usize| &keys[if shared { 0 } else { item % 3 }];
                let hard: Vec<Vec<BigUint>> = keys.iter().map(|key| key.hard_inputs(13, &mut rng)).collect();
                let input = |item: usize| &hard[if shared { 0 } else { item % 3 }][item % 13];
                let get = |item: usize| &key(item).limbs[0][..];
                let moduli = if shared { PerItem::One(get(0)) } else { PerItem::Each(&get) };
                let mut numbers = Numbers::new((0..count).map(|item| input(item).clone()).collect(), bits);
                let job = PublicPowers { count, moduli, bits, exponent: &exponent, secret: false };
                cuda.public_pow(&cuda.plan_public(&Request::of_public(&job)).unwrap(), &job, &mut numbers)
                    .unwrap();
                for item in 0..count.min(200) {
                    let expected = input(item).modpow(&e, &key(item).n);
                    assert_eq!(numbers.answers[item], expected, "{family} at {bits} bits, {e}");
                }
            }
        }
    }
}

/// A factor that residues cannot serve gives wrong answers, which are named; others are not disturbed.
#[test]
fn factors_with_primes_of_the_radix_are_named() {
    let mut rng = Rng::new(75);
    let bits = 256;
    let Some(cuda) = cuda_for(bits / 2) else { return };
    let radix = Bases::for_bits(bits / 2).unwrap();
    let mut keys: Vec<Key> = (0..5).map(|_| Key::random(bits, &mut rng)).collect();
    // p is a prime of the radix times another: squarefree, so that powers come back all the same.
    keys[2] = loop {
        let known = BigUint::from(radix.b()[1].p);
        let rest = prime(128 + 1 - known.bits() as usize, &mut rng);
        let (p, q) = (&known * &rest, prime(128, &mut rng));
        let order = (&known - 1u8) * (&rest - 1u8) * (&q - 1u8);
        if let (128, Some(d)) = (p.bits(), BigUint::from(E).modinv(&order)) {
            let mut key = Key::random(bits, &mut rng);
            let coefficient = q.modinv(&p).unwrap();
            let n = &p * &q;
            let [dp, dq] = [(&known - 1u8) * (&rest - 1u8), &q - 1u8].map(|order| &d % order);
            key.limbs = [&n, &p, &q, &dp, &dq, &coefficient].map(BigUint::to_u64_digits);
            break Key { n, d, p, q, ..key };
        }
    };
    let inputs: Vec<BigUint> = keys.iter().map(|key| rng.number(250) % &key.n).collect();
    let get = |item: usize| keys[item].parts();
    let mut numbers = Numbers::new(inputs.clone(), bits);
    let job = job(PerItem::Each(&get), 5, bits, false);
    cuda.crt_pow(&cuda.plan_crt(&Request::of_crt(&job)).unwrap(), &job, &mut numbers).unwrap();
    assert_eq!(numbers.wrong, [2]);
    for (item, key) in keys.iter().enumerate() {
        let expected = if item == 2 { BigUint::ZERO } else { inputs[item].modpow(&key.d, &key.n) };
        assert_eq!(numbers.answers[item], expected, "item {item}");
    }
}

/// Whatever is flipped on the way, an answer is right or named as wrong, and then it is zero.
#[test]
fn no_flipped_bit_leaves_as_an_answer() {
    let mut rng = Rng::new(74);
    let bits = 128;
    let Some(cuda) = cuda_for(bits / 2) else { return };
    let keys: Vec<Key> = (0..64).map(|_| Key::random(bits, &mut rng)).collect();
    let get = |item: usize| keys[item].parts();
    let (mut injected, mut caught) = (0, 0);
    for stage in Stage::ALL {
        for turn in 0..6 {
            // One key for all, or a key each; the latter's constants are those of items.
            let of_item = turn % 2 == 1;
            let key = |item: usize| &keys[if of_item { item } else { 0 }];
            let inputs: Vec<BigUint> = (0..64).map(|item| rng.number(bits) % &key(item).n).collect();
            let keys = if of_item { PerItem::Each(&get as _) } else { PerItem::One(key(0).parts()) };
            let mut numbers = Numbers::new(inputs.clone(), bits);
            let fault = Fault { stage, seed: rng.word() as u32 };
            let job = job(keys, 64, bits, false);
            cuda.crt_pow_with(
                &cuda.plan_crt(&Request::of_crt(&job)).unwrap(),
                &job,
                Some(fault),
                &mut numbers,
            )
            .unwrap();
            injected += 64;
            caught += numbers.wrong.len();
            for (item, input) in inputs.iter().enumerate() {
                let right = numbers.answers[item] == input.modpow(&key(item).d, &key(item).n);
                let named = numbers.wrong.contains(&item);
                assert!(right || named, "{stage:?}, seed {}: item {item} escaped", fault.seed);
                assert!(!named || numbers.answers[item] == BigUint::ZERO, "{stage:?}: a wrong answer left");
            }
        }
    }
    assert!(caught > injected / 2, "{caught} of {injected} faults mattered");
}
