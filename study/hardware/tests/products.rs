//! Whole products against another implementation, with the cycles of the closed forms.

use modmill_hardware::{Design, Error, Multiplier, Part, Ports};
use num_bigint::BigUint;

/// A random number of `bits` bits, the same for the same seed.
fn random(bits: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| random.u64(..)).collect();
    if !bits.is_multiple_of(64) {
        limbs[bits / 64] &= (1 << (bits % 64)) - 1;
    }
    limbs
}

fn ones(bits: usize) -> Vec<u64> {
    let mut limbs = vec![u64::MAX; bits / 64];
    if !bits.is_multiple_of(64) {
        limbs.push((1 << (bits % 64)) - 1);
    }
    limbs
}

fn power_of_two(exponent: usize) -> Vec<u64> {
    let mut limbs = vec![0; exponent / 64 + 1];
    limbs[exponent / 64] = 1 << (exponent % 64);
    limbs
}

fn number(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// Operands that carry far, are sparse, empty, or random.
fn operands(bits: usize) -> Vec<[Vec<u64>; 2]> {
    vec![
        [ones(bits), ones(bits)],
        [ones(bits), power_of_two(0)],
        [power_of_two(bits - 1), power_of_two(bits - 1)],
        [vec![], ones(bits)],
        [ones(bits), ones(bits / 2 + 5)],
        [random(bits, 1), random(bits, 2)],
        [random(bits, 3), random(bits / 3, 4)],
    ]
}

fn designs(stages: u32) -> [Design; 2] {
    [Design::thesis(), Design::improved()].map(|design| design.with_stages(stages))
}

#[test]
fn small_products_are_exact_and_take_the_cycles_of_the_closed_form() {
    for design in [2, 3].into_iter().flat_map(designs) {
        for [a, b] in operands(design.operand_bits()) {
            let mut machine = Multiplier::new(design).unwrap();
            machine.offer(&a, &b).unwrap();
            machine.run(1, |_| ()).unwrap();
            let product = &machine.products()[0];
            assert_eq!(number(&product.limbs), number(&a) * number(&b), "{design:?}");
            assert_eq!(product.cycles(), design.product_cycles(), "{design:?}");
        }
    }
}

#[test]
fn products_of_768_kbit_are_exact_in_41146_and_30726_cycles() {
    for (design, cycles) in designs(4).into_iter().zip([41_146, 30_726]) {
        for [a, b] in [&operands(786_432)[0], &operands(786_432)[5]] {
            let mut machine = Multiplier::new(design).unwrap();
            machine.offer(a, b).unwrap();
            machine.run(1, |_| ()).unwrap();
            let product = &machine.products()[0];
            assert_eq!(number(&product.limbs), number(a) * number(b));
            assert_eq!(product.cycles(), cycles);
        }
    }
}

/// In a stream a product leaves every 24 576 cycles, and the row order of odd products is as good as that of
/// even ones.
#[test]
fn a_stream_keeps_both_units_busy() {
    for stages in [2, 3, 4] {
        let design = Design::improved().with_stages(stages);
        let count = if stages == 4 { 3 } else { 6 };
        let mut machine = Multiplier::new(design).unwrap();
        let bits = design.operand_bits();
        let pairs: Vec<_> = (0..count).map(|seed| [random(bits, seed), random(bits, 99 - seed)]).collect();
        for [a, b] in &pairs {
            machine.offer(a, b).unwrap();
        }
        machine.run(pairs.len(), |_| ()).unwrap();
        for (product, [a, b]) in machine.products().iter().zip(&pairs) {
            assert_eq!(number(&product.limbs), number(a) * number(b));
        }
        for two in machine.products().windows(2) {
            assert_eq!(two[1].last_cycle - two[0].last_cycle, design.interval_cycles());
        }
    }
    assert_eq!(Design::improved().interval_cycles(), 24_576);
}

/// From the first step of the first product to the last of the last, neither unit is idle in any cycle.
#[test]
fn no_unit_is_idle_between_products() {
    let mut machine = Multiplier::new(Design::improved()).unwrap();
    for _ in 0..3 {
        machine.offer(&[1], &[1]).unwrap();
    }
    machine.run(3, |_| ()).unwrap();
    for unit in 0..2 {
        let spans: Vec<_> =
            machine.activities().iter().filter(|activity| activity.part == Part::Unit(unit)).collect();
        assert!(spans.windows(2).all(|two| two[0].to == two[1].from));
        assert_eq!(spans.len(), 3 * 8);
        assert_eq!(spans[spans.len() - 1].to - spans[0].from, 3 * 24_576);
    }
}

/// Beats that come late and a reader that stops do not change a product.
#[test]
fn back_pressure_changes_no_product() {
    let design = Design::improved().with_stages(3);
    let bits = design.operand_bits();
    for pattern in 1..12u64 {
        let mut machine = Multiplier::new(design).unwrap();
        let pairs: Vec<_> =
            (0..4).map(|seed| [random(bits, seed + pattern), random(bits, 50 + seed)]).collect();
        for [a, b] in &pairs {
            machine.offer(a, b).unwrap();
        }
        let coins = random(64 * 4096, pattern);
        while machine.products().len() < pairs.len() {
            let coin = coins[machine.cycle() as usize % coins.len()];
            let often = pattern % 4 + 1;
            let ports = Ports {
                valid: [coin % 8 < often, (coin >> 8) % 8 < often],
                ready: (coin >> 16) % 8 < 2 * (pattern % 3) + 1,
            };
            machine.clock(ports).unwrap();
            assert!(machine.cycle() < 1_000_000);
        }
        for (product, [a, b]) in machine.products().iter().zip(&pairs) {
            assert_eq!(number(&product.limbs), number(a) * number(b));
        }
    }
}

/// The stages need no gap because the pipeline is short enough; with a longer one the model refuses the
/// schedule.
#[test]
fn a_pipeline_that_is_too_long_is_refused() {
    let run = |latency| {
        let mut machine = Multiplier::new(Design { latency, ..Design::improved() })?;
        for _ in 0..2 {
            machine.offer(&[1], &[1])?;
        }
        machine.run(2, |_| ())
    };
    assert_eq!(run(16), Ok(()));
    // A result is read at least 128 cycles after the step that computes it, and must have been written
    // before.
    assert_eq!(run(127), Ok(()));
    assert!(matches!(run(128), Err(Error::ReadTooEarly(_))));
    assert!(matches!(run(15), Err(Error::Design(_))));
    // Without the gap the stages of a small transform overtake each other.
    let mut small = Multiplier::new(Design { gap: 0, ..Design::improved().with_stages(2) }).unwrap();
    small.offer(&[1], &[1]).unwrap();
    assert!(matches!(small.run(1, |_| ()), Err(Error::ReadTooEarly(_))));
}

#[test]
fn snapshots_hold_the_memories_after_every_stage() {
    let design = Design::improved().with_stages(2);
    let mut machine = Multiplier::new(design).unwrap();
    machine.keep_snapshots();
    machine.offer(&[2], &[3]).unwrap();
    machine.run(1, |_| ()).unwrap();
    let names: Vec<&str> = machine.snapshots().iter().map(|snapshot| snapshot.stage.as_str()).collect();
    assert_eq!(names, ["F1", "F2", "I1", "I2"]);
    let last = machine.snapshots().last().unwrap();
    // Position n is in row n / 16: rows 0 to 7 of memory A and rows 8 to 15 of B have results. Position 0, in
    // bank 0, has the only one that is not zero.
    let results = |memory: usize| {
        let words = last.memories[memory].iter().enumerate();
        words.filter(move |(index, _)| index % 16 / 8 == memory).map(|(_, &word)| word).collect::<Vec<u64>>()
    };
    let all = [results(0), results(1)].concat();
    assert_eq!((all.len(), all[0]), (256, 6));
    assert!(all[1..].iter().all(|&word| word == 0));
}

#[test]
fn operands_that_are_too_long_and_products_that_nobody_offered_are_errors() {
    let mut machine = Multiplier::new(Design::improved().with_stages(2)).unwrap();
    let error = machine.offer(&[1], &power_of_two(3072)).unwrap_err();
    assert_eq!(error.to_string(), "operand b has 3073 bits, and the machine takes 3072");
    assert!(machine.run(1, |_| ()).unwrap_err().to_string().contains("1 products are awaited"));
}
