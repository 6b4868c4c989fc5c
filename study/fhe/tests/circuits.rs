//! Circuits under Gentry and Halevi's scheme, and its files.

use modmill::Engine;
use modmill_container::{FileError, Kind};
use modmill_fhe::circuit::{Expression, Operation, Plan, PlanError, Scheme, evaluate};
use modmill_fhe::gentry_halevi::{
    Ciphertexts, Decryptor, Description, Error, GentryHalevi, PublicKey, SecretKey, Setting, StoredError,
    generate,
};
use std::path::Path;
use std::sync::LazyLock;

/// A setting for quick trials.
fn setting() -> Setting {
    Setting::custom(32, 128, 8).unwrap()
}

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::builder().threads(2).build().unwrap());
static KEYS: LazyLock<(PublicKey, SecretKey)> =
    LazyLock::new(|| generate(&ENGINE, &setting(), &mut |_| {}).unwrap());

fn scheme() -> GentryHalevi<'static> {
    GentryHalevi::new(&ENGINE, KEYS.0.clone()).unwrap()
}

fn bits(number: u64, width: usize) -> Vec<bool> {
    (0..width).map(|bit| number >> bit & 1 == 1).collect()
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |number, &bit| 2 * number + u64::from(bit))
}

/// Computes an expression of a and b under encryption, several pairs of numbers together.
fn compute(text: &str, width: usize, pairs: &[(u64, u64)]) -> (Vec<u64>, Plan) {
    let scheme = scheme();
    let circuit = Expression::parse(text).unwrap().circuit(&[("a", width), ("b", width)]).unwrap();
    let encrypt = |side: fn(&(u64, u64)) -> u64| {
        let clear: Vec<bool> = pairs.iter().flat_map(|pair| bits(side(pair), width)).collect();
        scheme.encrypt(&clear).unwrap()
    };
    let (a, b) = (encrypt(|pair| pair.0), encrypt(|pair| pair.1));
    let plan = Plan::new(&circuit, &scheme, &[&a, &b], pairs.len()).unwrap();
    let answer = evaluate(&plan, &scheme, &[&a, &b], &mut |_| {}).unwrap();
    let exact = scheme.exact_budget(&KEYS.1, &answer).unwrap();
    let planned = plan.output_budgets().iter().cycle();
    assert!(exact.iter().zip(planned).all(|(&exact, &planned)| exact as f64 >= planned), "{text}");
    let answer = scheme.decrypt(&KEYS.1, &answer).unwrap();
    (answer.chunks(circuit.output().width()).map(number).collect(), plan)
}

#[test]
fn circuits_compute_under_encryption() {
    let pairs = [(3, 5), (15, 15), (0, 9)];
    for (text, expected) in [
        ("a + b", (|a, b| a + b) as fn(u64, u64) -> u64),
        ("a < b ? b - a : a - b", |a, b| a.abs_diff(b)),
        ("count(a, b)", |a, b| u64::from(a.count_ones() + b.count_ones())),
        ("max(a, b) == 15", |a, b| u64::from(a.max(b) == 15)),
    ] {
        let (answers, _) = compute(text, 4, &pairs);
        assert_eq!(answers, pairs.map(|(a, b)| expected(a, b)), "{text}");
    }
}

#[test]
fn deep_circuits_are_recrypted_on_the_way() {
    let (answers, plan) = compute("a * b * a * b", 2, &[(3, 3), (2, 1)]);
    assert_eq!(answers, [81, 4]);
    assert!(plan.count(Operation::Recrypt) > 0, "{plan:?}");
}

#[test]
fn a_key_without_recryption_refuses_deep_circuits() {
    // 64 bits of coefficients leave no room for the decryption circuit of 15 blocks.
    let (public, _) = generate(&ENGINE, &Setting::custom(32, 64, 72).unwrap(), &mut |_| {}).unwrap();
    let scheme = GentryHalevi::new(&ENGINE, public).unwrap();
    let circuit = Expression::parse("a * b").unwrap().circuit(&[("a", 4), ("b", 4)]).unwrap();
    let a = scheme.encrypt(&[true; 4]).unwrap();
    let error = Plan::new(&circuit, &scheme, &[&a, &a], 1).unwrap_err();
    assert!(matches!(error, PlanError::TooDeep { can_recrypt: false, .. }), "{error}");
}

/// The noise that is planned is the noise that ciphertexts say.
#[test]
fn noise_is_planned_as_it_is_counted() {
    let scheme = scheme();
    let (a, b) = (scheme.encrypt(&[true]).unwrap(), scheme.encrypt(&[false]).unwrap());
    let one = |bits: &Ciphertexts| bits.noise()[0];
    assert_eq!(one(&scheme.xor(&a, &b).unwrap()), scheme.after_xor(one(&a), one(&b)));
    assert_eq!(one(&scheme.and(&a, &b).unwrap()), scheme.after_and(one(&a), one(&b)));
    assert_eq!(one(&scheme.not(&a).unwrap()), scheme.after_not(one(&a)));
    assert_eq!(Some(one(&scheme.recrypt(&a).unwrap())), scheme.after_recrypt(one(&a)));
    assert_eq!(one(&scheme.constant(true, 3).unwrap()), scheme.noise_of_constant());
    assert_eq!(scheme.join(&[]).unwrap().len(), 0);
}

struct Desk(tempfile::TempDir);

impl Desk {
    /// A folder with `public`, `secret`, and `bits` with the bits 1, 0, 1.
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        KEYS.0.write(&desk.path("public")).unwrap();
        KEYS.1.write(&KEYS.0, &desk.path("secret")).unwrap();
        let bits = scheme().encrypt(&[true, false, true]).unwrap();
        bits.write(&KEYS.0, &desk.path("bits")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn keys_and_ciphertexts_are_read_as_they_were_written() {
    let desk = Desk::new();
    let public = PublicKey::read(&desk.path("public")).unwrap();
    assert_eq!(public.fingerprint(), KEYS.0.fingerprint());
    assert_eq!((public.capacity(), public.recrypted_noise()), (KEYS.0.capacity(), KEYS.0.recrypted_noise()));
    assert!(public.selectors() == KEYS.0.selectors() && public.multipliers() == KEYS.0.multipliers());
    assert!(public.verify(&ENGINE).unwrap());
    let scheme = GentryHalevi::new(&ENGINE, public).unwrap();
    let bits = Ciphertexts::read(&ENGINE, scheme.key(), &desk.path("bits")).unwrap();
    let answer = scheme.recrypt(&scheme.not(&bits).unwrap()).unwrap();
    answer.write(scheme.key(), &desk.path("answer")).unwrap();
    let owner = Decryptor::read(&ENGINE, &desk.path("secret")).unwrap();
    let answer = owner.ciphertexts(&desk.path("answer")).unwrap();
    assert_eq!(owner.decrypt(&answer).unwrap(), [false, true, false]);
    let exact = owner.exact_budget(&answer).unwrap();
    let estimates = GentryHalevi::budget(&scheme, &answer);
    assert!(exact.iter().zip(estimates).all(|(&exact, estimate)| exact as f64 >= estimate));
    let description = Description::read(&desk.path("answer"), Kind::Ciphertexts).unwrap();
    assert_eq!((description.setting, description.bounds.as_slice()), (setting(), answer.noise()));
    assert_eq!(description.capacity, KEYS.0.capacity());
}

fn read(kind: Kind, path: &Path) -> Result<(), StoredError> {
    match kind {
        Kind::PublicKey => PublicKey::read(path).map(drop),
        Kind::SecretKey => Decryptor::read(&ENGINE, path).map(drop),
        Kind::Ciphertexts => Ciphertexts::read(&ENGINE, &KEYS.0, path).map(drop),
    }
}

#[test]
fn files_of_another_kind_or_key_are_refused() {
    let desk = Desk::new();
    let kinds = [("public", Kind::PublicKey), ("secret", Kind::SecretKey), ("bits", Kind::Ciphertexts)];
    for (name, found) in kinds {
        for (_, expected) in kinds {
            let result = read(expected, &desk.path(name));
            match (result, found == expected) {
                (Ok(()), true) => {}
                (Err(StoredError::File(FileError::Kind { .. })), false) => {}
                (other, _) => panic!("{name} as {expected}: {other:?}"),
            }
        }
    }
    let (other, other_secret) = generate(&ENGINE, &setting(), &mut |_| {}).unwrap();
    let foreign = |result: Result<(), StoredError>| {
        assert!(matches!(result, Err(StoredError::Scheme(Error::AnotherKey(_)))), "{result:?}");
    };
    foreign(Ciphertexts::read(&ENGINE, &other, &desk.path("bits")).map(drop));
    foreign(other_secret.write(&KEYS.0, &desk.path("secret")));
    foreign(scheme().encrypt(&[true]).unwrap().write(&other, &desk.path("bits")));
}

/// Changed bytes and truncations of real files: all of their first bytes, and many of the others.
#[test]
fn damaged_files_are_refused() {
    let desk = Desk::new();
    let damaged = desk.path("damaged");
    for (name, kind) in
        [("public", Kind::PublicKey), ("secret", Kind::SecretKey), ("bits", Kind::Ciphertexts)]
    {
        let file = std::fs::read(desk.path(name)).unwrap();
        let step = file.len() / 300 + 1;
        for place in (0..file.len()).filter(|place| *place < 300 || place % step == 0) {
            let mut changed = file.clone();
            changed[place] ^= 1 << (place % 8);
            std::fs::write(&damaged, &changed).unwrap();
            assert!(read(kind, &damaged).is_err(), "{name}: byte {place}");
            std::fs::write(&damaged, &file[..place]).unwrap();
            assert!(read(kind, &damaged).is_err(), "{name}: {place} bytes");
        }
    }
}
