//! The operands of a call, where the engine's backends can take them: on one of its devices, or on the host.

use crate::backends::Backends;
use crate::on_host::OnHost;
use modmill_core::{Error, Moduli, Operand, ResidentView};

/// The operands of a call. Numbers on a device are all on one device of the engine.
pub(crate) struct Near<'a> {
    pub(crate) a: OnHost<'a>,
    pub(crate) b: OnHost<'a>,
    has_moduli: bool,
}

impl Near<'_> {
    /// The moduli of the call, on the same device or on the host.
    pub(crate) fn moduli<'m>(&self, moduli: Moduli<'m>) -> Moduli<'m> {
        if self.has_moduli { moduli } else { moduli.on_host() }
    }
}

impl Backends {
    /// Leaves operands where they are if they are on the host or on the device of the first one that is on a
    /// device of this engine, and copies others to the host.
    pub(crate) fn near<'a>(
        &self,
        a: Operand<'a>,
        b: OnHost<'a>,
        moduli: Option<Moduli<'a>>,
    ) -> Result<Near<'a>, Error> {
        let second = if let OnHost::Given(b) = &b { b.resident() } else { None };
        let divisors = match moduli {
            Some(Moduli::Resident(moduli)) => Some(moduli.resident().view()),
            Some(Moduli::Each(_) | Moduli::Shared(_) | Moduli::Prepared(_)) | None => None,
        };
        let stays = self.stays([a.resident(), second, divisors]);
        let b = match b {
            OnHost::Given(b) => OnHost::unless(b, &stays)?,
            copied @ OnHost::Copied { .. } => copied,
        };
        Ok(Near { a: OnHost::unless(a, &stays)?, b, has_moduli: divisors.is_none_or(stays) })
    }

    /// Three operands where the backends can take them.
    pub(crate) fn near_three<'a>(&self, operands: [Operand<'a>; 3]) -> Result<[OnHost<'a>; 3], Error> {
        let stays = self.stays(operands.map(|operand| operand.resident()));
        let [a, b, c] = operands.map(|operand| OnHost::unless(operand, &stays));
        Ok([a?, b?, c?])
    }

    /// Tells of numbers on a device whether they are on that of the first ones that are on a device of this
    /// engine.
    fn stays<'a>(&self, views: [Option<ResidentView<'a>>; 3]) -> impl Fn(ResidentView<'a>) -> bool {
        let home = self
            .cuda
            .as_ref()
            .and_then(|cuda| Some((cuda, views.into_iter().flatten().find(|view| cuda.holds(*view))?)));
        move |view| home.is_some_and(|(cuda, home)| cuda.are_together(home, view))
    }
}
