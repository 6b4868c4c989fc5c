//! `modmill openssl configure`.

use crate::failure::Failure;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that OpenSSL of most distributions reads.
const SYSTEM: &str = "/etc/ssl/openssl.cnf";

/// Writes a configuration file for OpenSSL that loads modmill's provider
///
/// A program uses the file if the variable OPENSSL_CONF names it. RSA goes to modmill's provider, everything
/// else to OpenSSL's default provider. The options of another file, usually the system's, stay in effect.
#[derive(Debug, clap::Args)]
pub(crate) struct Configure {
    /// The provider's library, libmodmill_openssl.so
    #[arg(long, value_name = "FILE")]
    module: PathBuf,
    /// The configuration file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The configuration file whose other options are kept [default: /etc/ssl/openssl.cnf, if there is one]
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Replaces the file if it exists
    #[arg(long)]
    force: bool,
}

impl Configure {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let name = |path: &Path| path.display().to_string();
        let module = fs::canonicalize(&self.module)
            .map_err(|error| Failure::file("find", &name(&self.module), &error))?;
        if self.out.exists() && !self.force {
            return Err(Failure::Usage(format!("{} exists: --force replaces it", name(&self.out))));
        }
        let base = self.base.or_else(|| Some(PathBuf::from(SYSTEM)).filter(|system| system.exists()));
        let base = match base {
            None => None,
            Some(path) => {
                let path =
                    fs::canonicalize(&path).map_err(|error| Failure::file("find", &name(&path), &error))?;
                let text =
                    fs::read_to_string(&path).map_err(|error| Failure::file("read", &name(&path), &error))?;
                Some((path, text))
            }
        };
        let base = base.as_ref().map(|(path, text)| (&**path, &text[..]));
        fs::write(&self.out, configuration(&module, base))
            .map_err(|error| Failure::file("write", &name(&self.out), &error))?;
        println!("export OPENSSL_CONF={}", name(&fs::canonicalize(&self.out).unwrap_or(self.out)));
        Ok(())
    }
}

/// The text of a configuration file with the provider in `module`, on top of the file `base` with its text.
fn configuration(module: &Path, base: Option<(&Path, &str)>) -> String {
    let mut out = String::from("# Written by `modmill openssl configure`.\n");
    let (mut options, mut providers) = (Vec::new(), Vec::new());
    if let Some((path, text)) = base {
        let _ = writeln!(out, ".include {}", path.display());
        let start = values(text, "").find(|(key, _)| *key == "openssl_conf").map(|(_, section)| section);
        let section = start.unwrap_or_default();
        if !section.is_empty() {
            let is_ours = |key: &str| key == "providers" || key == "alg_section";
            options = values(text, section).filter(|(key, _)| !is_ours(key)).collect();
            let listed = values(text, section).find(|(key, _)| *key == "providers").map(|(_, list)| list);
            let is_ours = |key: &str| key == "default" || key == "modmill";
            providers = values(text, listed.unwrap_or(" ")).filter(|(key, _)| !is_ours(key)).collect();
        }
    }
    let line = |(key, value): &(&str, &str)| format!("{key} = {value}\n");
    // The first section is named, because the other file ends in one of its own.
    out += "[default]\nopenssl_conf = modmill_init\n\n[modmill_init]\n";
    out += "providers = modmill_providers\nalg_section = modmill_algorithms\n";
    out.extend(options.iter().map(line));
    out += "\n[modmill_providers]\ndefault = modmill_default_provider\nmodmill = modmill_provider\n";
    out.extend(providers.iter().map(line));
    let _ = write!(
        out,
        "\n[modmill_default_provider]\nactivate = 1\n\n\
         [modmill_provider]\nmodule = {}\nactivate = 1\n\n\
         # RSA is taken from modmill, and everything that modmill does not have from the default provider.\n\
         [modmill_algorithms]\ndefault_properties = ?provider=modmill\n",
        module.display()
    );
    out
}

/// The options of a section of a configuration file. The section before the first heading has no name.
fn values<'a>(text: &'a str, section: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut current = "";
    text.lines().filter_map(move |line| {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = heading.trim();
            return None;
        }
        let (key, value) = line.split_once('=')?;
        (current == section).then(|| (key.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_options_are_kept() {
        let base = "openssl_conf = start # here\n[req]\nx = y\n[ start ]\nproviders = list\nssl_conf = ssl\n\
                    alg_section = old\n[list]\ndefault = d\nlegacy = l\n[ssl]\na = b\n";
        let text = configuration(Path::new("/m.so"), Some((Path::new("/base.cnf"), base)));
        assert!(text.contains(".include /base.cnf\n"), "{text}");
        let of = |section| values(&text, section).collect::<Vec<_>>();
        assert_eq!(of("default"), [("openssl_conf", "modmill_init")]);
        assert_eq!(
            of("modmill_init"),
            [("providers", "modmill_providers"), ("alg_section", "modmill_algorithms"), ("ssl_conf", "ssl")]
        );
        let providers =
            [("default", "modmill_default_provider"), ("modmill", "modmill_provider"), ("legacy", "l")];
        assert_eq!(of("modmill_providers"), providers);
        assert_eq!(of("modmill_provider"), [("module", "/m.so"), ("activate", "1")]);
        assert_eq!(of("modmill_algorithms"), [("default_properties", "?provider=modmill")]);
        assert!(!configuration(Path::new("/m.so"), None).contains(".include"));
    }
}
