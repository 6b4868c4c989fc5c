//! Answers that are compared on their way to a file.

use crate::failure::Failure;
use crate::records::{Answers, FileRules, Layout, Operation, Records};
use modmill::Batch;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// An operation whose answers are compared with the library's.
pub(super) struct Checked<'a, P> {
    operation: &'a P,
    expected: &'a Batch,
    /// The answers that were compared.
    compared: AtomicUsize,
    is_wrong: AtomicBool,
}

impl<'a, P> Checked<'a, P> {
    pub(super) fn new(operation: &'a P, expected: &'a Batch) -> Self {
        Self { operation, expected, compared: AtomicUsize::new(0), is_wrong: AtomicBool::new(false) }
    }

    pub(super) fn is_right(&self) -> bool {
        !self.is_wrong.load(Ordering::Relaxed) && self.compared.load(Ordering::Relaxed) == self.expected.len()
    }
}

impl<P: Operation> Operation for Checked<'_, P> {
    type Prepared = P::Prepared;
    type Computed = P::Computed;

    fn layout(&self) -> Layout {
        self.operation.layout()
    }

    fn files(&self) -> Option<FileRules> {
        self.operation.files()
    }

    fn prepare(&self, records: Vec<Records>) -> P::Prepared {
        self.operation.prepare(records)
    }

    fn compute(&self, prepared: P::Prepared) -> Result<P::Computed, Failure> {
        self.operation.compute(prepared)
    }

    fn finish(&self, computed: P::Computed) -> Vec<Answers> {
        let pieces = self.operation.finish(computed);
        for answer in pieces.iter().flat_map(Answers::iter) {
            let item = self.compared.fetch_add(1, Ordering::Relaxed);
            let octets = (item < self.expected.len()).then(|| self.expected.to_be_bytes(item));
            let without_zeros = |octets: &[u8]| {
                let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
                octets[zeros..].to_vec()
            };
            if answer.ok().map(without_zeros) != octets.as_deref().map(without_zeros) {
                self.is_wrong.store(true, Ordering::Relaxed);
            }
        }
        pieces
    }
}
