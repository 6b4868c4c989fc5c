//! The kernels' sources, embedded in the program.

/// A file that programs include by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The name in `#include "name"`.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

impl Source {
    /// Whether this file is for the emulated device only (`.hpp`); a GPU's compiler does not see it.
    pub(crate) fn is_for_emulator(&self) -> bool {
        self.name.ends_with(".hpp")
    }
}

macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        /// Every file of `engine/cuda/kernels`.
        pub const ALL: &[Source] =
            &[$(Source { name: $name, text: include_str!(concat!("../kernels/", $name)) }),+];
    };
}

sources! {
    "call.cuh",
    "constants.cuh",
    "device.cuh",
    "emulator.hpp",
    "fault.cuh",
    "fft_butterfly.cuh",
    "fft_carry.cuh",
    "fft_chain.cuh",
    "fft_choose.cuh",
    "fft_columns.cuh",
    "fft_cut.cuh",
    "fft_extract.cuh",
    "fft_field.cuh",
    "fft_join.cuh",
    "fft_passes.cuh",
    "fft_remainder.cuh",
    "fft_rows.cuh",
    "fft_sums.cuh",
    "fft_weighted.cuh",
    "groups.cuh",
    "items.cuh",
    "narrow.cuh",
    "numbers.cuh",
    "octets.cuh",
    "operations.cuh",
    "public_power.cuh",
    "residue_matrix.cuh",
    "residue_product.cuh",
    "residue_words.cuh",
    "rns.cuh",
    "rns_convert.cuh",
    "rns_fixed.cuh",
    "rns_memory.cuh",
    "rns_multiply.cuh",
    "rns_power.cuh",
    "rns_product.cuh",
    "rns_scan.cuh",
    "rns_words.cuh",
    "row.cuh",
    "rsa.cuh",
    "sample_values.cuh",
    "samples.cuh",
    "steps.cuh",
    "table.cuh",
    "tensor.cuh",
    "two_pass.cuh",
    "two_pass_numbers.cuh",
    "two_pass_residue.cuh",
    "two_pass_window.cuh",
    "wide.cuh",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_embedded() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels")).unwrap();
        let mut files: Vec<_> =
            folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, ALL.iter().map(|source| source.name).collect::<Vec<_>>());
    }
}
