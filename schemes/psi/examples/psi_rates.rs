//! Rates of the steps of private set intersection.
//!
//! ```console
//! $ cargo run --release -p modmill-psi --example psi_rates -- [ITEMS] [THREADS]
//! ```
//!
//! For every group the program blinds ITEMS items, blinds them again, and finds the common ones. THREADS
//! bounds the threads of the engine. With a GPU the engine uses it where that is faster.

use modmill::Engine;
use modmill_psi::{Group, Party, intersect};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let items: usize = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let builder = Engine::builder();
    let engine = match arguments.next() {
        Some(threads) => builder.threads(threads.parse()?).build()?,
        None => builder.build()?,
    };
    let names: Vec<String> = (0..items).map(|n| format!("customer-{n}@example.org")).collect();
    println!("{items} items, {} threads; items a second", engine.threads());
    println!("{:10} {:>10} {:>12} {:>10} {:>10}", "group", "blind", "blind again", "tags", "intersect");
    for group in Group::ALL {
        let (a, b) = (Party::new(group)?, Party::new(group)?);
        // The first batch prepares constants and kernels.
        engine.install(|| b.blind(&engine, &names[..names.len().min(1000)]))?;
        let start = Instant::now();
        let once = engine.install(|| a.blind(&engine, &names))?;
        let blind = start.elapsed();
        let start = Instant::now();
        let twice = engine.install(|| b.blind_again(&engine, &once))?;
        let again = start.elapsed();
        let start = Instant::now();
        let tags = engine.install(|| twice.tags());
        let tagging = start.elapsed();
        let start = Instant::now();
        let common = intersect(&tags, &tags);
        let matching = start.elapsed();
        assert_eq!(common.len(), items);
        let rates = [blind, again, tagging, matching].map(|time| items as f64 / time.as_secs_f64());
        println!(
            "{:10} {:10.0} {:12.0} {:10.0} {:10.0}",
            group.name(),
            rates[0],
            rates[1],
            rates[2],
            rates[3]
        );
    }
    Ok(())
}
