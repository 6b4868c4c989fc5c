//! A token over the signing service. The private keys stay there, and only public keys come into this
//! process.

use super::{Description, Handle, Token, User};
use crate::log;
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use crate::template;
use cryptoki_sys::*;
use modmill_client::{Error, Service};
use modmill_core::sync::RwLock;
use modmill_seal::SecretBytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A token over the service.
pub(crate) struct ServiceToken {
    socket: PathBuf,
    label: String,
    /// The names of the keys in the service, as the configuration lists them.
    keys: Vec<String>,
    /// The file of the access token. Without one, the access token is the user's PIN.
    token_file: Option<PathBuf>,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    service: Option<Service>,
    is_logged_in: bool,
    objects: BTreeMap<Handle, Arc<Object>>,
}

/// The handles of a key's public and private object.
fn handles(index: usize) -> [Handle; 2] {
    let first = 2 * index as Handle + 1;
    [first, first + 1]
}

fn read_only<T>() -> Answer<T> {
    refuse(CKR_TOKEN_WRITE_PROTECTED, "the keys of the service are managed there, not here")
}

impl ServiceToken {
    /// The token with the service's `keys`.
    pub(crate) fn new(
        socket: PathBuf,
        label: String,
        keys: Vec<String>,
        token_file: Option<PathBuf>,
    ) -> Self {
        Self { socket, label, keys, token_file, state: RwLock::default() }
    }

    /// The service, if this process may use it already.
    fn service(&self) -> Answer<Option<Service>> {
        if let Some(service) = &self.state.read().service {
            return Ok(Some(service.clone()));
        }
        let Some(file) = &self.token_file else { return Ok(None) };
        let service = Service::new(&self.socket, &access_token(file)?);
        self.state.write().service = Some(service.clone());
        Ok(Some(service))
    }

    /// Asks the service for its keys. A key that the service does not know, or whose use it does not allow,
    /// is left out and named in the log. If all are left out, the reason of the last one is that of the call.
    fn refresh(&self, service: &Service) -> Answer {
        let (mut objects, mut left_out) = (BTreeMap::new(), None);
        let known = self.state.read().objects.clone();
        for (index, name) in self.keys.iter().enumerate() {
            let key = match service.key(name) {
                Ok(key) => key,
                Err(error @ (Error::NoSuchKey(_) | Error::Refused(_))) => {
                    let refusal = Refusal::from(error);
                    log::refused(name, &refusal);
                    left_out = Some(refusal);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let [public, private] = handles(index);
            // A key that is already known is kept, with the constants that were computed for it.
            let modulus = key.public_key().modulus_bytes();
            let kept = known.get(&public).filter(|object| object.bytes(CKA_MODULUS) == modulus);
            if let (Some(first), Some(second)) = (kept, known.get(&private)) {
                objects.extend([(public, Arc::clone(first)), (private, Arc::clone(second))]);
                continue;
            }
            let [first, second] = template::held_elsewhere(name, key)?;
            objects.extend([(public, Arc::new(first)), (private, Arc::new(second))]);
        }
        match left_out.filter(|_| objects.is_empty()) {
            Some(refusal) => return Err(refusal),
            None => self.state.write().objects = objects,
        }
        Ok(())
    }
}

/// The access token in a file, without the white space around it.
fn access_token(path: &Path) -> Answer<Zeroizing<String>> {
    let unreadable = |error| {
        Refusal::new(CKR_DEVICE_ERROR, format!("the access token's file {}: {error}", path.display()))
    };
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(unreadable)?);
    Ok(Zeroizing::new(text.trim().to_owned()))
}

impl Token for ServiceToken {
    fn describe(&self) -> Answer<Description> {
        let login = match self.token_file {
            Some(_) => 0,
            None => CKF_LOGIN_REQUIRED | CKF_USER_PIN_INITIALIZED,
        };
        Ok(Description {
            label: self.label.clone(),
            serial: "service".into(),
            model: "signing service",
            flags: CKF_RNG | CKF_TOKEN_INITIALIZED | login,
        })
    }

    fn is_writable(&self) -> bool {
        false
    }

    fn initialise(&self, _: &SecretBytes, _: &str) -> Answer {
        read_only()
    }

    fn user(&self) -> Option<User> {
        self.state.read().is_logged_in.then_some(User::Normal)
    }

    fn log_in(&self, user: User, pin: &SecretBytes) -> Answer {
        if user == User::Officer || self.token_file.is_some() {
            return refuse(CKR_USER_TYPE_INVALID, "nobody logs in: the configuration names the access token");
        }
        let Ok(text) = std::str::from_utf8(pin.expose()) else {
            return refuse(CKR_PIN_INCORRECT, "the access token is not UTF-8");
        };
        let service = Service::new(&self.socket, text);
        match self.refresh(&service) {
            Err(refusal) if refusal.code == CKR_FUNCTION_REJECTED => {
                return Err(Refusal { code: CKR_PIN_INCORRECT, ..refusal });
            }
            refreshed => refreshed?,
        }
        let mut state = self.state.write();
        (state.service, state.is_logged_in) = (Some(service), true);
        Ok(())
    }

    fn check_user_pin(&self, _: &SecretBytes) -> Answer {
        refuse(CKR_OPERATION_NOT_INITIALIZED, "no key of the service asks for the PIN")
    }

    fn log_out(&self) -> Answer {
        let mut state = self.state.write();
        if !state.is_logged_in {
            return refuse(CKR_USER_NOT_LOGGED_IN, "nobody is logged in");
        }
        *state = State::default();
        Ok(())
    }

    fn set_user_pin(&self, _: &SecretBytes) -> Answer {
        read_only()
    }

    fn change_pin(&self, _: &SecretBytes, _: &SecretBytes) -> Answer {
        read_only()
    }

    fn objects(&self) -> Answer<Vec<(Handle, Arc<Object>)>> {
        let Some(service) = self.service()? else { return Ok(Vec::new()) };
        self.refresh(&service)?;
        Ok(self.state.read().objects.iter().map(|(handle, object)| (*handle, Arc::clone(object))).collect())
    }

    fn object(&self, handle: Handle) -> Answer<Arc<Object>> {
        let known = self.state.read().objects.get(&handle).map(Arc::clone);
        known.ok_or_else(|| Refusal::new(CKR_OBJECT_HANDLE_INVALID, format!("there is no object {handle}")))
    }

    fn add(&self, _: &[Object]) -> Answer<Vec<Handle>> {
        read_only()
    }

    fn replace(&self, _: Handle, _: &Object) -> Answer {
        read_only()
    }

    fn remove(&self, _: Handle) -> Answer {
        read_only()
    }
}
