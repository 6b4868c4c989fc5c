//! Measuring RSA: digests to signatures, signatures to verdicts, ciphertexts to messages.

use super::contender::{Slice, Theirs, Turn, repeat};
use super::inputs::Shape as Powers;
use super::measure::{Measured, take_turns};
use super::record::Record;
use super::sides::{Engines, Side};
use crate::failure::Failure;
use crate::peers::Peer;
use modmill::{Backend, Engine, Op, Plan};
use modmill_core::limbs;
use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, PublicKey, Rsa, SignatureScheme, Sizes};
use num_bigint::BigUint;
use std::time::Duration;

/// An operation of RSA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RsaOp {
    Sign,
    Verify,
    Decrypt,
}

impl RsaOp {
    pub(crate) const ALL: [Self; 3] = [Self::Sign, Self::Verify, Self::Decrypt];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sign => "rsa_sign",
            Self::Verify => "rsa_verify",
            Self::Decrypt => "rsa_decrypt",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) op: RsaOp,
    pub(crate) bits: usize,
    pub(crate) count: usize,
    /// Different keys, which the items have in turn.
    pub(crate) keys: usize,
}

pub(crate) const SIGNATURE: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
const DIGEST_LEN: usize = 32;

fn oaep() -> EncryptionScheme<'static> {
    EncryptionScheme::oaep(Hash::Sha256)
}

/// Items of one shape with their right answers.
pub(crate) struct Task {
    pub(crate) shape: Shape,
    pub(crate) keys: Vec<PrivateKey>,
    pub(crate) digests: Vec<[u8; DIGEST_LEN]>,
    /// Signatures of the digests; every seventh is spoilt where they are to be verified.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// Ciphertexts of the digests.
    pub(crate) ciphertexts: Vec<Vec<u8>>,
}

/// Answers as bytes: a signature, a verdict, a message.
pub(crate) type Answer = Vec<u8>;

impl Task {
    /// Random items. The signatures are checked by num-bigint.
    pub(crate) fn new(shape: Shape, engine: &Engine) -> Result<Self, Failure> {
        let count = shape.keys.min(shape.count);
        let keys = PrivateKey::generate_many(engine, shape.bits, count, Sizes::AllowSmall)?;
        let digests = (0..shape.count)
            .map(|item| Hash::Sha256.digest(&[&item.to_le_bytes()]).as_ref().try_into().unwrap_or_default())
            .collect();
        let mut task = Self { shape, keys, digests, signatures: Vec::new(), ciphertexts: Vec::new() };
        let rsa = Rsa::new(engine);
        let refused = |error: modmill_rsa::ItemError| Failure::Usage(format!("{} bits: {error}", shape.bits));
        match shape.op {
            RsaOp::Decrypt => {
                let ciphertexts = rsa.encrypt(&task.public_keys()[..], oaep(), &task.digests)?;
                task.ciphertexts = ciphertexts.into_iter().collect::<Result<_, _>>().map_err(refused)?;
            }
            RsaOp::Sign | RsaOp::Verify => {
                let signatures = rsa.sign_digests(&task.private_keys()[..], SIGNATURE, &task.digests)?;
                task.signatures = signatures.into_iter().collect::<Result<_, _>>().map_err(refused)?;
                if let Some(item) = (0..shape.count).find(|&item| !task.is_signature(item)) {
                    return Err(Failure::Items(format!("the signature of item {item} is wrong")));
                }
            }
        }
        if shape.op == RsaOp::Verify {
            task.signatures.iter_mut().step_by(7).for_each(|signature| signature[shape.bits / 16] ^= 1);
        }
        Ok(task)
    }

    pub(crate) fn key(&self, item: usize) -> &PrivateKey {
        &self.keys[item % self.keys.len()]
    }

    fn private_keys(&self) -> Vec<&PrivateKey> {
        (0..self.shape.count).map(|item| self.key(item)).collect()
    }

    fn public_keys(&self) -> Vec<&PublicKey> {
        (0..self.shape.count).map(|item| self.key(item).public_key()).collect()
    }

    /// Whether a signature is right, by another library and an encoding written out here.
    fn is_signature(&self, item: usize) -> bool {
        let key = self.key(item).public_key();
        let prefix = Hash::Sha256.digest_info_prefix().unwrap_or_default();
        let padding = key.size() - prefix.len() - DIGEST_LEN - 3;
        let encoded = [&[0, 1], &vec![0xff; padding][..], &[0], &prefix, &self.digests[item]].concat();
        let [n, e] = [key.modulus_bytes(), &key.exponent_bytes()].map(BigUint::from_bytes_be);
        BigUint::from_bytes_be(&self.signatures[item]).modpow(&e, &n) == BigUint::from_bytes_be(&encoded)
    }

    /// The right answer of an item.
    pub(crate) fn expected(&self, item: usize) -> Answer {
        match self.shape.op {
            RsaOp::Sign => self.signatures[item].clone(),
            RsaOp::Verify => vec![u8::from(!item.is_multiple_of(7))],
            RsaOp::Decrypt => self.digests[item].to_vec(),
        }
    }
}

/// A path of ours.
struct Ours<'a> {
    task: &'a Task,
    rsa: Rsa<'a>,
    plan: Plan,
    chosen: bool,
    private_keys: Vec<&'a PrivateKey>,
    public_keys: Vec<&'a PublicKey>,
    /// Whether all answers so far were right.
    right: bool,
}

impl Ours<'_> {
    fn answers(&self) -> Result<Vec<Answer>, modmill_rsa::Error> {
        let Task { digests, signatures, ciphertexts, .. } = self.task;
        Ok(match self.task.shape.op {
            RsaOp::Sign => {
                let answers = self.rsa.sign_digests(&self.private_keys[..], SIGNATURE, digests)?;
                answers.into_iter().map(Result::unwrap_or_default).collect()
            }
            RsaOp::Verify => {
                let answers =
                    self.rsa.verify_digests(&self.public_keys[..], SIGNATURE, digests, signatures)?;
                answers.into_iter().map(|verdict| vec![u8::from(verdict.is_ok())]).collect()
            }
            RsaOp::Decrypt => {
                let answers = self.rsa.decrypt(&self.private_keys[..], oaep(), ciphertexts)?;
                answers
                    .into_iter()
                    .map(|message| message.map(|bytes| bytes.to_vec()).unwrap_or_default())
                    .collect()
            }
        })
    }
}

impl Turn for Ours<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Failure> {
        let mut right = true;
        let slice = repeat(
            length,
            self.task.shape.count as f64,
            || self.answers(),
            |answers| {
                right &= (0..self.task.shape.count).all(|item| answers[item] == self.task.expected(item));
            },
        );
        self.right &= right;
        slice
    }
}

/// Measures everyone at one point: ours on a side, turn by turn with the peers.
pub(crate) fn point(
    task: &Task,
    engines: &Engines,
    side: &Side,
    peers: &[Box<dyn Peer>],
    time: Duration,
) -> Result<Vec<Record>, Failure> {
    let Shape { op, bits, count, .. } = task.shape;
    let powers = match op {
        RsaOp::Verify => Powers { op: Op::PowVartime, bits, exponent_bits: 17, count, shared_modulus: true },
        // Two halves an item.
        _ => Powers {
            op: Op::Pow,
            bits: bits / 2,
            exponent_bits: bits / 2,
            count: 2 * count,
            shared_modulus: true,
        },
    };
    let mut ours: Vec<Ours<'_>> = engines
        .engines(side, powers)
        .into_iter()
        .map(|(engine, plan, chosen)| Ours {
            task,
            rsa: Rsa::new(engine),
            plan,
            chosen,
            private_keys: task.private_keys(),
            public_keys: task.public_keys(),
            right: true,
        })
        .collect();
    let threads = engines.chosen.threads();
    let mut theirs = Vec::new();
    for peer in peers {
        if let Some(rsa) = peer.rsa() {
            theirs.push(Theirs::new(peer.as_ref(), count, threads, |items| rsa.worker(task, items)));
        }
    }
    let turns = ours.iter_mut().map(|path| path as &mut dyn Turn);
    let turns = turns.chain(theirs.iter_mut().map(|peer| peer as &mut dyn Turn));
    let mut slices = take_turns(&mut turns.collect::<Vec<_>>(), time)?;
    let peer_slices = slices.split_off(ours.len());
    let mut records = Vec::new();
    for (path, slices) in ours.iter().zip(slices) {
        let record = record(task, threads, &slices.finish(path.right, None));
        records.push(Record {
            backend: path.plan.backend.name().to_owned(),
            algorithm: path.plan.family.name().to_owned(),
            isa: path.plan.isa.map(|isa| isa.name().to_owned()),
            chosen: path.chosen,
            device: side.device(),
            ..record
        });
    }
    for (peer, slices) in theirs.iter_mut().zip(peer_slices) {
        peer.complete();
        let limbs = bits.div_ceil(64);
        let right = peer.answers(limbs).all(|(item, answer)| answer == to_limbs(&task.expected(item), limbs));
        let about = peer.peer.about();
        records.push(Record {
            algorithm: peer.peer.rsa().map_or("", |rsa| rsa.function(op)).to_owned(),
            peer: Some(about.name.to_owned()),
            peer_version: Some(about.version.clone()),
            peer_library: Some(about.library.clone()),
            ..record(task, threads, &slices.finish(right, None))
        });
    }
    Ok(records)
}

/// Bytes as answers of peers are written.
pub(crate) fn to_limbs(bytes: &[u8], limbs: usize) -> Vec<u64> {
    let mut number = vec![0; limbs];
    limbs::copy_be_bytes(bytes, &mut number);
    number
}

fn record(task: &Task, threads: usize, measured: &Measured) -> Record {
    let Shape { op, bits, count, keys } = task.shape;
    Record {
        kind: "result",
        op: op.name().to_owned(),
        bits,
        exponent_bits: None,
        shared_modulus: keys == 1,
        backend: Backend::Cpu.name().to_owned(),
        algorithm: String::new(),
        isa: None,
        chosen: false,
        batch: count,
        threads,
        ops_per_s: measured.best,
        median_ops_per_s: measured.median,
        latency_ms: measured.latency_ms,
        kernel_ops_per_s: None,
        device: None,
        verified: measured.right,
        verified_with: "num-bigint".to_owned(),
        verified_items: count,
        peer: None,
        peer_version: None,
        peer_library: None,
    }
}
