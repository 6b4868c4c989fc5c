//! Gentry and Halevi's scheme as its users see it.

mod budgets;
mod devices;
mod operations;
mod published;
mod stored;

use modmill::{Backend, Engine};
use modmill_fhe::gentry_halevi::{Ciphertexts, GentryHalevi, SecretKey, Setting, generate};

/// An engine on two threads of the CPU.
fn engine() -> Engine {
    Engine::builder().backend(Backend::Cpu).threads(2).build().unwrap()
}

/// The scheme with new keys.
fn scheme(engine: &Engine, (n, t, security): (usize, usize, usize)) -> (GentryHalevi<'_>, SecretKey) {
    let setting = Setting::custom(n, t, security).unwrap();
    let (public, secret) = generate(engine, &setting, &mut |_| {}).unwrap();
    (GentryHalevi::new(engine, public).unwrap(), secret)
}

/// Bits that look random.
fn bits(count: usize) -> Vec<bool> {
    (0..count as u64).map(|index| (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 1 == 1).collect()
}

/// Checks that ciphertexts decrypt to `expected` and that no budget is promised that is not there.
fn check(scheme: &GentryHalevi<'_>, secret: &SecretKey, ciphertexts: &Ciphertexts, expected: &[bool]) {
    assert_eq!(scheme.decrypt(secret, ciphertexts).unwrap(), expected);
    let exact = scheme.exact_budget(secret, ciphertexts).unwrap();
    for (promised, exact) in scheme.budget(ciphertexts).into_iter().zip(exact) {
        assert!((0.0..=exact as f64).contains(&promised), "promised {promised}, there are {exact}");
    }
}
