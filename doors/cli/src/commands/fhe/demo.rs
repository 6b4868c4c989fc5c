//! `modmill fhe demo`.

use super::WARNING;
use super::bit_text::{bits_of, bits_text, number_text};
use super::eval::evaluation_failure;
use super::keygen::generate_shown;
use super::meter::meter;
use super::scheme_options::{parse_setting, setting_text};
use crate::failure::Failure;
use crate::io;
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill_fhe::circuit::{Expression, Operation, Plan, Progress, evaluate};
use modmill_fhe::gentry_halevi::{GentryHalevi, SecretKey, Setting};
use std::time::Instant;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Shows homomorphic encryption at work. Two millionaires learn who is richer, and voters learn the
outcome of a vote, from a server that computes with encrypted bits and can read none of them. Shown
are the keys, the inputs, each level of the circuits with its noise budget and recryptions, and
the answers.

For study and measurement, not for protection: the published parameters of Gentry and Halevi's
scheme are broken (M. S. Lee, eprint 2011/567).";

const EXAMPLES: &str = "\
Examples:
  modmill fhe demo                  takes seconds
  modmill fhe demo --setting small  takes longer";

/// Shows encrypted bits at work: two millionaires, and a vote
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Parameters: toy, small, medium, large, or a setting such as n=64,t=380,sec=72
    #[arg(long, value_name = "NAME", default_value = "toy", value_parser = parse_setting)]
    setting: Setting,
    #[command(flatten)]
    engine: EngineOptions,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

const CLOSING: &str = "\
What was secret from whom: the server had the public key, the encrypted bits and the circuits. It
computed every gate and saw no bit in the clear, neither an input nor an answer, nor any bit in
between. The owner of the secret key decrypted the answers alone; whoever hands the inputs to the
server trusts the owner not to decrypt those as well. Anyone can tell how many bits there are, which
circuit was computed and how much noise its bits have.
";

impl Demo {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine.engine()?;
        io::print(&format!("{WARNING}\n\nSetting {}.\n\n", setting_text(&self.setting)))?;
        let start = Instant::now();
        let (public, secret) = generate_shown(&engine, &self.setting, self.quiet)?;
        let key_bits = public.modulus().bits() * (public.selectors().len() + public.multipliers().len() + 2);
        io::print(&format!(
            "The owner makes keys in {:.2} s: numbers of {} bits, a public key of {:.1} MB.\n",
            start.elapsed().as_secs_f64(),
            public.modulus().bits(),
            key_bits as f64 / 8e6
        ))?;
        let scheme = GentryHalevi::new(&engine, public)?;
        let scene = Scene { scheme: &scheme, secret: &secret, quiet: self.quiet };
        io::print("\nTwo millionaires: who is richer?\n")?;
        let richer = scene.play("a < b", &[("a", 157, 8), ("b", 201, 8)])?;
        let text = if richer == "1" { "b is richer than a" } else { "b is not richer than a" };
        io::print(&format!("Answer: {richer}, so {text}, and nobody has learned by how much.\n"))?;
        let votes = [("votes", 0b101_1101_0111_0110_1011_1110_1101_0111, 31)];
        io::print("\nA vote of 31: how many are in favour?\n")?;
        let count = scene.play("count(votes)", &votes)?;
        io::print(&format!("Answer: {count} of 31, and nobody's vote is known.\n"))?;
        io::print("\nThe same votes: are two thirds in favour? Now the count shall stay secret, too.\n")?;
        let is_carried = scene.play("3 * count(votes) >= 62", &votes)?;
        let text = if is_carried == "1" { "two thirds are" } else { "two thirds are not" };
        io::print(&format!("Answer: {is_carried}, so {text} in favour.\n"))?;
        io::print(&format!("\n{CLOSING}"))
    }
}

/// A server with the public key, and the owner of the secret key.
struct Scene<'a> {
    scheme: &'a GentryHalevi<'a>,
    secret: &'a SecretKey,
    quiet: bool,
}

impl Scene<'_> {
    /// Encrypts words (name, value, width), computes an expression of them, and decrypts the answer, with all
    /// steps shown.
    fn play(&self, text: &str, words: &[(&str, u128, usize)]) -> Result<String, Failure> {
        let usage = |reason: String| Failure::Usage(reason);
        let start = Instant::now();
        let mut encrypted = Vec::new();
        for &(name, value, width) in words {
            let bits = bits_of(value, width).ok_or_else(|| usage(format!("{name} is too wide")))?;
            io::print(&format!("  {name} = {}, encrypted bit by bit\n", bits_text(&bits).as_str()))?;
            encrypted.push(self.scheme.encrypt(&bits)?);
        }
        let seconds = start.elapsed().as_secs_f64();
        let widths: Vec<(&str, usize)> = words.iter().map(|&(name, _, width)| (name, width)).collect();
        let expression = Expression::parse(text).map_err(|error| usage(error.to_string()))?;
        let circuit = expression.circuit(&widths).map_err(|error| usage(error.to_string()))?;
        let inputs: Vec<_> = encrypted.iter().collect();
        let plan = Plan::new(&circuit, self.scheme, &inputs, 1)?;
        io::print(&format!(
            "  encrypted in {seconds:.2} s; the server computes {text}: {}\n",
            circuit.cost()
        ))?;
        let mut levels = Levels::new(self.scheme.key().capacity());
        levels.start(&encrypted.iter().flat_map(|bits| self.scheme.budget(bits)).collect::<Vec<_>>())?;
        let start = Instant::now();
        let mut printed = Ok(());
        let bar = Bar::new(Some(plan.batches() as u64), self.quiet, "batches");
        let answer = evaluate(&plan, self.scheme, &inputs, &mut |progress| {
            bar.advance(1);
            if printed.is_ok() {
                printed = bar.aside(|| levels.add(progress));
            }
        });
        bar.finish();
        printed?;
        let answer = answer.map_err(evaluation_failure)?;
        levels.end()?;
        io::print(&format!(
            "  computed in {:.2} s; the owner decrypts the answer\n",
            start.elapsed().as_secs_f64()
        ))?;
        let bits = Zeroizing::new(self.scheme.decrypt(self.secret, &answer)?);
        Ok(number_text(&bits).to_string())
    }
}

/// Prints a line for each level of a circuit.
struct Levels {
    capacity: f64,
    level: usize,
    /// Bits by operation: AND, XOR, NOT, recryption.
    bits: [usize; 4],
    least_budget: f64,
}

impl Levels {
    fn new(capacity: f64) -> Self {
        Self { capacity, level: 0, bits: [0; 4], least_budget: f64::INFINITY }
    }

    /// Prints the names of the columns, and the inputs.
    fn start(&mut self, budgets: &[f64]) -> Result<(), Failure> {
        io::print("    level     AND    XOR    NOT    recrypted    least budget in bits\n")?;
        self.least_budget = budgets.iter().copied().fold(f64::INFINITY, f64::min);
        self.line("inputs")
    }

    /// Takes a batch, and prints the level before if it begins a new one.
    fn add(&mut self, progress: Progress) -> Result<(), Failure> {
        if progress.level != self.level {
            self.end()?;
            self.level = progress.level;
        }
        let place = match progress.operation {
            Operation::And => 0,
            Operation::Xor => 1,
            Operation::Not => 2,
            Operation::Recrypt => 3,
            Operation::Constant(_) => return Ok(()),
        };
        self.bits[place] += progress.bits;
        self.least_budget = self.least_budget.min(progress.least_budget);
        Ok(())
    }

    /// Prints the level, if anything was computed in it.
    fn end(&mut self) -> Result<(), Failure> {
        if self.bits.iter().any(|&bits| bits > 0) { self.line(&self.level.to_string()) } else { Ok(()) }
    }

    fn line(&mut self, name: &str) -> Result<(), Failure> {
        let [and, xor, not, recrypted] =
            self.bits.map(|bits| if bits == 0 { "-".to_owned() } else { bits.to_string() });
        let (budget, meter) = (self.least_budget, meter(self.least_budget, self.capacity));
        self.bits = [0; 4];
        self.least_budget = f64::INFINITY;
        io::print(&format!(
            "    {name:<6}{and:>7}{xor:>7}{not:>7}{recrypted:>13}{budget:>10.0} of {:.0} {meter}\n",
            self.capacity
        ))
    }
}
