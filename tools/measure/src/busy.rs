//! Whether the machine had other work while it was measured, and what to say about it.

use crate::record::Record;
use crate::slices::Rates;

/// The best slice of a quiet machine is at most this many times as fast as the median one.
const UNEVEN: f64 = 1.25;
/// The most that a lone thread waits for a processor on a quiet machine, as a part of the time.
const WAITED: f64 = 0.1;
/// The most that the hypervisor takes on a quiet machine, as a part of the processors' time.
const STOLEN: f64 = 0.05;

/// Whether the slices of a contender differ more than those on a quiet machine.
pub(crate) fn is_uneven(rates: &Rates) -> bool {
    rates.best > UNEVEN * rates.median
}

/// Whether other work shows in the rates. `waited` is the part of the time in which the threads of a
/// contender had no processor, if they had something to do all the time.
pub(crate) fn is_busy(rates: &Rates, waited: Option<f64>) -> bool {
    is_uneven(rates) || waited > Some(WAITED) || rates.stolen > Some(STOLEN)
}

/// The reason to say that the machine was busy; `None` if there is none.
pub(crate) fn note(records: &[Record]) -> Option<String> {
    if !records.iter().any(|record| record.busy) {
        return None;
    }
    let most = |value: fn(&Record) -> Option<f64>| records.iter().filter_map(value).max_by(f64::total_cmp);
    let uneven =
        most(|record| Some(record.ops_per_s / record.median_ops_per_s)).filter(|&most| most > UNEVEN);
    let waited = most(|record| record.waited.filter(|_| record.threads == 1)).filter(|&most| most > WAITED);
    let stolen = most(|record| record.stolen).filter(|&most| most > STOLEN);
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let signs: Vec<String> = [
        uneven.map(|most| format!("the best slice was up to {most:.2} times as fast as the median one")),
        waited.map(|most| format!("threads had no processor for up to {} of the time", percent(most))),
        stolen.map(|most| format!("the hypervisor took up to {} of the processors", percent(most))),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(format!("The machine was busy, or slices were too short (--seconds): {}.", signs.join("; ")))
}
