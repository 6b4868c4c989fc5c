//! Operations with keys, from their mechanism to their answer.

mod crypt;
mod generate;
mod message;
mod recover;
mod sign;
mod wrap;

pub(crate) use crypt::{Decrypting, Encrypting};
pub(crate) use generate::{aes_key, key_pair};
pub(crate) use recover::Recovering;
pub(crate) use sign::{Signing, Verifying};
pub(crate) use wrap::{unwrap, wrap};

use crate::mechanism::Mechanism;
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_rsa::{PublicKey, PublicTask, Rsa, hazmat};

/// Refuses a key whose attribute `usage` does not allow the operation, or that is not for this mechanism.
fn allow(object: &Object, mechanism: &Mechanism, usage: CK_ATTRIBUTE_TYPE, name: &str) -> Answer {
    if !object.flag(usage) {
        return refuse(CKR_KEY_FUNCTION_NOT_PERMITTED, format!("the key has {name} false"));
    }
    match object.allows(mechanism.row.number) {
        true => Ok(()),
        false => {
            refuse(CKR_MECHANISM_INVALID, "CKA_ALLOWED_MECHANISMS of the key does not have the mechanism")
        }
    }
}

/// The answer to a task for a public key.
fn public_task(key: &PublicKey, task: PublicTask) -> Answer<Vec<u8>> {
    let answers = modmill_client::with_engine(|engine| Rsa::new(engine).public_tasks(key, &[task]))??;
    Ok(only(answers)??)
}

/// The power of a number to the public exponent.
fn public_power(key: &PublicKey, number: &[u8]) -> Answer<Vec<u8>> {
    let answers = modmill_client::with_engine(|engine| hazmat::public(&Rsa::new(engine), key, &[number]))??;
    Ok(only(answers)??)
}

/// The answer of a batch of one item.
fn only<T>(answers: Vec<T>) -> Answer<T> {
    let none = || Refusal::new(CKR_GENERAL_ERROR, "the engine gave no answer");
    answers.into_iter().next().ok_or_else(none)
}

/// `data` as a number of `size` bytes, with zeros in front.
fn widened(data: &[u8], size: usize) -> Option<Vec<u8>> {
    let zeros = size.checked_sub(data.len())?;
    Some([&vec![0; zeros], data].concat())
}
