//! The way to OpenSSL's error queue.

use crate::default_rsa::DefaultRsa;
use crate::failure::Failure;
use crate::ffi::{Dispatch, LAST, Param};
use crate::libcrypto::{Async, Evp};
use crate::names::{param, upcall};
use crate::params::UTF8_POINTER;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::panic::Location;
use zeroize::Zeroizing;

type GetLibrary = unsafe extern "C" fn(*const c_void) -> *mut c_void;
type GetParams = unsafe extern "C" fn(*const c_void, *mut Param) -> c_int;
type BioReadEx = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut usize) -> c_int;
type NewError = unsafe extern "C" fn(*const c_void);
type SetErrorDebug = unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char);
type VsetError = unsafe extern "C" fn(*const c_void, c_uint, *const c_char, *mut c_void);

/// OpenSSL's handle on this provider, and the functions that take it. It is copied to every key and context,
/// which do not outlive the provider.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    handle: *const c_void,
    get_params: Option<GetParams>,
    bio_read: Option<BioReadEx>,
    new_error: Option<NewError>,
    set_error_debug: Option<SetErrorDebug>,
    vset_error: Option<VsetError>,
    /// ASYNC of the libcrypto that loaded the provider.
    pub(crate) asynchronous: Option<Async>,
    /// The default provider's RSA in the library context of this provider.
    pub(crate) default_rsa: Option<DefaultRsa>,
}

// SAFETY: OpenSSL's functions may be called from every thread with the handle.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

impl Core {
    /// The handle with the functions of OpenSSL's table.
    ///
    /// # Safety
    /// `functions` is a table that [`crate::ffi::END`] ends, with the functions that their numbers stand for.
    pub(crate) unsafe fn new(handle: *const c_void, mut functions: *const Dispatch) -> Self {
        let (get_params, bio_read, new_error, set_error_debug, vset_error) = Default::default();
        let (asynchronous, default_rsa) = (None, None);
        let mut core = Self {
            handle,
            get_params,
            bio_read,
            new_error,
            set_error_debug,
            vset_error,
            asynchronous,
            default_rsa,
        };
        // SAFETY: the table ends with the number 0, as the caller promises, and until then every row can be
        // read. A function has the type that belongs to its number.
        unsafe {
            while !functions.is_null() && (*functions).id != 0 {
                let Dispatch { id, function } = *functions;
                match id {
                    upcall::GET_PARAMS => {
                        core.get_params = std::mem::transmute::<*const c_void, Option<GetParams>>(function);
                        core.asynchronous = Async::of(function);
                    }
                    upcall::BIO_READ_EX => {
                        core.bio_read = std::mem::transmute::<*const c_void, Option<BioReadEx>>(function);
                    }
                    upcall::GET_LIBCTX => {
                        let get = std::mem::transmute::<*const c_void, Option<GetLibrary>>(function);
                        // The context of a core is a library context under another name (provider-base(7)).
                        let library = get.map_or(std::ptr::null_mut(), |get| get(handle));
                        core.default_rsa = Evp::of(function).map(|evp| DefaultRsa::new(evp, library));
                    }
                    upcall::NEW_ERROR => {
                        core.new_error = std::mem::transmute::<*const c_void, Option<NewError>>(function);
                    }
                    upcall::SET_ERROR_DEBUG => {
                        core.set_error_debug =
                            std::mem::transmute::<*const c_void, Option<SetErrorDebug>>(function);
                    }
                    upcall::VSET_ERROR => {
                        core.vset_error = std::mem::transmute::<*const c_void, Option<VsetError>>(function);
                    }
                    _ => {}
                }
                functions = functions.add(1);
            }
        }
        core
    }

    /// The contents of a BIO of OpenSSL, `most` bytes of them. A file may hold a private key besides what is
    /// looked for, so that all copies are cleared.
    ///
    /// # Safety
    /// `input` is a BIO that OpenSSL passed to this provider.
    pub(crate) unsafe fn read(&self, input: *mut c_void, most: usize) -> Zeroizing<Vec<u8>> {
        let Some(read) = self.bio_read.filter(|_| !input.is_null()) else { return Zeroizing::default() };
        let (mut all, mut piece) = (Zeroizing::new(Vec::new()), Zeroizing::new([0u8; 4096]));
        while all.len() < most {
            let mut count = 0;
            // SAFETY: the function is OpenSSL's, and there is room for as many bytes as are asked for.
            let status = unsafe { read(input, piece.as_mut_ptr().cast(), piece.len(), &mut count) };
            if status != 1 || count == 0 {
                break;
            }
            let piece = &piece[..count.min(piece.len())];
            if all.capacity() < all.len() + piece.len() {
                // A vector that grows by itself leaves its old memory as it was.
                let mut longer = Zeroizing::new(Vec::with_capacity(2 * (all.len() + piece.len())));
                longer.extend_from_slice(&all);
                all = longer;
            }
            all.extend_from_slice(piece);
        }
        all
    }

    /// The version of OpenSSL, major and minor. `None` if it does not say.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        let mut text: *const c_char = std::ptr::null();
        let wanted = Param {
            key: param::CORE_VERSION.as_ptr(),
            data_type: UTF8_POINTER,
            data: (&raw mut text).cast(),
            ..LAST
        };
        let mut params = [wanted, LAST];
        // SAFETY: the list ends with a parameter without a name. OpenSSL writes a pointer to a text that it
        // keeps.
        let text = unsafe {
            if (self.get_params?)(self.handle, params.as_mut_ptr()) != 1 || text.is_null() {
                return None;
            }
            CStr::from_ptr(text).to_str().ok()?
        };
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// Adds a failure to the error queue of the calling thread.
    #[track_caller]
    pub(crate) fn raise(&self, failure: &Failure) {
        let (Some(new_error), Some(set_debug), Some(set_error)) =
            (self.new_error, self.set_error_debug, self.vset_error)
        else {
            return;
        };
        let place = Location::caller();
        let file = CString::new(place.file()).unwrap_or_default();
        // The text is a format for printf. Without a directive that takes an argument none is read.
        let text = failure.to_string().replace('%', "%%").replace('\0', " ");
        let text = CString::new(text).unwrap_or_default();
        // A va_list is passed as a pointer on the platforms that OpenSSL and this crate run on. It points to
        // something that can be read, though nothing is.
        let mut no_arguments = [0u64; 8];
        // SAFETY: the functions are OpenSSL's and take its handle. The texts end with a zero and live until
        // the calls return, and OpenSSL copies them. The format reads no argument.
        unsafe {
            new_error(self.handle);
            set_debug(self.handle, file.as_ptr(), place.line() as c_int, c"modmill".as_ptr());
            set_error(self.handle, failure.reason(), text.as_ptr(), no_arguments.as_mut_ptr().cast());
        }
    }

    /// 1 for success; 0 for a failure, which is added to the error queue.
    #[track_caller]
    pub(crate) fn status(&self, result: Result<(), Failure>) -> c_int {
        match result {
            Ok(()) => 1,
            Err(failure) => {
                self.raise(&failure);
                0
            }
        }
    }
}
