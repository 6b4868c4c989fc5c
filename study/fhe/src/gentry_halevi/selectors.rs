//! The encrypted selectors of a block: two of c encrypt 1, and the pair tells the place l of the secret
//! multiple.

use super::Setting;
use super::column_sums::{Output, Term};

/// The pairs `a < b` of `0..c` in lexicographic order.
pub(super) fn pairs(c: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..c).flat_map(move |a| (a + 1..c).map(move |b| (a, b)))
}

/// The bits of all selectors for secret places.
pub(super) fn bits(setting: &Setting, places: &[usize]) -> Vec<bool> {
    let c = setting.block_selectors();
    let mut bits = vec![false; setting.selectors()];
    for (block, &place) in bits.chunks_mut(c).zip(places) {
        if let Some((a, b)) = pairs(c).nth(place) {
            (block[a], block[b]) = (true, true);
        }
    }
    bits
}

/// The encrypted bits of the secret multiples: for each block and column the sum over all pairs, of the
/// product of the pair's selectors, where the multiple of the pair has that bit set. `windows` has the
/// multiples of a block as p
/// + 1 bits, the integer bit at the top.
///
/// Multiples are public, and so is the choice of terms.
pub(super) fn selected(setting: &Setting, windows: &[Vec<u8>]) -> Vec<Output> {
    let (c, p) = (setting.block_selectors(), setting.precision());
    let mut outputs = Vec::with_capacity(windows.len() * (p + 1));
    for (block, windows) in windows.iter().enumerate() {
        for column in 0..=p {
            let mut output = Output::new();
            for ((a, b), window) in pairs(c).zip(windows) {
                if window >> (p - column) & 1 == 0 {
                    continue;
                }
                let (left, right) = (Some(block * c + a), block * c + b);
                match output.last_mut() {
                    Some(term) if term.left == left => term.rights.push(right),
                    _ => output.push(Term { left, rights: vec![right] }),
                }
            }
            outputs.push(output);
        }
    }
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_bits_are_those_of_the_places() {
        let setting = Setting::custom(64, 64, 32).unwrap();
        let (s, p) = (setting.blocks(), setting.precision());
        let places: Vec<usize> = (0..s).map(|block| (block * 97 + 3) % setting.multiples()).collect();
        let bits = bits(&setting, &places);
        let window = |block: usize, place: usize| ((block * 31 + place * 17) % (2 << p)) as u8;
        let windows: Vec<Vec<u8>> = (0..s)
            .map(|block| (0..setting.multiples()).map(|place| window(block, place)).collect())
            .collect();
        let outputs = selected(&setting, &windows);
        assert_eq!(outputs.len(), s * (p + 1));
        for (index, output) in outputs.iter().enumerate() {
            let term = |term: &Term| {
                let right = term.rights.iter().filter(|right| bits[**right]).count();
                if bits[term.left.unwrap()] { right } else { 0 }
            };
            let (block, column) = (index / (p + 1), index % (p + 1));
            let expected = window(block, places[block]) >> (p - column) & 1;
            assert_eq!(output.iter().map(term).sum::<usize>(), usize::from(expected));
        }
    }
}
