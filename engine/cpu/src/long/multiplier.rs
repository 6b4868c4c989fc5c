//! The multiplier of long numbers: Karatsuba's algorithm for short factors, transforms for long ones.

use super::basecase;
#[cfg(target_arch = "x86_64")]
use crate::avx512ifma::fft::Words;
use crate::fft::product::{self, SecondFactor, Transformed};
use crate::fft::scheme::NttScheme;
use crate::fft::shape::{DigitLayout, Ring};
#[cfg(target_arch = "x86_64")]
use crate::fft::three_primes::ThreePrimes;
use crate::isa;
use crate::portable::fft::Goldilocks;
use crate::scalar_choice::{Limbs, with_scalar};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};
use modmill_core::Isa;

/// Multiplies long numbers exactly.
///
/// The time of all methods depends on the lengths of the numbers only. Numbers are little-endian limbs. The
/// length of a product is the sum of the lengths of its factors.
///
/// ```
/// use modmill_cpu::long::Multiplier;
///
/// let multiplier = Multiplier::detect(None).pop().expect("the portable multiplier always exists");
/// let mut product = [0; 3];
/// multiplier.multiply(&[u64::MAX, u64::MAX], &[2], &mut product);
/// assert_eq!(product, [u64::MAX - 1, u64::MAX, 1]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Multiplier {
    pub(super) scheme: Scheme,
    /// The arithmetic of factors that are too short for transforms.
    limbs: Limbs,
}

/// The NTT schemes of this crate.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scheme {
    Portable(Goldilocks),
    #[cfg(target_arch = "x86_64")]
    Avx2(ThreePrimes<avx2::fft::Doubles>),
    #[cfg(target_arch = "x86_64")]
    Avx512(ThreePrimes<avx512::fft::Doubles>),
    #[cfg(target_arch = "x86_64")]
    Ifma(ThreePrimes<Words>),
}

/// The lengths in limbs from which transforms are faster.
struct Thresholds {
    /// Of the shorter factor of a product, beside Karatsuba's algorithm.
    product: usize,
    /// Of the root of a square, beside Karatsuba's algorithm.
    square: usize,
    /// Of the modulus of a power, beside Barrett's reduction by rows.
    ring: usize,
}

/// Runs an expression with `$scheme` bound to the scheme of a multiplier.
macro_rules! with_scheme {
    ($choice:expr, $scheme:ident => $body:expr) => {
        match $choice {
            Scheme::Portable($scheme) => $body,
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx2($scheme) => $body,
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx512($scheme) => $body,
            #[cfg(target_arch = "x86_64")]
            Scheme::Ifma($scheme) => $body,
        }
    };
}

pub(super) use with_scheme;

/// A factor that is used again: its transform, for products with factors up to a certain length.
pub struct PreparedFactor {
    limbs: usize,
    longest: usize,
    form: Form,
}

enum Form {
    /// The factor is too short for transforms.
    Plain(zeroize::Zeroizing<Vec<u64>>),
    Transformed(DigitLayout, Transformed),
}

impl PreparedFactor {
    /// Limbs of the factor.
    #[must_use]
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// The largest number of limbs of the other factor.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

impl Multiplier {
    /// The multipliers of this processor with instruction sets up to `limit`, the fastest last.
    #[must_use]
    pub fn detect(limit: Option<Isa>) -> Vec<Self> {
        let limbs = Limbs::detect(limit);
        let mut found = vec![Self { scheme: Scheme::Portable(Goldilocks), limbs }];
        #[cfg(target_arch = "x86_64")]
        {
            let is_within = |isa: Isa| limit.is_none_or(|limit| limit >= isa);
            let avx2 = isa::detect_avx2().filter(|_| is_within(Isa::Avx2));
            let avx512 = isa::detect_avx512().filter(|_| is_within(Isa::Avx512));
            let ifma = isa::detect_ifma().filter(|_| is_within(Isa::Avx512Ifma));
            found.extend(avx2.map(|token| Self { scheme: Scheme::Avx2(ThreePrimes(token)), limbs }));
            found.extend(avx512.map(|token| Self { scheme: Scheme::Avx512(ThreePrimes(token)), limbs }));
            found.extend(ifma.map(|token| Self { scheme: Scheme::Ifma(ThreePrimes(token)), limbs }));
        }
        found
    }

    /// This multiplier with the fastest arithmetic of short factors that has instruction sets up to `limit`.
    pub(crate) fn within(self, limit: Option<Isa>) -> Self {
        Self { limbs: Limbs::detect(limit), ..self }
    }

    /// The instruction set.
    #[must_use]
    pub fn isa(&self) -> Isa {
        match self.scheme {
            Scheme::Portable(_) => Isa::Portable,
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "x86_64")]
            Scheme::Ifma(_) => Isa::Avx512Ifma,
        }
    }

    /// The arithmetic of factors that are too short for transforms.
    pub(crate) fn limbs(&self) -> Limbs {
        self.limbs
    }

    /// Limbs of the shorter factor from which transforms are faster than Karatsuba's algorithm.
    #[must_use]
    pub fn threshold(&self) -> usize {
        self.thresholds().product
    }

    /// Limbs of a root from which transforms are faster than Karatsuba's algorithm.
    pub(super) fn square_threshold(&self) -> usize {
        self.thresholds().square
    }

    /// Limbs of a modulus from which Montgomery's reduction by transforms is faster than Barrett's by rows.
    pub(super) fn ring_threshold(&self) -> usize {
        self.thresholds().ring
    }

    /// The lengths in limbs, measured by
    /// `cargo test --release -p modmill-cpu --lib -- --ignored --nocapture where_transforms`. Two entries are
    /// estimates: the row of AVX-512F with portable limbs, and the ring of IFMA with `x86` limbs.
    fn thresholds(&self) -> Thresholds {
        let [product, square, ring] = match (self.scheme, self.limbs) {
            (Scheme::Portable(_), _) => [5000, 5000, 700],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Avx2(_), Limbs::Portable) => [165, 165, 90],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Avx2(_), Limbs::X86(_)) => [700, 860, 340],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Avx512(_), Limbs::Portable) => [130, 130, 80],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Avx512(_), Limbs::X86(_)) => [420, 500, 250],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Ifma(_), Limbs::Portable) => [90, 90, 44],
            #[cfg(target_arch = "x86_64")]
            (Scheme::Ifma(_), Limbs::X86(_)) => [200, 200, 44],
        };
        Thresholds { product, square, ring }
    }

    /// `out <- a b`.
    ///
    /// # Panics
    /// If the length of `out` is not the sum of the lengths of the factors.
    pub fn multiply(&self, a: &[u64], b: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), a.len() + b.len(), "a product is as long as its factors");
        if a.len().min(b.len()) < self.threshold() {
            with_scalar!(self.limbs, scalar => basecase::multiply(scalar, a, b, out));
        } else {
            self.by_transforms(a, b.len(), SecondFactor::Number(b), out);
        }
    }

    /// `out <- a^2`.
    ///
    /// # Panics
    /// If `out` is not twice as long as a.
    pub fn square(&self, a: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), 2 * a.len(), "a square is twice as long as its root");
        if a.len() < self.square_threshold() {
            with_scalar!(self.limbs, scalar => basecase::square(scalar, a, out));
        } else {
            self.by_transforms(a, a.len(), SecondFactor::Same, out);
        }
    }

    /// The layout of products of factors of a and b limbs.
    fn layout(&self, a: usize, b: usize) -> DigitLayout {
        let plan = with_scheme!(self.scheme, scheme => scheme.plan(a, b));
        DigitLayout::new(plan.expect("digits of every scheme serve products of 2^34 bits"), Ring::Cyclic)
    }

    /// `out <- a b` by transforms, for a factor b of `limbs` limbs.
    pub(super) fn by_transforms(&self, a: &[u64], limbs: usize, b: SecondFactor<'_>, out: &mut [u64]) {
        with_scheme!(self.scheme, scheme => {
            let layout = self.layout(a.len(), limbs);
            product::sum_of_products(&scheme, &[(a, b)], &layout, out, |_, _| ());
        });
    }

    /// Prepares a factor for products with other factors of at most `longest` limbs.
    #[must_use]
    pub fn prepare(&self, b: &[u64], longest: usize) -> PreparedFactor {
        let form = if b.len().min(longest) < self.threshold() {
            Form::Plain(zeroize::Zeroizing::new(b.to_vec()))
        } else {
            with_scheme!(self.scheme, scheme => {
                let layout = self.layout(longest, b.len());
                Form::Transformed(layout, product::transform(&scheme, b, &layout))
            })
        };
        PreparedFactor { limbs: b.len(), longest, form }
    }

    /// `out <- a b`, for a factor b that this multiplier prepared.
    ///
    /// # Panics
    /// If a is longer than b was prepared for, or if the length of `out` is not the sum of the
    /// lengths of the factors.
    pub fn multiply_prepared(&self, a: &[u64], b: &PreparedFactor, out: &mut [u64]) {
        assert!(a.len() <= b.longest, "prepared for factors of {} limbs", b.longest);
        assert_eq!(out.len(), a.len() + b.limbs, "a product is as long as its factors");
        match &b.form {
            Form::Plain(b) => self.multiply(a, b, out),
            Form::Transformed(layout, b) => {
                let terms = [(a, SecondFactor::Transformed(b))];
                with_scheme!(self.scheme, scheme => {
                    product::sum_of_products(&scheme, &terms, layout, out, |_, _| ());
                });
            }
        }
    }
}
