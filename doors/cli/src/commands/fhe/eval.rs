//! `modmill fhe eval`.

use super::files::{file_name, open_scheme, protect, read_bits, write_bits};
use crate::failure::Failure;
use crate::io;
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill_fhe::circuit::{Circuit, EvaluateError, Expression, Operation, Plan, Progress, evaluate};
use modmill_fhe::gentry_halevi::{Ciphertexts, GentryHalevi};
use std::time::Instant;

const LONG_ABOUT: &str = "\
Computes an expression of encrypted words, with the public key only. Words are numbers without
sign; the width of a word is the number of bits in its file. From the tightest operator:

  ~a !a            the complement of each bit; whether a is 0
  a * b            as wide as both together
  a + b  a - b     one bit wider than the wider; a difference below 0 wraps
  a << 3  a >> 3   by a number
  < <= > >=  == != one bit
  &  ^  |          the shorter word gets zeros
  c ? a : b        a if c is not 0

Functions: count(v, ...) counts ones, max(a, ...), min(a, ...), table(i, 3, 1, 4) is the i-th of
the numbers. Numbers are decimal, hexadecimal (0x) or binary (0b).

The gates are computed in batches. Bits are recrypted where noise would become too much; a circuit
that the key cannot compute is refused before anything is computed, with exit status 1.";

const EXAMPLES: &str = "\
Examples:
  modmill fhe eval --key key.public --expr 'a & (b ^ 1)' --in a=a.bits --in b=b.bits --out c.bits
  modmill fhe eval --key key.public --expr 'count(v) > 3' --in v=votes.bits --out won.bits";

/// Computes an expression of encrypted words
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Eval {
    /// Public key
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    key: String,
    /// Expression, such as "a & (b ^ 1)"
    #[arg(long = "expr", value_name = "TEXT")]
    expression: String,
    /// A word of the expression and the file of its encrypted bits; once for each word
    #[arg(long = "in", value_name = "NAME=FILE", value_parser = parse_input)]
    inputs: Vec<(String, String)>,
    /// File for the encrypted answer
    #[arg(long = "out", value_name = "FILE", value_parser = file_name)]
    output: String,
    #[command(flatten)]
    engine: EngineOptions,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

fn parse_input(text: &str) -> Result<(String, String), String> {
    let (name, file) = text.split_once('=').ok_or("give a name and a file, such as a=FILE")?;
    Ok((name.trim().to_owned(), file_name(file)?))
}

impl Eval {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let expression =
            Expression::parse(&self.expression).map_err(|error| Failure::Usage(error.to_string()))?;
        let names = expression.names();
        if let Some((name, _)) = self.inputs.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            return Err(Failure::Usage(format!("--in {name}: the expression does not read `{name}`")));
        }
        let files = self.inputs.iter().map(|(_, file)| ("--in", file.as_str()));
        protect(files.chain([("--key", self.key.as_str())]), &self.output)?;
        let engine = self.engine.engine()?;
        let scheme = open_scheme(&engine, &self.key)?;
        let words =
            self.inputs.iter().map(|(_, file)| read_bits(&scheme, file)).collect::<Result<Vec<_>, _>>()?;
        let widths: Vec<(&str, usize)> =
            self.inputs.iter().zip(&words).map(|((name, _), bits)| (name.as_str(), bits.len())).collect();
        let circuit = expression.circuit(&widths).map_err(|error| Failure::Usage(error.to_string()))?;
        let start = Instant::now();
        let (answer, plan) = self.evaluate(&scheme, &circuit, &words)?;
        write_bits(&scheme, &answer, &self.output)?;
        if self.quiet {
            return Ok(());
        }
        let budget = plan.output_budgets().iter().copied().fold(f64::INFINITY, f64::min);
        io::print(&format!(
            "{}: {} bits, least budget {budget:.1} bits\ncircuit: {}; {} recryptions; {:.2} s\n",
            self.output,
            answer.len(),
            circuit.cost(),
            plan.count(Operation::Recrypt),
            start.elapsed().as_secs_f64()
        ))
    }

    fn evaluate(
        &self,
        scheme: &GentryHalevi<'_>,
        circuit: &Circuit,
        words: &[Ciphertexts],
    ) -> Result<(Ciphertexts, Plan), Failure> {
        let words: Vec<&Ciphertexts> = words.iter().collect();
        let plan = Plan::new(circuit, scheme, &words, 1)?;
        let bar = Bar::new(Some(plan.batches() as u64), self.quiet, "batches");
        let answer = evaluate(&plan, scheme, &words, &mut |progress: Progress| {
            bar.advance(1);
            let Progress { level, levels, least_budget, .. } = progress;
            bar.message(format!("level {level} of {levels}, budget {least_budget:.0} bits"));
        });
        bar.finish();
        Ok((answer.map_err(evaluation_failure)?, plan))
    }
}

/// Why a plan failed while it ran.
pub(super) fn evaluation_failure(error: EvaluateError<modmill_fhe::gentry_halevi::Error>) -> Failure {
    match error {
        EvaluateError::Scheme(error) => error.into(),
        other => Failure::Usage(other.to_string()),
    }
}
