//! `modmill serve backup`, `restore`, `reseal` and `audit verify`.

use super::credentials::show;
use super::options::{DataOptions, runtime};
use crate::failure::Failure;
use crate::io;
use modmill_records::backup;
use modmill_server::admin::Command;
use modmill_server::{audit, run};
use std::path::PathBuf;

/// Writes all keys to one file, sealed as they are
///
/// The file is of use only with the master key, which is not in it.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    #[command(flatten)]
    data: DataOptions,
    /// The new file
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

impl Backup {
    pub(super) fn run(self) -> Result<(), Failure> {
        // A running service has another working folder.
        let path = std::path::absolute(&self.to)
            .map_err(|error| Failure::file("write", &self.to.to_string_lossy(), &error))?;
        show(&self.data.execute(Command::Backup { path })?, false)
    }
}

/// Writes a backup to an empty store; no service may be running on it
#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    #[command(flatten)]
    data: DataOptions,
    /// The backup
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
}

impl Restore {
    pub(super) fn run(self) -> Result<(), Failure> {
        let config = self.data.config()?;
        let summary = runtime()?.block_on(async {
            let store = run::open_store(&config).await.map_err(|error| Failure::Usage(error.to_string()))?;
            let restored = backup::restore(&*store, &self.from).await;
            restored.map_err(|error| Failure::Usage(error.to_string()))
        })?;
        let note = format!("a backup of {} documents was restored", summary.documents);
        let noted = run::open_audit(&config, &note).and_then(|audit| audit.sync_now());
        noted.map_err(|error| Failure::Usage(error.to_string()))?;
        io::print(&format!("documents: {}\n", summary.documents))
    }
}

/// Seals all keys anew under another master key
///
/// After it the service is started with --master-key-file FILE. A service that runs goes on.
#[derive(Debug, clap::Args)]
pub(super) struct Reseal {
    #[command(flatten)]
    data: DataOptions,
    /// The file of the new master key, which is made if it is absent
    #[arg(long, value_name = "FILE")]
    new_master_key_file: PathBuf,
}

impl Reseal {
    pub(super) fn run(self) -> Result<(), Failure> {
        let file = &self.new_master_key_file;
        let master_key_file = std::path::absolute(file)
            .map_err(|error| Failure::file("write", &file.to_string_lossy(), &error))?;
        show(&self.data.execute(Command::Reseal { master_key_file })?, false)
    }
}

/// The audit log
#[derive(Debug, clap::Subcommand)]
pub(super) enum Audit {
    /// Verifies the chain of the log, and names every line that is missing, changed or moved
    Verify(Verify),
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    #[command(flatten)]
    data: DataOptions,
}

impl Audit {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Self::Verify(Verify { data }) = self;
        let folder = data.config()?.data.join("audit");
        let report = audit::verify(&folder).map_err(|error| Failure::Usage(error.to_string()))?;
        for finding in &report.findings {
            io::print(&format!("{finding}\n"))?;
        }
        io::print(&format!(
            "{} lines, the last one is {} with hash {}\n",
            report.lines, report.last, report.head
        ))?;
        match report.findings.len() {
            0 => Ok(()),
            count => Err(Failure::Items(format!("{count} places of the audit log are wrong"))),
        }
    }
}
