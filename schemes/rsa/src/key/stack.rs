//! Cleaning the stack.

use zeroize::Zeroize;

/// Runs `work` and then overwrites the stack that it used. Decoders and ciphers leave pieces of a key there:
/// blocks of plaintext, derived keys, saved vector registers.
pub(super) fn with_clean_stack<T>(work: impl FnOnce() -> T) -> T {
    // Neither function is inlined, so that both have their frames at the same place.
    #[inline(never)]
    fn run<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    #[inline(never)]
    fn clean() {
        let mut stack = [u64::MAX; 1 << 12];
        std::hint::black_box(&mut stack).zeroize();
    }
    let result = run(work);
    clean();
    result
}
