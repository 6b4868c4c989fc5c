//! The leveled scheme: encryption, circuits up to their depth, bounds against true noise, parts, devices.

mod circuits;
mod encryption;
mod parts;

use modmill::Engine;
use modmill::matrix::Placement;
use modmill_fhe::lwe::{Ciphertexts, EvaluationKey, Evaluator, Parameters, PublicKey, SecretKey};

/// Keys of some parameters.
struct Keys {
    secret: SecretKey,
    public: PublicKey,
}

impl Keys {
    fn new(engine: &Engine, parameters: &Parameters) -> Self {
        let secret = SecretKey::generate(parameters).unwrap();
        let public = PublicKey::generate(engine, &secret).unwrap();
        Self { secret, public }
    }

    fn encrypt(&self, engine: &Engine, bits: &[bool]) -> Ciphertexts {
        self.public.encryptor(engine, Placement::Held).unwrap().encrypt(bits).unwrap()
    }

    fn evaluator<'e>(&self, engine: &'e Engine) -> Evaluator<'e> {
        let key = EvaluationKey::generate(engine, &self.secret).unwrap();
        Evaluator::new(engine, &key, Placement::Held).unwrap()
    }
}

/// Bits that look random.
fn pattern(count: usize, seed: u32) -> Vec<bool> {
    (0..count as u32).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9) >> 27 & 1 == 1).collect()
}

fn engine() -> Engine {
    Engine::builder().backend(modmill::Backend::Cpu).threads(2).build().unwrap()
}
