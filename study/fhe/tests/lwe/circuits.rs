//! Circuits up to the depth that the bounds promise.

use crate::{Keys, engine, pattern};
use modmill_fhe::lwe::{Ciphertexts, Error, EvaluationKey, Evaluator, Parameters};
use modmill_testing::emulated;

fn and(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn xor(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// Decrypts, and checks the bound of the noise.
fn check(keys: &Keys, ciphertexts: &Ciphertexts, expected: &[bool], what: &str) {
    assert_eq!(keys.secret.decrypt(ciphertexts).unwrap(), expected, "{what}");
    let noise = keys.secret.noise_bits_vartime(ciphertexts).unwrap();
    let bound = ciphertexts.noise_bits() as usize;
    assert!(noise.iter().all(|&bits| bits <= bound), "{what}: {noise:?} beyond {bound}");
}

/// Multiplies until the bound says stop. Every step decrypts, and there are as many as the parameters
/// promise.
fn multiply_to_the_end(dimension: usize, count: usize, digit_bits: u32) {
    let engine = engine();
    let parameters = Parameters::leveled(dimension, count).unwrap().with_digit_bits(digit_bits).unwrap();
    let keys = Keys::new(&engine, &parameters);
    let evaluator = keys.evaluator(&engine);
    let mut bits = pattern(8, 9);
    let mut power = keys.encrypt(&engine, &bits);
    let mut depth = 0;
    loop {
        match evaluator.multiply(&power, &power) {
            Ok(next) => power = next,
            Err(error) => {
                assert!(matches!(error, Error::TooDeep { .. }), "{error}");
                break;
            }
        }
        depth += 1;
        check(&keys, &power, &bits, &format!("depth {depth} of dimension {dimension}"));
        // Flip, so that zeros and ones change places.
        power = evaluator.not(&power).unwrap();
        bits.iter_mut().for_each(|bit| *bit = !*bit);
        check(&keys, &power, &bits, "not");
    }
    assert!(depth >= parameters.depth().min(count) && depth + 1 >= count, "{depth} of {count}");
}

#[test]
fn products_until_the_bound_says_stop() {
    for (dimension, count, digit_bits) in [(8, 4, 1), (8, 3, 4), (16, 3, 1), (4, 8, 8)] {
        multiply_to_the_end(dimension, count, digit_bits);
    }
}

#[test]
fn moderate_dimension() {
    multiply_to_the_end(64, 3, 8);
}

/// A full adder and a comparison, on batches with operands of different depths.
#[test]
fn circuits_of_gates() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::leveled(8, 4).unwrap());
    let evaluator = keys.evaluator(&engine);
    let bits = [1, 2, 3].map(|seed| pattern(32, seed));
    let [a, b, c] = bits.each_ref().map(|bits| keys.encrypt(&engine, bits));
    let half = evaluator.add(&a, &b).unwrap();
    let sum = evaluator.add(&half, &c).unwrap();
    check(&keys, &sum, &xor(&xor(&bits[0], &bits[1]), &bits[2]), "sum");
    let ab = evaluator.multiply(&a, &b).unwrap();
    let carry = evaluator.add(&ab, &evaluator.multiply(&half, &c).unwrap()).unwrap();
    let half = xor(&bits[0], &bits[1]);
    let expected = xor(&and(&bits[0], &bits[1]), &and(&half, &bits[2]));
    check(&keys, &carry, &expected, "carry");
    // A fresh operand is lowered to the other's moduli.
    let mixed = evaluator.multiply(&carry, &a).unwrap();
    check(&keys, &mixed, &and(&expected, &bits[0]), "mixed depths");
    let mixed = evaluator.add(&mixed, &a).unwrap();
    check(&keys, &mixed, &xor(&and(&expected, &bits[0]), &bits[0]), "sum of mixed depths");
    let plain = evaluator.add_plain(&mixed, &bits[1]).unwrap();
    check(&keys, &plain, &xor(&xor(&and(&expected, &bits[0]), &bits[0]), &bits[1]), "public bits");
}

#[test]
fn lowering_keeps_the_message_and_the_bound() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::leveled(8, 5).unwrap());
    let evaluator = keys.evaluator(&engine);
    let bits = pattern(100, 4);
    let fresh = keys.encrypt(&engine, &bits);
    for count in (1..=5).rev() {
        let lowered = evaluator.lower(&fresh, count).unwrap();
        assert_eq!(lowered.moduli().len(), count);
        check(&keys, &lowered, &bits, &format!("{count} moduli"));
    }
    for count in [0, 6] {
        assert!(matches!(evaluator.lower(&fresh, count), Err(Error::Parameter { .. })));
    }
}

#[test]
fn batches_of_different_sizes_are_refused() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::leveled(8, 2).unwrap());
    let evaluator = keys.evaluator(&engine);
    let (one, two) = (keys.encrypt(&engine, &[true]), keys.encrypt(&engine, &[true, false]));
    let expected = Some(Error::Count { first: 1, second: 2 });
    assert_eq!(evaluator.add(&one, &two).err(), expected);
    assert_eq!(evaluator.multiply(&one, &two).err(), expected);
    assert_eq!(evaluator.add_plain(&one, &[true, true]).err(), expected);
}

/// A product on an emulated device.
#[test]
fn products_on_a_device() {
    let Some(builder) = emulated::engine(modmill_cuda::Faults::default()) else { return };
    let (host, device) = (engine(), builder.build().unwrap());
    for digit_bits in [1, 8] {
        let parameters = Parameters::leveled(4, 2).unwrap().with_digit_bits(digit_bits).unwrap();
        let keys = Keys::new(&host, &parameters);
        let key = EvaluationKey::generate(&host, &keys.secret).unwrap();
        let (a, b) = (keys.encrypt(&host, &pattern(8, 1)), keys.encrypt(&host, &pattern(8, 2)));
        let products = [&host, &device].map(|engine| {
            let evaluator = Evaluator::new(engine, &key, modmill::matrix::Placement::Held).unwrap();
            evaluator.multiply(&a, &b).unwrap()
        });
        assert_eq!(products[0], products[1]);
        assert_eq!(device.faults(), Vec::<String>::new());
    }
}
