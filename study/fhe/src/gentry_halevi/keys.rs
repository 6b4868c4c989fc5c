//! Public and secret keys, and their parts.

use super::parts::{Parts, Section, decode_numbers, encode_numbers, limbs_of};
use super::{Error, Setting, lattice};
use modmill::{Batch, Engine, Modulus};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// A digest of a public key, by which ciphertexts and secret keys know theirs.
pub type Fingerprint = [u8; 32];

/// A public key: whoever has it encrypts bits and computes with encrypted bits.
///
/// **The published parameters are broken** (M. S. Lee, eprint 2011/567): for study and measurement, not for
/// protection.
#[derive(Clone)]
pub struct PublicKey {
    setting: Setting,
    modulus: Modulus,
    r: Batch,
    multipliers: Batch,
    /// Shared, because they are most of a key.
    selectors: Arc<Batch>,
    capacity: f64,
    recrypted_noise: f64,
    fingerprint: Fingerprint,
}

impl PublicKey {
    pub(super) fn new(
        setting: Setting,
        modulus: Modulus,
        r: Batch,
        multipliers: Batch,
        selectors: Batch,
        [capacity, recrypted_noise]: [f64; 2],
    ) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(encode_setting(&setting));
        for number in [modulus.value(), r.get(0)] {
            number.iter().for_each(|limb| hasher.update(limb.to_le_bytes()));
        }
        let fingerprint = hasher.finalize().into();
        let selectors = Arc::new(selectors);
        Self { setting, modulus, r, multipliers, selectors, capacity, recrypted_noise, fingerprint }
    }

    /// The parameters.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// d: ciphertexts are numbers modulo d.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// r: the root of `x^n + 1` modulo d, one number.
    #[must_use]
    pub fn root(&self) -> &Batch {
        &self.r
    }

    /// x_i: the number of each block, whose secret multiples sum up to the secret key.
    #[must_use]
    pub fn multipliers(&self) -> &Batch {
        &self.multipliers
    }

    /// The encrypted selectors, block by block.
    #[must_use]
    pub fn selectors(&self) -> &Arc<Batch> {
        &self.selectors
    }

    /// How many bits of noise decryption tolerates.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// A bound on the noise of recrypted ciphertexts, in bits, as the owner of the key measured it.
    #[must_use]
    pub fn recrypted_noise(&self) -> f64 {
        self.recrypted_noise
    }

    /// A digest of setting, modulus and root.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Whether `r^n = -1 mod d`, which every honest key has. [`PublicKey::from_sections`] does not compute
    /// it.
    pub fn verify(&self, engine: &Engine) -> Result<bool, Error> {
        lattice::is_root(engine, &self.r, self.setting.dimension(), &self.modulus)
    }

    /// The parts of the key, by name.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        let d = Batch::from_values([self.modulus.value()]);
        let noise = [self.capacity, self.recrypted_noise].into_iter().flat_map(f64::to_le_bytes).collect();
        vec![
            Section::new("setting", encode_setting(&self.setting)),
            Section::new("noise", noise),
            Section::new("modulus", encode_numbers(&d)),
            Section::new("root", encode_numbers(&self.r)),
            Section::new("multipliers", encode_numbers(&self.multipliers)),
            Section::new("selectors", encode_numbers(&self.selectors)),
        ]
    }

    /// A key from its parts, whose lengths and ranges are checked.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_fhe::gentry_halevi::{PublicKey, Setting, generate};
    ///
    /// let engine = Engine::new()?;
    /// let (public, _) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
    /// let sections = public.sections();
    /// let again = PublicKey::from_sections(sections.iter().map(|part| (part.name, &part.bytes[..])))?;
    /// assert_eq!(again.fingerprint(), public.fingerprint());
    /// assert!(PublicKey::from_sections([("modulus", &[2u8][..])]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_sections<'a>(sections: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self, Error> {
        let parts = Parts::new(sections);
        let setting = decode_setting(parts.get("setting")?)?;
        let noise = parts.get("noise")?;
        let (numbers, rest) = noise.as_chunks::<8>();
        let &[capacity, recrypted_noise] = numbers else {
            return Err(Error::part("noise", "does not hold two numbers"));
        };
        let [capacity, recrypted_noise] = [capacity, recrypted_noise].map(f64::from_le_bytes);
        let is_sound = |bits: f64| (-1e4..1e4).contains(&bits);
        if !rest.is_empty() || !is_sound(capacity) || !is_sound(recrypted_noise) || recrypted_noise < 0.0 {
            return Err(Error::part("noise", "holds a number out of range"));
        }
        let modulus = decode_modulus(parts.get("modulus")?, &setting)?;
        let numbers = |name, count| decode_numbers(name, parts.get(name)?, count, &modulus);
        let r = numbers("root", 1)?;
        let multipliers = numbers("multipliers", setting.blocks())?;
        let selectors = numbers("selectors", setting.selectors())?;
        Ok(Self::new(setting, modulus, r, multipliers, selectors, [capacity, recrypted_noise]))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey(dimension {}, {} bits)", self.setting.dimension(), self.modulus.bits())
    }
}

/// A secret key: whoever has it decrypts. It is zeroized when it is dropped.
///
/// **The published parameters are broken** (M. S. Lee, eprint 2011/567): for study and measurement, not for
/// protection.
#[derive(Clone)]
pub struct SecretKey {
    setting: Setting,
    w: Batch,
    fingerprint: Fingerprint,
}

impl SecretKey {
    pub(super) fn new(setting: Setting, w: Batch, fingerprint: Fingerprint) -> Self {
        Self { setting, w, fingerprint }
    }

    /// The parameters.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The digest of the public key.
    #[must_use]
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// w: the secret number.
    pub(super) fn w(&self) -> &Batch {
        &self.w
    }

    /// The parts of the key, by name. They are zeroized when they are dropped.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        vec![
            Section::new("setting", encode_setting(&self.setting)),
            Section::new("fingerprint", self.fingerprint.to_vec()),
            Section::new("secret", encode_numbers(&self.w)),
        ]
    }

    /// A key from its parts. `public` is its public key, which tells its range.
    pub fn from_sections<'a>(
        sections: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        public: &PublicKey,
    ) -> Result<Self, Error> {
        let parts = Parts::new(sections);
        let setting = decode_setting(parts.get("setting")?)?;
        if setting != public.setting || parts.get("fingerprint")? != public.fingerprint {
            return Err(Error::AnotherKey("the secret key"));
        }
        let w = decode_numbers("secret", parts.get("secret")?, 1, &public.modulus)?;
        Ok(Self { setting, w, fingerprint: public.fingerprint })
    }
}

impl Zeroize for SecretKey {
    fn zeroize(&mut self) {
        self.w.zeroize();
    }
}

impl fmt::Debug for SecretKey {
    /// Shows the shape and never the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(dimension {})", self.setting.dimension())
    }
}

fn encode_setting(setting: &Setting) -> Vec<u8> {
    let numbers = [setting.dimension(), setting.coefficient_bits(), setting.security()];
    numbers.into_iter().flat_map(|number| (number as u32).to_le_bytes()).collect()
}

fn decode_setting(bytes: &[u8]) -> Result<Setting, Error> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let (&[n, t, security], []) = (numbers, rest) else {
        return Err(Error::part("setting", "does not hold three numbers"));
    };
    let [n, t, security] = [n, t, security].map(|number| u32::from_le_bytes(number) as usize);
    Setting::custom(n, t, security)
}

pub(super) fn decode_modulus(bytes: &[u8], setting: &Setting) -> Result<Modulus, Error> {
    // Hadamard: d is at most the n-th power of the generator's length, sqrt(n) 2^(t-1).
    let n = setting.dimension();
    let most = n * (setting.coefficient_bits() + n.ilog2() as usize);
    if bytes.len() > most.div_ceil(8) {
        return Err(Error::part("modulus", "is longer than the setting allows"));
    }
    let limbs: Zeroizing<Vec<u64>> = Zeroizing::new(limbs_of(bytes));
    let modulus = Modulus::new(&limbs).map_err(|_| Error::part("modulus", "is zero"))?;
    if modulus.value()[0] & 1 == 0 {
        return Err(Error::part("modulus", "is even"));
    }
    match modulus.bits() > 64 && bytes.len() == modulus.bits().div_ceil(8) {
        true => Ok(modulus),
        false => Err(Error::part("modulus", "is too short for its length")),
    }
}
