//! Encryption: `c = 2 u(r) + b mod d` for a bit b and small random u.

use super::Error;
use super::ciphertext::Ciphertexts;
use super::powers::{Powers, best_window};
use super::sampling::{Noise, Polynomials};
use super::scheme::GentryHalevi;
use modmill::Batch;
use std::sync::Arc;

/// How `u(r)` is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Evaluation {
    /// The number of powers that makes for the fewest products, within a gigabyte.
    #[default]
    Automatic,
    /// This many powers of r, a power of two up to n, and a product for each window but one. The thesis
    /// takes 64.
    Windowed(usize),
    /// All n powers of r, and no products.
    CachedPowers,
}

/// Noise and evaluation of an encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encryption {
    /// The noise.
    pub noise: Noise,
    /// The evaluation.
    pub evaluation: Evaluation,
}

/// Bytes that powers may take unless the caller asks for more.
const TABLE_BYTES: usize = 1 << 30;
/// Bits that powers are made for, at least: others will follow.
const AT_LEAST: usize = 8;
/// Bits that are encrypted at a time, so that sums of few of them are in memory.
const CHUNK: usize = 256;

impl<'e> GentryHalevi<'e> {
    /// Encrypts bits, with sparse noise.
    pub fn encrypt(&self, bits: &[bool]) -> Result<Ciphertexts, Error> {
        self.encrypt_with(bits, Encryption::default())
    }

    /// Encrypts bits with the noise and the evaluation that one likes. Powers of the root are kept for the
    /// next call.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_fhe::gentry_halevi::{Encryption, Evaluation, GentryHalevi, Noise, Setting, generate};
    ///
    /// let engine = Engine::new()?;
    /// let (public, secret) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
    /// let scheme = GentryHalevi::new(&engine, public)?;
    /// let how = Encryption { noise: Noise::Dense, evaluation: Evaluation::Windowed(8) };
    /// let ciphertexts = scheme.encrypt_with(&[true, false], how)?;
    /// assert_eq!(scheme.decrypt(&secret, &ciphertexts)?, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encrypt_with(&self, bits: &[bool], how: Encryption) -> Result<Ciphertexts, Error> {
        let setting = self.setting();
        let noise = vec![how.noise.bits(setting); bits.len()];
        self.check_budget(&noise, 0.0)?;
        let n = setting.dimension();
        if bits.is_empty() {
            let none = Batch::try_zeros(self.key.modulus().bits(), 0)?;
            return Ok(self.ciphertexts(self.engine.upload(&none)?, noise));
        }
        let powers = self.powers(how.evaluation, bits.len())?;
        let part = |bits: &[bool]| {
            let polynomials = Polynomials::draw(setting, how.noise, bits.len())?;
            powers.encrypt(&polynomials, 0, bits, n)
        };
        let parts = bits.chunks(CHUNK).map(part).collect::<Result<Vec<_>, Error>>()?;
        let numbers = match &parts[..] {
            [part] => part.clone(),
            parts => self.engine.on_device().join(&parts.iter().collect::<Vec<_>>())?,
        };
        Ok(self.ciphertexts(numbers, noise))
    }

    /// The powers for an evaluation of `count` polynomials. Those that are kept serve if they are as many or,
    /// for the automatic choice, more.
    fn powers(&self, evaluation: Evaluation, count: usize) -> Result<Arc<Powers<'e>>, Error> {
        let (n, modulus) = (self.setting().dimension(), self.key.modulus());
        let window = self.window(evaluation, count)?;
        let mut kept = self.powers.lock();
        if let Some(powers) = &*kept
            && (powers.window() == window
                || evaluation == Evaluation::Automatic && (window..=n).contains(&powers.window()))
        {
            return Ok(powers.clone());
        }
        // The old ones first: there may be no room for both.
        *kept = None;
        let powers = Arc::new(Powers::new(self.engine, modulus, self.key.root(), (window, n), |_| {})?);
        *kept = Some(powers.clone());
        Ok(powers)
    }

    fn window(&self, evaluation: Evaluation, count: usize) -> Result<usize, Error> {
        let n = self.setting().dimension();
        match evaluation {
            Evaluation::Automatic => {
                Ok(best_window(n, count.max(AT_LEAST), self.key.modulus().bits().div_ceil(8), TABLE_BYTES))
            }
            Evaluation::CachedPowers => Ok(n),
            Evaluation::Windowed(window) if window.is_power_of_two() && window <= n => Ok(window),
            Evaluation::Windowed(value) => {
                Err(Error::Setting { what: "the window, a power of two,", value, least: 1, most: n })
            }
        }
    }
}
