//! Primality of `2^q - 1` (Lucas and Lehmer) and of `2^(2^m) + 1` (Pepin), and the sequences behind it.

use crate::Engine;
use modmill_core::limbs::{add_assign, sub_assign};
use modmill_cpu::fft::{Folded, Special};

impl Engine {
    /// The Lucas-Lehmer sequence modulo `2^q - 1`, q at least 3: from 4, `steps` times `x <- x^2 - 2`.
    /// After each step, `progress` is called; numbers are public.
    pub fn lucas_lehmer(&self, q: usize, steps: usize, progress: impl FnMut() + Send) -> Vec<u64> {
        let special = Special::Minus(q);
        self.sequence(special, 4, steps, progress, move |x| {
            // Minus 2 is plus N - 2.
            let mut minus_two = special.value();
            sub_assign(&mut minus_two, &[2]);
            x.push(0);
            add_assign(x, &minus_two);
            *x = special.reduce(x);
        })
    }

    /// Pepin's sequence modulo `2^(2^m) + 1`: from 3, `steps` times `x <- x^2`.
    pub fn pepin(&self, m: u32, steps: usize, progress: impl FnMut() + Send) -> Vec<u64> {
        self.sequence(Special::Plus(1 << m), 3, steps, progress, |_| {})
    }

    /// Whether `2^q - 1` is prime, for a prime q of at least 3.
    pub fn is_mersenne_prime(&self, q: usize, progress: impl FnMut() + Send) -> bool {
        self.lucas_lehmer(q, q - 2, progress).iter().all(|&limb| limb == 0)
    }

    /// Whether `2^(2^m) + 1` is prime, for an m of at least 1: then, and only then, 3 is no square.
    pub fn is_fermat_prime(&self, m: u32, progress: impl FnMut() + Send) -> bool {
        let mut x = self.pepin(m, (1 << m) - 1, progress);
        add_assign(&mut x, &[1]);
        x == Special::Plus(1 << m).value()
    }

    fn sequence(
        &self,
        special: Special,
        start: u64,
        steps: usize,
        mut progress: impl FnMut() + Send,
        adjust: impl Fn(&mut Vec<u64>) + Sync,
    ) -> Vec<u64> {
        let folded = Folded::new(special, self.multiplier());
        self.install(|| {
            let mut x = special.reduce(&[start]);
            for _ in 0..steps {
                x = folded.square_of(&x);
                adjust(&mut x);
                progress();
            }
            x
        })
    }
}
