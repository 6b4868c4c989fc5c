//! Plans of the GPUs: which kernels compute a request, with which window, in which time.

use crate::backend::Cuda;
use crate::digits::DigitsPlan;
use crate::error::{Error, Result};
use crate::long::LongChoice;
use crate::modular::{KernelPlan, chunk_items};
use crate::patience::PassedOver;
use crate::table::Choice;
use crate::task::{Reads, Task, best_shared_window_vartime};
use crate::variant::Variant;
use modmill_core::{Alternative, Backend, Exponents, Family, Op, Path, Plan, Request};

/// The way in which the GPUs run a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Recipe {
    /// Kernels, and faster ones that are not waited for.
    Kernels(KernelPlan, Option<PassedOver>),
    /// A task by transforms.
    Transforms(LongChoice),
    /// Powers of one base by its table.
    FixedBase,
    /// A small step between products.
    Step,
    /// Numbers in digits in registers.
    Digits(DigitsPlan),
}

pub(crate) fn path(family: Family) -> Path {
    Path { backend: Backend::Cuda, isa: None, family }
}

impl Cuda {
    /// How the GPUs compute a request; `None` if they have no kernels for it.
    #[must_use]
    pub fn plan(&self, request: &Request) -> Option<Plan> {
        let digits = self.digits_plan(request);
        let by_digits = |digits| self.plan_of_digits(request, digits);
        if matches!(request.op, Op::Inv | Op::Gcd | Op::Div) {
            return digits.map(by_digits);
        }
        if !Op::OF_ITEMS.contains(&request.op) {
            return self.plan_composed(request);
        }
        let products = self.plan_of_products(request);
        match (products, digits) {
            // The times of products are those of kernels: both ways copy the same numbers.
            (Some(products), Some(digits)) if products.seconds <= digits.kernel_seconds => Some(products),
            (products, digits) => digits.map(by_digits).or(products),
        }
    }

    /// How the GPUs compute products and powers.
    fn plan_of_products(&self, request: &Request) -> Option<Plan> {
        let mut kernels = self.kernel_choices(request);
        let passed_over = self.put_soonest_first(request, &mut kernels);
        match self.long_choice(request) {
            Some(long) if kernels.first().is_none_or(|choice| long.seconds < choice.seconds) => {
                Some(self.plan_of_transforms(request, long))
            }
            _ => self.plan_of_kernels(request, kernels.first()?, passed_over),
        }
    }

    /// The best ways of the other families, which a plan of this backend was chosen before, the fastest
    /// first.
    #[must_use]
    pub fn alternatives(&self, plan: &Plan) -> Vec<Alternative> {
        let kernels = self.kernel_choices(&plan.request);
        let mut others: Vec<Alternative> = kernels.iter().map(Choice::as_alternative).collect();
        others.extend(self.long_choice(&plan.request).map(|long| Alternative {
            path: path(Family::Fft),
            variant: long.to_string(),
            seconds: long.seconds,
        }));
        best_of_other_families(plan.family(), others)
    }

    /// The kernels that a plan of this backend runs; `None` for transforms.
    #[must_use]
    pub fn variant_of(&self, plan: &Plan) -> Option<Variant> {
        match plan.recipe.get()? {
            Recipe::Kernels(plan, _) => Some(plan.variant),
            Recipe::Transforms(_) | Recipe::FixedBase | Recipe::Step | Recipe::Digits(_) => None,
        }
    }

    /// A plan that runs one variant with one window: for measurements and tests.
    pub fn plan_by(&self, variant: Variant, window: u32, request: &Request) -> Result<Plan> {
        let choice = Choice { variant, window, seconds: f64::INFINITY };
        let none = || Error::NoKernel { name: format!("for {} by windows of {window} bits", request.op) };
        self.plan_of_kernels(request, &choice, None).ok_or_else(none)
    }

    fn plan_of_kernels(
        &self,
        request: &Request,
        choice: &Choice,
        passed_over: Option<PassedOver>,
    ) -> Option<Plan> {
        let &Choice { variant, window, seconds } = choice;
        let task = self.task(request, window).filter(|_| request.op.is_modular())?;
        let chunk = chunk_items(request.factor_bits + request.exponent_bits() + request.bits);
        let recipe = Recipe::Kernels(KernelPlan { variant, task, chunk }, passed_over);
        let reason = match passed_over {
            Some(PassedOver { variant, .. }) => {
                format!("{} would take less time, but has to be compiled first", variant.family)
            }
            None if self.settings.variant.is_some() => "the layout that was asked for".to_owned(),
            None if seconds.is_finite() => format!("least time, {}", self.table().basis()),
            None => format!("{} was asked for; it was not measured at this length", variant.family),
        };
        Some(Plan {
            variant: variant.to_string(),
            threads: variant.layout.threads as usize,
            window: task.is_power().then_some(window),
            chunk,
            reason,
            ..Plan::new(request, path(variant.family), seconds, recipe)
        })
    }

    fn plan_of_transforms(&self, request: &Request, choice: LongChoice) -> Plan {
        let (_, window) = choice.task.exponent();
        let reason = match self.settings.family {
            Some(_) => "fft was asked for",
            None if request.is_long() || !request.op.is_modular() => {
                "transforms are for numbers of this length"
            }
            None => "least time, copies and all",
        };
        Plan {
            variant: choice.to_string(),
            threads: choice.length.shape.points() / 16,
            window: choice.task.is_power().then_some(window),
            chunk: choice.chunk,
            reason: reason.to_owned(),
            ..Plan::new(request, path(Family::Fft), choice.seconds, Recipe::Transforms(choice))
        }
    }

    fn plan_of_digits(&self, request: &Request, digits: DigitsPlan) -> Plan {
        Plan {
            variant: digits.to_string(),
            threads: digits.threads as usize,
            chunk: digits.chunk,
            reason: format!("least time, {}", self.table().basis()),
            ..Plan::new(request, path(Family::Row), digits.seconds, Recipe::Digits(digits))
        }
    }

    /// The task of a request by a window; `None` if there is no such operation, or kernels take no such
    /// exponents or window.
    pub(crate) fn task(&self, request: &Request, window: u32) -> Option<Task> {
        let power = |reads| Task::power(reads, request.exponent_bits(), window).ok();
        match request.op {
            Op::Mul | Op::MulMod => Some(Task::Multiply),
            Op::Square | Op::SquareMod => Some(Task::Square),
            Op::Pow => power(if self.settings.direct_tables { Reads::Direct } else { Reads::Whole }),
            Op::PowVartime => power(Reads::Vartime),
            _ => None,
        }
    }

    /// Every way to compute a request by kernels that hold numbers whole, the fastest first.
    fn kernel_choices(&self, request: &Request) -> Vec<Choice> {
        let op = match request.op {
            // Tables that are read directly have the times and windows of public exponents.
            Op::Pow if self.settings.direct_tables => Op::PowVartime,
            Op::Pow | Op::PowVartime | Op::MulMod | Op::SquareMod => request.op,
            _ => return Vec::new(),
        };
        if request.is_long() || request.bits == 0 {
            return Vec::new();
        }
        let count = self.items_per_device(request.count);
        let mut choices = self.choices(op, request.bits, count, request.exponent_bits());
        if let (Op::PowVartime, Exponents::Public(exponent)) = (request.op, &request.exponents) {
            // Kernels skip the zero digits of one exponent for all items, so that a sparse one has the fewest
            // products bit by bit.
            let window = best_shared_window_vartime(exponent);
            choices.iter_mut().for_each(|choice| choice.window = window);
        }
        choices
    }

    /// Every way to compute `count` items of an operation on one device, the fastest first.
    pub(crate) fn choices(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Vec<Choice> {
        let limits = self.limits();
        let mut choices = self.table().choices(&limits, op, bits, count, exponent_bits);
        if let Some(family) = self.settings.family {
            choices.retain(|choice| choice.variant.family == family);
            if choices.is_empty() {
                // The family was never measured: its first layout is as good a guess as any.
                let guess = |variant| Choice { variant, window: 4, seconds: f64::INFINITY };
                choices.extend(Variant::candidates(family, bits, &limits).into_iter().map(guess));
            }
        }
        if let Some(forced) = self.settings.variant
            && let Some(variant) = Variant::new(forced.family, bits, forced.layout, &limits)
        {
            let (window, seconds) =
                choices.first().map_or((4, 0.0), |choice| (choice.window, choice.seconds));
            return vec![Choice { variant, window, seconds }];
        }
        choices
    }
}

impl Choice {
    fn as_alternative(&self) -> Alternative {
        let Self { variant, seconds, .. } = *self;
        Alternative { path: path(variant.family), variant: variant.to_string(), seconds }
    }
}

/// The best way of every family but one, the fastest first.
fn best_of_other_families(chosen: Family, mut ways: Vec<Alternative>) -> Vec<Alternative> {
    ways.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let mut best: Vec<Alternative> = Vec::new();
    for way in ways {
        let family = way.path.family;
        if family != chosen && best.iter().all(|other| other.path.family != family) {
            best.push(way);
        }
    }
    best
}
