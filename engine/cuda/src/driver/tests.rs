//! The GPU's side against a driver made for tests, on machines without a GPU.
#![allow(unsafe_code)] // launches kernels

use super::api::Api;
use super::{Gpus, gpus_of, ordinals};
use crate::backend::{Cuda, Settings};
use crate::bundle::{self, Bundle};
use crate::cache::Cache;
use crate::compiler::{Architecture, Compiler, Program, code_key};
use crate::device::{Contents, KernelArguments, Shape};
use crate::error::{Error, Result};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

#[derive(Clone, Copy)]
#[repr(C)]
struct Call {
    words: u64,
    count: u32,
    summand: u32,
}

// SAFETY: `Call` of `fake.cpp`, field by field.
unsafe impl KernelArguments for Call {}

fn program(name: &str) -> Program {
    Program {
        name: name.to_owned(),
        main: String::new(),
        files: &[],
        defines: Vec::new(),
        options: Vec::new(),
        specific: false,
    }
}

/// Starts a driver that was compiled with these macros; nothing where there is no compiler.
fn start(macros: &[&str]) -> Option<(TempDir, Result<Api>)> {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("fake.cpp"), folder.path().join("libfake.so"));
    std::fs::write(&source, include_str!("fake.cpp")).unwrap();
    let mut command = Command::new(std::env::var("CXX").unwrap_or("c++".to_owned()));
    command.args(["-std=c++17", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(macros);
    let Ok(output) = command.output() else {
        println!("skipped: there is no C++ compiler");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some((folder, Api::start(library.to_str().unwrap())))
}

/// A compiler whose bundle has two programs: one that the driver accepts, and one that it does not.
fn compiler(folder: &TempDir) -> Compiler {
    let path = folder.path().join(bundle::FILE);
    let key = |name| code_key(&program(name), Architecture { major: 9, minor: 0 });
    let entries = [(key("good"), b"code".to_vec()), (key("bad"), b"oops".to_vec())];
    bundle::write(&path, &entries).unwrap();
    Compiler::new(Cache::off(), Some(Bundle::open(&path).unwrap()))
}

fn gpus(macros: &[&str], wanted: Option<&str>) -> Option<(TempDir, Result<Gpus>)> {
    let (folder, api) = start(macros)?;
    let gpus = gpus_of(&Arc::new(api.unwrap()), compiler(&folder), wanted);
    Some((folder, gpus))
}

#[test]
fn lists_of_gpus_are_read() {
    assert_eq!(ordinals(None, 3), Ok(vec![0, 1, 2]));
    assert_eq!(ordinals(Some("2, 0,2"), 3), Ok(vec![2, 0]));
    assert_eq!(ordinals(Some(""), 3), Ok(vec![]));
    for bad in ["3", "one", "-1", "0;1"] {
        assert!(matches!(ordinals(Some(bad), 3), Err(Error::Setting { .. })), "{bad}");
    }
}

#[test]
fn failures_to_start_are_told_apart() {
    let nowhere = Api::start("/nowhere/libcuda.so").err();
    assert!(matches!(nowhere, Some(Error::NoDriver { .. })), "{nowhere:?}");
    let Some((_, none)) = start(&["-DINIT=100"]) else { return };
    assert_eq!(none.err(), Some(Error::NoDevice));
    let broken = start(&["-DINIT=803"]).unwrap().1.err();
    assert!(matches!(&broken, Some(Error::NoDriver { reason }) if reason.contains("803")), "{broken:?}");
    let old = start(&["-DVERSION=11040"]).unwrap().1.err();
    assert!(matches!(&old, Some(Error::DriverTooOld { found, .. }) if found.contains("11.4")), "{old:?}");
    let lacking = start(&["-DOLD"]).unwrap().1.err();
    assert!(
        matches!(&lacking, Some(Error::DriverTooOld { found, .. }) if found.contains("cuEventElapsedTime")),
        "{lacking:?}"
    );
}

#[test]
fn busy_devices_are_left_out_and_named() {
    let Some((_folder, found)) = gpus(&[], None) else { return };
    let found = found.unwrap();
    assert_eq!(found.devices.len(), 1);
    let [Error::Busy { device, .. }] = &found.failed[..] else { panic!("{:?}", found.failed) };
    assert_eq!(device, "GPU 1 (Fake One)");
    for (macros, wanted) in [(&["-DRETAIN=46"][..], None), (&[], Some("1"))] {
        let error = gpus(macros, wanted).unwrap().1.unwrap_err();
        assert!(matches!(error, Error::Busy { .. }), "{error}");
    }
    assert_eq!(gpus(&[], Some("")).unwrap().1.unwrap_err(), Error::NoDevice);
    assert_eq!(gpus(&["-DRETAIN=2"], None).unwrap().1.unwrap_err(), Error::OutOfMemory { wanted: 0 });
}

#[test]
fn a_kernel_runs_and_everything_is_given_back() {
    let Some((_folder, found)) = gpus(&[], Some("0")) else { return };
    let device = found.unwrap().devices.remove(0);
    let properties = device.properties();
    assert_eq!((properties.name.as_str(), properties.driver.as_str()), ("Fake Zero", "13.0"));
    assert_eq!((properties.limits.capability, properties.limits.multiprocessors), ((9, 0), 1016));

    let kernel = device.compile(&program("good")).unwrap().kernel("add").unwrap();
    let attributes = kernel.attributes();
    assert_eq!((attributes.registers, attributes.local_bytes), (24, 23));
    assert_eq!((attributes.shared_bytes, attributes.max_threads), (21, 20));
    assert_eq!(kernel.occupancy(1024, 227 << 10), Ok(1));

    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (start, end) = (device.event().unwrap(), device.event().unwrap());
    let mut host = device.host_buffer(400, Contents::Secret).unwrap();
    let buffer = device.buffer(400, Contents::Secret).unwrap();
    host.words_mut().copy_from_slice(&(0..100).collect::<Vec<u32>>());
    start.record(&stream).unwrap();
    stream.copy_in(&host, 0..400, &buffer, 0).unwrap();
    let call = Call { words: buffer.address(), count: 100, summand: 7 };
    let shape = Shape { grid: 4, block: 32, shared_bytes: 100 << 10 };
    // SAFETY: the kernel adds to 100 words of this buffer.
    unsafe { stream.launch(&kernel, shape, &call, &[&buffer]) }.unwrap();
    end.record(&stream).unwrap();
    other.wait(&end).unwrap();
    other.copy_out(&buffer, 0..200, &mut host, 200).unwrap();
    other.synchronize().unwrap();
    end.synchronize().unwrap();
    assert_eq!(end.elapsed_ms(&start), Ok(2.5));
    assert_eq!(host.words(), (0..50).chain(7..57).collect::<Vec<u32>>());

    // Another thread has no current context of its own.
    std::thread::scope(|scope| {
        scope.spawn(|| stream.fill(&buffer, 0..400, 1).and_then(|()| stream.synchronize()).unwrap());
    });
}

/// Programs that a device has loaded go into a bundle, once, and serve a process that has nothing else.
#[test]
fn what_is_loaded_makes_a_bundle() {
    let Some((folder, found)) = gpus(&[], Some("0")) else { return };
    let device = found.unwrap().devices.remove(0);
    let (twice, refused) = (program("good"), program("bad"));
    device.compile(&twice).unwrap();
    device.compile(&twice).unwrap();
    assert!(device.compile(&refused).is_err());
    let hopper = Architecture { major: 9, minor: 0 };
    let cuda = Cuda::on(vec![device.clone(), device], Settings::default());
    let entries = cuda.machine_code().unwrap();
    assert_eq!(entries, [(code_key(&twice, hopper), b"code".to_vec())]);
    let path = folder.path().join("made");
    bundle::write(&path, &entries).unwrap();
    let reader = Compiler::new(Cache::off(), Some(Bundle::open(&path).unwrap()));
    assert_eq!(reader.code(&twice, hopper).unwrap(), b"code");
}

#[test]
fn errors_of_calls_are_told_apart() {
    let Some((_folder, found)) = gpus(&[], Some("0")) else { return };
    let device = found.unwrap().devices.remove(0);
    let kept = device.buffer(1 << 19, Contents::Public).unwrap();
    assert_eq!(device.buffer(1 << 20, Contents::Public).err(), Some(Error::OutOfMemory { wanted: 1 << 20 }));
    drop(kept);
    assert_eq!(device.free_memory(), Ok(1 << 20));
    device.buffer(1 << 20, Contents::Public).unwrap(); // what was kept made room for it

    assert!(matches!(device.compile(&program("bad")).err(), Some(Error::Refused { .. })));
    let module = device.compile(&program("good")).unwrap();
    assert_eq!(module.kernel("none").err(), Some(Error::NoKernel { name: "none".to_owned() }));
    let stream = device.stream().unwrap();
    let call = Call { words: 0, count: 0, summand: 0 };
    let launch = |name: &str, block| {
        let shape = Shape { grid: 1, block, shared_bytes: 0 };
        // SAFETY: these touch nothing.
        unsafe { stream.launch(&module.kernel(name).unwrap(), shape, &call, &[]) }
    };
    assert!(matches!(launch("add", 2048), Err(Error::Call { .. })));
    launch("crash", 1).unwrap();
    for error in [stream.synchronize().unwrap_err(), device.buffer(1, Contents::Public).err().unwrap()] {
        assert!(matches!(&error, Error::Lost { reason } if reason.contains("LAUNCH_FAILED")), "{error}");
    }
}
