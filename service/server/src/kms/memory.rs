//! The memory of the interface: what it knows of signatures, rights, uses and refusals.

use super::refusals::Refusals;
use super::rights::Rights;
use super::uses::Uses;
use crate::sigv4::Verifier;

/// The state that the interface keeps in memory.
#[derive(Default)]
pub struct Kms {
    pub(super) verifier: Verifier,
    pub(super) rights: Rights,
    pub(super) uses: Uses,
    pub(super) refusals: Refusals,
}
