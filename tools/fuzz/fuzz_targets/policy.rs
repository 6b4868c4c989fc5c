//! Key policies of KMS, compared with a small model of what they mean.
#![no_main]

#[path = "../../../service/server/tests/requests/policies.rs"]
mod policies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    policies::policy(data);
});
