//! The noise of a recrypted ciphertext, which the owner of a key measures and publishes.
//!
//! A bound from the norms of the circuit's inputs alone is far too great. The circuit has degree 15 in the
//! selected bits, each of which is a sum over hundreds of pairs of selectors, and such a bound counts them
//! all as if they pointed in one direction at every root: 305 bits where there are 175. No two recrypted bits
//! could be multiplied. But the owner knows the noise of the selectors, which is fixed with the key.
//! Recryption's only other input is which multiples have which bits set, and these are as good as random,
//! because multiples are spread over all residues. So KeyGen evaluates the circuit at every root in floating
//! point, for several draws of such bits, and publishes the mean norm in bits with a margin.
//!
//! The norms of single recryptions have a standard deviation of 1.4 (n = 2048) to 2.5 bits (n = 64). A norm
//! beyond the margin does no harm at once: it is the magnitude at one root, and decryption depends on the
//! mean over all n/2, which is up to `log2(n) - 1` bits less. So the margin is 5 bits from n = 512 on, and
//! two bits more for each halving of n below.

use super::column_sums::{ColumnSums, Output};
use super::embedding::{Complex, Embedding, rounded_down};
use super::sampling::Polynomials;
use super::selectors::selected;
use super::{Error, Setting, random};
use modmill::Engine;
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Draws of random bits.
const DRAWS: usize = 8;
/// Bits above the mean of the norms that were found, from `2^MARGIN_LOG` dimensions on.
const MARGIN: f64 = 5.0;
/// The binary logarithm of the dimension below which the margin is greater.
const MARGIN_LOG: u32 = 9;
/// Roots that are computed together, so that their values stay in the cache.
const TOGETHER: usize = 32;

/// A bound on the noise of recrypted ciphertexts in bits, from the noise polynomials and the bits of the
/// selectors.
pub(super) fn recrypted_noise(
    engine: &Engine,
    setting: &Setting,
    embedding: &Embedding,
    polynomials: &Polynomials,
    bits: &[bool],
    mut progress: impl FnMut(usize),
) -> Result<f64, Error> {
    let n = setting.dimension();
    let (s, c, p) = (setting.blocks(), setting.block_selectors(), setting.precision());
    let roots = n / 2;
    // For each draw the selected bits at each root: root by root, block by block, column by column.
    let mut drawn = vec![Zeroizing::new(vec![Complex::default(); roots * s * (p + 1)]); DRAWS];
    for block in 0..s {
        let values: Vec<Zeroizing<Vec<Complex>>> = engine.install(|| {
            let selector = |index: usize| {
                let mut coefficients = polynomials.coefficients(block * c + index, n);
                coefficients.iter_mut().for_each(|u| *u *= 2.0);
                coefficients[0] += f64::from(u8::from(bits[block * c + index]));
                embedding.values(&coefficients)
            };
            (0..c).into_par_iter().map(selector).collect()
        });
        for drawn in &mut drawn {
            let windows =
                random::words(setting.multiples())?.iter().map(|word| (word % (2 << p)) as u8).collect();
            let outputs = selected(setting, &[windows]);
            engine.install(|| {
                let rows = drawn.par_chunks_mut(TOGETHER * s * (p + 1)).enumerate();
                rows.for_each(|(part, rows)| {
                    for (root, row) in rows.chunks_mut(s * (p + 1)).enumerate() {
                        let root = part * TOGETHER + root;
                        for (out, output) in row[block * (p + 1)..].iter_mut().zip(&outputs) {
                            *out = evaluate(output, |index| values[index][root]);
                        }
                    }
                });
            });
        }
        progress(block + 1);
    }
    let circuit = ColumnSums::new(s, p);
    let count = s * (p + 1) + circuit.rounds.iter().map(Vec::len).sum::<usize>();
    let norm = |row: &[Complex]| {
        let mut numbers = Zeroizing::new(vec![Complex::default(); count]);
        numbers[..row.len()].copy_from_slice(row);
        for (known, output) in (row.len()..).zip(circuit.rounds.iter().flatten()) {
            numbers[known] = evaluate(output, |index| numbers[index]);
        }
        let sum = circuit.result.iter().fold(Complex::default(), |sum, &index| sum + numbers[index]);
        sum.magnitude()
    };
    let norms: Vec<f64> = engine.install(|| {
        let greatest =
            |rows: &Zeroizing<Vec<Complex>>| rows.chunks(s * (p + 1)).map(norm).fold(0.0, f64::max);
        drawn.par_iter().map(|rows| greatest(rows).log2()).collect()
    });
    let mean = norms.iter().sum::<f64>() / DRAWS as f64;
    let margin = MARGIN + 2.0 * f64::from(MARGIN_LOG.saturating_sub(n.ilog2()));
    let bound = norms.into_iter().fold(mean + margin, f64::max);
    Ok(-rounded_down(-bound))
}

/// A sum of terms at one root.
fn evaluate(output: &Output, number: impl Fn(usize) -> Complex) -> Complex {
    output.iter().fold(Complex::default(), |sum, term| {
        let rights = term.rights.iter().fold(Complex::default(), |sum, &right| sum + number(right));
        sum + match term.left {
            Some(left) => number(left) * rights,
            None => rights,
        }
    })
}
