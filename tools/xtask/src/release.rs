//! The program as it is handed on: without the paths of the machine that built it.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Build the program for release and check that no path of this machine is in it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder for the build, apart from other builds because every crate is compiled anew.
    #[arg(long, default_value = "target/dist")]
    target_dir: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let workspace =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("xtask has no workspace")?;
    let paths = paths_to_hide(workspace, env::var_os("CARGO_HOME"), env::home_dir());
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(cargo)
        .current_dir(workspace)
        .args([
            "build",
            "--locked",
            "--release",
            "--package",
            "modmill-cli",
            "--features",
            "full",
            "--target-dir",
        ])
        .arg(&arguments.target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", remap_flags(&paths)?)
        .status();
    match status {
        Err(error) => return Err(format!("cannot run cargo: {error}")),
        Ok(status) if !status.success() => return Err("the build failed".to_owned()),
        Ok(_) => {}
    }
    let program = workspace.join(&arguments.target_dir).join("release").join(program_name());
    let contents =
        std::fs::read(&program).map_err(|error| format!("cannot read {}: {error}", program.display()))?;
    match paths.iter().find(|(path, _)| contains(&contents, path.as_os_str().as_encoded_bytes())) {
        Some((path, _)) => Err(format!("{} contains the path {}", program.display(), path.display())),
        None => {
            println!("{} ({} KiB)", program.display(), contents.len() >> 10);
            Ok(())
        }
    }
}

fn program_name() -> String {
    format!("modmill{}", env::consts::EXE_SUFFIX)
}

/// Paths of this machine, and the names that stand for them in the program. Cargo's folder comes last,
/// because the compiler applies the last flag that fits, and the workspace may contain it or lie in it.
fn paths_to_hide(
    workspace: &Path,
    cargo_home: Option<OsString>,
    home: Option<PathBuf>,
) -> Vec<(PathBuf, &'static str)> {
    let cargo_home = cargo_home.map(PathBuf::from).or_else(|| home.map(|home| home.join(".cargo")));
    let workspace = std::iter::once((workspace.to_owned(), "modmill"));
    workspace.chain(cargo_home.map(|path| (path, "cargo"))).collect()
}

/// Compiler flags that replace paths, separated as Cargo wants them.
fn remap_flags(paths: &[(PathBuf, &str)]) -> Result<String, String> {
    let flag = |(path, name): &(PathBuf, &str)| {
        let path = path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
        Ok(format!("--remap-path-prefix={path}={name}"))
    };
    paths.iter().map(flag).collect::<Result<Vec<_>, String>>().map(|flags| flags.join("\u{1f}"))
}

fn contains(contents: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && contents.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_every_path() {
        let paths = paths_to_hide(Path::new("/home/me/modmill"), None, Some("/home/me".into()));
        let flags = remap_flags(&paths).unwrap();
        assert_eq!(
            flags.split('\u{1f}').collect::<Vec<_>>(),
            ["--remap-path-prefix=/home/me/modmill=modmill", "--remap-path-prefix=/home/me/.cargo=cargo"]
        );
        let paths = paths_to_hide(Path::new("/work"), Some("/cargo".into()), None);
        assert_eq!(paths[1].0, Path::new("/cargo"));
    }

    #[test]
    fn paths_are_found_in_programs() {
        assert!(contains(b"\0\0/home/me/.cargo/registry\0", b"/home/me/.cargo"));
        assert!(!contains(b"\0\0cargo/registry\0", b"/home/me/.cargo"));
        assert!(!contains(b"text", b""));
    }
}
