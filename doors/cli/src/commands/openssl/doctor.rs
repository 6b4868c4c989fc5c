//! `modmill openssl doctor`.

use crate::failure::Failure;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Proves that OpenSSL's programs compute RSA by modmill's provider
///
/// OpenSSL skips a provider that it cannot load without a word. The doctor loads the configuration with the
/// program openssl, signs and verifies, and reads from the provider how many operations it computed and in
/// how many batches. The status is 1 if a check fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The configuration file [default: the one that OPENSSL_CONF names, or OpenSSL's own]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// OpenSSL's program
    #[arg(long, value_name = "PROGRAM", default_value = "openssl")]
    openssl: PathBuf,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::file("make", "a folder", &error))?;
        let patient = Patient { doctor: &self, folder: folder.path() };
        let version = patient.run(["version"])?;
        println!("{}", text(&version.stdout).trim());

        let providers = patient.run(["list", "-providers"])?;
        if !text(&providers.stdout).lines().any(|line| line.trim() == "modmill") {
            return Err(Failure::Items(format!(
                "the provider modmill is not loaded{}: check that OPENSSL_CONF names the file of `modmill openssl \
                 configure`, and that its `module` exists and can be read{}",
                match &self.config {
                    Some(config) => format!(" by {}", config.display()),
                    None => String::new(),
                },
                reasons(&providers)
            )));
        }
        println!("the provider modmill is loaded");

        patient.expect("making a key", ["genrsa", "-out", "key.pem", "2048"])?;
        let signed =
            patient.expect("signing", ["dgst", "-sha256", "-sign", "key.pem", "-out", "sig", "key.pem"])?;
        let (operations, _) = signed.ok_or_else(|| {
            Failure::Items(
                "the provider modmill is loaded, and OpenSSL signed by another one: \
                 the configuration has no `default_properties = ?provider=modmill`"
                    .into(),
            )
        })?;
        println!("signatures are computed by modmill: {operations}");
        patient.expect(
            "verifying",
            ["dgst", "-sha256", "-prverify", "key.pem", "-signature", "sig", "key.pem"],
        )?;
        println!("signatures verify");

        let jobs = ["speed", "-seconds", "1", "-async_jobs", "16", "rsa2048"];
        match patient.expect("signing in asynchronous jobs", jobs)? {
            Some((operations, batches)) if batches < operations => {
                let mean = operations as f64 / batches as f64;
                println!("asynchronous jobs are computed in batches: {mean:.1} signatures in each");
                Ok(())
            }
            _ => Err(Failure::Items("asynchronous jobs are not computed in batches".into())),
        }
    }
}

/// OpenSSL's program with a configuration.
struct Patient<'a> {
    doctor: &'a Doctor,
    folder: &'a Path,
}

impl Patient<'_> {
    fn run<const N: usize>(&self, arguments: [&str; N]) -> Result<Output, Failure> {
        let mut command = Command::new(&self.doctor.openssl);
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null());
        command.env("MODMILL_STATISTICS", self.statistics());
        if let Some(config) = &self.doctor.config {
            let config = fs::canonicalize(config);
            let failed = |error| Failure::file("find", "the configuration", &error);
            command.env("OPENSSL_CONF", config.map_err(failed)?);
        }
        let name = self.doctor.openssl.as_os_str();
        command.output().map_err(|error| Failure::file("run", &name.to_string_lossy(), &error))
    }

    /// Runs a command that has to succeed. Returns the operations and batches that the provider computed, if
    /// it did.
    fn expect<const N: usize>(
        &self,
        what: &str,
        arguments: [&str; N],
    ) -> Result<Option<(usize, usize)>, Failure> {
        let _ = fs::remove_file(self.statistics());
        let output = self.run(arguments)?;
        if !output.status.success() {
            return Err(Failure::Items(format!("{what} failed{}", reasons(&output))));
        }
        let Ok(line) = fs::read_to_string(self.statistics()) else { return Ok(None) };
        let figure = |name: &str| {
            line.split_whitespace().find_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
        };
        Ok(figure("operations").zip(figure("batches")))
    }

    fn statistics(&self) -> PathBuf {
        self.folder.join(OsStr::new("statistics"))
    }
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// The text that the program wrote to standard error, if any.
fn reasons(output: &Output) -> String {
    match text(&output.stderr).trim() {
        "" => String::new(),
        said => format!("; openssl says:\n{said}"),
    }
}
