//! Every block against integers: all inputs of small widths, random ones of large widths.

use crate::circuit::{Builder, Circuit, Word};
use modmill_testing::rng::Rng;

pub(crate) fn mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The circuit's answer to numbers.
pub(crate) fn compute(circuit: &Circuit, numbers: &[u64]) -> u64 {
    let bits = circuit
        .inputs()
        .iter()
        .zip(numbers)
        .flat_map(|(input, &number)| (0..input.width).map(move |bit| bit < 64 && number >> bit & 1 == 1));
    let answer = circuit.compute(&bits.collect::<Vec<_>>()).unwrap();
    answer.iter().enumerate().fold(0, |sum, (bit, &is_one)| sum | u64::from(is_one) << bit)
}

/// Builds a circuit of two words.
fn binary(widths: [usize; 2], block: impl Fn(&mut Builder, &Word, &Word) -> Word) -> Circuit {
    let mut builder = Builder::new();
    let (a, b) = (builder.input("a", widths[0]), builder.input("b", widths[1]));
    let output = block(&mut builder, &a, &b);
    builder.finish(output)
}

/// Compares a block of two words with a function: at all widths up to `small` with all inputs, and at random
/// widths up to `large`.
fn check(
    name: &str,
    (small, large): (usize, usize),
    block: impl Fn(&mut Builder, &Word, &Word) -> Word,
    expected: impl Fn(u64, u64, [usize; 2]) -> u64,
) {
    for widths in (0..=small).flat_map(|a| (0..=small).map(move |b| [a, b])) {
        let circuit = binary(widths, &block);
        for (a, b) in (0..1 << widths[0]).flat_map(|a| (0..1 << widths[1]).map(move |b| (a, b))) {
            assert_eq!(
                compute(&circuit, &[a, b]),
                expected(a, b, widths),
                "{name} of {a} and {b}, widths {widths:?}"
            );
        }
    }
    let mut random = Rng::new(1);
    for _ in 0..30 {
        let widths = [(); 2].map(|()| 1 + random.below(large));
        let circuit = binary(widths, &block);
        for _ in 0..20 {
            let [a, b] = widths.map(|width| random.word() & mask(width));
            // Equal numbers and long carries are rare among random ones.
            for (a, b) in [(a, b), (a, a & mask(widths[1])), (a, !a & mask(widths[1])), (mask(widths[0]), 1)]
            {
                assert_eq!(
                    compute(&circuit, &[a, b]),
                    expected(a, b, widths),
                    "{name} of {a} and {b}, {widths:?}"
                );
            }
        }
    }
}

fn wider([a, b]: [usize; 2]) -> usize {
    a.max(b)
}

#[test]
fn sums_and_differences() {
    check("add", (4, 63), Builder::add, |a, b, _| a + b);
    check("add_ripple", (4, 63), Builder::add_ripple, |a, b, _| a + b);
    check("subtract", (4, 64), Builder::subtract, |a, b, widths| a.wrapping_sub(b) & mask(wider(widths)));
}

#[test]
fn products() {
    check("multiply", (4, 32), Builder::multiply, |a, b, _| a * b);
}

#[test]
fn comparisons() {
    check("less", (4, 64), |builder, a, b| builder.less(a, b).into(), |a, b, _| u64::from(a < b));
    check(
        "less_or_equal",
        (4, 64),
        |builder, a, b| builder.less_or_equal(a, b).into(),
        |a, b, _| u64::from(a <= b),
    );
    check("equal", (4, 64), |builder, a, b| builder.equal(a, b).into(), |a, b, _| u64::from(a == b));
    check("is_not_zero", (4, 64), |builder, a, _| builder.is_not_zero(a).into(), |a, _, _| u64::from(a != 0));
    let three = |a: &Word, b: &Word| [a.clone(), b.clone(), a.clone()];
    check("maximum", (3, 64), |builder, a, b| builder.maximum(&three(a, b)), |a, b, _| a.max(b));
    check("minimum", (3, 64), |builder, a, b| builder.minimum(&three(a, b)), |a, b, _| a.min(b));
}

#[test]
fn bits_one_by_one() {
    check("xor", (3, 64), Builder::xor_words, |a, b, _| a ^ b);
    check("and", (3, 64), Builder::and_words, |a, b, _| a & b);
    check("or", (3, 64), Builder::or_words, |a, b, _| a | b);
    check("not", (3, 64), |builder, a, _| builder.not_word(a), |a, _, [width, _]| !a & mask(width));
    let select = |builder: &mut Builder, a: &Word, b: &Word| {
        let condition = builder.input("condition", 1);
        (condition[0], a.clone(), b.clone())
    };
    let mut builder = Builder::new();
    let (a, b) = (builder.input("a", 3), builder.input("b", 5));
    let (condition, a, b) = select(&mut builder, &a, &b);
    let output = builder.select(condition, &a, &b);
    let circuit = builder.finish(output);
    assert_eq!((compute(&circuit, &[5, 17, 1]), compute(&circuit, &[5, 17, 0])), (5, 17));
    assert_eq!(circuit.cost().and, 5);
}

#[test]
fn counts() {
    for width in 0..=10 {
        let mut builder = Builder::new();
        let word = builder.input("v", width);
        let count = builder.count(&word);
        let circuit = builder.finish(count);
        assert_eq!(circuit.cost().depth, (width.max(1).ilog2()) as usize);
        for number in 0..1u64 << width {
            assert_eq!(compute(&circuit, &[number]), u64::from(number.count_ones()));
        }
    }
    let mut builder = Builder::new();
    let word = builder.input("v", 1000);
    let count = builder.count(&word);
    let circuit = builder.finish(count);
    let mut random = Rng::new(5);
    let votes: Vec<bool> = (0..1000).map(|_| random.below(3) == 0).collect();
    let answer = circuit.compute(&votes).unwrap();
    let number = answer.iter().rev().fold(0, |sum, &bit| 2 * sum + usize::from(bit));
    assert_eq!(number, votes.iter().filter(|&&vote| vote).count());
    assert_eq!((circuit.cost().depth, circuit.cost().and < 1000), (9, true));
}

#[test]
fn tables() {
    let mut random = Rng::new(7);
    for (index_width, entries) in [(0, 1), (1, 2), (3, 8), (3, 5), (5, 5), (6, 64), (2, 9), (4, 0)] {
        let entries: Vec<u64> = (0..entries).map(|_| random.below(1 << 10) as u64).collect();
        let mut builder = Builder::new();
        let index = builder.input("index", index_width);
        let entry = builder.table(&index, &entries, 10);
        let circuit = builder.finish(entry);
        for place in 0..1u64 << index_width {
            let expected = entries.get(place as usize).copied().unwrap_or(0);
            assert_eq!(compute(&circuit, &[place]), expected, "{place} of {entries:?}");
        }
    }
}

/// The depths that the documentation promises.
#[test]
fn blocks_are_shallow() {
    let depth = |circuit: Circuit| circuit.cost().depth;
    let bit = |block: fn(&mut Builder, &Word, &Word) -> crate::circuit::Wire| {
        move |builder: &mut Builder, a: &Word, b: &Word| block(builder, a, b).into()
    };
    for (width, log) in [(2, 1), (8, 3), (9, 4), (16, 4), (64, 6)] {
        let widths = [width; 2];
        assert_eq!(depth(binary(widths, Builder::add)), log + 1, "add {width}");
        // The carry of the highest bit is not needed.
        let log_below = (width - 1).next_power_of_two().ilog2() as usize;
        assert_eq!(depth(binary(widths, Builder::subtract)), log_below + 1, "subtract {width}");
        assert_eq!(depth(binary(widths, Builder::add_ripple)), width, "ripple {width}");
        assert_eq!(depth(binary(widths, bit(Builder::less))), log + 1, "less {width}");
        assert_eq!(depth(binary(widths, bit(Builder::equal))), log, "equal {width}");
    }
    for (width, expected) in [(4, 6), (8, 8), (16, 10), (32, 12)] {
        assert_eq!(depth(binary([width; 2], Builder::multiply)), expected, "multiply {width}");
    }
}
