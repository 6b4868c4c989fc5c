#![doc = include_str!("../docs/fft.md")]

mod barrett;
mod basecase;
mod batch;
pub(crate) mod carry;
mod convolution;
pub(crate) mod frame;
pub(crate) mod memory;
mod modular;
mod montgomery;
pub(crate) mod point;
mod powers;
pub(crate) mod primes;
pub(crate) mod product;
mod reciprocal;
pub(crate) mod road;
pub(crate) mod roots;
mod special;
#[cfg(target_arch = "x86_64")]
pub(crate) mod three_primes;
pub(crate) mod transform;
mod weighted;
pub(crate) mod wrapped;

use crate::isa;
use crate::portable::fft::OnePrime;
#[cfg(target_arch = "x86_64")]
use crate::{avx2::fft::Doubles, avx512::fft::Words};
pub use barrett::Divisor;
pub(crate) use batch::{products, products_prepared, run, squares};
use frame::{Layout, Ring};
use modmill_core::Isa;
pub use modular::{By, Modular, reduction};
pub use montgomery::Montgomery;
pub use powers::window;
use product::{Other, Transformed};
pub use reciprocal::reciprocal;
use road::Road;
pub use special::{Folded, Special};
#[cfg(target_arch = "x86_64")]
use three_primes::ThreePrimes;

/// Multiplies long numbers, exactly.
///
/// Everything here takes time that depends on the lengths of numbers alone. Numbers are little-endian
/// limbs; a product is as long as both factors together.
#[derive(Debug, Clone, Copy)]
pub struct Multiplier {
    kind: Kind,
}

/// The roads there are.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Portable(OnePrime),
    #[cfg(target_arch = "x86_64")]
    Fma(ThreePrimes<Doubles>),
    #[cfg(target_arch = "x86_64")]
    Ifma(ThreePrimes<Words>),
}

/// Runs an expression with `$road` bound to a multiplier's road.
macro_rules! with_road {
    ($kind:expr, $road:ident => $body:expr) => {
        match $kind {
            Kind::Portable($road) => $body,
            #[cfg(target_arch = "x86_64")]
            Kind::Fma($road) => $body,
            #[cfg(target_arch = "x86_64")]
            Kind::Ifma($road) => $body,
        }
    };
}

pub(crate) use with_road;

/// A factor that is used again: its transform, for products with factors up to some length.
pub struct Prepared {
    limbs: usize,
    longest: usize,
    form: Form,
}

enum Form {
    /// Too short for transforms to pay.
    Plain(zeroize::Zeroizing<Vec<u64>>),
    Transformed(Layout, Transformed),
}

impl Prepared {
    /// Limbs of the factor.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// Most limbs of the other factor.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

impl Multiplier {
    /// The multipliers of this processor within a limit, best last.
    #[must_use]
    pub fn detect(limit: Option<Isa>) -> Vec<Self> {
        let mut found = vec![Self { kind: Kind::Portable(OnePrime) }];
        #[cfg(target_arch = "x86_64")]
        {
            let is_within = |isa: Isa| limit.is_none_or(|limit| limit >= isa);
            let fma = isa::detect_avx2().filter(|_| is_within(Isa::Avx2));
            let ifma = isa::detect_ifma().filter(|_| is_within(Isa::Avx512));
            found.extend(fma.map(|token| Self { kind: Kind::Fma(ThreePrimes(token)) }));
            found.extend(ifma.map(|token| Self { kind: Kind::Ifma(ThreePrimes(token)) }));
        }
        found
    }

    /// Its instruction set.
    #[must_use]
    pub fn isa(&self) -> Isa {
        match self.kind {
            Kind::Portable(_) => Isa::Portable,
            #[cfg(target_arch = "x86_64")]
            Kind::Fma(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Kind::Ifma(_) => Isa::Avx512,
        }
    }

    /// Limbs of the shorter factor from which transforms are faster than Karatsuba's way; measured.
    #[must_use]
    pub fn threshold(&self) -> usize {
        match self.kind {
            Kind::Portable(_) => 5000,
            #[cfg(target_arch = "x86_64")]
            Kind::Fma(_) => 165,
            #[cfg(target_arch = "x86_64")]
            Kind::Ifma(_) => 90,
        }
    }

    /// Limbs of a modulus from which Montgomery's reduction by transforms is faster than Barrett's by rows; measured.
    fn ring_threshold(&self) -> usize {
        match self.kind {
            Kind::Portable(_) => 700,
            #[cfg(target_arch = "x86_64")]
            Kind::Fma(_) => 90,
            #[cfg(target_arch = "x86_64")]
            Kind::Ifma(_) => 44,
        }
    }

    /// `out <- a b`.
    ///
    /// # Panics
    /// If `out` is not as long as both factors together.
    pub fn multiply(&self, a: &[u64], b: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), a.len() + b.len(), "a product is as long as its factors");
        if a.len().min(b.len()) < self.threshold() {
            basecase::multiply(a, b, out);
        } else {
            self.by_transforms(a, b.len(), Other::Number(b), out);
        }
    }

    /// `out <- a^2`.
    ///
    /// # Panics
    /// If `out` is not twice as long as a.
    pub fn square(&self, a: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), 2 * a.len(), "a square is twice as long as its root");
        if a.len() < self.threshold() {
            basecase::square(a, out);
        } else {
            self.by_transforms(a, a.len(), Other::Same, out);
        }
    }

    /// `out <- a b`, for a b of so many limbs.
    fn by_transforms(&self, a: &[u64], limbs: usize, b: Other<'_>, out: &mut [u64]) {
        with_road!(self.kind, road => {
            let layout = Layout::new(road.plan(a.len(), limbs), Ring::Minus);
            product::sum_of_products(&road, &[(a, b)], &layout, out);
        });
    }

    /// A factor prepared for products with others of at most `longest` limbs.
    #[must_use]
    pub fn prepare(&self, b: &[u64], longest: usize) -> Prepared {
        let form = if b.len().min(longest) < self.threshold() {
            Form::Plain(zeroize::Zeroizing::new(b.to_vec()))
        } else {
            with_road!(self.kind, road => {
                let layout = Layout::new(road.plan(longest, b.len()), Ring::Minus);
                Form::Transformed(layout, product::transform(&road, b, &layout))
            })
        };
        Prepared { limbs: b.len(), longest, form }
    }

    /// `out <- a b`, with b prepared by this multiplier.
    ///
    /// # Panics
    /// If a is longer than b was prepared for, or `out` not as long as both together.
    pub fn multiply_prepared(&self, a: &[u64], b: &Prepared, out: &mut [u64]) {
        assert!(a.len() <= b.longest, "prepared for factors of {} limbs", b.longest);
        assert_eq!(out.len(), a.len() + b.limbs, "a product is as long as its factors");
        match &b.form {
            Form::Plain(b) => self.multiply(a, b, out),
            Form::Transformed(layout, b) => {
                let terms = [(a, Other::Transformed(b))];
                with_road!(self.kind, road => product::sum_of_products(&road, &terms, layout, out));
            }
        }
    }
}

#[cfg(test)]
mod counts;
#[cfg(test)]
mod tests;
