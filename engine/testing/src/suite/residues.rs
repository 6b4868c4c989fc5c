//! Moduli that share primes with the bases of residue number systems, and lengths at which the bases
//! change.

use super::check::{self, Items};
use super::{Effort, Suite};
use crate::hard;
use crate::rng::Rng;
use modmill_core::rns::Bases;
use num_bigint::BigUint;

pub(super) fn run(suite: &mut Suite<'_>) {
    let full = suite.effort == Effort::Full;
    let lengths = if full { vec![100, 237, 512, 1024, 2048, 4096] } else { vec![100, 512, 1024] };
    for bits in suite.effort.some(lengths) {
        let items = shared_primes(bits);
        for (name, check) in check::ALL {
            suite.case(format!("{name}, moduli of {bits} bits with primes of residues' bases"), |engine| {
                check(engine, &items)
            });
        }
    }
    let channels = if full { (4..=72).step_by(4).collect() } else { vec![4, 8, 20, 36] };
    for channels in suite.effort.some(channels) {
        let capacity = Bases::with_channels(channels).map_or(0, |bases| bases.capacity_bits());
        for bits in [capacity, capacity + 1] {
            let mut rng = Rng::new(70_000 + bits as u64);
            let mut items = Items::default();
            for modulus in [hard::ones(bits), hard::power_of_two(bits - 1) + 1u8] {
                for base in [hard::ones(bits), &modulus - 1u8, hard::number(bits, &mut rng)] {
                    items.push(base, hard::number(64, &mut rng), modulus.clone());
                }
            }
            for (name, check) in check::ALL {
                suite.case(format!("{name}, {bits} bits, the end of {channels} channels"), |engine| {
                    check(engine, &items)
                });
            }
        }
    }
}

/// Items of one length whose moduli are multiples of a prime of base A, of a prime of base B, of many primes
/// of B, and of none, in turn. Some of these moduli cannot be inverted in base B.
fn shared_primes(bits: usize) -> Items {
    let mut rng = Rng::new(60_000 + bits as u64);
    let bases = Bases::for_bits(bits).expect("there are bases for short moduli");
    let (a, b) = (bases.a(), bases.b());
    let many = (1..=bits / 31).map(|i| b[b.len() - i].p);
    let factors: [BigUint; 5] = [
        a[0].p.into(),
        b[0].p.into(),
        many.map(BigUint::from).product(),
        1u8.into(),
        BigUint::from(a[a.len() - 1].p) * b[1].p,
    ];
    let mut items = Items::default();
    for round in 0..3 {
        for factor in &factors {
            let room = bits - factor.bits() as usize;
            let cofactor = if room < 2 { BigUint::from(1u8) } else { rng.exact(room) | BigUint::from(1u8) };
            let modulus = factor * cofactor;
            // The factor itself is an item too: it is zero modulo some primes of the base.
            let base = if round == 0 { factor.clone() } else { hard::number(bits, &mut rng) };
            items.push(base, hard::number(64, &mut rng), modulus);
        }
    }
    items
}
