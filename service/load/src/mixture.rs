//! The operations that a run asks for, and how often.

use fastrand::Rng;
use std::fmt;
use std::str::FromStr;

/// An operation of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Signs a digest.
    Sign,
    /// Verifies a right signature.
    Verify,
    /// Encrypts a short message.
    Encrypt,
    /// Decrypts a ciphertext.
    Decrypt,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Sign, Self::Verify, Self::Encrypt, Self::Decrypt];

    const fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }
}

/// Operations with weights: `sign=8,verify=1,decrypt=1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixture(Vec<(Operation, u32)>);

impl Default for Mixture {
    fn default() -> Self {
        Self(vec![(Operation::Sign, 1)])
    }
}

impl Mixture {
    /// Whether an operation is part of it.
    #[must_use]
    pub fn has(&self, operation: Operation) -> bool {
        self.0.iter().any(|&(each, _)| each == operation)
    }

    /// Whether signing is all there is.
    #[must_use]
    pub fn only_signs(&self) -> bool {
        self.0.iter().all(|&(each, _)| each == Operation::Sign)
    }

    pub(super) fn pick(&self, random: &mut Rng) -> Operation {
        let all: u32 = self.0.iter().map(|&(_, weight)| weight).sum();
        let mut rest = if self.0.len() > 1 { random.u32(..all) } else { 0 };
        for &(operation, weight) in &self.0 {
            match rest.checked_sub(weight) {
                None => return operation,
                Some(left) => rest = left,
            }
        }
        Operation::Sign
    }
}

impl FromStr for Mixture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut mixture = Self(Vec::new());
        for part in text.split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let found = Operation::ALL.into_iter().find(|operation| operation.name() == name);
            let operation = found.ok_or_else(|| {
                format!("unknown operation {name:?}; it is sign, verify, encrypt or decrypt")
            })?;
            let weight: u16 = weight.parse().ok().filter(|&weight| weight > 0).ok_or_else(|| {
                format!("the weight of {name} is {weight:?}, which is no number from 1 to 65535")
            })?;
            if mixture.has(operation) {
                return Err(format!("{name} is there twice"));
            }
            mixture.0.push((operation, weight.into()));
        }
        Ok(mixture)
    }
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.0.iter().map(|(each, weight)| format!("{}={weight}", each.name())).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept() {
        let mixture: Mixture = "sign=6,verify=3,decrypt".parse().unwrap();
        let mut random = Rng::with_seed(1);
        let mut counts = [0; 4];
        (0..10_000).for_each(|_| counts[mixture.pick(&mut random) as usize] += 1);
        for (count, expected) in counts.into_iter().zip([6000i32, 3000, 0, 1000]) {
            assert!((count - expected).abs() < 300, "{counts:?}");
        }
        assert_eq!(mixture.to_string(), "sign=6,verify=3,decrypt=1");
        assert!(!mixture.only_signs() && Mixture::default().only_signs());
    }

    #[test]
    fn wrong_mixtures_are_refused() {
        for text in ["", "sing", "sign=0", "sign=x", "sign,sign", "sign=70000"] {
            assert!(text.parse::<Mixture>().is_err(), "{text}");
        }
    }
}
