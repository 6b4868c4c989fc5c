//! Keys and ciphertexts from their parts, good ones and hostile ones.

use crate::{Keys, engine, pattern};
use modmill::matrix::Placement;
use modmill_fhe::lwe::{Ciphertexts, Error, EvaluationKey, Evaluator, Parameters, PublicKey, SecretKey};

#[test]
fn parts_make_the_same_keys() {
    let engine = engine();
    let parameters = Parameters::leveled(8, 2).unwrap();
    let keys = Keys::new(&engine, &parameters);
    let secret = SecretKey::from_parts(&parameters, keys.secret.to_parts().to_vec()).unwrap();
    let (seed, b) = keys.public.to_parts();
    let public = PublicKey::from_parts(&parameters, *seed, b.to_vec()).unwrap();
    let bits = pattern(16, 2);
    let ciphertexts = public.encryptor(&engine, Placement::Streamed).unwrap().encrypt(&bits).unwrap();
    let (moduli, noise, count, words) = ciphertexts.to_parts();
    let again = Ciphertexts::from_parts(&parameters, moduli, noise, count, words.to_vec()).unwrap();
    assert_eq!(again, ciphertexts);
    let key = EvaluationKey::generate(&engine, &secret).unwrap();
    let (seed, b) = key.to_parts();
    let key = EvaluationKey::from_parts(&parameters, *seed, b.to_vec()).unwrap();
    let evaluator = Evaluator::new(&engine, &key, Placement::Streamed).unwrap();
    assert_eq!(secret.decrypt(&evaluator.multiply(&again, &again).unwrap()).unwrap(), bits);
}

#[test]
fn hostile_parts_are_refused() {
    let engine = engine();
    let parameters = Parameters::leveled(8, 2).unwrap();
    let keys = Keys::new(&engine, &parameters);
    for elements in [vec![0; 7], vec![0; 9], vec![22; 8], vec![-22; 8], vec![i8::MIN; 8], vec![]] {
        assert!(matches!(SecretKey::from_parts(&parameters, elements), Err(Error::Parts { .. })));
    }
    let (seed, b) = keys.public.to_parts();
    for b in [vec![], b[1..].to_vec(), vec![u32::MAX; b.len()]] {
        assert!(PublicKey::from_parts(&parameters, *seed, b.clone()).is_err());
        assert!(EvaluationKey::from_parts(&parameters, *seed, b).is_err());
    }
    let ciphertexts = keys.encrypt(&engine, &[true]);
    let (moduli, noise, count, words) = ciphertexts.to_parts();
    let from = |moduli, noise, count, words: &[u32]| {
        Ciphertexts::from_parts(&parameters, moduli, noise, count, words.to_vec()).map(|_| ())
    };
    assert_eq!(from(moduli, noise, count, words), Ok(()));
    for moduli in [0, 1, 3, usize::MAX] {
        assert!(from(moduli, noise, count, words).is_err(), "{moduli} moduli");
    }
    for noise in [f64::NAN, f64::INFINITY, -1.0, 0.0, 63.0, 1e300] {
        assert!(from(moduli, noise, count, words).is_err(), "noise {noise}");
    }
    for count in [0, 2, usize::MAX] {
        assert!(from(moduli, noise, count, words).is_err(), "{count} ciphertexts");
    }
    assert!(from(moduli, noise, count, &vec![u32::MAX; words.len()]).is_err());
}
