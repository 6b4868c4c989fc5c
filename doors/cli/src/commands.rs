//! The commands: one file for each.

#[cfg(not(feature = "full"))]
mod absent;
#[cfg(feature = "audit")]
mod audit;
pub(crate) mod batch_gcd;
mod bench;
mod completions;
mod div;
#[cfg(feature = "ec")]
mod ec;
#[cfg(feature = "fhe")]
mod fhe;
mod gcd;
#[cfg(feature = "hardware")]
mod hardware;
mod info;
mod inv;
mod isqrt;
mod jacobi;
#[cfg(feature = "serve")]
mod load;
mod man;
mod mul;
#[cfg(feature = "openssl")]
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
#[cfg(not(feature = "full"))]
use absent::absent;

#[cfg(not(feature = "audit"))]
absent!(audit, Audit, "audit", "Finds the RSA keys of a collection that share primes, and other weak ones");
#[cfg(not(feature = "ec"))]
absent!(ec, Ec, "ec", "Signs, verifies and derives secrets on elliptic curves");
#[cfg(not(feature = "fhe"))]
absent!(fhe, Fhe, "fhe", "Computes with encrypted bits (homomorphic encryption), for study and measurement");
#[cfg(not(feature = "hardware"))]
absent!(hardware, Hardware, "hardware", "Simulates hardware multipliers cycle by cycle");
#[cfg(not(feature = "serve"))]
absent!(load, Load, "serve", "Loads a signing service and measures it");
#[cfg(not(feature = "openssl"))]
absent!(
    openssl,
    Openssl,
    "openssl",
    "Sets OpenSSL's programs up to compute RSA in batches, and proves that they do"
);
#[cfg(not(feature = "serve"))]
absent!(serve, Serve, "serve", "Runs the signing service");

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Info(info::Info),
    Powm(powm::Powm),
    Mul(mul::Mul),
    Inv(inv::Inv),
    Gcd(gcd::Gcd),
    BatchGcd(batch_gcd::BatchGcd),
    Audit(Box<audit::Audit>),
    Div(div::Div),
    Isqrt(isqrt::Isqrt),
    Jacobi(jacobi::Jacobi),
    Primality(primality::Primality),
    Bench(bench::Bench),
    #[command(subcommand)]
    Rsa(rsa::Rsa),
    #[cfg_attr(feature = "ec", command(subcommand))]
    Ec(ec::Ec),
    #[cfg_attr(feature = "openssl", command(subcommand))]
    Openssl(openssl::Openssl),
    #[cfg_attr(feature = "fhe", command(subcommand))]
    Fhe(fhe::Fhe),
    #[cfg_attr(feature = "hardware", command(subcommand))]
    Hardware(hardware::Hardware),
    Serve(Box<serve::Serve>),
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
            Self::BatchGcd(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::Div(command) => command.run(),
            Self::Isqrt(command) => command.run(),
            Self::Jacobi(command) => command.run(),
            Self::Primality(command) => command.run(),
            Self::Bench(command) => command.run(),
            Self::Rsa(command) => command.run(),
            Self::Ec(command) => command.run(),
            Self::Openssl(command) => command.run(),
            Self::Fhe(command) => command.run(),
            Self::Hardware(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Load(command) => command.run(),
            Self::Selftest(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Warm(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
