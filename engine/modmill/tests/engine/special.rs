//! Known answers of long squares: primes of Mersenne and Fermat, and residues after 100 steps.

use modmill::primality::{self, MersenneLike};
use modmill::{Engine, Error, Family, Isa, TRANSFORM_MAX_BITS};

fn engines() -> Vec<Engine> {
    let portable = Engine::builder().isa(Isa::Portable).family(Family::Fft).build().unwrap();
    vec![Engine::new().unwrap(), portable]
}

/// The number modulo `2^bits - 1`.
fn modulo_ones(limbs: &[u64], bits: usize) -> u64 {
    MersenneLike::minus_one(bits).unwrap().reduce(limbs)[0]
}

fn triple(limbs: &[u64]) -> (u64, u64, u64) {
    (limbs[0], modulo_ones(limbs, 35), modulo_ones(limbs, 36))
}

#[test]
fn mersenne_and_fermat_primes_are_told_from_composites() {
    for engine in engines() {
        for (q, is_prime) in
            [(3, true), (5, true), (7, true), (11, false), (13, true), (521, true), (523, false)]
                .into_iter()
                .chain([(2203, true), (2207, false), (4423, true)])
        {
            assert_eq!(primality::is_mersenne_prime(&engine, q, || {}), Ok(is_prime), "2^{q} - 1");
        }
        for (m, is_prime) in [(1, true), (2, true), (3, true), (4, true), (5, false), (6, false), (11, false)]
        {
            assert_eq!(primality::is_fermat_prime(&engine, m, || {}), Ok(is_prime), "F{m}");
        }
    }
}

#[test]
fn residues_after_a_hundred_steps_are_the_known_ones() {
    let engine = Engine::new().unwrap();
    let mut steps = 0;
    let x = primality::lucas_lehmer(&engine, 755_737, 100, || steps += 1).unwrap();
    assert_eq!(triple(&x), (0x13b1_3c61_2980_88dc, 34_092_803_628, 7_584_858_890));
    assert_eq!(steps, 100);
    let x = primality::pepin(&engine, 20, 100, || {}).unwrap();
    assert_eq!(triple(&x), (0x6462_9ced_6e21_8018, 8_485_981_669, 53_977_437_340));
    for engine in engines() {
        let x = primality::pepin(&engine, 14, 100, || {}).unwrap();
        assert_eq!(triple(&x), (0xdb9a_c520_c403_cb21, 342_168_579, 59_244_817_440));
    }
}

#[test]
fn numbers_that_no_sequence_is_defined_for_are_refused() {
    let engine = Engine::new().unwrap();
    for q in [0, 1, 2, TRANSFORM_MAX_BITS + 1, usize::MAX] {
        let refused = Error::OutOfRange { what: "q", value: q, least: 3, most: TRANSFORM_MAX_BITS };
        assert_eq!(primality::is_mersenne_prime(&engine, q, || {}), Err(refused.clone()));
        assert_eq!(primality::lucas_lehmer(&engine, q, 1, || {}), Err(refused));
    }
    for m in [0, 34, 64, u32::MAX] {
        let refused = Error::OutOfRange { what: "m", value: m as usize, least: 1, most: 33 };
        assert_eq!(primality::is_fermat_prime(&engine, m, || {}), Err(refused.clone()));
        assert_eq!(primality::pepin(&engine, m, 1, || {}), Err(refused.clone()));
        assert_eq!(refused.to_string(), format!("m is {m}; it must be 1 to 33"));
    }
}
