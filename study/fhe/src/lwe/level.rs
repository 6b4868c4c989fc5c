//! The evaluation key of a level, as a matrix.

use super::error::Error;
use super::evaluation_key::{EvaluationKey, rows};
use modmill::matrix::{MatrixSource, MemoryRows, SeededRows};

/// `[b | -A']` for ciphertexts with the first `count` moduli: the first rows of the key, and of each row the
/// residues of these moduli.
pub(super) fn level_rows(key: &EvaluationKey, count: usize) -> Result<MemoryRows, Error> {
    let parameters = key.parameters();
    let (all, dimension) = (parameters.moduli(), parameters.dimension());
    let whole = SeededRows::new(all, rows(parameters, all.len()), dimension, key.seed())?;
    let moduli = all.first(count)?;
    let row_count = rows(parameters, count);
    let mut row = vec![0; whole.row_words()];
    let mut words = Vec::new();
    let wanted = row_count * count * (dimension + 1);
    let out_of_memory = |_| modmill::Error::OutOfMemory { what: "memory", bytes: 4 * wanted };
    words.try_reserve_exact(wanted).map_err(out_of_memory)?;
    for index in 0..row_count {
        whole.read(index..index + 1, &mut row)?;
        for (place, (plane, modulus)) in row.chunks(dimension).zip(moduli.words()).enumerate() {
            words.push(key.b().plane(0, place)[index]);
            words.extend(plane.iter().map(|&residue| modulus.negate(residue)));
        }
    }
    Ok(MemoryRows::new(&moduli, row_count, dimension + 1, words)?)
}
