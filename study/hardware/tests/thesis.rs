//! Figures of the thesis, recomputed: those that hold, and those that are printed wrongly
//! (docs/notebook/hardware.md).

use modmill_core::goldilocks::{PRIME, pow, root_of_unity};
use modmill_hardware::{Design, Form, ModularMultiplier};

/// Whether two figures agree to the digits that are printed.
fn agree(computed: f64, printed: f64) -> bool {
    (computed / printed - 1.0).abs() < 0.01
}

/// Cycles of the full and of the fast modular product.
fn modular_cycles() -> [f64; 2] {
    let mut machine = ModularMultiplier::new(16, &[5]).unwrap();
    [Form::Number, Form::Same].map(|form| machine.multiply(&[2], &[3], form).unwrap().cycles() as f64)
}

#[test]
fn times_of_chapters_5_and_7_follow_from_the_cycles() {
    let product = Design::thesis().product_cycles() as f64;
    assert!(agree(product / 200e6, 0.206e-3));
    let [_, fast] = modular_cycles();
    assert!(agree(fast / 320e6, 6.34e-6) && agree(fast / 209e6, 9.7e-6));
    // A square and a product for each bit of the exponent, at worst (table 7.3).
    assert!(agree(2.0 * 8192.0 * fast / 320e6, 0.104) && agree(2.0 * 12_288.0 * fast / 320e6, 0.156));
}

#[test]
fn the_printed_root_is_none() {
    let printed = 0xe965_3c8d_efa8_60a9;
    assert_ne!(pow(printed, 65_536), 1);
    assert_eq!(pow(printed, 3 << 32), 1);
    assert_eq!((pow(root_of_unity(65_536), 65_536), pow(root_of_unity(65_536), 32_768)), (1, PRIME - 1));
}

#[test]
fn areas_and_rates_that_do_not_add_up() {
    // Section 5.6: "the radix-16 units occupy just 5 %" is one of the two.
    assert!(agree(2.2 / 45.3, 0.0486) && agree(2.0 * 2.2 / 45.3, 0.097));
    // Table 5.1: two processors and the tables are more than the multiplier.
    assert!(agree(2.0 * 20.7 + 4.63, 46.03) && !agree(2.0 * 20.7 + 4.63, 45.3));
    // Table 5.3: 6 ms is 14.3 times 0.42 ms.
    assert!(agree(6.0 / 0.42, 14.29) && !agree(6.0 / 0.42, 14.5));
    // Table 7.4: 157.6 products a second are thousands.
    let [_, fast] = modular_cycles();
    assert!(agree(320e6 / fast, 157.6e3));
    // Table 7.4: every figure is twice that of equation 7.4.
    for (bits, rate, gates, printed) in [
        (1024.0, 94.2e3, 156e3, 2.53e6),
        (1024.0, 438.6e3, 148e3, 12.4e6),
        (1024.0, 648.6e3, 139e3, 19.6e6),
        (12_288.0, 157.6e3, 5300e3, 18.0e6),
    ] {
        assert!(agree(2.0 * (2.0 * bits * bits + bits) * rate / gates, printed));
    }
}
