//! Keys of the signing service, by URIs: `modmill:NAME` or `modmill:NAME?socket=PATH`.
//!
//! The private key stays in the service. `MODMILL_SOCKET` names the service's socket where the URI does not,
//! and the token is read from the file that `MODMILL_TOKEN_FILE` names, or from `MODMILL_TOKEN`.

use crate::core_handle::Core;
use crate::failure::Failure;
use crate::ffi::{Callback, Dispatch, Param, dispatch, guard};
use crate::key::{Content, ProviderKey, PublicHalf, hand_over};
use crate::names::store::*;
use crate::param_lists;
use crate::provider_context::Provider;
use modmill_client::{Service, variable};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

pub(crate) static FUNCTIONS: &[Dispatch] = dispatch![
    OPEN => open,
    LOAD => load,
    EOF => eof,
    CLOSE => close,
    SETTABLE_CTX_PARAMS => settable_params,
    SET_CTX_PARAMS => set_params,
];

/// A URI that is read.
pub(crate) struct Store {
    core: Core,
    name: String,
    socket: PathBuf,
    is_read: bool,
}

/// The name and the socket of a URI.
fn parse(uri: &str) -> Result<(String, Option<String>), Failure> {
    let wrong = || Failure::Parameter(format!("{uri:?} is no URI of a key: write modmill:NAME?socket=PATH"));
    let rest = uri.strip_prefix("modmill:").ok_or_else(wrong)?;
    let (name, query) = rest.split_once('?').map_or((rest, None), |(name, query)| (name, Some(query)));
    let socket = query.map(|query| query.strip_prefix("socket=").ok_or_else(wrong)).transpose()?;
    if name.is_empty() || socket.is_some_and(str::is_empty) {
        return Err(wrong());
    }
    Ok((name.to_owned(), socket.map(str::to_owned)))
}

fn token() -> Result<Zeroizing<String>, Failure> {
    if let Some(path) = variable("MODMILL_TOKEN_FILE") {
        let text = std::fs::read_to_string(&path).map(Zeroizing::new).map_err(|error| {
            Failure::Parameter(format!(
                "the token cannot be read from {}: {error}",
                Path::new(&path).display()
            ))
        })?;
        return Ok(Zeroizing::new(text.trim().to_owned()));
    }
    let missing = || {
        Failure::Parameter("MODMILL_TOKEN_FILE or MODMILL_TOKEN has to have a token of the service".into())
    };
    let text = variable("MODMILL_TOKEN").and_then(|text| text.into_string().ok());
    text.map(Zeroizing::new).ok_or_else(missing)
}

impl Store {
    pub(crate) fn open(core: Core, uri: &str) -> Result<Self, Failure> {
        let (name, socket) = parse(uri)?;
        let given = variable("MODMILL_SOCKET").map(PathBuf::from);
        let missing =
            || Failure::Parameter("neither the URI nor MODMILL_SOCKET names the service's socket".into());
        let socket = socket.map(PathBuf::from).or(given).ok_or_else(missing)?;
        Ok(Self { core, name, socket, is_read: false })
    }

    pub(crate) fn key(&self) -> Result<ProviderKey, Failure> {
        let key = Service::new(&self.socket, &token()?).key(&self.name)?;
        let half = PublicHalf::new(&self.core, key.public_key().clone());
        Ok(ProviderKey { core: self.core, content: Content::Pair(key, half) })
    }
}

unsafe extern "C" fn open(provider: *const Provider, uri: *const c_char) -> *mut Store {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context of OSSL_provider_init, and a text that ends with a zero.
        let (Some(provider), false) = (unsafe { provider.as_ref() }, uri.is_null()) else {
            return std::ptr::null_mut();
        };
        // SAFETY: as above.
        let uri = unsafe { CStr::from_ptr(uri) }.to_string_lossy();
        match Store::open(provider.core, &uri) {
            Ok(store) => Box::into_raw(Box::new(store)),
            Err(failure) => {
                provider.core.raise(&failure);
                std::ptr::null_mut()
            }
        }
    })
}

/// Hands the key over as a reference, which `keymgmt::load` takes.
unsafe extern "C" fn load(
    store: *mut Store,
    callback: Option<Callback>,
    argument: *mut c_void,
    _passphrase: *const c_void,
    _passphrase_argument: *mut c_void,
) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes what `open` returned.
        let (Some(store), Some(callback)) = (unsafe { store.as_mut() }, callback) else { return 0 };
        store.is_read = true;
        match store.key() {
            // SAFETY: the callback and its argument are OpenSSL's.
            Ok(key) => unsafe { hand_over(key, callback, argument) },
            Err(failure) => store.core.status(Err(failure)),
        }
    })
}

unsafe extern "C" fn eof(store: *const Store) -> c_int {
    // SAFETY: OpenSSL passes what `open` returned.
    c_int::from(unsafe { store.as_ref() }.is_none_or(|store| store.is_read))
}

unsafe extern "C" fn close(store: *mut Store) -> c_int {
    guard(0, || {
        if !store.is_null() {
            // SAFETY: OpenSSL gives back what `open` returned, once.
            drop(unsafe { Box::from_raw(store) });
        }
        1
    })
}

unsafe extern "C" fn settable_params(_: *const c_void) -> *const Param {
    param_lists::NOTHING.as_ptr()
}

/// Nothing can be set: what OpenSSL says about the kind of object that it expects changes nothing.
unsafe extern "C" fn set_params(_: *mut Store, _: *const Param) -> c_int {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sockets_are_read_from_uris() {
        let read = |uri: &str| parse(uri).ok();
        assert_eq!(read("modmill:transit/web"), Some(("transit/web".into(), None)));
        assert_eq!(read("modmill:alias/a?socket=/run/s"), Some(("alias/a".into(), Some("/run/s".into()))));
        for wrong in ["modmill:", "modmill:?socket=/s", "modmill:a?socket=", "modmill:a?x=1", "file:a", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
