//! Plans of operations that are made of products and powers: powers of a fixed base, products of powers and
//! of columns, small steps, RSA's operations, products with matrices.

use crate::backend::Cuda;
use crate::fixed_base::FIXED_WINDOW;
use crate::planning::{Recipe, path};
use modmill_core::{Exponents, Family, Location, Op, Plan, Request, Secrecy};

/// Powers of one base that are worth a table, which takes as long to make as some ten thousand powers by the
/// CPU.
const WORTH_A_TABLE: usize = 1 << 13;

/// Seconds of a launch with its copies. A processor multiplies a matrix of a million words in that time.
const LAUNCH_SECONDS: f64 = 1.05e-3;

/// Seconds of a small step on numbers that are on a device.
const STEP_SECONDS: f64 = 1e-5;

impl Cuda {
    /// How the GPUs compute an operation that is made of others; `None` if they have no kernels for it. A
    /// product of powers or of a column is computed product by product on a device: its plan is that of
    /// those products.
    pub(crate) fn plan_composed(&self, request: &Request) -> Option<Plan> {
        let power = if request.secrecy == Secrecy::Public { Op::PowVartime } else { Op::Pow };
        match request.op {
            Op::FixedPow => {
                let plain = || self.plan_like(request, 1, Request { op: power, ..request.clone() });
                self.plan_by_table(request).or_else(plain)
            }
            Op::MultiPow => self.plan_like(request, request.terms, Request { op: power, ..request.clone() }),
            Op::ProductMod => {
                let count = request.count.saturating_mul(request.terms);
                let products = Request { exponents: Exponents::None, count, ..request.clone() };
                self.plan_like(request, 1, Request { op: Op::MulMod, ..products }.resident_answers())
            }
            Op::Step => {
                let is_here = request.operands != Location::Host || request.answers != Location::Host;
                is_here.then(|| self.plan_simple(request, Family::Row, "words", STEP_SECONDS, Recipe::Step))
            }
            Op::MatrixProduct => (request.count > 0)
                .then(|| self.plan_simple(request, Family::Rns, "sections of rows", LAUNCH_SECONDS, ())),
            Op::CrtPow => {
                let plan = self.plan_crt_now(request)?;
                let variant = plan.power.to_string();
                let made = self.plan_simple(request, Family::Rns, &variant, plan.seconds, plan);
                Some(Plan { window: Some(plan.window), ..made })
            }
            Op::PublicPow => {
                let plan = self.plan_public(request)?;
                let (family, variant) = (plan.variant.family, plan.variant.to_string());
                Some(self.plan_simple(request, family, &variant, plan.seconds, plan))
            }
            _ => None,
        }
    }

    /// The plan of `other`, which is computed `times` times instead of `request`.
    fn plan_like(&self, request: &Request, times: usize, other: Request) -> Option<Plan> {
        let plan = self.plan(&other)?;
        Some(Plan { request: request.clone(), seconds: plan.seconds * times as f64, ..plan })
    }

    /// Powers by the table of their base. Public exponents may be declared wider than they are, which tables
    /// do not take.
    fn plan_by_table(&self, request: &Request) -> Option<Plan> {
        let (bits, prepared) = (request.exponent_bits(), request.prepared_bits);
        let is_each = matches!(request.exponents, Exponents::Each { .. });
        let is_worth_it = self.settings.asked_for || request.count >= WORTH_A_TABLE;
        if !is_each || !is_worth_it || bits > prepared || prepared == 0 || request.count == 0 {
            return None;
        }
        let seconds = self.fixed_base_seconds(request.bits, prepared, request.count)?;
        let plan = self.plan_simple(request, Family::Rns, "one base", seconds, Recipe::FixedBase);
        let reason = "a table takes the place of squarings".to_owned();
        Some(Plan { window: Some(FIXED_WINDOW), reason, ..plan })
    }

    fn plan_simple(
        &self,
        request: &Request,
        family: Family,
        variant: &str,
        seconds: f64,
        recipe: impl std::any::Any + Send + Sync,
    ) -> Plan {
        Plan {
            variant: variant.to_owned(),
            reason: format!("least time, {}", self.table().basis()),
            ..Plan::new(request, path(family), seconds, recipe)
        }
    }

    /// Whether a plan of this backend reads the table of a fixed base.
    #[must_use]
    pub fn reads_table(&self, plan: &Plan) -> bool {
        matches!(plan.recipe.get(), Some(Recipe::FixedBase))
    }
}
