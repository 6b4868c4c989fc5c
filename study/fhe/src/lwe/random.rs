//! Random bits, seeds, and the error distribution.

use super::error::Error;
use modmill::matrix::BitVectors;
use zeroize::Zeroizing;

/// The greatest absolute value of an error, and coin pairs that one is made of.
pub(super) const GREATEST: i32 = 21;

fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.to_string()))
}

/// A seed of 32 bytes.
pub(super) fn seed() -> Result<[u8; 32], Error> {
    let mut seed = [0; 32];
    fill(&mut seed)?;
    Ok(seed)
}

/// Vectors of uniform bits.
pub(super) fn bits(count: usize, length: usize) -> Result<BitVectors, Error> {
    /// Bytes that are drawn at a time.
    const PIECE: usize = 1 << 16;
    BitVectors::filled(count, length, |words| {
        let mut bytes = Zeroizing::new(vec![0; PIECE.min(4 * words.len())]);
        for piece in words.chunks_mut(PIECE / 4) {
            let bytes = &mut bytes[..4 * piece.len()];
            fill(bytes)?;
            piece
                .iter_mut()
                .zip(bytes.as_chunks::<4>().0)
                .for_each(|(word, &bytes)| *word = u32::from_le_bytes(bytes));
        }
        Ok(())
    })
}

/// `count` errors from the centred binomial distribution with 21 pairs of coins: heads of 21 coins less heads
/// of 21 others. Its standard deviation is `sqrt(21/2) = 3.24`, and no value is beyond 21. It takes the same
/// instructions for all values.
pub(super) fn errors(count: usize) -> Result<Zeroizing<Vec<i8>>, Error> {
    let mut errors = Zeroizing::new(vec![0; count]);
    let mut bytes = Zeroizing::new(vec![0; 8 * count.min(1 << 13)]);
    for piece in errors.chunks_mut(1 << 13) {
        let bytes = &mut bytes[..8 * piece.len()];
        fill(bytes)?;
        for (error, &bytes) in piece.iter_mut().zip(bytes.as_chunks::<8>().0) {
            let coins = u64::from_le_bytes(bytes);
            let heads = |from: u32| (coins >> from & ((1 << GREATEST) - 1)).count_ones() as i8;
            *error = heads(0) - heads(32);
        }
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_mean_and_variance() {
        let errors = errors(100_000).unwrap();
        let count = errors.len() as f64;
        let mean = errors.iter().map(|&error| f64::from(error)).sum::<f64>() / count;
        let variance =
            errors.iter().map(|&error| f64::from(error).powi(2)).sum::<f64>() / count - mean * mean;
        // Twelve standard deviations of the mean, and of the variance about as many.
        assert!(mean.abs() < 0.125 && (variance - 10.5).abs() < 0.6, "{mean} {variance}");
        assert!(errors.iter().all(|error| i32::from(error.abs()) <= GREATEST));
    }
}
