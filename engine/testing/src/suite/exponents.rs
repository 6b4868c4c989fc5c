//! Exponents of every kind, at every length at which windows change, and in widths greater than the value.

use super::check::expect;
use super::{Outcome, Suite};
use crate::oracle::{batch, batch_of_width};
use crate::rng::Rng;
use crate::{hard, oracle};
use modmill::{Engine, Public};
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    for bits in suite.effort.some([1, 3, 51, 52, 64, 65, 130, 256, 521]) {
        let mut rng = Rng::new(20_000 + bits as u64);
        let mut moduli = hard::odd_moduli(bits, suite.effort.choose(5, 12), &mut rng);
        if bits > 1 {
            moduli.extend(hard::even_moduli(bits, suite.effort.choose(2, 6), &mut rng));
        }
        let mut exponents = hard::exponents(bits);
        // Twice as long as the modulus, and five times.
        exponents.extend([hard::ones(2 * bits + 3), hard::power_of_two(5 * bits), rng.exact(2 * bits)]);
        let shared = |engine: &Engine| one_for_all(engine, &moduli, &exponents, bits);
        suite.case(format!("each exponent for all items, {bits} bits"), shared);
        let each = |engine: &Engine| one_a_lane(engine, &moduli, &exponents, bits);
        suite.case(format!("another exponent for each item, {bits} bits"), each);
    }
    suite.case("exponents of every width from 0 to 140 bits", every_width);
}

/// One exponent at a time with all moduli, in its own width and in wider ones.
fn one_for_all(engine: &Engine, moduli: &[BigUint], exponents: &[BigUint], seed: usize) -> Outcome {
    let mut rng = Rng::new(seed as u64);
    let bases: Vec<BigUint> = moduli.iter().map(|n| hard::number(n.bits() as usize, &mut rng)).collect();
    let (a, n) = (batch(&bases), batch(moduli));
    for exponent in exponents {
        let expected: Vec<BigUint> =
            bases.iter().zip(moduli).map(|(a, n)| oracle::pow(a, exponent, n)).collect();
        let inputs =
            [("base", &bases[..]), ("exponent", &vec![exponent.clone(); bases.len()]), ("modulus", moduli)];
        let length = (exponent.bits() as usize).max(1);
        for width in [length, length + 1, length + 67] {
            let b = batch_of_width(std::slice::from_ref(exponent), width);
            for found in [engine.pow(&a, b.shared(0), &n), engine.pow(&a, Public(b.shared(0)), &n)] {
                let found = found.map_err(|error| error.to_string())?;
                expect(&inputs, &expected, &found)
                    .map_err(|wrong| format!("declared {width} bits: {wrong}"))?;
            }
        }
    }
    Ok(())
}

/// All exponents in one batch, so that every lane has its own exponent and modulus.
fn one_a_lane(engine: &Engine, moduli: &[BigUint], exponents: &[BigUint], seed: usize) -> Outcome {
    let mut rng = Rng::new(seed as u64 + 1);
    let moduli: Vec<BigUint> = exponents.iter().map(|_| rng.pick(moduli).clone()).collect();
    let bases: Vec<BigUint> = moduli.iter().map(|n| hard::number(n.bits() as usize, &mut rng)).collect();
    let expected: Vec<BigUint> =
        (0..bases.len()).map(|i| oracle::pow(&bases[i], &exponents[i], &moduli[i])).collect();
    let inputs = [("base", &bases[..]), ("exponent", exponents), ("modulus", &moduli)];
    let (a, b, n) = (batch(&bases), batch(exponents), batch(&moduli));
    for found in [engine.pow(&a, &b, &n), engine.pow(&a, Public(&b), &n)] {
        expect(&inputs, &expected, &found.map_err(|error| error.to_string())?)?;
    }
    Ok(())
}

/// A width that is no multiple of a window leaves a short window at the top.
fn every_width(engine: &Engine) -> Outcome {
    let mut rng = Rng::new(20_999);
    let moduli: Vec<BigUint> =
        [hard::ones(61), rng.exact(100) | BigUint::from(1u8), rng.exact(64) << 3].into();
    let bases: Vec<BigUint> = moduli.iter().map(|_| rng.number(130)).collect();
    let (a, n) = (batch(&bases), batch(&moduli));
    for width in 0..=140 {
        let exponents: Vec<BigUint> = vec![hard::ones(width), rng.number(width), hard::runs(width, &mut rng)];
        let expected: Vec<BigUint> =
            (0..3).map(|i| oracle::pow(&bases[i], &exponents[i], &moduli[i])).collect();
        let inputs = [("base", &bases[..]), ("exponent", &exponents), ("modulus", &moduli)];
        let b = batch_of_width(&exponents, width);
        for found in [engine.pow(&a, &b, &n), engine.pow(&a, Public(&b), &n)] {
            let found = found.map_err(|error| error.to_string())?;
            expect(&inputs, &expected, &found).map_err(|wrong| format!("declared {width} bits: {wrong}"))?;
        }
    }
    Ok(())
}
