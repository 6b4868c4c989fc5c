//! `modmill serve`: the signing service.

mod admin;
mod credentials;
mod issuer;
mod logging;
mod memory;
mod options;

use crate::failure::Failure;
use crate::io;
use logging::LogFormat;
use modmill_server::{config, run};
use options::DataOptions;
use std::net::SocketAddr;
use std::time::Duration;

const LONG_ABOUT: &str = "\
Runs a service that signs and decrypts with RSA keys for many clients, and gathers their requests in batches.

Clients use the API of AWS KMS, Vault's transit engine, Privacy Pass, or the service's own bulk interface. Keys are kept in the data folder, \
sealed by a master key that is made on the first run, or in PostgreSQL. One line `listening on URL` is printed when requests are \
served; everything else goes to standard error. On SIGTERM or SIGINT it answers the requests under way and ends. SIGHUP \
reads certificates again.";

const EXAMPLES: &str = "\
Examples:
  modmill serve --data keys --listen 127.0.0.1:8443
  modmill serve credentials create --data keys --name alice
  modmill serve --print-config > serve.toml
  modmill serve --config serve.toml --check
  modmill serve --config serve.toml --store postgres://modmill@db/modmill
  modmill serve backup --data keys --to keys.backup
  modmill serve audit verify --data keys

Environment:
  MODMILL_MASTER_KEY_FILE    the file of the master key
  MODMILL_MASTER_KEY         the master key itself, in hexadecimal or Base64, where there is no file
  MODMILL_MASTER_PASSPHRASE  a passphrase, where there is neither a file nor a master key";

/// Runs the signing service
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Serve {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    data: DataOptions,
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The region in ARNs and in the signatures of requests [default: us-east-1]
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// The twelve digits of the account in ARNs [default: 000000000000]
    #[arg(long, value_name = "DIGITS")]
    account: Option<String>,
    /// Do not encrypt connections; for loopback addresses only
    #[arg(long)]
    no_tls: bool,
    /// How lines on standard error are written
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    log: LogFormat,
    /// Check the configuration and end
    #[arg(long)]
    check: bool,
    /// Print a configuration file with every option and its default
    #[arg(long)]
    print_config: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    #[command(subcommand)]
    Credentials(credentials::Credentials),
    #[command(subcommand)]
    Issuer(issuer::Issuer),
    Backup(admin::Backup),
    Restore(admin::Restore),
    Reseal(admin::Reseal),
    #[command(subcommand)]
    Audit(admin::Audit),
}

impl Serve {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            None => self.serve(),
            Some(Command::Credentials(command)) => command.run(),
            Some(Command::Issuer(command)) => command.run(),
            Some(Command::Backup(command)) => command.run(),
            Some(Command::Restore(command)) => command.run(),
            Some(Command::Reseal(command)) => command.run(),
            Some(Command::Audit(command)) => command.run(),
        }
    }

    fn serve(self) -> Result<(), Failure> {
        if self.print_config {
            return io::print(config::DEFAULT);
        }
        let mut config = self.data.config()?;
        if let Some(listen) = self.listen {
            config.listen = listen;
        }
        if let Some(region) = self.region {
            config.region = region;
        }
        if let Some(account) = self.account {
            config.account = account;
        }
        config.tls.enabled &= !self.no_tls;
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        config.check().map_err(|error| usage(&error))?;
        if self.check {
            return io::print("the configuration is right\n");
        }
        memory::give_back();
        let _lines = logging::start(self.log)?;
        let runtime = options::runtime()?;
        let ended = runtime.block_on(async {
            let announce = |url: &str| {
                // Whoever started the service may have closed its standard output.
                let _ = io::print(&format!("listening on {url}\n"));
            };
            run::run(config, announce).await.map_err(|error| usage(&error))
        });
        // Kernels may still be compiled, which nobody waits for.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended
    }
}
