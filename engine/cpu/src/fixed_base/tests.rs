use super::*;
use crate::Settings;
use crate::test_support::{Random, big};
use modmill_core::Call;

fn cpus() -> Vec<Cpu> {
    let path = |path: &CpuPath| {
        let settings = Settings {
            isa: Some(path.isa()),
            family: Some(path.family()),
            threads: Some(2),
            ..Settings::default()
        };
        Cpu::new(settings).unwrap()
    };
    CpuPath::detect().iter().map(path).collect()
}

#[test]
fn powers_are_those_of_the_oracle_by_both_tables() {
    let mut random = Random::new(5);
    for cpu in cpus() {
        for (bits, exponent_bits) in [(2, 1), (64, 5), (65, 64), (521, 40), (1024, 130)] {
            let mut modulus = random.bits(bits);
            modulus[0] |= 1;
            let base = random.bits(bits + 9);
            let shared = Modulus::new(&modulus).unwrap();
            let operand = Operand::Shared { bits: bits + 9, value: &base };
            let Some(fixed) = cpu.fixed_base(operand, &shared, exponent_bits) else {
                assert!(cpu.paths().iter().all(|path| matches!(path, CpuPath::Rns | CpuPath::Fft(_))));
                continue;
            };
            assert_eq!(fixed.bytes(), 0);
            for count in [1, 7, 8, 9, 70] {
                let mut exponents = Batch::zeros(exponent_bits, count);
                for item in 2..count {
                    exponents.get_mut(item).copy_from_slice(&random.bits(exponent_bits));
                }
                if count > 1 {
                    exponents.get_mut(1)[0] = 1;
                }
                let powers = |secrecy| {
                    let call = FixedPowers {
                        base: operand,
                        modulus: &shared,
                        exponents: (&exponents).into(),
                        secrecy,
                        prepared_bits: exponent_bits,
                        tables: Some(&fixed),
                        watch: None,
                    };
                    let plan = cpu.plan(&Request::of_fixed(&call)).unwrap();
                    cpu.run(&plan, Call::FixedPow(&call)).unwrap()
                };
                let (secret, public) = (powers(Secrecy::Secret), powers(Secrecy::Public));
                for item in 0..count {
                    let expected = big(&base).modpow(&big(exponents.get(item)), &big(&modulus));
                    assert_eq!(big(secret.get(item)), expected, "{bits} bits, item {item} of {count}");
                    assert_eq!(big(public.get(item)), expected, "{bits} bits, item {item} of {count}");
                }
            }
            assert!(fixed.bytes() > 0);
        }
    }
}

#[test]
fn windows_follow_the_memory_that_a_table_may_take() {
    let path = CpuPath::Row;
    let window = |bits, exponent_bits, layout| table::window(path, bits, exponent_bits, layout);
    for layout in [Layout::DigitByDigit, Layout::EntryByEntry] {
        assert_eq!(window(32_768, 1 << 20, layout), None);
        assert!(window(32_768, 4096, layout) < window(2048, 4096, layout));
        assert_eq!(window(2048, 1, layout), Some(4));
    }
    assert_eq!(window(2048, 1024, Layout::EntryByEntry), Some(10));
}
