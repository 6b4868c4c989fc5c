//! Full products by transforms, against `num-bigint`.

use crate::{devices, on_gpus};
use modmill_core::{Batch, Call, Family, Operand, Product, Request};
use modmill_cuda::{Cuda, Device, Error, Run, Settings};
use modmill_testing::hard::{ones, power_of_two};
use modmill_testing::oracle::{batch_of_width, number, show};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// The answers; nothing, and a word about it, where there is no C++ compiler.
pub(crate) fn answers(run: Result<Run, Error>) -> Option<Batch> {
    match run {
        Err(Error::NoHostCompiler { reason }) => {
            println!("skipped: {reason}");
            None
        }
        run => Some(run.unwrap().answers),
    }
}

/// Devices that go by transforms.
pub(crate) fn by_transforms(devices: Vec<Device>) -> Cuda {
    Cuda::on(devices, Settings { family: Some(Family::Fft), ..Settings::default() })
}

/// Plans full products, or squares where there is no `b`, and runs the plan.
pub(crate) fn multiply(
    cuda: &Cuda,
    a: Operand<'_>,
    b: Option<Operand<'_>>,
    count: usize,
) -> Result<Run, Error> {
    let product = Product { a, b, count };
    let plan = cuda.plan(&Request::of_product(&product));
    cuda.run_new(&plan.ok_or(Error::NoKernel { name: "for products".to_owned() })?, Call::Product(&product))
}

/// Numbers of at most `bits` bits: the ends of the range, runs of ones, single bits, and random ones.
fn hard_numbers(bits: usize, rng: &mut Rng) -> Vec<BigUint> {
    let mut numbers = vec![
        ones(bits),
        power_of_two(bits - 1),
        BigUint::ZERO,
        BigUint::from(1u8),
        // Every second run of ones: carries that stop and carries that go on.
        ones(bits) / ones(bits.div_ceil(7)),
        ones(bits.div_ceil(2)),
        power_of_two(bits - 1) | BigUint::from(1u8),
    ];
    numbers.extend((0..3).map(|_| rng.number(bits)));
    numbers
}

/// Pairs of numbers whose coefficients are all ones but for the lowest, from which a carry goes through the
/// whole product: `1 + sum 2^(d i)` and `2^d - 1`, for every length d of digits.
fn rippling(bits: usize) -> Vec<(BigUint, BigUint)> {
    let digits = (18..=30).filter(|d| 2 * d <= bits);
    digits.map(|d| (ones(bits / d * d) / ones(d) + 1u8, ones(d))).collect()
}

fn check(a_bits: usize, b_bits: usize) {
    check_on(&by_transforms(devices()), a_bits, b_bits);
}

/// Hard numbers of these lengths: products, products with one factor for all, and squares.
pub(crate) fn check_on(cuda: &Cuda, a_bits: usize, b_bits: usize) {
    let mut rng = Rng::new((a_bits + 3 * b_bits) as u64);
    let (a, b) = (hard_numbers(a_bits, &mut rng), hard_numbers(b_bits, &mut rng));
    // Every end of a range with every other in turn, without as many products as there are pairs.
    let places = (0..2).flat_map(|turn| (0..10).map(move |i| (i, (i + turn * 4) % 10)));
    let mut pairs: Vec<(&BigUint, &BigUint)> = places.map(|(i, j)| (&a[i], &b[j])).collect();
    let rippling = rippling(a_bits.min(b_bits));
    pairs.extend(rippling.iter().map(|(a, b)| (a, b)));
    let first: Vec<BigUint> = pairs.iter().map(|(a, _)| (*a).clone()).collect();
    let second: Vec<BigUint> = pairs.iter().map(|(_, b)| (*b).clone()).collect();
    let (left, right) = (batch_of_width(&first, a_bits), batch_of_width(&second, b_bits));

    let Some(products) =
        answers(multiply(cuda, Operand::from(&left), Some(Operand::from(&right)), pairs.len()))
    else {
        return;
    };
    for (index, (product, (a, b))) in products.iter().zip(&pairs).enumerate() {
        assert!(number(product) == *a * *b, "{a_bits} by {b_bits} bits, {index}: {} {}", show(a), show(b));
    }
    // One factor for all, on either side; and squares.
    for (shared, b) in second.iter().enumerate().take(3) {
        let one = right.shared(shared);
        for products in [
            multiply(cuda, Operand::from(&left), Some(one), pairs.len()),
            multiply(cuda, one, Some(Operand::from(&left)), pairs.len()),
        ] {
            let products = products.unwrap().answers;
            for (product, (a, _)) in products.iter().zip(&pairs) {
                assert!(number(product) == *a * b, "{a_bits} by {b_bits} bits, shared {shared}");
            }
        }
    }
    let squares = multiply(cuda, Operand::from(&left), None, pairs.len()).unwrap().answers;
    for (square, (a, _)) in squares.iter().zip(&pairs) {
        assert!(number(square) == *a * *a, "{a_bits} bits, square");
    }
}

#[test]
fn short_products() {
    for (a, b) in [(1, 1), (31, 64), (65, 129), (1000, 1), (6900, 7000)] {
        check(a, b);
    }
}

/// Rows of 256 points, and every first pass.
#[test]
fn products_in_short_rows() {
    for bits in [7_200, 10_000, 14_000, 16_000, 27_000, 50_000] {
        check(bits, bits);
    }
    check(2_000, 50_000);
}

/// Rows of 4096 points, one, three and five of them; on GPUs the lengths that count, and passes of sixteen in
/// between.
#[test]
fn products_in_long_rows() {
    let emulated: &[(usize, usize)] = &[(110_000, 100_000), (280_000, 270_000), (480_000, 470_000)];
    let real = [(786_432, 786_432), (1 << 20, 1 << 20), (3 << 20, 1 << 20), (1 << 24, 1 << 24)];
    for &(a_bits, b_bits) in if on_gpus() { &real } else { emulated } {
        check_few(&by_transforms(devices()), a_bits, b_bits);
    }
}

/// The longest carry there is, and products in many chunks.
pub(crate) fn check_few(cuda: &Cuda, a_bits: usize, b_bits: usize) {
    let mut rng = Rng::new(a_bits as u64);
    let mut a = vec![ones(a_bits), rng.number(a_bits)];
    let mut b = vec![ones(b_bits), rng.number(b_bits)];
    let (first, second): (Vec<_>, Vec<_>) = rippling(a_bits.min(b_bits)).into_iter().unzip();
    a.extend(first);
    b.extend(second);
    let expected: Vec<BigUint> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    // One chunk, and several.
    for count in if on_gpus() { vec![2, 300_000_000 / a_bits + 16] } else { vec![2, a.len()] } {
        let cycle =
            |numbers: &[BigUint]| -> Vec<BigUint> { numbers.iter().cycle().take(count).cloned().collect() };
        let (left, right) = (batch_of_width(&cycle(&a), a_bits), batch_of_width(&cycle(&b), b_bits));
        let Some(products) =
            answers(multiply(cuda, Operand::from(&left), Some(Operand::from(&right)), count))
        else {
            return;
        };
        for (index, product) in products.iter().enumerate() {
            let right = number(product) == expected[index % expected.len()];
            assert!(right, "{a_bits} by {b_bits} bits, {index} of {count}");
        }
    }
}
