//! The operands of a batch on a device.

use crate::inputs::{Inputs, call};
use modmill::{Engine, Error, Moduli, Resident, ResidentModuli};

/// The operands of a batch on a device of one engine. A modulus of all items stays on the host, with its
/// constants.
pub(crate) struct ResidentInputs {
    a: Resident,
    b: Resident,
    moduli: Option<ResidentModuli>,
}

impl ResidentInputs {
    pub(crate) fn new(engine: &Engine, inputs: &Inputs) -> Result<Self, Error> {
        let has_moduli = inputs.workload.op.is_modular() && !inputs.workload.shared_modulus;
        Ok(Self {
            a: engine.upload(&inputs.a)?,
            b: engine.upload(&inputs.b)?,
            moduli: has_moduli.then(|| engine.upload_moduli(inputs.moduli.clone())).transpose()?,
        })
    }

    /// Computes the whole batch with an engine, and leaves the answers on the device.
    pub(crate) fn compute(&self, engine: &Engine, inputs: &Inputs) -> Result<Resident, Error> {
        let Self { a, b, moduli } = self;
        let moduli = moduli.as_ref().map_or_else(|| inputs.moduli(), Moduli::from);
        call(&engine.on_device(), inputs.workload.op, a.into(), b.into(), moduli)
    }
}
