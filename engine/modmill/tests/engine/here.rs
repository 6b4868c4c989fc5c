//! Engines that compute on their caller's thread: no other thread is started, and the answers are the same.

use modmill::matrix::{BitVectors, Placement, ResidueMatrix, ResidueModuli, SeededRows};
use modmill::{
    Backend, Batch, Engine, Error, Formula, Holds, Modulus, Op, Public, Request, integers, primality, random,
    trees,
};
use modmill_testing::rng::Rng;
use std::ops::Range;
use std::process::Command;

/// Numbers of the operations below.
struct Numbers {
    short: Batch,
    odd: Batch,
    even: Batch,
    /// Long enough that threads share a single one.
    long: Batch,
    modulus: Modulus,
}

impl Numbers {
    fn new() -> Self {
        let rng = &mut Rng::new(34);
        let mut batch = |bits: usize, count: usize, low: &[bool]| {
            let numbers = (0..count).map(|_| {
                let mut number = rng.exact(bits);
                low.iter().for_each(|&bit| number.set_bit(0, bit));
                modmill::hex::parse(&format!("{number:x}")).unwrap()
            });
            Batch::from_values(numbers.collect::<Vec<_>>())
        };
        let odd = batch(200, 40_000, &[true]);
        let modulus = Modulus::new(odd.get(0)).unwrap();
        Self {
            short: batch(200, 40_000, &[]),
            even: batch(200, 40_000, &[false]),
            long: batch(1 << 20, 2, &[true]),
            odd,
            modulus,
        }
    }
}

/// An operation with its numbers.
type Compute<'a> = &'a dyn Fn() -> Result<Batch, Error>;

/// The answers of every kind of operation. `seen` is told of each that has answered.
fn answers(engine: &Engine, numbers: &Numbers, seen: impl Fn(&str)) -> Result<Vec<Batch>, Error> {
    let Numbers { short, odd, even, long, modulus } = numbers;
    let exponents = &Batch::from_hex(["10001"])?;
    let e = Public(exponents.shared(0));
    let found = |answers: Result<Batch, Error>| match answers {
        Err(Error::Items(partial)) => Ok(partial.answers),
        answers => answers,
    };
    let streamed = || {
        let mut squares = Batch::zeros(modulus.bits(), short.len());
        let request = Request::new(Op::MulMod, modulus.bits(), short.len()).one_modulus();
        engine.stream(&request).into_batch(&Squares(short, modulus), &mut squares)?;
        Ok(squares)
    };
    let fixed = engine.fixed_base(short.shared(1), modulus, 20)?;
    let long_modulus = &Modulus::new(long.get(0))?;
    let operations: [(&str, Compute<'_>); 24] = [
        ("mul of short numbers", &|| engine.mul(short, odd)),
        ("square of long numbers", &|| engine.square(long)),
        ("mul_mod of short numbers", &|| engine.mul_mod(short, short, odd)),
        ("mul_mod of even moduli", &|| engine.mul_mod(short, short, even)),
        ("mul_mod of long numbers", &|| engine.mul_mod(long, long, long_modulus)),
        ("pow of short numbers", &|| engine.pow(short, e, odd)),
        ("pow of even moduli", &|| engine.pow(short, e, even)),
        ("pow of short numbers", &|| engine.pow(short, exponents.shared(0), modulus)),
        ("reduce of long numbers", &|| engine.reduce(long, modulus)),
        ("div of long numbers", &|| engine.div(long, modulus)),
        ("div of one long number", &|| engine.div(long.shared(1), long_modulus)),
        ("roots of long numbers", &|| Ok(integers::sqrt_rem(engine, long)?.0)),
        ("remainders of roots", &|| Ok(integers::sqrt_rem(engine, long)?.1)),
        ("gcd of short numbers", &|| engine.gcd(short, odd)),
        ("gcd of long numbers", &|| engine.gcd(long.shared(0), long.shared(1))),
        ("inv of short numbers", &|| found(engine.inv(short, odd))),
        ("pow_fixed_base", &|| engine.pow_fixed_base(&fixed, exponents)),
        ("multi_pow of short numbers", &|| {
            engine.multi_pow(&[short.into(), odd.into()], &[e.0, e.0], modulus)
        }),
        ("product_mod of short numbers", &|| engine.product_mod(short, modulus)),
        ("sum_mod of short numbers", &|| engine.sum_mod(short, modulus)),
        ("add of short numbers", &|| engine.add(short, odd)),
        ("add_mod of short numbers", &|| integers::add_mod(engine, short, short, odd)),
        ("a tree", &|| trees::product(engine, short)),
        ("a stream", &streamed),
    ];
    let compute = |(name, compute): (&str, Compute<'_>)| {
        let found = compute()?;
        seen(name);
        Ok(found)
    };
    operations.into_iter().map(compute).collect()
}

struct Squares<'a>(&'a Batch, &'a Modulus);

impl Formula for Squares<'_> {
    type Error = Error;

    fn compute<P: Holds>(&self, at: &Engine<P>, items: Range<usize>) -> Result<Option<Batch>, Error> {
        P::to_host(at.square_mod(self.0.slice(items), self.1)?, self.1.bits()).map(Some)
    }
}

/// A product with a matrix of which every thread could compute a part.
fn matrix_product(engine: &Engine) {
    let moduli = ResidueModuli::largest(8).unwrap();
    let rows = SeededRows::new(&moduli, 64, 500, [7; 32]).unwrap();
    let matrix = ResidueMatrix::new(engine, rows, Placement::Streamed).unwrap();
    let mut bits = BitVectors::zeros(2, 64).unwrap();
    (0..64).step_by(3).for_each(|row| bits.set(0, row));
    matrix.multiply(engine, &bits).unwrap();
}

/// The number of this process's threads, if the system tells it.
fn threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

#[test]
#[ignore = "run by the other test in a process of its own"]
fn count_threads() {
    let (before, numbers) = (threads(), Numbers::new());
    let engine = Engine::builder().backend(Backend::Cpu).here().build().unwrap();
    let none_started = |name: &str| assert_eq!(threads(), before, "{name} started threads");
    let found = answers(&engine, &numbers, none_started).unwrap();
    assert!(random::below(&engine, &numbers.modulus, 100_000).is_ok());
    assert!(primality::is_probable_prime(&engine, &numbers.odd, &[2]).is_ok());
    matrix_product(&engine);
    assert_eq!((engine.threads(), threads()), (1, before), "threads were started");

    let many = Engine::builder().backend(Backend::Cpu).threads(3).build().unwrap();
    let with_three = threads();
    assert_eq!(with_three, before.map(|count| count + 3));
    assert!(answers(&many.here(), &numbers, |_| ()).unwrap() == found);
    // Also on a thread of the engine's own, which then computes alone.
    assert!(many.install(|| answers(&many.here(), &numbers, |_| ())).unwrap() == found);
    assert_eq!(threads(), with_three, "threads were started");
    assert!(answers(&many, &numbers, |_| ()).unwrap() == found);
    println!("counted");
}

#[test]
fn the_callers_thread_computes_everything() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output =
        command.args(["--exact", "here::count_threads", "--ignored", "--nocapture"]).output().unwrap();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("counted"),
        "{output:?}"
    );
}

#[test]
fn an_engine_without_threads_shares_what_its_engine_has() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let here = engine.here();
    assert_eq!((here.paths(), here.faults(), here.threads()), (engine.paths(), engine.faults(), 1));
    let plan = here.plan(&Request::new(Op::Pow, 1024, 64)).unwrap();
    let one = Engine::builder().threads(1).build().unwrap();
    assert_eq!(plan.seconds, one.plan(&Request::new(Op::Pow, 1024, 64)).unwrap().seconds);
    let kept =
        here.on_device().mul(&Batch::from_hex(["3"]).unwrap(), &Batch::from_hex(["5"]).unwrap()).unwrap();
    assert_eq!(kept.download().unwrap().as_limbs(), [15]);
}
