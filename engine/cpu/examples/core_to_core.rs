//! Measures how fast a core reads what another core has just written, compared with what it has written
//! itself.
//!
//! One thread writes a buffer and the other reads it. Then they change places, so that every line of the
//! buffer crosses from core to core once in each turn. The same work by one thread alone is measured in turn
//! with it. Each line is a buffer's length, both best rates, and the time that a megabyte takes longer when
//! it crosses.
//!
//! `cargo run --release -p modmill-cpu --example core_to_core -- [KILOBYTES,..] [SECONDS]`

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Turns of one measurement: writes and reads of the whole buffer.
const TURNS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let lengths = arguments.first().map_or("64,128,256,512", String::as_str);
    let seconds = arguments.get(1).map_or(2, |text| text.parse().expect("a number of seconds"));
    println!("kilobytes  own GB/s  crossing GB/s  us more for a megabyte");
    for kilobytes in lengths.split(',').map(|text| text.parse::<usize>().expect("a list of numbers")) {
        let buffer: Vec<AtomicU64> = (0..kilobytes * 128).map(|_| AtomicU64::new(0)).collect();
        let (mut own, mut crossing) = (Duration::MAX, Duration::MAX);
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            own = own.min(by_one_thread(&buffer));
            crossing = crossing.min(by_two_threads(&buffer));
        }
        let bytes = (TURNS * buffer.len() * 8) as f64;
        let rate = |time: Duration| bytes / time.as_secs_f64() / 1e9;
        let longer = crossing.saturating_sub(own).as_secs_f64() / bytes * 1e12;
        println!("{kilobytes:9} {:9.1} {:14.1} {longer:23.0}", rate(own), rate(crossing));
    }
}

/// Reads every word of `buffer` and writes it again, which is what a pass of a transform does to its points.
fn pass(buffer: &[AtomicU64]) {
    for word in buffer {
        word.store(word.load(Relaxed).wrapping_add(1), Relaxed);
    }
    black_box(buffer);
}

/// The time of [`TURNS`] passes by one thread.
fn by_one_thread(buffer: &[AtomicU64]) -> Duration {
    let start = Instant::now();
    for _ in 0..TURNS {
        pass(buffer);
    }
    start.elapsed()
}

/// The time of [`TURNS`] passes by two threads in turn, so that each pass takes the whole buffer from the
/// other core.
fn by_two_threads(buffer: &[AtomicU64]) -> Duration {
    let turn = AtomicUsize::new(0);
    let passes = |first: usize| {
        for number in (first..TURNS).step_by(2) {
            while turn.load(SeqCst) != number {
                spin_loop();
            }
            pass(buffer);
            turn.store(number + 1, SeqCst);
        }
    };
    std::thread::scope(|scope| {
        let start = Instant::now();
        scope.spawn(|| passes(1));
        passes(0);
        while turn.load(SeqCst) < TURNS {
            spin_loop();
        }
        start.elapsed()
    })
}
