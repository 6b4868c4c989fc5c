//! The tables that the RTL reads, as text.

use crate::twiddle::Twiddles;
use std::fmt::Write;

/// A table as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The file's name in `study/rtl/tables`.
    pub name: &'static str,
    /// The content of the file.
    pub text: String,
}

/// All tables. `study/rtl/tables` holds them, and a test compares the files with these.
///
/// ```
/// let tables = modmill_hardware::tables::all();
/// assert!(tables[0].text.contains("dc9218a86d10f3a3"));
/// ```
#[must_use]
pub fn all() -> Vec<Table> {
    vec![twiddles()]
}

/// The table of twiddle factors in the form of Verilog's `$readmemh`: word i is `w^i`.
fn twiddles() -> Table {
    let mut text = "\
// Powers of w, the root of unity of order 65536 modulo 2^64 - 2^32 + 1: word i is w^i.
// Made by `modmill hardware tables`.
"
    .to_owned();
    for word in Twiddles::new().words() {
        let _ = writeln!(text, "{word:016x}");
    }
    Table { name: "twiddles.hex", text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_files_of_the_rtl_are_current() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/tables");
        for table in all() {
            let file = folder.join(table.name);
            let text =
                std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(text, table.text, "run `modmill hardware tables` to write {}", file.display());
        }
    }
}
