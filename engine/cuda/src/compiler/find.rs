//! Finding NVRTC on this machine.

use super::nvrtc::Nvrtc;
use std::env;
use std::path::{Path, PathBuf};

/// The names of its library, newest first. The system's loader looks for a bare name.
const NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
};

/// Loads NVRTC: the file that `MODMILL_NVRTC` names and no other, or else the first that loads.
pub(super) fn nvrtc() -> Result<Nvrtc, String> {
    if let Some(file) = env::var_os("MODMILL_NVRTC") {
        let file = PathBuf::from(file);
        return Nvrtc::load(&file).map_err(|reason| format!("MODMILL_NVRTC is {}: {reason}", file.display()));
    }
    let folders = folders();
    let in_folders = folders.iter().flat_map(|folder| NAMES.iter().map(|name| folder.join(name)));
    let mut candidates = NAMES.iter().map(PathBuf::from).chain(in_folders.filter(|file| file.exists()));
    candidates.find_map(|file| Nvrtc::load(&file).ok()).ok_or_else(|| {
        let places = folders.iter().map(|folder| format!(", {}", folder.display()));
        format!("there is no NVRTC in the system's library folders{}", places.collect::<String>())
    })
}

/// The folders that NVIDIA's installers and Python packages use, as far as they exist.
fn folders() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(env::var_os).map(PathBuf::from).collect();
    let site_packages = |root: &Path| newest_first(&root.join("lib"), "python3");
    let mut environments: Vec<PathBuf> = env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    environments.extend(roots.iter().cloned());
    for python in environments.iter().flat_map(|root| site_packages(root)) {
        let packages = python.join("site-packages/nvidia");
        roots.extend(["cu13", "cuda_nvrtc"].map(|name| packages.join(name)));
    }
    roots.extend(newest_first(Path::new("/usr/local"), "cuda"));
    roots.extend(newest_first(Path::new("/opt"), "cuda"));
    roots
        .iter()
        .flat_map(|root| ["lib64", "lib"].map(|name| root.join(name)))
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The entries of a folder whose names begin with `prefix`, the highest version first.
fn newest_first(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let begins =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(begins).collect();
    found.sort_by_key(|path| std::cmp::Reverse(version(path)));
    found
}

/// The numbers in a name: `cuda-12.9` is below `cuda-12.10`.
fn version(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions_come_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["cuda-12.9", "cuda-12.10", "cuda", "cudnn", "other"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let found = newest_first(folder.path(), "cuda");
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["cuda-12.10", "cuda-12.9", "cuda"]);
    }
}
