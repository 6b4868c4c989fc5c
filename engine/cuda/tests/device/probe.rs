//! Looking for GPUs, on machines with and without them.

use modmill_cuda::{Device, Error};

#[test]
fn gpus_are_found_or_it_is_said_why_not() {
    match Device::gpus() {
        Ok(gpus) => {
            for device in &gpus.devices {
                println!("{:#?}", device.properties());
                assert!(!device.properties().emulated);
                assert!(device.free_memory().unwrap() <= device.properties().memory_bytes);
            }
        }
        Err(error) => {
            println!("{error}");
            assert!(std::env::var_os("MODMILL_REQUIRE_GPU").is_none_or(|value| value != "1"), "{error}");
            assert!(
                matches!(
                    error,
                    Error::NoDriver { .. }
                        | Error::NoDevice
                        | Error::DriverTooOld { .. }
                        | Error::Busy { .. }
                ),
                "{error:?}"
            );
        }
    }
}
