//! Measures how much faster several threads compute one long number than one thread does.
//!
//! Each line is an operation at one length: the best time on one thread, and how many times faster every
//! other number of threads is. The last column is the gain of two numbers side by side on two threads, which
//! is the most that two threads can bring on this machine at this moment. All of them are measured in turn.
//!
//! `cargo run --release -p modmill-cpu --example long_threads -- [BITS,..] [THREADS,..] [SECONDS]`

use modmill_core::{Batch, Call, Job, Moduli, Modulus, Op, Operand, Product, Request};
use modmill_cpu::{Cpu, Settings};
use std::time::{Duration, Instant};

/// Bits of the measured exponents.
const EXPONENT_BITS: usize = 32;

/// Bits of an exponent for which powers take Montgomery's reduction at every length. Later powers with
/// shorter exponents take it too.
const LONG_EXPONENT_BITS: usize = 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |index: usize, default: &str| -> Vec<usize> {
        let text = arguments.get(index).map_or(default, String::as_str);
        text.split(',').map(|number| number.parse().expect("a list of numbers")).collect()
    };
    let lengths = list(0, "16384,65536,262144,1048576,4194304");
    let threads = list(1, "2");
    let seconds = list(2, "3")[0] as u64;
    let cpus: Vec<Cpu> = std::iter::once(&1)
        .chain(&threads)
        .map(|&threads| {
            let settings = Settings { threads: Some(threads), ..Settings::default() };
            Cpu::new(settings).expect("threads can be started")
        })
        .collect();
    let pair = Cpu::new(Settings { threads: Some(2), ..Settings::default() }).expect("two threads");
    for &bits in &lengths {
        for case in Case::all(bits) {
            let mut best = vec![f64::INFINITY; cpus.len() + 1];
            let end = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < end {
                for (cpu, best) in cpus.iter().zip(&mut best) {
                    *best = best.min(case.seconds(cpu, 1));
                }
                best[cpus.len()] = best[cpus.len()].min(case.seconds(&pair, 2) / 2.0);
            }
            let gains: Vec<String> = best[1..].iter().map(|time| format!("{:6.2}", best[0] / time)).collect();
            println!("{bits:9} {:24} {:10.1} us {}", case.name, 1e6 * best[0], gains.join(" "));
        }
    }
}

/// An operation on one or two numbers of one length.
struct Case {
    name: &'static str,
    op: Op,
    bits: usize,
    a: Batch,
    b: Batch,
    modulus: Modulus,
}

impl Case {
    fn all(bits: usize) -> Vec<Self> {
        let case = |name, op, modulus: &[u64]| Self {
            name,
            op,
            bits: bits + 1,
            a: numbers(bits - 1, 3),
            b: if op == Op::Pow { numbers(EXPONENT_BITS, 5) } else { numbers(bits - 1, 5) },
            modulus: Modulus::new(modulus).expect("a modulus is not zero"),
        };
        let mut fermat = vec![0; bits / 64 + 1];
        (fermat[0], fermat[bits / 64]) = (1, 1 << (bits % 64));
        let any = |seed| {
            let mut any = numbers(bits, seed).as_limbs()[..bits.div_ceil(64)].to_vec();
            any[0] |= 1;
            any[(bits - 1) / 64] |= 1 << ((bits - 1) % 64);
            any
        };
        let montgomery = case("pow, Montgomery", Op::Pow, &any(7));
        montgomery.run(&Cpu::new(Settings::default()).expect("threads"), 1, LONG_EXPONENT_BITS);
        vec![
            case("mul", Op::Mul, &[1]),
            case("square", Op::Square, &[1]),
            case("mul_mod", Op::MulMod, &any(9)),
            case("pow modulo 2^n + 1", Op::Pow, &fermat),
            case("pow, Barrett", Op::Pow, &any(11)),
            montgomery,
        ]
    }

    /// The time of the operation on `count` numbers, in the steps of a power if it is one.
    fn seconds(&self, cpu: &Cpu, count: usize) -> f64 {
        let start = Instant::now();
        self.run(cpu, count, EXPONENT_BITS);
        start.elapsed().as_secs_f64() / if self.op == Op::Pow { EXPONENT_BITS as f64 } else { 1.0 }
    }

    fn run(&self, cpu: &Cpu, count: usize, exponent_bits: usize) {
        let exponents = numbers(exponent_bits, 5);
        let a = Operand::Each(self.a.slice(0..count));
        let b = Operand::Each(if self.op == Op::Pow {
            exponents.slice(0..count)
        } else {
            self.b.slice(0..count)
        });
        let items: Vec<usize> = (0..count).collect();
        let request = Request::new(self.op, self.bits, count).one_modulus().exponents_of(exponent_bits);
        let plan = cpu.plan(&request).expect("lengths are within the limits");
        let answers = match self.op {
            Op::Mul => cpu.run(&plan, Call::Product(&Product { a, b: Some(b), count })),
            Op::Square => cpu.run(&plan, Call::Product(&Product { a, b: None, count })),
            op => {
                let job = Job::new(&items, self.bits, a, b, Moduli::Shared(&self.modulus));
                cpu.run(&plan, Call::Modular(op, &job))
            }
        };
        std::hint::black_box(answers.expect("the plan is for this operation"));
    }
}

/// Two numbers of `bits` bits.
fn numbers(bits: usize, seed: u64) -> Batch {
    let mut random = fastrand::Rng::with_seed(seed);
    let stride = bits.div_ceil(64);
    let mut limbs: Vec<u64> = (0..2 * stride).map(|_| random.u64(..)).collect();
    for item in limbs.chunks_mut(stride) {
        item[stride - 1] >>= 64 * stride - bits;
    }
    Batch::from_limbs(bits, limbs).expect("numbers of this length")
}
