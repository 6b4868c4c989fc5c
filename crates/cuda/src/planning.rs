//! How a batch would be computed, in how many seconds, and why.

use crate::backend::Cuda;
use crate::table::Choice;
use crate::variant::Variant;
use modmill_core::{Backend, Op, Plan};

impl Cuda {
    /// About how many seconds a batch takes here; `None` if no kernel is for it.
    #[must_use]
    pub fn seconds(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<f64> {
        match op {
            Op::Mul | Op::Square => self.long_seconds(op, bits, count, 0),
            _ => self
                .long_seconds(op, bits, count, exponent_bits)
                .or_else(|| Some(self.choose(op, bits, count, exponent_bits)?.seconds)),
        }
    }

    /// How a batch would be computed here, and in how many seconds; `None` if no kernel is for it.
    #[must_use]
    pub fn choose(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<Choice> {
        let per_device = count.div_ceil(self.stations.len().max(1));
        let choices = self.choices(op, bits, per_device, exponent_bits);
        choices.into_iter().next()
    }

    pub(crate) fn choices(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Vec<Choice> {
        let mut choices = self.table().choices(&self.limits(), op, bits, count, exponent_bits);
        if let Some(family) = self.settings.family {
            choices.retain(|choice| choice.variant.family == family);
            if choices.is_empty() {
                // Never measured: any layout, a guess for its time.
                let guess = |variant| Choice { variant, window: 4, seconds: f64::INFINITY };
                choices.extend(Variant::candidates(family, bits, &self.limits()).into_iter().map(guess));
            }
        }
        if let Some(forced) = self.settings.variant
            && let Some(variant) = Variant::new(forced.family, bits, forced.layout, &self.limits())
        {
            let (window, seconds) =
                choices.first().map_or((4, 0.0), |choice| (choice.window, choice.seconds));
            return vec![Choice { variant, window, seconds }];
        }
        choices
    }

    /// How a batch of this shape will be computed, and why.
    #[must_use]
    pub fn plan(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<Plan> {
        if matches!(op, Op::Mul | Op::Square) || self.is_by_transforms(op, bits, count, exponent_bits) {
            return self.long_plan(op, bits, count, exponent_bits);
        }
        let choices = self.choices(op, bits, count.div_ceil(self.stations.len().max(1)), exponent_bits);
        let best = choices.first()?;
        let describe = |choice: &Choice| {
            let Variant { family, layout, .. } = choice.variant;
            format!(
                "{family} with {} thread{} a number",
                layout.threads,
                if layout.threads == 1 { "" } else { "s" }
            )
        };
        // The best way of every other family.
        let mut named = vec![best.variant.family];
        let mut others = Vec::new();
        for choice in &choices[1..] {
            if !named.contains(&choice.variant.family) {
                named.push(choice.variant.family);
                others.push(format!("{} {:.1} x the time", describe(choice), choice.seconds / best.seconds));
            }
        }
        let reason = if best.seconds.is_finite() {
            let others = if others.is_empty() { "nothing else was measured" } else { &others.join(", ") };
            let (seconds, basis) = (best.seconds * 1e3, self.table().basis());
            format!("{} takes about {seconds:.2} ms, {basis}: {others}", describe(best))
        } else {
            format!("{}, as asked for; it was not measured at this size", describe(best))
        };
        Some(Plan {
            op,
            bits,
            count,
            backend: Backend::Cuda,
            isa: None,
            family: best.variant.family,
            lanes: 1,
            threads: best.variant.layout.threads as usize,
            window: matches!(op, Op::Pow | Op::PowVartime).then_some(best.window),
            reason,
        })
    }
}
