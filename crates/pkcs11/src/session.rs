//! Sessions: what a program is in the middle of.

use crate::operation::{Decrypting, Encrypting, Signing, Verifying};
use crate::refusal::{Answer, Refusal, refuse};
use crate::token::Handle;
use cryptoki_sys::*;
use modmill_rsa::Hasher;
use std::collections::VecDeque;
use std::sync::Mutex;

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
    pub(crate) digest: Option<Hasher>,
    pub(crate) sign: Option<Signing>,
    pub(crate) verify: Option<Verifying>,
    pub(crate) encrypt: Option<Encrypting>,
    pub(crate) decrypt: Option<Decrypting>,
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

fn not_begun() -> Refusal {
    Refusal::new(CKR_OPERATION_NOT_INITIALIZED, "no operation of this sort is under way in the session")
}
