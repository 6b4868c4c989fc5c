//! Settings: the dimension and everything that follows from it.

use super::Error;

/// The parameters of a key.
///
/// **The published parameters are broken** (M. S. Lee, eprint 2011/567), whatever their names say: for study
/// and measurement, not for protection.
///
/// | | n | bits of d | ciphertexts of the key | public key |
/// |---|---|---|---|---|
/// | [`Setting::toy`] | 512 | 0.2 million | 690 | 17 MB |
/// | [`Setting::small`] | 2048 | 0.8 million | 690 | 69 MB |
/// | [`Setting::medium`] | 8192 | 3.1 million | 705 | 284 MB |
/// | [`Setting::large`] | 32768 | 12.6 million | 1410 | 2.25 GB |
///
/// # Examples
///
/// ```
/// use modmill_fhe::gentry_halevi::Setting;
///
/// let small = Setting::small();
/// assert_eq!((small.dimension(), small.blocks(), small.multiples()), (2048, 15, 512));
/// assert!(Setting::custom(100, 380, 72).is_err(), "100 is not a power of two");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    dimension: usize,
    coefficient_bits: usize,
    security: usize,
}

/// The published length of coefficients, in bits.
const PUBLISHED_BITS: usize = 380;
/// The published security parameter.
const PUBLISHED_SECURITY: usize = 72;

impl Setting {
    /// Dimension 512: for trials.
    #[must_use]
    pub const fn toy() -> Self {
        Self::published(512)
    }

    /// Dimension 2048, the published "small".
    #[must_use]
    pub const fn small() -> Self {
        Self::published(2048)
    }

    /// Dimension 8192, the published "medium".
    #[must_use]
    pub const fn medium() -> Self {
        Self::published(8192)
    }

    /// Dimension 32768, the published "large".
    #[must_use]
    pub const fn large() -> Self {
        Self::published(32_768)
    }

    const fn published(dimension: usize) -> Self {
        Self { dimension, coefficient_bits: PUBLISHED_BITS, security: PUBLISHED_SECURITY }
    }

    /// A custom setting: the dimension n, a power of two from 8 to 65536; the bits t of the lattice's
    /// coefficients, 32 to 2048; and the security parameter, 8 to 128, which decides the shape of recryption.
    ///
    /// A t of 380 is enough to recrypt a product of two recrypted bits at security 72 and n of 512 or more.
    /// At security 8 about 100 are.
    pub fn custom(dimension: usize, coefficient_bits: usize, security: usize) -> Result<Self, Error> {
        let check = |what, value: usize, least, most| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(Error::Setting { what, value, least, most }),
        };
        check("the dimension", dimension, 8, 1 << 16)?;
        if !dimension.is_power_of_two() {
            return Err(Error::Dimension(dimension));
        }
        check("the number of bits of coefficients", coefficient_bits, 32, 2048)?;
        check("the security parameter", security, 8, 128)?;
        Ok(Self { dimension, coefficient_bits, security })
    }

    /// n: the dimension of the lattice. Noise is a polynomial modulo `x^n + 1`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// t: the bits of the lattice's coefficients, with their sign.
    #[must_use]
    pub fn coefficient_bits(&self) -> usize {
        self.coefficient_bits
    }

    /// The security parameter that the other quantities are derived from.
    #[must_use]
    pub fn security(&self) -> usize {
        self.security
    }

    /// s: the number of summands of the secret key. s + 1 is the first power of two that is at least
    /// `sec / log2(sec)`.
    #[must_use]
    pub fn blocks(&self) -> usize {
        let sec = self.security as f64;
        // At most 128 / 7 = 18.3 is to be reached.
        ((sec / sec.log2()).ceil() as usize).next_power_of_two() - 1
    }

    /// p: the bits after the point that recryption keeps of a summand, `log2(s + 1)`.
    #[must_use]
    pub fn precision(&self) -> usize {
        (self.blocks() + 1).ilog2() as usize
    }

    /// S: the number of multiples in a block, of which the secret key is one:
    /// the greater of `ceil(2^(2 sec / (s + 1)))` and `ceil(n / s)`.
    #[must_use]
    pub fn multiples(&self) -> usize {
        // The exponent is below 21, so the power is far below 2^53.
        let subsets = (2.0 * self.security as f64 / (self.blocks() + 1) as f64).exp2().ceil() as usize;
        subsets.max(self.dimension.div_ceil(self.blocks()))
    }

    /// `log2 R`: a multiple is R times the one before it, `ceil(n t / (s (S - 1)))`.
    #[must_use]
    pub fn ratio_bits(&self) -> usize {
        (self.dimension * self.coefficient_bits).div_ceil(self.blocks() * (self.multiples() - 1))
    }

    /// c: the ciphertexts of a block, of which two encrypt 1: `ceil(2 sqrt(S))`.
    #[must_use]
    pub fn block_selectors(&self) -> usize {
        (4 * self.multiples() - 1).isqrt() + 1
    }

    /// s c: the ciphertexts of a public key.
    #[must_use]
    pub fn selectors(&self) -> usize {
        self.blocks() * self.block_selectors()
    }

    /// The coefficients of sparse noise that are not zero: the greater of s and `ceil(2 sec / (log2 n - 2))`,
    /// but not above n.
    #[must_use]
    pub fn nonzeros(&self) -> usize {
        let enough = (2 * self.security).div_ceil(self.dimension.ilog2() as usize - 2);
        enough.max(self.blocks()).min(self.dimension)
    }

    /// The expected length of d in bits, `n (t - 1 + log2(n / 3) / 2 - 0.4164)`. Keys differ from it by less
    /// than one in a thousand.
    #[must_use]
    pub fn expected_bits(&self) -> usize {
        let n = self.dimension as f64;
        (n * (self.coefficient_bits as f64 - 1.0 + (n / 3.0).log2() / 2.0 - 0.4164)) as usize
    }

    /// About how many bytes a public key has.
    #[must_use]
    pub fn public_key_bytes(&self) -> usize {
        (self.selectors() + self.blocks() + 2) * self.expected_bits().div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_settings_have_the_published_quantities() {
        let rows = [
            (Setting::toy(), 512, 195_763, 512, 26, 46, 690, 17),
            (Setting::small(), 2048, 784_963, 512, 102, 46, 690, 69),
            (Setting::medium(), 8192, 3_148_000, 547, 381, 47, 705, 284),
            (Setting::large(), 32_768, 12_630_000, 2185, 381, 94, 1410, 2250),
        ];
        for (setting, n, bits, multiples, ratio, of_block, all, megabytes) in rows {
            assert_eq!(
                (setting.dimension(), setting.multiples(), setting.ratio_bits()),
                (n, multiples, ratio)
            );
            assert_eq!((setting.block_selectors(), setting.selectors()), (of_block, all));
            assert_eq!((setting.blocks(), setting.precision()), (15, 4));
            assert!(setting.expected_bits().abs_diff(bits) * 1000 < bits, "{}", setting.expected_bits());
            assert!(setting.public_key_bytes().abs_diff(megabytes * 1_000_000) < megabytes * 20_000);
        }
        assert_eq!(Setting::small().nonzeros(), 16);
    }

    #[test]
    fn every_setting_has_pairs_for_all_multiples() {
        for security in 8..=128 {
            for dimension in (3..=16).map(|log| 1usize << log) {
                let setting = Setting::custom(dimension, 64, security).unwrap();
                let of_block = setting.block_selectors();
                assert!(of_block * (of_block - 1) / 2 >= setting.multiples(), "{setting:?}");
                assert!(setting.ratio_bits() >= 1 && setting.nonzeros() <= dimension);
                let least = security as f64 / (security as f64).log2();
                let summands = setting.blocks() as f64 + 1.0;
                assert!(summands >= least && (summands / 2.0 < least), "{setting:?}");
            }
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        assert_eq!(Setting::custom(100, 380, 72), Err(Error::Dimension(100)));
        for (n, t, sec) in [
            (0, 380, 72),
            (4, 380, 72),
            (1 << 17, 380, 72),
            (512, 31, 72),
            (512, 4096, 72),
            (512, 380, 7),
            (512, 380, 129),
        ] {
            assert!(matches!(Setting::custom(n, t, sec), Err(Error::Setting { .. })), "{n} {t} {sec}");
        }
    }
}
