//! The operands of a batch on a device.

use crate::inputs::Inputs;
use modmill::{Engine, Error, Moduli, Op, Public, Resident, ResidentModuli};

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
        let device = engine.on_device();
        match inputs.workload.op {
            Op::Mul => device.mul(a, b),
            Op::Square => device.square(a),
            Op::MulMod => device.mul_mod(a, b, moduli),
            Op::SquareMod => device.square_mod(a, moduli),
            Op::Pow => device.pow(a, b, moduli),
            Op::PowVartime => device.pow(a, Public(b), moduli),
            // These are computed on the host.
            Op::Inv => engine.upload(&engine.inv(a, moduli)?),
            Op::Gcd => engine.upload(&engine.gcd(a, b)?),
        }
    }
}
