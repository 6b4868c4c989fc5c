//! Runs the suite on every path of this machine and prints what failed and what was slow:
//! `cargo run --release -p modmill-testing --example suite [brief|full] [words a case must contain]`.

use modmill::Engine;
use modmill_testing::suite::{Effort, run};
use std::time::Instant;

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let effort = match words.first().map(String::as_str) {
        Some("brief") => Effort::Brief,
        Some("full") => Effort::Full,
        _ => Effort::Quick,
    };
    words.retain(|word| word != "brief" && word != "full");
    for path in Engine::new().expect("some path works").paths() {
        let engine = Engine::builder().path(path).threads(1).build().expect("a reported path works");
        let (start, mut last) = (Instant::now(), Instant::now());
        let (mut passed, mut failed, mut slow) = (0, 0, Vec::new());
        run(&engine, effort, &mut |case| {
            slow.push((last.elapsed(), case.name.clone()));
            last = Instant::now();
            match case.outcome {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    if words.iter().all(|word| case.name.contains(word)) {
                        println!("{path}: {}: {why}", case.name);
                    }
                }
            }
        });
        println!("{path}: {passed} passed, {failed} failed in {:.1} s", start.elapsed().as_secs_f64());
        slow.sort();
        for (time, name) in slow.iter().rev().take(5) {
            println!("    {:.2} s: {name}", time.as_secs_f64());
        }
    }
}
