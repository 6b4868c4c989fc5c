//! Sessions: what a program is in the middle of.

use crate::operation::{Decrypting, Encrypting, Recovering, Signing, Verifying};
use crate::refusal::{Answer, Refusal, refuse};
use crate::token::Handle;
use cryptoki_sys::*;
use modmill_core::sync::Mutex;
use modmill_rsa::Hasher;
use std::collections::VecDeque;

/// A session with a token.
pub(crate) struct Session {
    /// The number of the token's slot.
    pub(crate) slot: CK_SLOT_ID,
    /// Whether the session may change objects on the token.
    pub(crate) writable: bool,
    /// The operations that have begun. A program that uses one session in several threads waits here.
    pub(crate) work: Mutex<Work>,
}

/// The operations of a session, one of each sort at most.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) found: Option<VecDeque<Handle>>,
    pub(crate) digest: Option<Begun<Hasher>>,
    pub(crate) sign: Option<Begun<Signing>>,
    pub(crate) verify: Option<Begun<Verifying>>,
    pub(crate) recover: Option<Recovering>,
    pub(crate) encrypt: Option<Begun<Encrypting>>,
    pub(crate) decrypt: Option<Begun<Decrypting>>,
}

impl Work {
    /// Whether an operation with a key that asks for the PIN at every use waits for it. A signature comes
    /// before a decryption.
    pub(crate) fn awaits_pin(&mut self) -> Option<&mut bool> {
        let sign = self.sign.as_mut().map(|begun| &mut begun.awaits_pin);
        let decrypt = self.decrypt.as_mut().map(|begun| &mut begun.awaits_pin);
        [sign, decrypt].into_iter().flatten().find(|awaits| **awaits)
    }
}

/// An operation whose data a program gives in one call or in parts.
pub(crate) struct Begun<T> {
    pub(crate) operation: T,
    /// Whether a part was given. A call that takes the whole data cannot end the operation then.
    in_parts: bool,
    /// Whether the key asks for the PIN at every use, and it was not given yet.
    awaits_pin: bool,
}

impl<T> Begun<T> {
    /// An operation without data.
    pub(crate) fn new(operation: T) -> Self {
        Self { operation, in_parts: false, awaits_pin: false }
    }

    /// An operation with a key that asks for the PIN at every use if `asks` says so.
    pub(crate) fn with_pin(operation: T, asks: bool) -> Self {
        Self { awaits_pin: asks, ..Self::new(operation) }
    }

    /// The operation, to give a part of the data to.
    fn part(&mut self) -> Answer<&mut T> {
        self.check_pin()?;
        self.in_parts = true;
        Ok(&mut self.operation)
    }

    /// Refuses a call that takes the whole data after a part was given.
    pub(crate) fn check_whole(&self, is_whole: bool) -> Answer {
        match is_whole && self.in_parts {
            true => refuse(CKR_OPERATION_ACTIVE, "the data is given in parts, and ends with the final call"),
            false => Ok(()),
        }
    }

    /// Refuses a use of the key before the PIN was given.
    pub(crate) fn check_pin(&self) -> Answer {
        match self.awaits_pin {
            true => {
                refuse(CKR_USER_NOT_LOGGED_IN, "the key asks for the PIN at every use, and it was not given")
            }
            false => Ok(()),
        }
    }
}

/// Refuses to begin an operation while one of its sort is under way.
pub(crate) fn idle<T>(operation: &Option<T>) -> Answer {
    match operation {
        None => Ok(()),
        Some(_) => refuse(CKR_OPERATION_ACTIVE, "an operation of this sort is under way in the session"),
    }
}

/// The operation that is under way.
pub(crate) fn begun<T>(operation: &mut Option<T>) -> Answer<&mut T> {
    operation.as_mut().ok_or_else(not_begun)
}

/// Takes the operation that is under way.
pub(crate) fn take<T>(operation: &mut Option<T>) -> Answer<T> {
    operation.take().ok_or_else(not_begun)
}

/// Has `work` give a part of the data to the operation, which a refusal ends.
pub(crate) fn part<T>(operation: &mut Option<Begun<T>>, work: impl FnOnce(&mut T) -> Answer) -> Answer {
    begun(operation)?.part().and_then(work).inspect_err(|_| *operation = None)
}

/// Takes the operation if the answer of the last call is to be made now: `fits` says whether the program's
/// buffer has room for it. `None` if the program asks for the length. The operation then goes on, as it does
/// if the buffer is too small. Every other refusal ends it. `is_whole` is for a call that takes the whole
/// data.
pub(crate) fn last<T>(
    operation: &mut Option<Begun<T>>,
    is_whole: bool,
    fits: impl FnOnce(&T) -> Answer<bool>,
) -> Answer<Option<T>> {
    let begun = take(operation)?;
    begun.check_whole(is_whole)?;
    let fits = fits(&begun.operation);
    match &fits {
        Ok(true) => {
            begun.check_pin()?;
            return Ok(Some(begun.operation));
        }
        Err(refusal) if refusal.code != CKR_BUFFER_TOO_SMALL => {}
        _ => *operation = Some(begun),
    }
    fits.map(|_| None)
}

fn not_begun() -> Refusal {
    Refusal::new(CKR_OPERATION_NOT_INITIALIZED, "no operation of this sort is under way in the session")
}
