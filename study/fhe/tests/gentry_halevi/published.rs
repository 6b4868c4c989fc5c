//! The smallest published setting, whole, on the CPU, or on this machine's GPUs with
//! `MODMILL_TEST_DEVICE=gpu`.

use super::{bits, check, engine};
use modmill_fhe::gentry_halevi::{Encryption, Evaluation, GentryHalevi, Noise, Setting, generate};
use modmill_testing::emulated;

#[test]
#[ignore = "takes a minute of two cores"]
fn the_small_setting_keeps_its_promises() {
    let is_gpu = std::env::var_os("MODMILL_TEST_DEVICE").is_some_and(|value| value == "gpu");
    let engine = match emulated::engine(Default::default()).filter(|_| is_gpu) {
        Some(builder) => builder.build().unwrap(),
        None => engine(),
    };
    let (public, secret) = generate(&engine, &Setting::small(), &mut |_| {}).unwrap();
    assert!(public.verify(&engine).unwrap());
    let scheme = GentryHalevi::new(&engine, public).unwrap();
    let bits = bits(1000);
    for (noise, evaluation, count) in [
        (Noise::Sparse, Evaluation::CachedPowers, 1000),
        (Noise::Dense, Evaluation::CachedPowers, 300),
        (Noise::Dense, Evaluation::Windowed(64), 20),
    ] {
        let encrypted = scheme.encrypt_with(&bits[..count], Encryption { noise, evaluation }).unwrap();
        check(&scheme, &secret, &encrypted, &bits[..count]);
    }
    let (a, b) = (scheme.encrypt(&bits[..50]).unwrap(), scheme.encrypt(&bits[50..100]).unwrap());
    let both = |gate: fn(bool, bool) -> bool| -> Vec<bool> {
        bits[..50].iter().zip(&bits[50..100]).map(|(&a, &b)| gate(a, b)).collect()
    };
    check(&scheme, &secret, &scheme.xor(&a, &b).unwrap(), &both(|a, b| a ^ b));
    check(&scheme, &secret, &scheme.and(&a, &b).unwrap(), &both(|a, b| a & b));
    check(&scheme, &secret, &scheme.not(&a).unwrap(), &both(|a, _| !a));
    // Eight rounds of square and recrypt keep the bits.
    let kept = [true, false, true];
    let mut squared = scheme.encrypt(&kept).unwrap();
    for _ in 0..8 {
        squared = scheme.recrypt(&scheme.and(&squared, &squared).unwrap()).unwrap();
        check(&scheme, &secret, &squared, &kept);
    }
    assert!(engine.faults().is_empty(), "{:?}", engine.faults());
}
