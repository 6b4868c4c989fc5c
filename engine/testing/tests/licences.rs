//! Every dependency may be used under a licence that `deny.toml` allows. Needs no network where
//! the dependencies are already on the machine.

use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(ROOT)
        .args(arguments)
        .output()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The resolved dependencies: those of all features and platforms if `cargo fetch` has loaded them, else
/// those that a build on this machine needs.
fn metadata() -> Value {
    let version = cargo(&["-vV"]).expect("cargo says its version");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says its host");
    let metadata = ["metadata", "--locked", "--format-version=1"];
    let ways: [&[&str]; 3] = [
        &["--all-features", "--offline"],
        &["--filter-platform", host, "--offline"],
        &["--filter-platform", host],
    ];
    let mut errors = Vec::new();
    for way in ways {
        match cargo(&[&metadata, way].concat()) {
            Ok(text) => {
                println!("cargo metadata {}", way.join(" "));
                return serde_json::from_str(&text).expect("cargo writes JSON");
            }
            Err(error) => errors.push(error),
        }
    }
    panic!("the dependencies cannot be listed: {errors:#?}");
}

/// The strings of the list `allow` in `deny.toml`.
fn allowed() -> HashSet<String> {
    let text = std::fs::read_to_string(format!("{ROOT}/deny.toml")).expect("deny.toml is there");
    let list = text.split_once("\nallow = [").and_then(|(_, rest)| rest.split_once(']')).expect("a list").0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An SPDX expression being read, word by word from the left.
struct Expression<'a> {
    words: Vec<&'a str>,
    allowed: &'a HashSet<String>,
}

/// Whether allowed licences alone satisfy an SPDX expression. Text that is no such expression is an error.
/// The old form with a slash means OR.
fn is_met(expression: &str, allowed: &HashSet<String>) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut rest = Expression { words: spaced.split_whitespace().rev().collect(), allowed };
    let met = rest.either();
    match (met, rest.words.as_slice()) {
        (Some(met), []) => Ok(met),
        _ => Err(format!("{expression:?} is not a licence expression")),
    }
}

impl<'a> Expression<'a> {
    fn take(&mut self, word: &str) -> bool {
        self.words.pop_if(|next| *next == word).is_some()
    }

    fn either(&mut self) -> Option<bool> {
        let mut met = self.both()?;
        while self.take("OR") {
            met |= self.both()?;
        }
        Some(met)
    }

    fn both(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.either()?;
            return self.take(")").then_some(met);
        }
        let licence = self.name()?;
        match self.take("WITH") {
            true => Some(self.allowed.contains(&format!("{licence} WITH {}", self.name()?))),
            false => Some(self.allowed.contains(licence)),
        }
    }

    fn name(&mut self) -> Option<&'a str> {
        self.words.pop().filter(|word| !["(", ")", "AND", "OR", "WITH"].contains(word))
    }
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let (metadata, allowed) = (metadata(), allowed());
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let resolved: HashSet<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut refused = Vec::new();
    let mut seen = 0;
    for package in
        packages.iter().filter(|package| package["id"].as_str().is_some_and(|id| resolved.contains(id)))
    {
        seen += 1;
        let licence = package["license"].as_str().unwrap_or_default();
        if is_met(licence, &allowed) != Ok(true) {
            refused.push(format!("{} {}: {licence:?}", package["name"], package["version"]));
        }
    }
    println!("{seen} packages");
    assert!(seen == resolved.len() && seen > 20, "only {seen} of {} packages seen", resolved.len());
    assert!(refused.is_empty(), "licences that deny.toml does not allow:\n{}", refused.join("\n"));
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed: HashSet<String> = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only OR MIT AND ISC", true),
        ("(GPL-3.0-only OR MIT) AND BSL-1.0", false),
        ("(GPL-3.0-only OR MIT) AND ISC", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_met(expression, &allowed), Ok(expected), "{expression}");
    }
    for nonsense in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND", "MIT WITH OR"] {
        assert!(is_met(nonsense, &allowed).is_err(), "{nonsense:?}");
    }
}
