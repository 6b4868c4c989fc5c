//! `modmill audit`: weak RSA keys among many.

mod inputs;
mod report;

use crate::failure::Failure;
use crate::io::{Output, Protected, writes_terminal};
use crate::options::{EngineOptions, LineOption, parse_size};
use crate::progress::Bar;
use inputs::{InputFormat, Inputs};
use modmill::Engine;
use modmill_audit::{
    Addition, Audit as Computation, Collection, Corpus, Finding, Progress, Recovered, Scratch, recover,
};
use report::Report;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const LONG_ABOUT: &str = r#"Finds weak RSA keys among many: keys that share a prime, with the prime and the keys that have it.

The inputs are files or folders of public keys: certificates, requests and public keys in PEM or
DER, lines of OpenSSH (known_hosts, authorized_keys), JSON Web Keys and sets of them, lists of
hexadecimal moduli, CSV, JSON Lines, Parquet and Arrow. The findings are JSON Lines:
  {"kind":"shared_prime","ids":["a.pem"],"modulus":"<hex>","factors":["<hex>","<hex>"],
   "partners":["b.pem"]}
  {"error":"b.pem: ..."}     if an entry is no public RSA key
The kinds are duplicate, small_factor (below 2^16), prime, power, shared_prime and
all_primes_shared. Factors multiply to the modulus. A private key among the inputs is an error of
its entry, and nothing of it is written.

Findings make keys of others readable: audit your own, and those that you may."#;

const EXAMPLES: &str = r#"Examples:
  modmill audit --in certificates/ --in ~/.ssh/known_hosts
  modmill audit --in keys.parquet --column modulus --id fingerprint --out findings.jsonl
  modmill audit --in moduli.hex --format hex --out findings.jsonl --recover recovered/
  modmill audit --in today.jsonl --corpus corpus/ --add --out findings.jsonl
  modmill audit --in many.parquet --memory 8G --scratch scratch/ --resume

Exit status:
  0  nothing was found
  1  nothing was found, and some entries could not be audited
  2  the command line is wrong, or a file cannot be read or written
  3  weak keys were found"#;

/// Finds the RSA keys of a collection that share primes, and other weak ones
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Audit {
    /// File or folder of keys, several times if need be; - is standard input
    #[arg(long = "in", value_name = "FILE_OR_DIR", required = true, num_args = 1..)]
    inputs: Vec<String>,
    /// File of findings; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// Format of all inputs: auto (by the name and the first bytes of each), pem, der, ssh, jwk, hex,
    /// csv, lines (JSON Lines), parquet or arrow
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = InputFormat::parse)]
    format: InputFormat,
    /// Column of moduli in CSV, JSON Lines, Parquet and Arrow; the number of the column in CSV without a
    /// line of names
    #[arg(long, value_name = "NAME", default_value = "n")]
    column: String,
    /// Column with the names of keys; without it, or where it is empty, a key is named by its place
    #[arg(long, value_name = "NAME", default_value = "id")]
    id: String,
    /// Folder with the keys of earlier audits, with which these are compared
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Add the keys to the corpus
    #[arg(long, requires = "corpus")]
    add: bool,
    /// Folder for the private keys of moduli that were factored; files are not written over
    #[arg(long, value_name = "DIR")]
    recover: Option<PathBuf>,
    /// Memory for trees; more keys than it holds are audited in subsets. The keys take memory beside it
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Folder for intermediate results, which are removed at the end
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// Go on with the intermediate results of an audit that was interrupted
    #[arg(long, requires = "scratch")]
    resume: bool,
    #[command(flatten)]
    lines: LineOption,
    #[command(flatten)]
    engine: EngineOptions,
    /// Show no progress bar and no counts
    #[arg(long, short)]
    quiet: bool,
}

impl Audit {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let protected: Vec<(&str, &str)> = self.inputs.iter().map(|input| ("--in", input.as_str())).collect();
        Protected::new(protected).check(&self.output)?;
        let engine = self.engine.engine()?;
        let inputs = Inputs {
            format: self.format,
            column: self.column.clone().leak(),
            id: self.id.clone().leak(),
            max_line: self.lines.max_line,
            quiet: self.quiet,
            engine: &engine,
        };
        let mut corpus = match &self.corpus {
            Some(path) => Some(Corpus::open(path, self.add).map_err(failure)?),
            None => None,
        };
        let scratch = match &self.scratch {
            Some(path) => Some(Scratch::open(path, self.resume).map_err(failure)?),
            None => None,
        };
        let (named, errors) = inputs.read(&self.inputs)?;
        let entries = named.len();
        let (collection, findings, addition) =
            self.watched(&engine, scratch.as_ref(), |computation| match &mut corpus {
                Some(corpus) => corpus.audit(computation, named),
                None => {
                    let collection = Collection::new(named);
                    let findings = computation.run(&collection)?;
                    Ok((collection, findings, None))
                }
            })?;
        let report = Report { entries, errors: &errors, findings: &findings };
        let mut output = Output::create(&self.output)?;
        match writes_terminal(&self.output) {
            true => output.write(&report.table())?,
            false => report.write_lines(&mut output)?,
        }
        output.finish()?;
        if let Some(folder) = &self.recover {
            self.recover(&engine, &collection, &findings, folder)?;
        }
        // A later audit does not tell again what these keys share with those of the corpus: they are added
        // when all that was found is written.
        addition.map_or(Ok(()), Addition::add).map_err(failure)?;
        scratch.map_or(Ok(()), |scratch| scratch.clear()).map_err(failure)?;
        report.finish(self.quiet)
    }

    /// Computes with a bar that shows the stage, the level and the time left.
    fn watched<T: Send>(
        &self,
        engine: &Engine,
        scratch: Option<&Scratch>,
        compute: impl FnOnce(&Computation<'_>) -> Result<T, modmill_audit::Error> + Send,
    ) -> Result<T, Failure> {
        let progress = Progress::new();
        let mut computation = Computation::new(engine, &progress);
        if let Some(bytes) = self.memory {
            computation = computation.memory(bytes);
        }
        if let Some(scratch) = scratch {
            computation = computation.scratch(scratch);
        }
        let (bar, is_over) = (Bar::new(Some(1), self.quiet, "items"), AtomicBool::new(false));
        let found = thread::scope(|scope| {
            let looker = scope.spawn(|| {
                let mut before = progress.now();
                while !is_over.load(Ordering::Acquire) {
                    let now = progress.now();
                    if now.items != before.items || now.done < before.done {
                        bar.restart();
                    }
                    bar.show_of(now.done as u64, now.items as u64);
                    bar.message(now.text.clone());
                    before = now;
                    thread::park_timeout(Duration::from_millis(200));
                }
            });
            let found = compute(&computation);
            is_over.store(true, Ordering::Release);
            looker.thread().unpark();
            found
        });
        bar.finish();
        found.map_err(failure)
    }

    /// Writes private keys and says what became of them.
    fn recover(
        &self,
        engine: &Engine,
        collection: &Collection,
        findings: &[Finding],
        folder: &std::path::Path,
    ) -> Result<(), Failure> {
        let recovered = recover(engine, collection, findings, folder).map_err(failure)?;
        let mut written = 0;
        for one in &recovered {
            match one {
                Recovered::Written(_) => written += 1,
                Recovered::Present(path) => {
                    crate::failure::say(&format!("{} was there before and stays as it was", path.display()));
                }
                Recovered::Refused(reason) => crate::failure::say(reason),
            }
        }
        if !self.quiet {
            crate::failure::say(&format!("{written} private keys written to {}", folder.display()));
        }
        Ok(())
    }
}

fn failure(error: modmill_audit::Error) -> Failure {
    Failure::Usage(error.to_string())
}
