//! `modmill hardware` as users call it.

use crate::common::{run, scratch, stderr, stdout};
use num_bigint::BigUint;
use serde_json::Value;

fn good(arguments: &[&str]) -> String {
    let output = run(&[&["hardware"], arguments].concat(), "");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn answer(arguments: &[&str]) -> Value {
    serde_json::from_str(&good(arguments)).unwrap()
}

fn bad(arguments: &[&str], reason: &str) {
    let output = run(&[&["hardware"], arguments].concat(), "");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    assert!(stderr(&output).contains(reason), "{arguments:?}: {}; expected {reason}", stderr(&output));
}

#[test]
fn simulated_products_are_exact_in_both_multipliers() {
    let one = BigUint::from(1u32);
    let (a, b) = ((&one << 786_432u32) - &one, (&one << 700_001u32) - &one);
    let files = [("a", &a), ("b", &b)].map(|(name, number)| {
        let file = scratch(&format!("hardware-{name}.hex"));
        std::fs::write(&file, format!("{number:x}\n")).unwrap();
        format!("@{}", file.display())
    });
    let factors = ["simulate", "--json", "--a", &files[0], "--b", &files[1]];
    for (option, cycles) in [(None, 41_146), (Some("--improved"), 30_726)] {
        let arguments: Vec<&str> = factors.into_iter().chain(option).collect();
        let answer = answer(&arguments);
        assert_eq!(answer["product"], format!("{:x}", &a * &b));
        assert_eq!(answer["cycles"], cycles);
        assert!((answer["seconds"].as_f64().unwrap() - cycles as f64 / 2e8).abs() < 1e-12);
    }
}

#[test]
fn a_stream_and_its_plot() {
    let file = scratch("hardware-schedule.svg");
    let text = good(&[
        "simulate",
        "--improved",
        "--products",
        "3",
        "--svg",
        file.to_str().unwrap(),
        "--clock",
        "400",
    ]);
    assert!(text.contains("a product each 24576 cycles, 61.44 us at 400 MHz"), "{text}");
    let picture = std::fs::read_to_string(file).unwrap();
    assert!(picture.contains("I4 of product 2") && picture.contains("resolver"));
    let small = answer(&["simulate", "--bits", "3K", "--improved", "--json", "--a", "ff", "--b", "0x101"]);
    assert_eq!((&small["product"], &small["points"]), (&"ffff".into(), &256.into()));
}

#[test]
fn modular_products_take_the_cycles_of_the_thesis() {
    for bits in ["8K", "12K"] {
        assert_eq!(answer(&["modular", "--bits", bits, "--json"])["cycles"], 2330);
        assert_eq!(answer(&["modular", "--bits", bits, "--json", "--fast"])["cycles"], 2030);
    }
    let text = good(&["modular", "--a", "1234", "--b", "5678", "--mod", "fffffffb"]);
    assert!(text.contains("2330") && text.contains("resolve U: 46 cycles"), "{text}");
}

#[test]
fn designs_are_compared() {
    let file = scratch("hardware-designs.svg");
    let designs =
        answer(&["explore", "--json", "--radix", "16", "--units", "1,2", "--svg", file.to_str().unwrap()]);
    let intervals: Vec<u64> =
        designs.as_array().unwrap().iter().map(|d| d["interval_cycles"].as_u64().unwrap()).collect();
    assert_eq!(intervals, [24_576, 49_152]);
    assert!(std::fs::read_to_string(file).unwrap().contains("radix 16"));
    assert!(good(&["explore"]).lines().any(|line| line.starts_with(" *")));
}

#[test]
fn tables_and_waveforms_are_written() {
    let folder = scratch("hardware-tables");
    std::fs::create_dir_all(&folder).unwrap();
    good(&["tables", "--folder", folder.to_str().unwrap()]);
    let table = std::fs::read_to_string(folder.join("twiddles.hex")).unwrap();
    assert_eq!(table.lines().nth(3), Some("dc9218a86d10f3a3"));
    assert!(good(&["waveform", "--bits", "48K", "--stage", "I3"]).contains("around the first step of I3"));
}

#[test]
fn wrong_options_are_named() {
    bad(&["simulate", "--bits", "700K"], "there are 3072, 49152, 786432");
    bad(&["simulate", "--a", "12"], "--b");
    bad(&["simulate", "--a", "1x", "--b", "2"], "--a: ");
    bad(&["simulate", "--a", "@/nowhere", "--b", "2"], "/nowhere");
    let long = "1".repeat(3072 / 4 + 1);
    bad(
        &["simulate", "--bits", "3K", "--a", &long, "--b", "2"],
        "operand a has 3073 bits, and the machine takes 3072",
    );
    bad(&["simulate", "--clock", "0"], "positive");
    bad(&["modular", "--a", "5", "--b", "1", "--mod", "4"], "odd");
    bad(&["modular", "--a", "7", "--b", "1", "--mod", "5"], "operand x is not below the modulus");
    bad(&["modular", "--bits", "9K"], "8K and 12K");
    bad(&["explore", "--radix", "12"], "--radix: 12 is not a power of two from 2 to 64");
    bad(&["explore", "--points", "1024"], "no such design");
    bad(&["waveform", "--stage", "F7"], "there is no stage F7");
    bad(&["tables", "--folder", "/nowhere"], "/nowhere");
}
