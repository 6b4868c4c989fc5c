//! The scheme on an emulated GPU.

use super::{bits, check, scheme};
use modmill_testing::emulated;

#[test]
fn an_emulated_device_computes_the_same() {
    let Some(builder) = emulated::engine(Default::default()) else { return };
    let device = builder.threads(2).build().unwrap();
    let (on_device, secret) = scheme(&device, (32, 100, 8));
    let bits = bits(6);
    let encrypted = on_device.encrypt(&bits).unwrap();
    check(&on_device, &secret, &encrypted, &bits);
    let not: Vec<bool> = bits.iter().map(|bit| !bit).collect();
    check(&on_device, &secret, &on_device.not(&encrypted).unwrap(), &not);
    let some = encrypted.select(&device, &[5, 1]).unwrap();
    let product = on_device.and(&some, &on_device.xor(&some, &some).unwrap()).unwrap();
    check(&on_device, &secret, &product, &[false, false]);
    check(&on_device, &secret, &on_device.recrypt(&some).unwrap(), &[bits[5], bits[1]]);
    assert!(device.faults().is_empty(), "{:?}", device.faults());
    // Ciphertexts of the device on the CPU.
    let host = super::engine();
    let on_host = modmill_fhe::gentry_halevi::GentryHalevi::new(&host, on_device.key().clone()).unwrap();
    check(&on_host, &secret, &on_host.recrypt(&encrypted).unwrap(), &bits);
}
