//! Powers of one number by OpenSSL's default provider.
//!
//! The engine is made for many numbers at a time. Where a program has one signature to make or to check and
//! no other waits, OpenSSL's own arithmetic may be faster, so that both are tried
//! (`modmill_client::Key::local_with`). It is constant-time, and checks private powers with the public
//! exponent, as the engine does.

use crate::default_rsa::{Context, DefaultRsa, OwnedKey};
use crate::names::param;
use crate::padding::Padding;
use crate::params::Built;
use modmill_client::PrivatePower;
use std::sync::{Mutex, OnceLock};
use zeroize::Zeroizing;

/// A key of the default provider, made when it is first used.
pub(crate) struct Single {
    default: DefaultRsa,
    numbers: Box<dyn Fn() -> Built + Send + Sync>,
    has_private: bool,
    size: usize,
    key: OnceLock<Option<OwnedKey>>,
    /// Contexts that are ready for the public and the private power and that nobody uses.
    spare: [Mutex<Vec<Context>>; 2],
}

impl Single {
    /// A key with the numbers that `numbers` returns and a modulus of `size` bytes.
    pub(crate) fn new(
        default: DefaultRsa,
        (has_private, size): (bool, usize),
        numbers: impl Fn() -> Built + Send + Sync + 'static,
    ) -> Self {
        let (key, spare) = Default::default();
        Self { default, numbers: Box::new(numbers), has_private, size, key, spare }
    }

    /// Whether OpenSSL takes the key.
    pub(crate) fn is_usable(&self) -> bool {
        self.key().is_some()
    }

    /// Whether [`Single::is_consistent`] holds, without a trace in the error queue.
    pub(crate) fn is_quietly_consistent(&self) -> bool {
        self.quietly(|| self.is_consistent())
    }

    /// Whether OpenSSL finds that the numbers of the key pair belong together.
    pub(crate) fn is_consistent(&self) -> bool {
        self.key().is_some_and(|key| self.default.is_consistent(key))
    }

    /// The public power of a number as long as the modulus. `None` if OpenSSL does not compute it.
    pub(crate) fn public_power(&self, number: &[u8]) -> Option<Vec<u8>> {
        self.compute(number, false).map(|mut power| std::mem::take(&mut *power))
    }

    /// The message in a ciphertext, by a padding that `options` name. `None` if OpenSSL does not decrypt it.
    pub(crate) fn decrypt(&self, options: Built, ciphertext: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.quietly(|| self.run(&self.context(options, true)?, ciphertext, true))
    }

    fn compute(&self, number: &[u8], is_private: bool) -> Option<Zeroizing<Vec<u8>>> {
        if number.len() != self.size {
            return None;
        }
        self.quietly(|| self.try_compute(number, is_private))
    }

    /// Has `work` done without a trace in the error queue: what goes wrong there is told in the provider's
    /// words, or computed by the engine.
    fn quietly<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the functions take no memory.
        unsafe { (self.default.evp.set_mark)() };
        let answer = work();
        // SAFETY: as above.
        unsafe { (self.default.evp.pop_to_mark)() };
        answer
    }

    fn try_compute(&self, number: &[u8], is_private: bool) -> Option<Zeroizing<Vec<u8>>> {
        let spare = &self.spare[usize::from(is_private)];
        // A lock that another thread held while the process forked is never released in the child: nobody
        // waits for it.
        let ready = spare.try_lock().ok().and_then(|mut spare| spare.pop());
        let without_padding = || {
            let mut padding = Built::default();
            padding.integer(param::PAD_MODE, Padding::None as i32);
            padding
        };
        let context = ready.or_else(|| self.context(without_padding(), is_private))?;
        let power = self.run(&context, number, is_private).filter(|power| power.len() == self.size)?;
        if let Ok(mut spare) = spare.try_lock() {
            spare.push(context);
        }
        Some(power)
    }

    /// The result of `input` in a context that is ready.
    fn run(&self, context: &Context, input: &[u8], is_private: bool) -> Option<Zeroizing<Vec<u8>>> {
        let mut answer = Zeroizing::new(vec![0; self.size]);
        let mut len = answer.len();
        let evp = &self.default.evp;
        let compute = if is_private { evp.decrypt } else { evp.encrypt };
        // SAFETY: the context was prepared for this operation, and there is room for as many bytes as the
        // modulus has.
        let status =
            unsafe { compute(context.1, answer.as_mut_ptr(), &mut len, input.as_ptr(), input.len()) };
        answer.truncate(len);
        (status == 1).then_some(answer)
    }

    /// A context of the default provider that encrypts, or decrypts if `is_private`, with the padding that
    /// `options` name.
    fn context(&self, options: Built, is_private: bool) -> Option<Context> {
        let context = self.default.context_of(self.key()?)?;
        let evp = &self.default.evp;
        let init = if is_private { evp.decrypt_init } else { evp.encrypt_init };
        // SAFETY: the parameters live until the call returns.
        (options.with(|params| unsafe { init(context.1, params) }) == 1).then_some(context)
    }

    fn key(&self) -> Option<&OwnedKey> {
        self.key.get_or_init(|| self.default.key((self.numbers)(), self.has_private)).as_ref()
    }
}

impl PrivatePower for Single {
    fn power(&self, number: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if self.has_private { self.compute(number, true) } else { None }
    }
}
