//! The inputs of an RSA measurement: keys, digests, signatures and ciphertexts.

use crate::error::Error;
use crate::op::RsaOp;
use crate::reference::ReferenceAnswers;
use modmill::Engine;
use modmill_core::limbs;
use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, PublicKey, Rsa, SignatureScheme, Sizes};
use num_bigint::BigUint;

/// The RSA batch that is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RsaWorkload {
    pub(crate) op: RsaOp,
    /// Bits of the keys.
    pub(crate) bits: usize,
    /// Items in the batch.
    pub(crate) count: usize,
    /// Different keys, which the items use in turn.
    pub(crate) keys: usize,
    /// GPUs blind exponents and read table entries directly; only with a single key.
    pub(crate) direct_tables: bool,
}

/// The least number of different items. A larger batch repeats them, because the CPU and num-bigint have
/// to compute the different ones first.
const DISTINCT: usize = 1024;

pub(crate) const SIGNATURE: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
const DIGEST_LEN: usize = 32;

pub(crate) fn oaep() -> EncryptionScheme<'static> {
    EncryptionScheme::oaep(Hash::Sha256)
}

/// The items of a workload, with their right answers.
pub(crate) struct RsaItems {
    pub(crate) workload: RsaWorkload,
    pub(crate) keys: Vec<PrivateKey>,
    pub(crate) digests: Vec<[u8; DIGEST_LEN]>,
    /// Signatures of the digests. If they are to be verified, every seventh one is spoilt.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// Ciphertexts of the digests, if they are to be decrypted.
    pub(crate) ciphertexts: Vec<Vec<u8>>,
}

impl RsaItems {
    /// Random items. Num-bigint checks the signatures.
    pub(crate) fn new(workload: RsaWorkload, engine: &Engine) -> Result<Self, Error> {
        let count = workload.keys.min(workload.count);
        let keys = PrivateKey::generate_many(engine, workload.bits, count, Sizes::AllowSmall)?;
        // The different items are a multiple of the keys, so that a repeated item keeps its key.
        let distinct = count * DISTINCT.div_ceil(count).max(1);
        let few = RsaWorkload { count: workload.count.min(distinct), ..workload };
        let digests = (0..few.count)
            .map(|item| Hash::Sha256.digest(&[&item.to_le_bytes()]).as_ref().try_into().unwrap_or_default())
            .collect();
        let mut made = Self { workload: few, keys, digests, signatures: Vec::new(), ciphertexts: Vec::new() };
        let rsa = Rsa::new(engine);
        let refused = |error: modmill_rsa::ItemError| {
            Error::Unsupported(format!("keys of {} bits: {error}", workload.bits))
        };
        match workload.op {
            RsaOp::Decrypt => {
                let ciphertexts = rsa.encrypt(&made.public_keys()[..], oaep(), &made.digests)?;
                made.ciphertexts = ciphertexts.into_iter().collect::<Result<_, _>>().map_err(refused)?;
            }
            RsaOp::Sign | RsaOp::Verify => {
                let signatures = rsa.sign_digests(&made.private_keys()[..], SIGNATURE, &made.digests)?;
                made.signatures = signatures.into_iter().collect::<Result<_, _>>().map_err(refused)?;
                let verdicts = ReferenceAnswers::by_referee((0..few.count).collect(), |item| {
                    vec![made.is_signature(item).into()]
                });
                if let Some(item) = verdicts.differing(&[1]) {
                    return Err(Error::WrongAnswer(format!("the signature of item {item} is wrong")));
                }
            }
        }
        made.workload = workload;
        repeat_to(&mut made.digests, workload.count);
        repeat_to(&mut made.signatures, workload.count);
        repeat_to(&mut made.ciphertexts, workload.count);
        if workload.op == RsaOp::Verify {
            made.signatures.iter_mut().step_by(7).for_each(|signature| signature[workload.bits / 16] ^= 1);
        }
        Ok(made)
    }

    /// The inputs of `count` items from about `start` on: every seventh signature is spoilt from the first
    /// one on here too, and every item keeps its key.
    pub(crate) fn part(&self, start: usize, count: usize) -> Self {
        let start = start - start % (7 * self.keys.len());
        let part = |items: &[Vec<u8>]| items.get(start..start + count).unwrap_or_default().to_vec();
        Self {
            workload: RsaWorkload { count, ..self.workload },
            keys: self.keys.clone(),
            digests: self.digests[start..start + count].to_vec(),
            signatures: part(&self.signatures),
            ciphertexts: part(&self.ciphertexts),
        }
    }

    pub(crate) fn key(&self, item: usize) -> &PrivateKey {
        &self.keys[item % self.keys.len()]
    }

    pub(crate) fn private_keys(&self) -> Vec<&PrivateKey> {
        (0..self.workload.count).map(|item| self.key(item)).collect()
    }

    pub(crate) fn public_keys(&self) -> Vec<&PublicKey> {
        (0..self.workload.count).map(|item| self.key(item).public_key()).collect()
    }

    /// Whether num-bigint finds the signature of an item right. The encoding is written out here.
    fn is_signature(&self, item: usize) -> bool {
        let key = self.key(item).public_key();
        let prefix = Hash::Sha256.digest_info_prefix().unwrap_or_default();
        let padding = key.size() - prefix.len() - DIGEST_LEN - 3;
        let encoded = [&[0, 1], &vec![0xff; padding][..], &[0], &prefix, &self.digests[item]].concat();
        let [n, e] = [key.modulus_bytes(), &key.exponent_bytes()].map(BigUint::from_bytes_be);
        BigUint::from_bytes_be(&self.signatures[item]).modpow(&e, &n) == BigUint::from_bytes_be(&encoded)
    }

    /// The right answer of an item.
    pub(crate) fn expected(&self, item: usize) -> Vec<u8> {
        match self.workload.op {
            RsaOp::Sign => self.signatures[item].clone(),
            RsaOp::Verify => vec![u8::from(!item.is_multiple_of(7))],
            RsaOp::Decrypt => self.digests[item].to_vec(),
        }
    }
}

/// Repeats the items in order until there are `count`. An empty list stays empty.
fn repeat_to<T: Clone>(items: &mut Vec<T>, count: usize) {
    let few = items.len();
    for item in few..if few == 0 { 0 } else { count } {
        items.push(items[item - few].clone());
    }
}

/// A big-endian number as limbs, in the form of a peer's answers.
pub(crate) fn to_limbs(bytes: &[u8], limbs: usize) -> Vec<u64> {
    let mut number = vec![0; limbs];
    limbs::copy_be_bytes(bytes, &mut number);
    number
}
