//! `modmill fhe bench`.

use super::keygen::show_progress;
use super::scheme_options::{parse_setting, setting_name};
use crate::bench_header::bench_header;
use crate::commands::bench::parse_seconds;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::options::EngineOptions;
use crate::progress::Bar;
use modmill::Engine;
use modmill::matrix::Placement;
use modmill_fhe::gentry_halevi::Setting;
use modmill_measure::fhe::{FheRecord, gentry_halevi, header, line, lwe, to_json};
use modmill_measure::report::fhe_picture;
use std::time::Duration;

const LONG_ABOUT: &str = "\
Measures the operations of the schemes, and checks their answers: for Gentry and Halevi's scheme
keys, encryption, gates, decryption and recryption; for leveled LWE the product of a matrix of
long integers with vectors, which is its encryption.

For study and measurement, not for protection: the published parameters of Gentry and Halevi's
scheme are broken (M. S. Lee, eprint 2011/567).";

const EXAMPLES: &str = "\
Examples:
  modmill fhe bench
  modmill fhe bench --scheme gentry-halevi --setting toy --setting small --svg times.svg
  modmill fhe bench --scheme lwe --dimension 9326 --backend cuda";

/// A scheme that is measured.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Measured {
    GentryHalevi,
    Lwe,
}

/// The memory that holds the matrix between products.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Place {
    /// In the memory of a GPU, or of the host where there is none
    Held,
    /// In pinned memory of the host, copied to a GPU for each product
    Pinned,
    /// Nowhere: expanded from its seed for each product
    Seed,
}

impl From<Place> for Placement {
    fn from(place: Place) -> Self {
        match place {
            Place::Held => Self::Held,
            Place::Pinned => Self::Pinned,
            Place::Seed => Self::Streamed,
        }
    }
}

/// Measures the operations of the schemes
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Bench {
    /// Schemes, all by default
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',', ignore_case = true)]
    scheme: Vec<Measured>,
    /// Parameters of Gentry and Halevi's scheme: toy, small, medium, large, or a setting such as
    /// n=64,t=380,sec=72
    ///
    /// Given several times, all of them are measured.
    #[arg(long, value_name = "NAME", default_value = "toy", value_parser = parse_setting)]
    setting: Vec<Setting>,
    /// Columns of the matrix of leveled LWE
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    dimension: u32,
    /// Rows of the matrix, as many as columns by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rows: Option<u32>,
    /// Place of the matrix
    #[arg(long, value_enum, value_name = "PLACE", default_value = "held", ignore_case = true)]
    place: Place,
    /// Bits that are encrypted and decrypted at a time
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Bits that are recrypted at a time, in addition to one alone
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    recrypted: u16,
    /// Seconds for each operation
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_seconds)]
    seconds: Duration,
    /// Write all results to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write plots of the time by size to this file as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    #[command(flatten)]
    engine: EngineOptions,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Bench {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let svg = self.svg.as_deref().map(Output::create).transpose()?;
        let engine = self.engine.engine()?;
        let schemes = match self.scheme.is_empty() {
            true => vec![Measured::GentryHalevi, Measured::Lwe],
            false => self.scheme.clone(),
        };
        let mut records = Vec::new();
        if !self.quiet {
            io::print(&header())?;
        }
        for scheme in schemes {
            self.measure(&engine, scheme, &mut records)?;
        }
        if let Some(mut output) = json {
            let text = to_json(&bench_header(self.seconds, 0, None), &records);
            output.write(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
            output.finish()?;
        }
        if let Some(mut output) = svg {
            output.write(&fhe_picture(&records))?;
            output.finish()?;
        }
        match records.iter().find(|record| !record.verified) {
            None => Ok(()),
            Some(wrong) => Err(Failure::Items(format!("wrong answers of {}", wrong.op))),
        }
    }

    fn measure(
        &self,
        engine: &Engine,
        scheme: Measured,
        records: &mut Vec<FheRecord>,
    ) -> Result<(), Failure> {
        let bar = Bar::new(None, self.quiet, "steps");
        let mut printed = Ok(());
        let done = |record: FheRecord| {
            if !self.quiet && printed.is_ok() {
                printed = bar.aside(|| io::print(&line(&record)));
            }
            records.push(record);
        };
        match scheme {
            Measured::GentryHalevi => {
                let mut done = done;
                for setting in &self.setting {
                    let bench = gentry_halevi::Bench {
                        engine,
                        setting: *setting,
                        name: setting_name(setting),
                        time: self.seconds,
                        batch: self.batch.into(),
                        recrypted: self.recrypted.min(self.batch).into(),
                    };
                    bench.run(&mut |progress| show_progress(&bar, progress), &mut done)?;
                }
            }
            Measured::Lwe => {
                bar.message("products of a matrix with vectors".to_owned());
                let many = if engine.cuda().is_some() { [256, 64] } else { [4, 2] };
                let bench = lwe::Bench {
                    engine,
                    rows: self.rows.unwrap_or(self.dimension) as usize,
                    columns: self.dimension as usize,
                    moduli: 32,
                    placement: self.place.into(),
                    time: self.seconds,
                    many,
                };
                bench.run(done)?;
            }
        }
        bar.finish();
        printed
    }
}
