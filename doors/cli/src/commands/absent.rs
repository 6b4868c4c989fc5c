//! Commands that this build lacks. They stand in the help, and say which feature brings them.

use crate::failure::Failure;

/// Declares the module `$module` with the command `$command`, which this build lacks because it was made
/// without `$feature`.
macro_rules! absent {
    ($module:ident, $command:ident, $feature:literal, $about:literal) => {
        mod $module {
            #[derive(Debug, clap::Args)]
            #[command(about = concat!($about, " [needs --features ", $feature, "]"), disable_help_flag = true)]
            pub(crate) struct $command {
                #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
                _arguments: Vec<std::ffi::OsString>,
            }

            impl $command {
                pub(crate) fn run(self) -> Result<(), $crate::failure::Failure> {
                    Err(super::absent::failure(stringify!($module), $feature))
                }
            }
        }
    };
}

pub(crate) use absent;

/// The failure that says which `feature` brings `command`.
pub(crate) fn failure(command: &str, feature: &str) -> Failure {
    Failure::Usage(format!(
        "this build has no `modmill {command}`; a build with --features {feature}, or full, has it:\n  \
         cargo build --release -p modmill-cli --features full"
    ))
}
