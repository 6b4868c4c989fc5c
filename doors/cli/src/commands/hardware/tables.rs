//! `modmill hardware tables`.

use crate::failure::Failure;
use crate::io::{self, Output};
use modmill_hardware::tables;
use std::path::PathBuf;

/// Writes the tables that the RTL reads
#[derive(Debug, clap::Args)]
pub(crate) struct Tables {
    /// Folder to write to; it must exist
    #[arg(long, value_name = "FOLDER", default_value = "study/rtl/tables")]
    folder: PathBuf,
}

impl Tables {
    pub(crate) fn run(self) -> Result<(), Failure> {
        for table in tables::all() {
            let file = self.folder.join(table.name);
            let mut output = Output::create_file(&file, None)?;
            output.write(&table.text)?;
            output.finish()?;
            io::print(&format!("wrote {}\n", file.display()))?;
        }
        Ok(())
    }
}
