//! Jobs in a residue number system, item by item.

use super::domain::RnsDomain;
use crate::team::Workers;
use crate::threads::Share;
use modmill_core::limbs::bit_length;
use modmill_core::rns::Bases;
use modmill_core::{Batch, Error, Job, Moduli, Modulus};
use rayon::prelude::*;
use std::sync::Arc;

/// Computes a job item by item, on the threads of `workers`. A modulus that shares a prime with base B, or is
/// too long for all bases, has no domain. `otherwise` computes the items with such a modulus.
pub(crate) fn run(
    workers: &Workers,
    job: &Job<'_>,
    otherwise: impl FnOnce(&Job<'_>) -> Result<Batch, Error>,
    compute: impl Fn(&RnsDomain, usize, &mut [u64]) + Sync,
) -> Result<Batch, Error> {
    // Each modulus uses the bases for its own length.
    let make = |modulus: &[u64]| RnsDomain::new(&Bases::for_bits(bit_length(modulus))?, modulus);
    let kept = |modulus: &Modulus| modulus.constants(|modulus| make(modulus.value()));
    let shared: Option<Arc<Option<RnsDomain>>> = match job.moduli {
        Moduli::Shared(modulus) => Some(kept(modulus)),
        Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => None,
    };
    let mut answers = Batch::try_zeros(job.moduli.bits(), job.items.len())?;
    let stride = answers.stride();
    // Returns the place of the item if its modulus has no domain.
    let item = |(place, out): (usize, &mut [u64])| {
        let item = job.items.get(place);
        let domain = match (&shared, job.moduli) {
            (Some(domain), _) => Arc::clone(domain),
            (None, Moduli::Prepared(moduli)) => kept(moduli[item]),
            (None, _) => Arc::new(make(job.moduli.get(item))),
        };
        match domain.as_ref() {
            Some(domain) => {
                compute(domain, item, out);
                None
            }
            None => Some(place),
        }
    };
    let refused: Vec<Option<usize>> =
        workers.install(|| answers.as_limbs_mut().par_chunks_mut(stride).enumerate().map(item).list());
    let refused: Vec<usize> = refused.into_iter().flatten().collect();
    if !refused.is_empty() {
        let items: Vec<usize> = refused.iter().map(|&place| job.items.get(place)).collect();
        let others = otherwise(&job.part(&items))?;
        for (&place, other) in refused.iter().zip(others.as_limbs().chunks(stride)) {
            answers.as_limbs_mut()[place * stride..][..stride].copy_from_slice(other);
        }
    }
    Ok(answers)
}
