//! The commands: one file for each.

pub(crate) mod bench;
mod completions;
mod fhe;
mod gcd;
mod hardware;
mod info;
mod inv;
#[cfg(feature = "serve")]
mod load;
mod man;
mod mul;
mod openssl;
mod powm;
mod primality;
mod rsa;
mod selftest;
#[cfg(feature = "serve")]
mod serve;
mod tune;
mod warm;

use crate::failure::Failure;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Info(info::Info),
    Powm(powm::Powm),
    Mul(mul::Mul),
    Inv(inv::Inv),
    Gcd(gcd::Gcd),
    Primality(primality::Primality),
    Bench(bench::Bench),
    #[command(subcommand)]
    Rsa(rsa::Rsa),
    #[command(subcommand)]
    Openssl(openssl::Openssl),
    #[command(subcommand)]
    Fhe(fhe::Fhe),
    #[command(subcommand)]
    Hardware(hardware::Hardware),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Serve>),
    #[cfg(feature = "serve")]
    Load(Box<load::Load>),
    Selftest(selftest::Selftest),
    Tune(tune::Tune),
    Warm(warm::Warm),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Info(command) => command.run(),
            Self::Powm(command) => command.run(),
            Self::Mul(command) => command.run(),
            Self::Inv(command) => command.run(),
            Self::Gcd(command) => command.run(),
            Self::Primality(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Rsa(command) => command.run(),
            Self::Openssl(command) => command.run(),
            Self::Fhe(command) => command.run(),
            Self::Hardware(command) => command.run(),
            #[cfg(feature = "serve")]
            Self::Serve(command) => command.run(),
            #[cfg(feature = "serve")]
            Self::Load(command) => command.run(),
            Self::Selftest(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Warm(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
