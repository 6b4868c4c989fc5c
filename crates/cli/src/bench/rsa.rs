//! Measuring RSA: digests to signatures, signatures to verdicts, ciphertexts to messages.

use super::contender::{Slice, Theirs, Turn, repeat};
use super::inputs::Shape as Powers;
use super::measure::{Known, Measured, take_turns};
use super::record::Record;
use super::sides::{Engines, Side};
use crate::failure::Failure;
use crate::peers::Peer;
use modmill::{Backend, Engine, Family, Op, Plan};
use modmill_core::limbs;
use modmill_rsa::{
    Answers, EncryptionScheme, Hash, Keys, PrivateKey, PublicKey, Rsa, SignatureScheme, Sizes,
};
use num_bigint::BigUint;
use std::time::Duration;
use zeroize::Zeroizing;

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
    /// Tables are read directly for one key, by blinded exponents.
    pub(crate) direct_tables: bool,
}

/// Items that differ, at least: what follows repeats them, since a CPU and num-bigint have to answer them first.
const DISTINCT: usize = 1024;

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
        // As many items as there are keys, or whole rounds of them.
        let distinct = count * DISTINCT.div_ceil(count).max(1);
        let few = Shape { count: shape.count.min(distinct), ..shape };
        let digests = (0..few.count)
            .map(|item| Hash::Sha256.digest(&[&item.to_le_bytes()]).as_ref().try_into().unwrap_or_default())
            .collect();
        let mut task = Self { shape: few, keys, digests, signatures: Vec::new(), ciphertexts: Vec::new() };
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
                let known =
                    Known::by_judge((0..few.count).collect(), |item| vec![task.is_signature(item).into()]);
                if let Some(item) = known.differing(&[1]) {
                    return Err(Failure::Items(format!("the signature of item {item} is wrong")));
                }
            }
        }
        task.shape = shape;
        repeat_to(&mut task.digests, shape.count);
        repeat_to(&mut task.signatures, shape.count);
        repeat_to(&mut task.ciphertexts, shape.count);
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

/// Items again and again, up to a number of them; none stay none.
fn repeat_to<T: Clone>(items: &mut Vec<T>, count: usize) {
    let few = items.len();
    for item in few..if few == 0 { 0 } else { count } {
        items.push(items[item - few].clone());
    }
}

/// A path of ours.
struct Ours<'a> {
    task: &'a Task,
    engine: &'a Engine,
    rsa: Rsa<'a>,
    /// Seconds in kernels of the fastest call so far.
    kernel_seconds: Option<f64>,
    plan: Plan,
    chosen: bool,
    private_keys: Vec<&'a PrivateKey>,
    public_keys: Vec<&'a PublicKey>,
    /// Whether all answers so far were right.
    right: bool,
}

/// What a call returns.
enum Found {
    Signatures(Answers<Vec<u8>>),
    Verdicts(Answers<()>),
    Messages(Answers<Zeroizing<Vec<u8>>>),
}

impl Found {
    /// The answer of an item, if it has the right form.
    fn is(&self, item: usize, expected: &[u8]) -> bool {
        match self {
            Self::Signatures(answers) => answers[item].as_deref() == Ok(expected),
            Self::Verdicts(answers) => [u8::from(answers[item].is_ok())] == expected,
            Self::Messages(answers) => answers[item].as_ref().is_ok_and(|message| message[..] == *expected),
        }
    }
}

impl Ours<'_> {
    /// The family that GPUs compute by, where RSA has kernels of its own.
    fn family(&self) -> Option<Family> {
        let Shape { op, bits, count, .. } = self.task.shape;
        match op {
            RsaOp::Verify => {
                let choice = self.engine.cuda()?.public_choice(bits, count, &[65_537]).ok()?;
                Some(choice.variant.family)
            }
            RsaOp::Sign | RsaOp::Decrypt => Some(Family::Rns),
        }
    }

    fn answers(&self) -> Result<Found, modmill_rsa::Error> {
        let Task { digests, signatures, ciphertexts, keys, shape } = self.task;
        let one = &keys[0];
        let private = if shape.keys == 1 { Keys::One(one) } else { Keys::Each(&self.private_keys) };
        let public =
            if shape.keys == 1 { Keys::One(one.public_key()) } else { Keys::Each(&self.public_keys) };
        Ok(match shape.op {
            RsaOp::Sign => Found::Signatures(self.rsa.sign_digests(private, SIGNATURE, digests)?),
            RsaOp::Verify => {
                Found::Verdicts(self.rsa.verify_digests(public, SIGNATURE, digests, signatures)?)
            }
            RsaOp::Decrypt => Found::Messages(self.rsa.decrypt(private, oaep(), ciphertexts)?),
        })
    }
}

impl Turn for Ours<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Failure> {
        let (mut right, mut least) = (true, self.kernel_seconds);
        let mut before = self.engine.kernel_seconds();
        let slice = repeat(
            length,
            self.task.shape.count as f64,
            || self.answers(),
            |answers| {
                right &= (0..self.task.shape.count).all(|item| answers.is(item, &self.task.expected(item)));
                let (now, then) = (self.engine.kernel_seconds(), before);
                before = now;
                if now > then {
                    least = Some(least.map_or(now - then, |least: f64| least.min(now - then)));
                }
            },
        );
        self.right &= right;
        self.kernel_seconds = least;
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
            engine,
            rsa: Rsa::new(engine).blinded_direct_reads(task.shape.direct_tables),
            kernel_seconds: None,
            plan,
            chosen,
            private_keys: task.private_keys(),
            public_keys: task.public_keys(),
            right: true,
        })
        .collect();
    if side.backend == Backend::Cuda {
        // Kernels are compiled before anything is timed, and are not always those of powers alone.
        for path in &mut ours {
            path.answers()?;
            path.plan.family = path.family().unwrap_or(path.plan.family);
        }
    }
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
        let kernel = path.kernel_seconds.map(|seconds| count as f64 / seconds);
        let record = record(task, threads, &slices.finish(path.right, kernel));
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
    let Shape { op, bits, count, keys, .. } = task.shape;
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
        kernel_ops_per_s: measured.kernel,
        device: None,
        verified: measured.right,
        verified_with: "num-bigint".to_owned(),
        verified_items: count,
        peer: None,
        peer_version: None,
        peer_library: None,
    }
}
