//! Options that the service and its commands share.

use crate::failure::Failure;
use modmill_server::clock::Clock;
use modmill_server::config::Config;
use modmill_server::{admin, run};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The places of the service's data.
#[derive(Debug, clap::Args)]
pub(super) struct DataOptions {
    /// The folder of keys, certificates and the audit log
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The store of keys: embedded, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The file of the key that seals all keys; made on the first run
    #[arg(long, value_name = "FILE", env = "MODMILL_MASTER_KEY_FILE", hide_env_values = true)]
    master_key_file: Option<PathBuf>,
}

impl DataOptions {
    /// The configuration file with the options of the command line.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let config = self.config.as_ref().map_or_else(|| Ok(Config::default()), |path| Config::read(path));
        let mut config = config.map_err(|error| Failure::Usage(error.to_string()))?;
        if let Some(data) = &self.data {
            config.data.clone_from(data);
        }
        if let Some(store) = &self.store {
            config.store.url.clone_from(store);
        }
        if let Some(file) = &self.master_key_file {
            config.store.master_key_file.clone_from(file);
        }
        Ok(config)
    }

    /// Has a command executed by the service that runs on these data, or executes it if none runs.
    pub(super) fn execute(&self, command: admin::Command) -> Result<Zeroizing<String>, Failure> {
        let config = self.config()?;
        let failed = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        runtime()?.block_on(async {
            let send = async || admin::send(&config.data, &command).await.map_err(|error| failed(&error));
            if let Some(answer) = send().await? {
                return Ok(answer);
            }
            let store = match run::open_store(&config).await {
                Ok(store) => store,
                // A service that was about to start holds the store, and takes commands by now.
                Err(error) => return send().await?.ok_or_else(|| failed(&error)),
            };
            let records = run::open_records(&config, store).await.map_err(|error| failed(&error))?;
            let audit = match command.is_audited() {
                true => Some(
                    run::open_audit(&config, "a command opens the log").map_err(|error| failed(&error))?,
                ),
                false => None,
            };
            let answer = command.execute_audited(audit.as_ref(), &records, &Clock::default()).await;
            if let Some(audit) = audit {
                audit.sync_now().map_err(|error| failed(&error))?;
            }
            answer.map_err(|error| failed(&error))
        })
    }
}

/// The threads that wait for connections.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::Usage(format!("threads cannot be started: {error}")))
}
