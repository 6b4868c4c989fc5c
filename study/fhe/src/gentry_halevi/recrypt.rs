//! Recryption: decryption of a ciphertext within the encryption, which leaves as much noise as the decryption
//! circuit has, however much there was.
//!
//! 1. The secret key is `w = sum_i x_i R^(l_i)`, so that `c w` is the sum of one multiple `c x_i R^j` of each block
//!    i. The first bits of all multiples are public ([`windows`](super::windows)).
//! 2. The encrypted selectors of a block pick the bits of its secret multiple ([`selectors`](super::selectors)).
//! 3. The picked numbers are added, and the sum is rounded ([`column_sums`](super::column_sums)).
//!
//! The sum of s numbers rounded to p bits is off by at most `s 2^-(p+1) = 1/2 - 2^-(p+1)`. So it is rounded
//! as the exact one if c w is within `2^-(p+1) d` of a multiple of d.

use super::Error;
use super::ciphertext::Ciphertexts;
use super::column_sums::{Output, Term};
use super::recryption::Recryption;
use super::scheme::GentryHalevi;
use super::selectors::selected;
use modmill::Resident;
use modmill::sums::SumFactors;
use rayon::prelude::*;

/// Bytes of the host's memory, at a time, for the numbers of the ciphertexts that are recrypted together.
const BYTES: usize = 1 << 29;

/// The part of a device's free memory that they take there.
const PART: usize = 4;

impl GentryHalevi<'_> {
    /// The budget that a ciphertext must have to be recrypted, in bits: p + 1.
    #[must_use]
    pub fn recrypt_needs(&self) -> f64 {
        self.setting().precision() as f64 + 1.0
    }

    /// Encrypts the same bits again, with the noise of a recrypted ciphertext
    /// ([`PublicKey::recrypted_noise`](super::PublicKey::recrypted_noise)).
    ///
    /// A ciphertext with less budget than [`GentryHalevi::recrypt_needs`] is an error, and so is a key whose
    /// recrypted ciphertexts would not decrypt.
    pub fn recrypt(&self, ciphertexts: &Ciphertexts) -> Result<Ciphertexts, Error> {
        self.check_key(&[ciphertexts])?;
        self.check_budget(ciphertexts.noise(), self.recrypt_needs())?;
        let noise = vec![self.key.recrypted_noise(); ciphertexts.len()];
        self.check_budget(&noise, 0.0)?;
        let recryption = self.recryption()?;
        let lanes = if self.engine.cuda().is_some() { 2 } else { 1 };
        let together =
            (self.recrypted_together()? / lanes).clamp(1, ciphertexts.len().div_ceil(lanes).max(1));
        let part = |first: usize| {
            let last = ciphertexts.len().min(first + together);
            self.recrypt_part(&recryption, ciphertexts.numbers(), first, last)
        };
        let firsts: Vec<usize> = (0..ciphertexts.len()).step_by(together).collect();
        let parts = firsts.chunks(lanes).flat_map(|firsts| side_by_side(firsts, &part));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let numbers = match &parts[..] {
            [] => ciphertexts.numbers().clone(),
            [part] => part.clone(),
            parts => self.engine.on_device().join(&parts.iter().collect::<Vec<_>>())?,
        };
        Ok(self.ciphertexts(numbers, noise))
    }

    /// The number of ciphertexts whose numbers fit in memory together.
    fn recrypted_together(&self) -> Result<usize, Error> {
        let setting = self.setting();
        let numbers = 4 * setting.blocks() * (setting.precision() + 1);
        // A transform has some eight times as many bytes as its number.
        let bytes = numbers * self.key.modulus().bits();
        let free = self.engine.memory()?.iter().map(|device| device.free / PART).max();
        Ok((free.unwrap_or(BYTES) / bytes).max(1))
    }

    /// Recrypts ciphertexts `first` to `last`.
    fn recrypt_part(
        &self,
        recryption: &Recryption<'_>,
        numbers: &Resident,
        first: usize,
        last: usize,
    ) -> Result<Resident, Error> {
        let Recryption { windows, selection, selectors, addition, multipliers, columns } = recryption;
        let (setting, count) = (self.setting(), last - first);
        let s = setting.blocks();
        let ciphertexts = addition.factors(numbers.slice(first..last))?;
        let products: Vec<Output> = (0..count)
            .flat_map(|item| (0..s).map(move |block| Term { left: Some(block), rights: vec![s + item] }))
            .map(|term| vec![term])
            .collect();
        let y = addition.sums(&[multipliers, &ciphertexts], &products)?.download()?;
        let multiples = windows.of(self.engine, &y)?;
        let outputs: Vec<Vec<Output>> =
            self.engine.install(|| multiples.par_chunks(s).map(|blocks| selected(setting, blocks)).collect());
        let selected = selection.sums(&[selectors], outputs.iter().flatten())?;
        // Numbers of one ciphertext before each group, and their number in the group.
        let mut shapes = vec![(0, selected.len() / count)];
        let mut groups = vec![addition.factors(&selected)?];
        let of_all = |round: &[Output], shapes: &[(usize, usize)], groups: &[SumFactors]| {
            let outputs: Vec<Output> = (0..count)
                .flat_map(|item| round.iter().map(move |output| (item, output)))
                .map(|(item, output)| output.iter().map(|term| placed(term, item, count, shapes)).collect())
                .collect();
            addition.sums(&groups.iter().collect::<Vec<_>>(), &outputs)
        };
        for round in &columns.rounds {
            let done = of_all(round, &shapes, &groups)?;
            groups.push(addition.factors(&done)?);
            let (before, in_last) = shapes[shapes.len() - 1];
            shapes.push((before + in_last, round.len()));
        }
        of_all(&[columns.last_sum()], &shapes, &groups)
    }
}

/// Computes each part on a thread of its own: the host works on one part while a device works on another.
fn side_by_side<T: Send>(firsts: &[usize], part: &(impl Fn(usize) -> T + Sync)) -> Vec<T> {
    let [first, others @ ..] = firsts else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|&first| scope.spawn(move || part(first))).collect();
        let resume = |panic| std::panic::resume_unwind(panic);
        let mut all = vec![part(*first)];
        all.extend(others.into_iter().map(|other| other.join().unwrap_or_else(resume)));
        all
    })
}

/// A term of one ciphertext's circuit with the places of its numbers among those of all ciphertexts.
fn placed(term: &Term, item: usize, count: usize, shapes: &[(usize, usize)]) -> Term {
    let place = |index: usize| place(index, item, count, shapes);
    Term { left: term.left.map(place), rights: term.rights.iter().map(|&right| place(right)).collect() }
}

/// The place of number `index` of ciphertext `item`: groups one after the other, in each the numbers of one
/// ciphertext after those of another.
fn place(index: usize, item: usize, count: usize, shapes: &[(usize, usize)]) -> usize {
    let group = shapes.partition_point(|(before, _)| *before <= index) - 1;
    let (before, in_group) = shapes[group];
    count * before + item * in_group + (index - before)
}
