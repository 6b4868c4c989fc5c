//! Variables of the environment, for libraries that any program may load.
#![allow(unsafe_code)]

use std::ffi::OsString;

/// The value of an environment variable that is set and not empty.
///
/// `None` in a program that has more rights than whoever started it (set-user-ID, set-group-ID, file
/// capabilities): the variables were chosen by that person, and must not name files for the program to read
/// or to write.
///
/// ```
/// assert_eq!(modmill_client::variable("A_VARIABLE_THAT_NOBODY_SETS"), None);
/// assert!(modmill_client::variable("PATH").is_some());
/// ```
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    // SAFETY: getauxval takes no memory.
    let has_more_rights = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    std::env::var_os(name).filter(|value| !has_more_rights && !value.is_empty())
}
