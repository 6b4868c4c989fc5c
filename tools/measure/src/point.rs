//! One point of a benchmark: every contender on the same inputs, and every answer compared.

pub(crate) mod columns;
pub(crate) mod numbers;
pub(crate) mod rsa;

use crate::engines::{BackendEngines, Engines};
use crate::error::{Error, Refusal};
use crate::peers::Peer;
use crate::record::{LeftOut, Record};
use crate::slices::Rates;
use modmill::Engine;
use std::time::Duration;

/// The contenders of a point, and the time that each of them gets.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) engines: &'a Engines,
    pub(crate) backend: &'a BackendEngines,
    pub(crate) peers: &'a [Box<dyn Peer>],
    /// Computes the right answers of a GPU's samples.
    pub(crate) cpu: &'a Engine,
    pub(crate) time: Duration,
}

/// The results of a point.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) records: Vec<Record>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Separates the peers that refuse the inputs from the others, which are returned.
fn without_refusals<'a, T>(
    peers: impl Iterator<Item = (&'a dyn Peer, Result<T, Refusal>)>,
    op: &str,
    bits: usize,
    left_out: &mut Vec<LeftOut>,
) -> Vec<T> {
    let mut able = Vec::new();
    for (peer, result) in peers {
        match result {
            Ok(value) => able.push(value),
            Err(refusal) => left_out.push(LeftOut::new(op, bits, peer.about(), &refusal)),
        }
    }
    able
}

/// The rates of a peer, or why it refused the inputs. Any other error ends the measurement.
fn rates_or_refusal(measured: Result<Rates, Error>) -> Result<Result<Rates, Refusal>, Error> {
    match measured {
        Ok(rates) => Ok(Ok(rates)),
        Err(Error::Refused(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(error),
    }
}
