//! Peers: other libraries, compared with ours. They are loaded at run time, so that nothing links to
//! them and a build needs none of them.
//!
//! A peer computes the same inputs, one call after another on each thread. Converting numbers and
//! preparing Montgomery constants is not a part of its measured time.

mod flint;
mod gmp;
mod integer_columns;
mod integers;
mod library;
mod openssl;
mod peer;

use library::{Kind, load_library};
pub use peer::About;
pub(crate) use peer::{Peer, Worker};
use std::str::FromStr;

/// A peer that the user asked for by name, perhaps from a given file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerRequest {
    kind: &'static Kind,
    file: Option<String>,
}

static KINDS: [Kind; 3] = [gmp::KIND, openssl::KIND, flint::KIND];

/// The peers to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerChoice {
    /// Every peer that this machine has.
    Found,
    /// These peers. It is an error if one cannot be loaded.
    These(Vec<PeerRequest>),
}

impl FromStr for PeerChoice {
    type Err = String;

    /// Reads `all`, `none`, or a list such as `gmp,openssl=/opt/lib/libcrypto.so.3`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::Found),
            "none" => Ok(Self::These(Vec::new())),
            _ => text.split(',').map(PeerRequest::parse).collect::<Result<_, _>>().map(Self::These),
        }
    }
}

impl PeerRequest {
    fn parse(entry: &str) -> Result<Self, String> {
        let (name, file) = match entry.split_once('=') {
            Some((name, file)) => (name, Some(file.to_owned())),
            None => (entry, None),
        };
        match KINDS.iter().find(|kind| kind.name == name) {
            Some(kind) => Ok(Self { kind, file }),
            None => Err(format!("unknown peer {name:?}; known: gmp, openssl, flint, all, none")),
        }
    }

    fn load(&self) -> Result<Box<dyn Peer>, String> {
        let Self { kind, file } = self;
        let files: Vec<&str> = match file {
            Some(file) => vec![file],
            None => kind.files.to_vec(),
        };
        let mut reason = String::new();
        for file in &files {
            match load_library(file).and_then(|library| (kind.load)(library, file)) {
                Ok(peer) => return Ok(peer),
                Err(error) => reason = error.to_string(),
            }
        }
        Err(format!(
            "cannot load {name} from {}: {reason}; install it, name its file with --peers={name}=FILE, \
             or leave it out",
            files.join(", "),
            name = kind.name,
        ))
    }
}

/// The peers that take part in a measurement.
pub struct Peers(pub(crate) Vec<Box<dyn Peer>>);

impl Peers {
    /// Loads the chosen peers; the error says which one cannot be loaded, and why.
    pub fn load(choice: &PeerChoice) -> Result<Self, String> {
        match choice {
            PeerChoice::Found => {
                let usual = |kind: &'static Kind| PeerRequest { kind, file: None };
                Ok(Self(KINDS.iter().filter_map(|kind| usual(kind).load().ok()).collect()))
            }
            PeerChoice::These(requests) => {
                requests.iter().map(PeerRequest::load).collect::<Result<_, _>>().map(Self)
            }
        }
    }

    /// The identity of each peer.
    #[must_use]
    pub fn about(&self) -> Vec<About> {
        self.0.iter().map(|peer| peer.about().clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Inputs, Workload};
    use modmill::Op;

    fn found() -> Peers {
        Peers::load(&PeerChoice::Found).unwrap()
    }

    fn workload(op: Op, count: usize, shared_modulus: bool) -> Workload {
        Workload { op, bits: 200, exponent_bits: 100, count, shared_modulus, is_remainder: false }
    }

    #[test]
    fn lists_of_peers_are_read() {
        assert_eq!("all".parse(), Ok(PeerChoice::Found));
        assert_eq!("none".parse(), Ok(PeerChoice::These(Vec::new())));
        let Ok(PeerChoice::These(requests)) = "gmp,openssl=/opt/libcrypto.so.4".parse() else { panic!() };
        assert_eq!((requests[0].kind.name, &requests[0].file), ("gmp", &None));
        assert_eq!(requests[1].file.as_deref(), Some("/opt/libcrypto.so.4"));
        assert!("mpir".parse::<PeerChoice>().unwrap_err().contains("known: gmp"));
    }

    #[test]
    fn a_missing_library_is_named_with_ways_out() {
        let error = Peers::load(&"gmp=/nowhere/libgmp.so".parse().unwrap()).err().unwrap();
        assert!(error.contains("/nowhere/libgmp.so") && error.contains("--peers=gmp=FILE"), "{error}");
    }

    #[test]
    fn every_peer_found_computes_every_operation() {
        for peer in found().0 {
            let each = Op::OF_ITEMS.iter().map(|&op| (op, false)).chain([(Op::MulMod, true)]);
            for (op, is_remainder) in each {
                for shared_modulus in [false, true] {
                    let workload = Workload { is_remainder, ..workload(op, 5, shared_modulus) };
                    let inputs = Inputs::random(workload, 7);
                    let mut worker = match peer.worker(&inputs, 1..5) {
                        // OpenSSL has no square roots.
                        Err(_) if op == Op::Isqrt && peer.about().name == "openssl" => continue,
                        worker => worker.unwrap(),
                    };
                    worker.run(0..4).unwrap();
                    for item in 1..5 {
                        let limbs = inputs.answer_limbs();
                        let answer = worker.answer(item - 1, limbs);
                        assert_eq!(answer, inputs.expected(item), "{} {op} {item}", peer.about().name);
                    }
                }
            }
        }
    }

    /// OpenSSL reports failure for a number that has no inverse, as it does for numbers that are too long.
    #[test]
    fn a_failed_call_is_a_refusal() {
        let mut inputs = Inputs::random(workload(Op::Inv, 2, false), 7);
        inputs.a.get_mut(1).fill(0);
        for peer in found().0.iter().filter(|peer| peer.about().name == "openssl") {
            let mut worker = peer.worker(&inputs, 0..2).unwrap();
            assert_eq!(worker.run(0..1), Ok(()));
            let refusal = worker.run(1..2).unwrap_err();
            assert_eq!(refusal.to_string(), "BN_mod_inverse refuses numbers of 200 bits");
        }
    }
}
