//! The parts of a key that recryption needs.

use super::Error;
use super::column_sums::ColumnSums;
use super::keys::PublicKey;
use super::sums::SumsModulo;
use super::windows::Windows;
use modmill::Engine;
use modmill::sums::SumFactors;

/// Transforms of a key's numbers, and the circuit.
pub(super) struct Recryption<'e> {
    pub(super) windows: Windows,
    /// For sums over the selectors of a block.
    pub(super) selection: SumsModulo<'e>,
    pub(super) selectors: SumFactors,
    /// For all other sums.
    pub(super) addition: SumsModulo<'e>,
    pub(super) multipliers: SumFactors,
    pub(super) columns: ColumnSums,
}

impl<'e> Recryption<'e> {
    pub(super) fn new(engine: &'e Engine, key: &PublicKey) -> Result<Self, Error> {
        let (setting, modulus) = (key.setting(), key.modulus());
        let columns = ColumnSums::new(setting.blocks(), setting.precision());
        let c = setting.block_selectors();
        let selection = SumsModulo::new(engine, modulus, c * (c - 1) / 2)?;
        let addition = SumsModulo::new(engine, modulus, columns.most_products())?;
        Ok(Self {
            windows: Windows::new(setting, modulus),
            selectors: selection.factors(&**key.selectors())?,
            selection,
            multipliers: addition.factors(key.multipliers())?,
            addition,
            columns,
        })
    }
}
