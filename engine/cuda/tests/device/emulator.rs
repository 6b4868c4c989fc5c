//! The emulated device, and through it what all devices have in common: memory, streams, launches.
#![allow(unsafe_code)] // launches kernels

use modmill_cuda::cache::Cache;
use modmill_cuda::{
    Buffer, Chip, Contents, Device, Error, Faults, Kernel, KernelArguments, Program, Result, Shape, Stream,
    sources,
};
use std::path::Path;
use std::process::Command;
use std::thread;

#[derive(Clone, Copy)]
#[repr(C)]
struct Call {
    words: u64,
    count: u32,
}

// SAFETY: `Call` of the program below, field by field.
unsafe impl KernelArguments for Call {}

/// Each word becomes the sum of its neighbour's in a group of four threads and a constant. A count
/// that is too high makes it write beyond the buffer.
const MAIN: &str = r#"
#include "device.cuh"
struct Call { u32* words; u32 count; };
KERNEL(rotate, Call) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 word = i < call.count ? call.words[i] : 0;
    word = from_thread(word, (threadIdx.x + 1) % 4, 4) + SUMMAND;
    if (i < call.count) call.words[i] = word;
}
KERNEL(reverse, Call) {
    SHARED_POOL(u32, pool);
    for (u32 turn = 0; turn < 3; turn++) {
        pool[threadIdx.x] = call.words[blockIdx.x * blockDim.x + threadIdx.x];
        block_barrier();
        call.words[blockIdx.x * blockDim.x + threadIdx.x] = pool[blockDim.x - 1 - threadIdx.x];
        block_barrier();
    }
}
"#;

fn program() -> Program {
    let defines = [("SUMMAND", "100"), ("BLOCK", "64")];
    Program {
        name: "rotate".to_owned(),
        main: MAIN.to_owned(),
        files: sources::ALL,
        defines: defines.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        options: vec!["-lineinfo".to_owned()], // unknown to the host's compiler
        specific: false,
    }
}

fn device(faults: Faults) -> Device {
    Device::emulator_with(faults, Cache::off())
}

/// The kernel; nothing where there is no C++ compiler.
fn kernel(device: &Device) -> Option<Kernel> {
    match device.compile(&program()) {
        Err(Error::NoHostCompiler { reason }) => {
            println!("skipped: {reason}");
            None
        }
        module => Some(module.unwrap().kernel("rotate").unwrap()),
    }
}

const SHAPE: Shape = Shape { grid: 2, block: 64, shared_bytes: 0 };

fn launch(stream: &Stream, kernel: &Kernel, buffer: &Buffer) -> Result<()> {
    let call = Call { words: buffer.address(), count: buffer.bytes() as u32 / 4 };
    // SAFETY: the kernel takes this structure and changes these words only.
    unsafe { stream.launch(kernel, SHAPE, &call, &[buffer]) }
}

#[test]
fn a_kernel_gives_the_right_words() {
    let device = device(Faults::default());
    let Some(kernel) = kernel(&device) else { return };
    assert_eq!(kernel.attributes().max_threads, 1024);
    assert_eq!((kernel.occupancy(128, 0), kernel.occupancy(1024, 200 << 10)), (Ok(16), Ok(1)));
    run_kernel(&device, &kernel);
}

/// Words of a block, back to front three times: every thread reads what one of another warp wrote.
#[test]
fn threads_of_a_block_wait_for_each_other() {
    let device = device(Faults::default());
    if kernel(&device).is_none() {
        return;
    }
    let kernel = device.compile(&program()).unwrap().kernel("reverse").unwrap();
    let (grid, block) = (2, 128);
    let count = (grid * block) as usize;
    let mut staging = device.host_buffer(4 * count, Contents::Public).unwrap();
    for (index, word) in staging.words_mut().iter_mut().enumerate() {
        *word = index as u32;
    }
    let (buffer, stream) = (device.buffer(4 * count, Contents::Public).unwrap(), device.stream().unwrap());
    stream.copy_in(&staging, 0..4 * count, &buffer, 0).unwrap();
    let call = Call { words: buffer.address(), count: count as u32 };
    // SAFETY: the kernel takes this structure and changes these words only.
    unsafe {
        stream.launch(&kernel, Shape { grid, block, shared_bytes: 4 * block }, &call, &[&buffer]).unwrap()
    };
    stream.copy_out(&buffer, 0..4 * count, &mut staging, 0).unwrap();
    stream.synchronize().unwrap();
    let expected: Vec<u32> = (0..grid).flat_map(|b| (0..block).rev().map(move |i| b * block + i)).collect();
    assert_eq!(staging.words(), expected);
}

#[test]
fn gpus_do_as_the_emulated_device_does() {
    let gpus = match Device::gpus() {
        Ok(gpus) => gpus,
        Err(error) => {
            assert!(std::env::var_os("MODMILL_REQUIRE_GPU").is_none_or(|value| value != "1"), "{error}");
            return println!("skipped: {error}");
        }
    };
    for device in gpus.devices {
        let kernel = kernel(&device).unwrap();
        println!("{device:?}: {:?}", kernel.attributes());
        assert!(kernel.attributes().registers > 0);
        let most = device.limits().shared_per_block - kernel.attributes().shared_bytes;
        assert_eq!(kernel.occupancy(64, most), Ok(1));
        assert!(kernel.occupancy(64, 0).unwrap() > 1);
        run_kernel(&device, &kernel);
        copy_parts(&device);
        share_among_threads(&device);
        let most = Shape { shared_bytes: most, ..SHAPE };
        let stream = device.stream().unwrap();
        // SAFETY: no words are touched.
        unsafe { stream.launch(&kernel, most, &Call { words: 0, count: 0 }, &[]) }.unwrap();
        stream.synchronize().unwrap();
        let bytes = device.properties().memory_bytes;
        let error = device.buffer(2 * bytes, Contents::Public).err();
        assert!(matches!(error, Some(Error::OutOfMemory { wanted }) if wanted >= 2 * bytes), "{error:?}");
        device.buffer(1 << 20, Contents::Secret).unwrap();
    }
}

fn run_kernel(device: &Device, kernel: &Kernel) {
    let mut host = device.host_buffer(400, Contents::Public).unwrap();
    let buffer = device.buffer(400, Contents::Public).unwrap();
    let (stream, start, end) = (device.stream().unwrap(), device.event().unwrap(), device.event().unwrap());
    host.words_mut().copy_from_slice(&(0..100).collect::<Vec<u32>>());
    start.record(&stream).unwrap();
    stream.copy_in(&host, 0..400, &buffer, 0).unwrap();
    launch(&stream, kernel, &buffer).unwrap();
    end.record(&stream).unwrap();
    let other = device.stream().unwrap();
    other.wait(&end).unwrap();
    other.copy_out(&buffer, 0..400, &mut host, 0).unwrap();
    other.synchronize().unwrap();
    end.synchronize().unwrap();
    let expected: Vec<u32> = (0..100).map(|i| i / 4 * 4 + (i + 1) % 4 + 100).collect();
    assert_eq!(host.words(), expected);
    assert!(end.elapsed_ms(&start).unwrap() >= 0.0);
    assert!(device.event().unwrap().elapsed_ms(&start).is_err(), "never recorded");
}

#[test]
fn parts_of_buffers_are_copied_and_filled() {
    copy_parts(&device(Faults::default()));
}

fn copy_parts(device: &Device) {
    let mut host = device.host_buffer(16, Contents::Public).unwrap();
    let (buffer, stream) = (device.buffer(16, Contents::Public).unwrap(), device.stream().unwrap());
    host.copy_from_slice(b"0123456789abcdef");
    stream.fill(&buffer, 0..16, b'.').unwrap();
    stream.copy_in(&host, 2..6, &buffer, 9).unwrap();
    stream.copy_out(&buffer, 8..14, &mut host, 1).unwrap();
    assert_eq!(&host[..], b"0.2345.789abcdef");
    assert_eq!((host.words().len(), host.limbs().len()), (4, 2));
    host.limbs_mut()[1] = 0;
    assert_eq!(host[8..], [0; 8]);
    for error in [
        stream.copy_in(&host, 2..17, &buffer, 0),
        stream.copy_in(&host, 0..4, &buffer, 13),
        stream.copy_in(&host, 0..4, &buffer, usize::MAX),
        stream.copy_out(&buffer, 0..17, &mut host, 0),
        stream.copy_out(&buffer, 0..4, &mut host, 13),
        stream.fill(&buffer, 16..17, 0),
    ] {
        assert!(matches!(error, Err(Error::OutOfRange { bytes: 16, .. })), "{error:?}");
    }
}

#[test]
fn buffers_are_reused_and_secrets_are_not_left_in_them() {
    let device = device(Faults::default());
    let stream = device.stream().unwrap();
    for (contents, byte) in [(Contents::Public, 7), (Contents::Secret, 0)] {
        let buffer = device.buffer(64, contents).unwrap();
        stream.fill(&buffer, 0..64, 7).unwrap();
        let address = buffer.address();
        drop(buffer);
        assert_ne!(device.buffer(65, contents).unwrap().address(), address);
        let buffer = device.buffer(64, Contents::Public).unwrap();
        assert_eq!(buffer.address(), address);
        let mut host = device.host_buffer(64, Contents::Public).unwrap();
        stream.copy_out(&buffer, 0..64, &mut host, 0).unwrap();
        assert_eq!(host[..], [byte; 64]);

        let mut host = device.host_buffer(32, contents).unwrap();
        host.fill(7);
        let address = host.as_ptr();
        drop(host);
        let host = device.host_buffer(32, Contents::Public).unwrap();
        assert_eq!((host.as_ptr(), &host[..]), (address, &[byte; 32][..]));
    }
}

/// Secrets go from one buffer for secrets to the next, and are cleared when the device has been quiet for a
/// moment.
#[test]
fn secrets_are_cleared_when_nothing_happens() {
    let device = device(Faults::default());
    let stream = device.stream().unwrap();
    let contents = |buffer: &modmill_cuda::Buffer| {
        let mut host = device.host_buffer(64, Contents::Public).unwrap();
        stream.copy_out(buffer, 0..64, &mut host, 0).unwrap();
        host.to_vec()
    };
    let buffer = device.buffer(64, Contents::Secret).unwrap();
    stream.fill(&buffer, 0..64, 7).unwrap();
    let address = buffer.address();
    drop(buffer);
    let again = device.buffer(64, Contents::Secret).unwrap();
    assert_eq!((again.address(), contents(&again)), (address, vec![7; 64]), "a chain does not wait");
    drop(again);
    // Memory that is just being cleared is not handed out. Other memory is held, so that it does not come in
    // its place again.
    let mut others = Vec::new();
    let cleared = (0..30).any(|_| {
        // Some times the moment for which the device has to be quiet: each look at the memory ends it.
        std::thread::sleep(std::time::Duration::from_millis(150));
        let buffer = device.buffer(64, Contents::Secret).unwrap();
        let is_it = buffer.address() == address;
        let is_cleared = is_it && contents(&buffer) == [0; 64];
        others.extend((!is_it).then_some(buffer));
        is_cleared
    });
    assert!(cleared, "secrets are left");
}

#[test]
fn what_is_kept_for_reuse_makes_room() {
    let device = device(Faults { out_of_memory_above: Some(1000), ..Faults::default() });
    assert_eq!(device.properties().memory_bytes, 1000);
    let first = device.buffer(600, Contents::Public).unwrap();
    assert_eq!(device.buffer(500, Contents::Public).err(), Some(Error::OutOfMemory { wanted: 500 }));
    drop(first);
    assert_eq!(device.free_memory(), Ok(1000));
    let second = device.buffer(500, Contents::Public).unwrap();
    assert_eq!(device.free_memory(), Ok(500));
    drop(second);
    device.trim();
    assert_eq!(device.free_memory(), Ok(1000));
    assert_eq!(device.buffer(1001, Contents::Secret).err(), Some(Error::OutOfMemory { wanted: 1001 }));
}

#[test]
fn a_launch_that_fails_leaves_the_device_usable() {
    let device = device(Faults { fail_launch_after: Some(1), ..Faults::default() });
    let Some(kernel) = kernel(&device) else { return };
    let (stream, buffer) = (device.stream().unwrap(), device.buffer(512, Contents::Public).unwrap());
    launch(&stream, &kernel, &buffer).unwrap();
    assert!(matches!(launch(&stream, &kernel, &buffer), Err(Error::Call { call: "launch", .. })));
    stream.synchronize().unwrap();
}

#[test]
fn a_lost_device_says_so_from_then_on() {
    let device = device(Faults { lose_device_after: Some(1), ..Faults::default() });
    let Some(kernel) = kernel(&device) else { return };
    let (stream, buffer) = (device.stream().unwrap(), device.buffer(512, Contents::Secret).unwrap());
    let mut host = device.host_buffer(512, Contents::Secret).unwrap();
    launch(&stream, &kernel, &buffer).unwrap();
    stream.synchronize().unwrap();
    launch(&stream, &kernel, &buffer).unwrap(); // as on a GPU, the launch itself does not know yet
    let copied = stream.copy_out(&buffer, 0..512, &mut host, 0);
    for result in [copied, stream.synchronize(), device.buffer(1, Contents::Public).map(drop)] {
        assert!(matches!(result, Err(Error::Lost { .. })), "{result:?}");
    }
    assert!(matches!(
        device.compile(&Program { name: "other".to_owned(), ..program() }).err(),
        Some(Error::Lost { .. })
    ));
}

#[test]
fn kernels_that_write_beyond_their_buffers_are_noticed() {
    let device = device(Faults::default());
    let Some(kernel) = kernel(&device) else { return };
    let (stream, buffer) = (device.stream().unwrap(), device.buffer(256, Contents::Public).unwrap());
    let call = Call { words: buffer.address(), count: 65 };
    // SAFETY: it writes one word too many, into the emulator's guard.
    unsafe { stream.launch(&kernel, SHAPE, &call, &[&buffer]) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(&error, Error::Lost { reason } if reason.contains("outside")), "{error}");
}

#[test]
fn shapes_and_names_that_no_gpu_takes_are_refused() {
    let device = device(Faults::default());
    let Some(kernel) = kernel(&device) else { return };
    let (stream, call) = (device.stream().unwrap(), Call { words: 0, count: 0 });
    for (grid, block, shared_bytes) in [(0, 64, 0), (1, 0, 0), (1, 1025, 0), (1, 64, 228 << 10)] {
        // SAFETY: no words are touched.
        let result = unsafe { stream.launch(&kernel, Shape { grid, block, shared_bytes }, &call, &[]) };
        assert!(matches!(result, Err(Error::Call { .. })), "{grid} {block} {shared_bytes}");
    }
    // Devices with the limits of other chips refuse less than an H200 does.
    for chip in Chip::ALL {
        let device = Device::emulator_like(chip);
        let Some(kernel) = self::kernel(&device) else { return };
        let stream = device.stream().unwrap();
        let most = device.limits().shared_per_block;
        for (shared_bytes, is_taken) in [(most, true), (most + 1, false)] {
            // SAFETY: no words are touched.
            let result =
                unsafe { stream.launch(&kernel, Shape { grid: 1, block: 32, shared_bytes }, &call, &[]) };
            assert_eq!(result.is_ok(), is_taken, "{chip}: {shared_bytes} bytes");
        }
    }
    let missing = device.compile(&program()).unwrap().kernel("rotate2").err();
    assert_eq!(missing, Some(Error::NoKernel { name: "rotate2".to_owned() }));
}

#[test]
fn errors_carry_what_the_compiler_wrote() {
    let device = device(Faults::default());
    if kernel(&device).is_none() {
        return;
    }
    let broken = Program { main: "int x = undefined_name;".to_owned(), ..program() };
    let error = device.compile(&broken).err().unwrap();
    assert!(matches!(&error, Error::Compile { log, .. } if log.contains("undefined_name")), "{error}");
}

#[test]
fn threads_share_a_device_and_its_programs() {
    let device = device(Faults::default());
    if kernel(&device).is_some() {
        share_among_threads(&device);
    }
}

fn share_among_threads(device: &Device) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let kernel = kernel(device).unwrap();
                let stream = device.stream().unwrap();
                for _ in 0..20 {
                    let buffer = device.buffer(512, Contents::Secret).unwrap();
                    let mut host = device.host_buffer(512, Contents::Secret).unwrap();
                    host.words_mut().fill(5);
                    stream.copy_in(&host, 0..512, &buffer, 0).unwrap();
                    launch(&stream, &kernel, &buffer).unwrap();
                    stream.copy_out(&buffer, 0..512, &mut host, 0).unwrap();
                    assert_eq!(host.words(), [105; 128]);
                }
            });
        }
    });
}

/// Programs compiled by one process are found by the next, by the settings of its environment. The test runs
/// itself as these processes.
#[test]
fn compiled_programs_are_kept_on_disk() {
    const ROLE: &str = "MODMILL_TEST_EMULATOR_ROLE";
    if let Ok(role) = std::env::var(ROLE) {
        let device = Device::emulator();
        let compiled = device.compile(&program());
        match role.as_str() {
            "no compiler" => assert!(matches!(compiled.err(), Some(Error::NoHostCompiler { .. }))),
            _ => drop(compiled.unwrap().kernel("rotate").unwrap()),
        }
        return assert_eq!(device.warnings(), Vec::<String>::new());
    }
    if kernel(&device(Faults::default())).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let entries = || folder.path().read_dir().unwrap().count();
    let run = |role: &str, cache: &str, compiler: Option<&Path>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "emulator::compiled_programs_are_kept_on_disk"]).env(ROLE, role);
        command.env("MODMILL_CACHE_DIR", folder.path()).env("MODMILL_CACHE", cache);
        command.envs(compiler.map(|compiler| ("CXX", compiler)));
        assert!(command.status().unwrap().success(), "{role}");
    };
    run("compiles", "off", None);
    assert_eq!(entries(), 0);
    run("compiles", "on", None);
    assert_eq!(entries(), 1);
    run("reads", "on", None);
    assert_eq!(entries(), 1);
    run("no compiler", "on", Some(Path::new("/nowhere/c++")));
}
