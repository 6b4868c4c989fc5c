//! `modmill primality`: primality proofs of Mersenne and Fermat numbers.

use crate::failure::Failure;
use crate::io::print;
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill::primality;

const LONG_ABOUT: &str = "\
Proves whether 2^Q - 1 or 2^(2^M) + 1 is prime.

Mersenne numbers 2^Q - 1 take the Lucas-Lehmer test, Fermat numbers 2^(2^M) + 1 take Pepin's
test. Both compute one square modulo the number for each of its bits, by number-theoretic
transforms. They run on the CPU whatever --backend says. One wrong digit in millions of
squares would change the verdict.";

const EXAMPLES: &str = "\
Examples:
  modmill primality --mersenne 44497     takes seconds
  modmill primality --mersenne 756839    takes minutes; the number is prime
  modmill primality --fermat 16";

/// Proves whether a Mersenne or Fermat number is prime
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Primality {
    #[command(flatten)]
    number: Number,
    #[command(flatten)]
    engine: EngineOptions,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, clap::Args)]
#[group(required = true, multiple = false)]
struct Number {
    /// Test 2^Q - 1, for a prime Q of at least 3
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u32).range(3..=1 << 30))]
    mersenne: Option<u32>,
    /// Test 2^(2^M) + 1
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=30))]
    fermat: Option<u32>,
}

impl Primality {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine.engine()?;
        let bar = |steps: u64| Bar::new(Some(steps), self.quiet, "squares");
        let (name, is_prime) = match (self.number.mersenne, self.number.fermat) {
            (Some(q), _) if !is_small_prime(q) => (format!("2^{q} - 1"), false),
            (Some(q), _) => {
                let bar = bar(u64::from(q) - 2);
                let verdict = primality::is_mersenne_prime(&engine, q as usize, || bar.advance(1))?;
                bar.finish();
                (format!("2^{q} - 1"), verdict)
            }
            (None, Some(m)) => {
                let bar = bar((1 << m) - 1);
                let verdict = primality::is_fermat_prime(&engine, m, || bar.advance(1))?;
                bar.finish();
                (format!("2^(2^{m}) + 1"), verdict)
            }
            (None, None) => return Err(Failure::Usage("give --mersenne or --fermat".to_owned())),
        };
        print(&format!("{name} is {}\n", if is_prime { "prime" } else { "composite" }))
    }
}

/// Whether q is prime. If it is not, `2^q - 1` has the factor `2^d - 1` for each divisor d of q.
fn is_small_prime(q: u32) -> bool {
    (2..).take_while(|d| d * d <= q).all(|d| !q.is_multiple_of(d))
}
