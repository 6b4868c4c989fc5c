//! The container of keys and ciphertexts.
