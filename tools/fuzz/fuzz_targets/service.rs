//! Requests to the signing service: the first byte picks the door.
#![no_main]

#[path = "../../../service/server/tests/requests/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, rest)) => bodies::sigv4(rest),
        Some((1, rest)) => bodies::doors(rest),
        Some((_, rest)) => bodies::kms(rest),
        None => {}
    }
});
