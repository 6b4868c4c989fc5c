//! Keys with which OpenSSL's default provider computes: those with more than two primes, and numbers that do
//! not belong together.
//!
//! The provider makes and checks the paddings of signatures, as for other keys, and OpenSSL raises numbers to
//! the private exponent. Paddings of encryption are taken off by OpenSSL.

use crate::core_handle::Core;
use crate::digest::Digest;
use crate::failure::Failure;
use crate::names::param;
use crate::padding::Padding;
use crate::params::{Built, Given, Numbers};
use crate::single::Single;
use modmill_client::{Answer, Encryption, Error, PrivatePower, Task, with_engine};
use modmill_rsa::{Hash, ItemError, PublicKey, hazmat};
use std::ffi::CStr;

/// The private half of a key with which OpenSSL computes.
pub(crate) struct Delegated {
    public: PublicKey,
    numbers: Numbers,
    single: Single,
}

impl Delegated {
    /// Reads a key from its numbers. OpenSSL has to take it.
    pub(crate) fn read(core: &Core, public: PublicKey, given: Given<'_>) -> Result<Self, Failure> {
        let default = core.default_rsa.ok_or_else(|| {
            Failure::Unsupported("keys of OpenSSL alone where its functions are not found".into())
        })?;
        let mut numbers = given.numbers()?;
        let single = |numbers: &Numbers| {
            let of = numbers.clone();
            Single::new(default, (true, public.size()), move || Built::numbers(&of))
        };
        let mut key = single(&numbers);
        if !key.is_usable() {
            return Err(Failure::Key("OpenSSL does not take the numbers of this key".into()));
        }
        // Some releases of OpenSSL read further primes from the last to the first, and their coefficients
        // belong to the other order. The order that is read rightly is kept, because encoders read it as
        // well.
        let is_fourth = |(name, _): &(&CStr, _)| *name == param::FURTHER[0][1];
        if numbers.iter().any(is_fourth) && !key.is_quietly_consistent() {
            let other = reversed(&numbers);
            let turned = single(&other);
            if turned.is_quietly_consistent() {
                (numbers, key) = (other, turned);
            }
        }
        Ok(Self { public, numbers, single: key })
    }

    /// All numbers, those of the public half too, in the order that OpenSSL's providers read.
    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Refuses a key whose numbers do not belong together, or whose factors are not prime.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.single.is_consistent() {
            true => Ok(()),
            false => Err(Failure::Key("the numbers of the key do not belong together".into())),
        }
    }

    /// Computes a task on the calling thread. It is counted like work of the engine, so that no fork happens
    /// in the middle.
    pub(crate) fn compute(&self, task: &Task) -> Answer {
        with_engine(|_| match task {
            Task::Raw { number } => self.power(number),
            Task::Sign { scheme, digest } => {
                let number = hazmat::encode(*scheme, digest.as_ref(), self.public.bits());
                self.power(&number.map_err(|error| match error {
                    hazmat::EncodeError::Item(error) => error.into(),
                    other => Error::Engine(other.to_string()),
                })?)
            }
            Task::Decrypt { scheme, ciphertext } => {
                self.single.decrypt(options(scheme), ciphertext).ok_or(ItemError::Decryption.into())
            }
        })?
    }

    fn power(&self, number: &[u8]) -> Answer {
        let (expected, found) = (self.public.size(), number.len());
        if found != expected {
            return Err(ItemError::WrongLength { expected, found }.into());
        }
        if number >= self.public.modulus_bytes() {
            return Err(ItemError::OutOfRange.into());
        }
        self.single.power(number).ok_or(ItemError::Fault.into())
    }
}

/// A copy of `numbers` with further primes in the reverse order.
fn reversed(numbers: &Numbers) -> Numbers {
    let mut reversed = numbers.clone();
    for group in param::FURTHER {
        let of_group = |(name, _): &&mut (&'static CStr, _)| group.contains(name);
        let values: Vec<_> =
            numbers.iter().filter(|(name, _)| group.contains(name)).map(|(_, value)| value.clone()).collect();
        let places = reversed.iter_mut().filter(of_group);
        places.zip(values.into_iter().rev()).for_each(|((_, place), value)| *place = value);
    }
    reversed
}

/// The parameters by which OpenSSL takes a padding off.
fn options(scheme: &Encryption) -> Built {
    let mut options = Built::default();
    match scheme {
        Encryption::Pkcs1v15 => options.integer(param::PAD_MODE, Padding::Pkcs1v15 as i32),
        Encryption::Oaep { hash, mask_hash, label } => {
            let name = |hash: &Hash| Digest::Known(*hash).name().to_string_lossy();
            options.integer(param::PAD_MODE, Padding::Oaep as i32);
            options.text(param::DIGEST, &name(hash));
            options.text(param::MGF1_DIGEST, &name(mask_hash));
            options.octets(param::OAEP_LABEL, label);
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_primes_are_reversed_with_what_belongs_to_them() {
        let [factors, exponents, coefficients] = param::FURTHER;
        let named = |names: [&'static CStr; 7], values: [u8; 7]| -> Numbers {
            names.into_iter().zip(values.map(|value| vec![value].into())).collect()
        };
        let names = [
            param::FACTOR1,
            factors[0],
            factors[1],
            exponents[0],
            exponents[1],
            coefficients[0],
            coefficients[1],
        ];
        assert_eq!(
            reversed(&named(names, [1, 3, 4, 13, 14, 23, 24])),
            named(names, [1, 4, 3, 14, 13, 24, 23])
        );
    }
}
