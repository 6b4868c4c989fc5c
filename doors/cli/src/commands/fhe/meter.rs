//! Budgets of noise and sizes as text.

/// The width of a meter between its brackets.
const WIDTH: usize = 30;

/// A bar that shows how much of the capacity is left.
pub(super) fn meter(budget: f64, capacity: f64) -> String {
    let share = (budget / capacity).clamp(0.0, 1.0);
    let full = (share * WIDTH as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(WIDTH - full))
}

/// A size in bytes.
pub(super) fn size(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number / 1e6),
        _ => format!("{:.2} GB", number / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_show_shares() {
        let full = |budget| meter(budget, 400.0).matches('#').count();
        assert_eq!([full(500.0), full(400.0), full(200.0), full(0.0), full(-9.0)], [30, 30, 15, 0, 0]);
        assert_eq!(meter(1.0, 2.0).len(), 32);
    }

    #[test]
    fn sizes_have_units() {
        let sizes = [999, 1_500, 17_400_000, 2_250_000_000].map(size);
        assert_eq!(sizes, ["999 bytes", "1.5 kB", "17.4 MB", "2.25 GB"]);
    }
}
