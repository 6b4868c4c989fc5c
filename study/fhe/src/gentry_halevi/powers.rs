//! Powers of r, and fresh ciphertexts `2 u(r) + b` of small polynomials u.

use super::Error;
use super::column_sums::{Output, Term};
use super::residue::{negate_mod, reduce_small};
use super::sampling::Polynomials;
use super::sums::SumsModulo;
use modmill::sums::{ModularSums, SumFactors};
use modmill::{Batch, Engine, Modulus, Operand, Resident};
use modmill_core::limbs::{add_assign, shift_left, sub_assign};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// Products of one call while the table is made, so that progress shows.
const CHUNK: usize = 256;

/// Rows of the sums of windows that are in memory together.
const ROWS: usize = 512;

/// The powers `r^0 .. r^(w-1)`, for evaluation in windows of w coefficients (\[Thesis\], section 4.3.1):
/// `u(r) = a_0 + a_1 r^w + ... + a_m r^(w m)` with `a_j = sum_(i < w) u_(i + w j) r^i`. The thesis nests the
/// products; here the powers of `r^w` are kept as transforms, and the products are added before they are
/// reduced. All powers are one window.
///
/// Weights are not negative: `2 u_i = 2 (u_i + 1) - 2`. So every power is added, and the sum of all is taken
/// back.
pub(super) struct Powers<'e> {
    engine: &'e Engine,
    modulus: Modulus,
    window: usize,
    /// The powers, and `-(r^0 + ... + r^(w-1)) mod d`.
    table: Table,
    weighted: ModularSums<'e>,
    /// For more windows than one.
    steps: Option<Steps<'e>>,
}

/// `base^0 .. base^(count-1)` for a count that is a power of two, and `base^count`. `progress` is told how
/// many there are.
fn powers_of(
    engine: &Engine,
    modulus: &Modulus,
    base: Resident,
    count: usize,
    mut progress: impl FnMut(usize),
) -> Result<(Resident, Resident), Error> {
    let device = engine.on_device();
    let mut one = Batch::try_zeros(modulus.bits(), 1)?;
    one.get_mut(0)[0] = 1;
    let (mut table, mut step) = (engine.upload(&one)?, base);
    while table.len() < count {
        let known = table.len();
        let mut parts = vec![table.clone()];
        for first in (0..known).step_by(CHUNK) {
            let last = known.min(first + CHUNK);
            parts.push(device.mul_mod(table.slice(first..last), step.shared(0), modulus)?);
            progress(known + last);
        }
        table = device.join(&parts.iter().collect::<Vec<_>>())?;
        step = device.square_mod(&step, modulus)?;
    }
    Ok((table, step))
}

/// Numbers in the host's memory, where single ones are read, or on a device.
enum Table {
    Host(Batch),
    Device(Resident),
}

impl Table {
    fn operand(&self) -> Operand<'_> {
        match self {
            Self::Host(batch) => batch.into(),
            Self::Device(resident) => resident.into(),
        }
    }
}

/// The steps from the first window to the others.
struct Steps<'e> {
    modulo: SumsModulo<'e>,
    /// `r^(w j)` for each window j.
    steps: SumFactors,
}

impl<'e> Powers<'e> {
    /// The powers for windows of `window` coefficients, a power of two, of polynomials of n coefficients.
    /// `progress` is told how many powers are there.
    pub(super) fn new(
        engine: &'e Engine,
        modulus: &Modulus,
        r: &Batch,
        (window, n): (usize, usize),
        progress: impl FnMut(usize),
    ) -> Result<Self, Error> {
        let device = engine.on_device();
        let (mut table, step) = powers_of(engine, modulus, engine.upload(r)?, window, progress)?;
        // Weights of 4 at most, and 1 for the bit.
        let weighted = ModularSums::new(engine, modulus, 4 * (window + 1) + 1)?;
        let mut minus_all = weighted.weighted_sums(&table, &vec![1; window])?.download()?;
        negate_mod(minus_all.get_mut(0), modulus.value());
        table = device.join(&[&table, &engine.upload(&minus_all)?])?;
        let windows = n / window;
        let steps = (windows > 1)
            .then(|| {
                let (steps, _) = powers_of(engine, modulus, step, windows, |_| {})?;
                let modulo = SumsModulo::new(engine, modulus, windows)?;
                Ok::<_, Error>(Steps { steps: modulo.factors(&steps)?, modulo })
            })
            .transpose()?;
        let table = match engine.cuda() {
            Some(_) => Table::Device(table),
            None => Table::Host(table.download()?),
        };
        Ok(Self { engine, modulus: modulus.clone(), window, table, weighted, steps })
    }

    /// w: the number of powers.
    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// `2 u(r) + b mod d` for polynomials of n coefficients, from number `first` on, and as many bits.
    pub(super) fn encrypt(
        &self,
        polynomials: &Polynomials,
        first: usize,
        bits: &[bool],
        n: usize,
    ) -> Result<Resident, Error> {
        let windows = n / self.window;
        let Some(Steps { modulo, steps }) = &self.steps else {
            return self.window_sums(polynomials, first, bits, n);
        };
        let together = (ROWS / windows).max(1);
        let mut parts = Vec::new();
        for (part, bits) in bits.chunks(together).enumerate() {
            let sums = modulo.factors(&self.window_sums(polynomials, first + part * together, bits, n)?)?;
            let term = |item: usize, window: usize| Term {
                left: Some(window),
                rights: vec![windows + item * windows + window],
            };
            let outputs: Vec<Output> =
                (0..bits.len()).map(|item| (0..windows).map(|window| term(item, window)).collect()).collect();
            parts.push(modulo.sums(&[steps, &sums], &outputs)?);
        }
        Ok(self.engine.on_device().join(&parts.iter().collect::<Vec<_>>())?)
    }

    /// `2 a_j mod d` for each polynomial and each window j; in window 0 the polynomial's bit is added.
    fn window_sums(
        &self,
        polynomials: &Polynomials,
        first: usize,
        bits: &[bool],
        n: usize,
    ) -> Result<Resident, Error> {
        if let (Polynomials::Sparse(polynomials), Table::Host(table)) = (polynomials, &self.table) {
            let sums = self.sparse_sums(table, &polynomials[first..][..bits.len()], bits, n)?;
            return Ok(self.engine.upload(&sums)?);
        }
        // Room for all at once, so that no copy of secrets is left behind.
        let row = self.window + 1;
        let mut weights = Zeroizing::new(vec![2; bits.len() * n / self.window * row]);
        self.engine.install(|| {
            let rows = weights.par_chunks_mut(n / self.window * row).zip(bits).enumerate();
            rows.for_each(|(item, (weights, &bit))| {
                let place = |coefficient: usize| coefficient / self.window * row + coefficient % self.window;
                match polynomials {
                    Polynomials::Dense(dense) => {
                        for (coefficient, &weight) in dense[(first + item) * n..][..n].iter().enumerate() {
                            weights[place(coefficient)] = 2 * weight;
                        }
                    }
                    Polynomials::Sparse(polynomials) => {
                        for &(coefficient, is_negative) in polynomials[first + item].iter() {
                            weights[place(coefficient as usize)] = if is_negative { 0 } else { 4 };
                        }
                    }
                }
                weights[0] += u8::from(bit);
            });
        });
        Ok(self.weighted.weighted_sums(self.table.operand(), &weights)?)
    }

    /// The window sums of sparse polynomials on the host, which adds a few powers for each.
    fn sparse_sums(
        &self,
        table: &Batch,
        polynomials: &[Zeroizing<Vec<(u32, bool)>>],
        bits: &[bool],
        n: usize,
    ) -> Result<Batch, Error> {
        let (d, windows) = (self.modulus.value(), n / self.window);
        let mut sums = Batch::try_zeros(self.modulus.bits(), bits.len() * windows)?;
        let stride = sums.stride();
        // At most n terms, above n times d, twice, and a bit.
        let wide_limbs = (self.modulus.bits() + n.ilog2() as usize + 4).div_ceil(64);
        self.engine.install(|| {
            sums.as_limbs_mut().par_chunks_mut(stride).enumerate().for_each(|(index, sum)| {
                let (item, window) = (index / windows, index % windows);
                let [mut once, mut twice] = [(); 2].map(|()| Zeroizing::new(vec![0; wide_limbs]));
                for &(place, is_negative) in polynomials[item].iter() {
                    let place = place as usize;
                    if place / self.window != window {
                        continue;
                    }
                    let power = table.get(place % self.window);
                    if is_negative {
                        add_assign(&mut once, d);
                        sub_assign(&mut once, power);
                    } else {
                        add_assign(&mut once, power);
                    }
                }
                shift_left(&once, 1, &mut twice);
                add_assign(&mut twice, &[u64::from(bits[item] && window == 0)]);
                reduce_small(&mut twice, d, self.modulus.bits());
                sum.copy_from_slice(&twice[..stride]);
            });
        });
        Ok(sums)
    }
}

/// The window with the least work for `count` polynomials of n coefficients, if its table takes at most
/// `bytes` bytes: w products for the table, n/w for the steps, and a transform, about a sixth of a product,
/// for each window of each polynomial.
pub(super) fn best_window(n: usize, count: usize, number_bytes: usize, bytes: usize) -> usize {
    let windows = (0..=n.ilog2()).map(|log| 1 << log).filter(|&w| w == 1 || w * number_bytes <= bytes);
    let transforms = |w: usize| if w == n { 0 } else { (count + 6) * (n / w) };
    windows.min_by_key(|&w| 6 * w + transforms(w)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_as_large_as_pays_and_fits() {
        assert_eq!(best_window(2048, 1, 1, 1 << 20), 64);
        assert_eq!(best_window(2048, 690, 1, 1 << 20), 512);
        assert_eq!(best_window(2048, 100_000, 1, 1 << 20), 2048);
        assert_eq!(best_window(2048, 100_000, 1000, 64_000), 64);
        assert_eq!(best_window(8, 5, 1000, 0), 1);
    }
}
