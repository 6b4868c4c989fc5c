//! Generating keys.

use super::embedding::{Embedding, capacity};
use super::keys::{PublicKey, SecretKey};
use super::lattice::Lattice;
use super::powers::{Powers, best_window};
use super::progress::{Progress, Stage};
use super::recrypted_noise::recrypted_noise;
use super::sampling::{Noise, Polynomials};
use super::squash::Squash;
use super::{Error, Setting, selectors};
use modmill::{Batch, Engine};
use zeroize::Zeroizing;

/// Bytes that powers of the root may take while keys are made.
const TABLE_BYTES: usize = 8 << 30;
/// Selectors that are encrypted at a time, so that sums and products of few of them are in memory.
const CHUNK: usize = 128;
/// Draws of the selectors' noise before a key with too much of it is accepted. Of the published settings
/// nearly every draw is good.
const NOISE_TRIALS: usize = 5;

/// Generates a pair of keys. `progress` is told how far it is.
///
/// The time depends on the secret key. All intermediate values are zeroized. Besides the keys, powers of the
/// root take up to 8 GiB of memory: 0.1 GB for the small setting, 0.8 GB for medium, 6.5 GB for large.
///
/// **The published parameters are broken** (M. S. Lee, eprint 2011/567): for study and measurement, not for
/// protection.
///
/// # Examples
///
/// ```
/// use modmill::Engine;
/// use modmill_fhe::gentry_halevi::{Setting, generate};
///
/// let engine = Engine::new()?;
/// let (public, secret) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
/// assert!(public.verify(&engine)?);
/// assert_eq!(public.fingerprint(), secret.fingerprint());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate(
    engine: &Engine,
    setting: &Setting,
    progress: &mut dyn FnMut(Progress),
) -> Result<(PublicKey, SecretKey), Error> {
    let n = setting.dimension();
    let Lattice { v, modulus, r, w } = Lattice::draw(engine, setting, progress)?;
    let embedding = Embedding::new(n);
    let capacity = capacity(&embedding, &v, setting.coefficient_bits());
    let Squash { multipliers, places } = Squash::draw(engine, setting, &modulus, &w)?;
    let bits = Zeroizing::new(selectors::bits(setting, &places));
    let (polynomials, recrypted) = draw_noise(engine, setting, &embedding, capacity, &bits, progress)?;
    let window = best_window(n, bits.len(), modulus.bits().div_ceil(8), TABLE_BYTES);
    let powers = Powers::new(engine, &modulus, &r, (window, n), |done| {
        progress(Progress { stage: Stage::Powers, done, total: window });
    })?;
    let mut encrypted = Batch::try_zeros(modulus.bits(), bits.len())?;
    let stride = encrypted.stride();
    for first in (0..bits.len()).step_by(CHUNK) {
        let last = bits.len().min(first + CHUNK);
        let part = powers.encrypt(&polynomials, first, &bits[first..last], n)?.download()?;
        encrypted.as_limbs_mut()[first * stride..last * stride].copy_from_slice(part.as_limbs());
        progress(Progress { stage: Stage::Selectors, done: last, total: bits.len() });
    }
    let public = PublicKey::new(*setting, modulus, r, multipliers, encrypted, [capacity, recrypted]);
    let secret = SecretKey::new(*setting, w, *public.fingerprint());
    Ok((public, secret))
}

/// The noise of the selectors, and a bound on that of recrypted ciphertexts. Noise is drawn again if the
/// product of two recrypted ciphertexts could not be recrypted; the last draw stands.
fn draw_noise(
    engine: &Engine,
    setting: &Setting,
    embedding: &Embedding,
    capacity: f64,
    bits: &[bool],
    progress: &mut dyn FnMut(Progress),
) -> Result<(Polynomials, f64), Error> {
    let total = setting.blocks();
    let mut draw = || {
        let polynomials = Polynomials::draw(setting, Noise::Sparse, bits.len())?;
        let recrypted = recrypted_noise(engine, setting, embedding, &polynomials, bits, |done| {
            progress(Progress { stage: Stage::Noise, done, total });
        })?;
        Ok::<_, Error>((polynomials, recrypted))
    };
    let needed = setting.precision() as f64 + 1.0;
    let mut drawn = draw()?;
    for _ in 1..NOISE_TRIALS {
        if capacity - 2.0 * drawn.1 >= needed {
            break;
        }
        drawn = draw()?;
    }
    Ok(drawn)
}
