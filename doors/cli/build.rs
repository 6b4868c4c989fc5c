//! Passes facts about the build to the program: commit, compiler, target and profile. A fact that cannot be
//! found is "unknown", and never fails the build.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // This file changes with every commit and checkout.
    if let Some(log) = output("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let known = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    let variable = |name: &str| known(std::env::var(name).ok());
    let commit = known(output("git", &["rev-parse", "--short=12", "HEAD"]));
    let rustc = known(output(&variable("RUSTC"), &["--version"]));
    println!("cargo:rustc-env=MODMILL_BUILD_COMMIT={commit}");
    println!("cargo:rustc-env=MODMILL_BUILD_RUSTC={rustc}");
    println!("cargo:rustc-env=MODMILL_BUILD_TARGET={}", variable("TARGET"));
    println!(
        "cargo:rustc-env=MODMILL_BUILD_PROFILE={} (opt-level {})",
        variable("PROFILE"),
        variable("OPT_LEVEL")
    );
}

/// The first line that a command printed, if it succeeded.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let done = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (done.status.success() && !line.is_empty()).then(|| line.to_owned())
}
