//! A call of RSA on the items of a measurement, and whether its answers are right.

use crate::op::RsaOp;
use crate::rsa_items::{RsaItems, SIGNATURE, oaep};
use modmill::Engine;
use modmill::warm;
use modmill_rsa::{Answers, Error, Keys, PrivateKey, PublicKey, Rows, Rsa};

/// A call of RSA, ready to be repeated.
pub(crate) struct RsaCall<'a> {
    items: &'a RsaItems,
    rsa: Rsa<'a>,
    private_keys: Vec<&'a PrivateKey>,
    public_keys: Vec<&'a PublicKey>,
}

/// The answers of a call.
pub(crate) enum Outputs {
    /// Signatures or messages.
    Octets(Rows),
    Verdicts(Answers<()>),
}

impl Outputs {
    /// Whether the answer of an item is the expected one.
    fn is(&self, item: usize, expected: &[u8]) -> bool {
        match self {
            Self::Octets(rows) => rows.get(item) == Ok(expected),
            Self::Verdicts(answers) => [u8::from(answers[item].is_ok())] == expected,
        }
    }
}

impl<'a> RsaCall<'a> {
    pub(crate) fn new(items: &'a RsaItems, engine: &'a Engine) -> Self {
        // Steady rates are measured: what has to be compiled is compiled before. If that fails, the calls
        // tell why.
        let _ = warm::rsa(engine, items.workload.bits, items.workload.count);
        let rsa = Rsa::new(engine).blinded_direct_reads(items.workload.direct_tables);
        Self { items, rsa, private_keys: items.private_keys(), public_keys: items.public_keys() }
    }

    pub(crate) fn outputs(&self) -> Result<Outputs, Error> {
        let RsaItems { digests, signatures, ciphertexts, keys, workload } = self.items;
        let (one, has_one) = (&keys[0], workload.keys == 1);
        let private = if has_one { Keys::One(one) } else { Keys::Each(&self.private_keys) };
        let public = if has_one { Keys::One(one.public_key()) } else { Keys::Each(&self.public_keys) };
        Ok(match workload.op {
            RsaOp::Sign => Outputs::Octets(self.rsa.sign_digests_rows(private, SIGNATURE, digests)?),
            RsaOp::Verify => {
                Outputs::Verdicts(self.rsa.verify_digests(public, SIGNATURE, digests, signatures)?)
            }
            RsaOp::Decrypt => Outputs::Octets(self.rsa.decrypt_rows(private, oaep(), ciphertexts)?),
        })
    }

    /// Whether all answers of a call are right.
    pub(crate) fn are_right(&self, outputs: &Outputs) -> bool {
        (0..self.items.workload.count).all(|item| outputs.is(item, &self.items.expected(item)))
    }
}
