//! The configuration: which tokens there are.

use crate::refusal::{Answer, Refusal};
use cryptoki_sys::CKR_GENERAL_ERROR;
use modmill_client::variable;
use modmill_seal::Cost;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that names the configuration's file.
const VARIABLE: &str = "MODMILL_PKCS11_CONFIG";

/// The contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<Entry>,
}

/// One token as the file names it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: Option<PathBuf>,
    socket: Option<PathBuf>,
    label: Option<String>,
    keys: Option<Vec<String>>,
    token_file: Option<PathBuf>,
    pin_memory_mib: Option<u32>,
    pin_passes: Option<u32>,
}

/// The place of a token's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a keystore file. New PINs are stretched at this cost.
    File {
        /// The file.
        path: PathBuf,
        /// The cost of trying a PIN.
        cost: Cost,
    },
    /// In the signing service.
    Service {
        /// The service's Unix socket.
        socket: PathBuf,
        /// The label of the token.
        label: String,
        /// The names of the keys in the service.
        keys: Vec<String>,
        /// The file of the access token, if a login is not to give it.
        token_file: Option<PathBuf>,
    },
}

/// The tokens of this process, one for each slot: those of the configuration's file, or one in the user's
/// data folder.
pub(crate) fn places() -> Answer<Vec<Place>> {
    match variable(VARIABLE) {
        Some(path) => read(Path::new(&path)),
        None => {
            let path = default_path(variable)?;
            return Ok(vec![Place::File { path, cost: Cost::default() }]);
        }
    }
    .map_err(|reason| Refusal::new(CKR_GENERAL_ERROR, reason))
}

fn read(path: &Path) -> Result<Vec<Place>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the configuration {} cannot be read: {error}", path.display()))?;
    // Relative paths begin at the folder of the configuration, wherever the program was started.
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, folder).map_err(|reason| format!("the configuration {}: {reason}", path.display()))
}

fn parse(text: &str, folder: &Path) -> Result<Vec<Place>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.token.is_empty() {
        return Err("it names no token: write [[token]] with a path or a socket".into());
    }
    let number =
        |(index, entry)| place(entry, folder).map_err(|reason| format!("token {}: {reason}", index + 1));
    file.token.into_iter().enumerate().map(number).collect()
}

fn place(entry: Entry, folder: &Path) -> Result<Place, String> {
    let Entry { path, socket, label, keys, token_file, pin_memory_mib, pin_passes } = entry;
    match (path, socket) {
        (Some(_), Some(_)) | (None, None) => Err("give either path or socket".into()),
        (Some(_), None) if label.is_some() => {
            Err("the label of a keystore file is given when it is initialised, not here".into())
        }
        (Some(_), None) if keys.is_some() || token_file.is_some() => {
            Err("keys and token_file belong to a socket".into())
        }
        (Some(path), None) => {
            let usual = Cost::default();
            let memory = bounded("pin_memory_mib", pin_memory_mib, usual.memory_kib >> 10, 4096)?;
            let passes = bounded("pin_passes", pin_passes, usual.passes, 64)?;
            Ok(Place::File {
                path: folder.join(path),
                cost: Cost { memory_kib: memory << 10, passes, ..usual },
            })
        }
        (None, Some(_)) if pin_memory_mib.is_some() || pin_passes.is_some() => {
            Err("the service has no PIN, so that pin_memory_mib and pin_passes have no meaning".into())
        }
        (None, Some(socket)) => {
            let label = label.unwrap_or_else(|| "modmill service".into());
            if label.len() > 32 {
                return Err("a label has at most 32 bytes".into());
            }
            let keys = keys.filter(|keys| !keys.is_empty());
            let keys = keys.ok_or("keys lists the names of the keys in the service, such as transit/web")?;
            let token_file = token_file.map(|file| folder.join(file));
            Ok(Place::Service { socket: folder.join(socket), label, keys, token_file })
        }
    }
}

fn bounded(name: &str, given: Option<u32>, usual: u32, most: u32) -> Result<u32, String> {
    match given.unwrap_or(usual) {
        value if (1..=most).contains(&value) => Ok(value),
        value => Err(format!("{name} is {value}; it is from 1 to {most}")),
    }
}

/// The token of a user who has no configuration. `variable` looks up environment variables.
fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Answer<PathBuf> {
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    let reason = "neither MODMILL_PKCS11_CONFIG nor XDG_DATA_HOME nor HOME is set, or the program has more rights than whoever started it \
                  and reads no variables, so that there is no place for a token";
    let data = data.ok_or_else(|| Refusal::new(CKR_GENERAL_ERROR, reason))?;
    Ok(data.join("modmill/pkcs11/token.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_both_sorts() {
        let text = "[[token]]\npath = \"a.json\"\npin_passes = 1\n[[token]]\nsocket = \"/run/s\"\nlabel = \"web\"\nkeys = [\"transit/a\"]\n";
        let places = parse(text, Path::new("/etc/modmill")).unwrap();
        let cost = Cost { passes: 1, ..Cost::default() };
        assert_eq!(places[0], Place::File { path: "/etc/modmill/a.json".into(), cost });
        assert_eq!(
            places[1],
            Place::Service {
                socket: "/run/s".into(),
                label: "web".into(),
                keys: vec!["transit/a".into()],
                token_file: None
            }
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("", "names no token"),
            ("[[token]]\n", "token 1: give either path or socket"),
            ("[[token]]\npath=\"a\"\nsocket=\"b\"\n", "give either"),
            ("[[token]]\npath=\"a\"\nlabel=\"b\"\n", "when it is initialised"),
            ("[[token]]\npath=\"a\"\n[[token]]\npath=\"a\"\npin_passes=0\n", "token 2: pin_passes is 0"),
            ("[[token]]\nsocket=\"a\"\npin_passes=3\n", "no PIN"),
            ("[[token]]\nsocket=\"a\"\n", "names of the keys"),
            ("[[token]]\npath=\"a\"\nkeys=[]\n", "belong to a socket"),
            ("[[token]]\npaht=\"a\"\n", "paht"),
        ] {
            let reason = parse(text, Path::new("")).unwrap_err();
            assert!(reason.contains(part), "{text:?}: {reason}");
        }
    }

    #[test]
    fn the_default_is_in_the_data_folder() {
        let variables = |values: &'static [(&str, &str)]| {
            move |name: &str| {
                values.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
            }
        };
        let path = |values| default_path(variables(values)).map(|path| path.display().to_string());
        assert_eq!(path(&[("HOME", "/h")]).unwrap(), "/h/.local/share/modmill/pkcs11/token.json");
        assert_eq!(path(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")]).unwrap(), "/d/modmill/pkcs11/token.json");
        assert!(path(&[("HOME", "relative")]).is_err());
    }
}
