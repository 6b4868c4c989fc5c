//! `modmill fhe keygen`.

use super::WARNING;
use super::files::{failure, file_name};
use super::meter::size;
use super::scheme_options::{SchemeName, parse_setting, setting_text};
use crate::failure::Failure;
use crate::io::{self, FileIdentity};
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill::Engine;
use modmill_fhe::gentry_halevi::{Progress, PublicKey, SecretKey, Setting, Stage, generate};
use std::path::Path;
use std::time::Instant;

const LONG_ABOUT: &str = "\
Makes a pair of keys. Whoever has the public key encrypts bits and computes with encrypted bits.
Whoever has the secret key reads them; its file can be read by its owner only.

For study and measurement, not for protection: the published parameters of Gentry and Halevi's
scheme are broken (M. S. Lee, eprint 2011/567).

  setting   dimension   bits of a number   public key
  toy             512             195763        17 MB
  small          2048             784963        69 MB
  medium         8192          3.1 million      284 MB
  large         32768         12.6 million     2.25 GB

A setting may be given in numbers, as n=64,t=380,sec=72: the dimension (a power of two), the bits of
the lattice's coefficients (380 if not given) and the security parameter (72 if not given).

A file that exists is not overwritten, because it may hold a key: --force overwrites it.";

const EXAMPLES: &str = "\
Examples:
  modmill fhe keygen --setting toy --public key.public --secret key.secret
  modmill fhe keygen --scheme gentry-halevi --setting n=64,t=128,sec=8 --public p --secret s";

/// Makes a pair of keys
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Keygen {
    /// Scheme
    #[arg(long, value_enum, value_name = "NAME", default_value = "gentry-halevi", ignore_case = true)]
    scheme: SchemeName,
    /// Parameters: toy, small, medium, large, or a setting such as n=64,t=380,sec=72
    #[arg(long, value_name = "NAME", value_parser = parse_setting)]
    setting: Setting,
    /// File for the public key
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    public: String,
    /// File for the secret key, readable only by its owner
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    secret: String,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    engine: EngineOptions,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Keygen {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.check_files()?;
        let engine = self.engine.engine()?;
        let start = Instant::now();
        let (public, secret) = match self.scheme {
            SchemeName::GentryHalevi => generate_shown(&engine, &self.setting, self.quiet)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        // The secret first: a public key without its secret one is of no use.
        secret.write(&public, Path::new(&self.secret)).map_err(failure("write", &self.secret))?;
        public.write(Path::new(&self.public)).map_err(failure("write", &self.public))?;
        if self.quiet {
            return Ok(());
        }
        let length = |path: &str| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        io::print(&format!(
            "{WARNING}\n\nsetting     {}\nnumbers     {} bits\npublic key  {}, {}\nsecret key  {}, {}\ntime        {seconds:.2} s\n",
            setting_text(&self.setting),
            public.modulus().bits(),
            self.public,
            size(length(&self.public)),
            self.secret,
            size(length(&self.secret)),
        ))
    }

    /// Refuses files that exist, unless they may be overwritten, and one file for both keys.
    fn check_files(&self) -> Result<(), Failure> {
        let is_same = FileIdentity::of_path(Path::new(&self.public))
            .is_some_and(|public| Some(public) == FileIdentity::of_path(Path::new(&self.secret)));
        if is_same || self.public == self.secret {
            return Err(Failure::Usage("--public and --secret name the same file".to_owned()));
        }
        match [&self.public, &self.secret].into_iter().find(|path| Path::new(path).is_file()) {
            Some(path) if !self.force => {
                Err(Failure::Usage(format!("{path} exists and may hold a key; --force overwrites it")))
            }
            _ => Ok(()),
        }
    }
}

/// Makes keys, with progress on standard error.
pub(super) fn generate_shown(
    engine: &Engine,
    setting: &Setting,
    quiet: bool,
) -> Result<(PublicKey, SecretKey), Failure> {
    let bar = Bar::new(None, quiet, "steps");
    let keys = generate(engine, setting, &mut |progress| show_progress(&bar, progress));
    bar.finish();
    Ok(keys?)
}

/// Shows how far the generation of keys is.
pub(super) fn show_progress(bar: &Bar, Progress { stage, done, total }: Progress) {
    let name = match stage {
        Stage::Lattice => "the determinant of a random lattice",
        Stage::Inverse => "the inverse of a coefficient",
        Stage::Powers => "powers of the root",
        Stage::Selectors => "encrypted selectors",
        Stage::Noise => "the noise of recrypted bits",
        _ => "keys",
    };
    bar.advance(1);
    bar.message(format!("{name}, {done} of {total}"));
}
