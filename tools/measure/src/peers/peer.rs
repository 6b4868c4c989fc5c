//! The interface of a peer.

use crate::column_items::ColumnItems;
use crate::error::Refusal;
use crate::inputs::{Inputs, Workload};
use crate::op::{ColumnOp, RsaOp};
use crate::rsa_items::RsaItems;
use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// A library that was loaded.
pub(crate) trait Peer: Send + Sync {
    /// The library's name, version and file.
    fn about(&self) -> &About;
    /// The function that computes a workload.
    fn function(&self, workload: &Workload) -> &'static str;
    /// A worker for some items, with their numbers converted and constants prepared.
    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal>;
    /// RSA, if the library has it.
    fn rsa(&self) -> Option<&dyn RsaPeer> {
        None
    }
    /// Operations on one modulus, if the library has them.
    fn columns(&self) -> Option<&dyn ColumnPeer> {
        None
    }
}

/// A library with RSA.
pub(crate) trait RsaPeer: Send + Sync {
    /// The function that computes an operation.
    fn function(&self, op: RsaOp) -> &'static str;
    /// A worker for some items, with their keys read and prepared.
    fn worker<'a>(&'a self, all: &'a RsaItems, items: Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal>;
}

/// A library with operations on one modulus.
pub(crate) trait ColumnPeer: Send + Sync {
    /// The functions that compute an operation.
    fn function(&self, op: ColumnOp) -> &'static str;
    /// A worker for some answers, with their numbers converted and tables made.
    fn worker<'a>(
        &'a self,
        items: &'a ColumnItems,
        part: Range<usize>,
    ) -> Result<Box<dyn Worker + 'a>, Refusal>;
}

/// The identity of a peer.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// `gmp`, `openssl` or `flint`.
    pub name: &'static str,
    /// The version that the library reports.
    pub version: String,
    /// The file that the library was loaded from.
    pub library: String,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.name, self.version, self.library)
    }
}

/// One thread of a peer, with its items of a batch.
pub(crate) trait Worker: Send {
    /// Computes items. Their indices count from the worker's first item.
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal>;
    /// The answer of an item that was computed, in at least `limbs` limbs.
    fn answer(&self, item: usize, limbs: usize) -> Vec<u64>;
}
