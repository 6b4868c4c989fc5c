//! An RSA signing and decryption service: many clients, one batch.
//!
//! Requests come in through doors that people have clients for. Each door checks who asks and what for, and
//! hands its private operations to one [`batch::Batcher`], which gathers those of all connections and
//! computes them together.
//!
//! ```text
//!  kms   transit   bulk   privacy_pass        doors: protocols, and who may do what
//!     \      |       |      /
//!  modmill-records   batch                    keys and names in a store; operations in batches
//!                      |
//!               modmill-gather, modmill-rsa   queues and estimates; the arithmetic
//! ```
#![deny(unsafe_code)]

pub mod admin;
mod allocator;
pub mod audit;
pub mod batch;
mod body;
pub mod bulk;
mod changes;
pub mod clock;
pub mod config;
pub mod credentials;
mod door;
mod folders;
mod generator;
mod harden;
pub mod histogram;
mod http;
mod key_cache;
pub mod kms;
mod limits;
pub mod log;
mod metrics;
pub mod page;
pub mod privacy_pass;
pub mod run;
pub mod service;
pub mod settings;
mod sha256;
mod shares;
pub mod sigv4;
mod socket;
pub mod transit;
mod uuid;

use modmill_records::{self as records, backup, master_key, store};
use modmill_seal::{files, hex, secret};
