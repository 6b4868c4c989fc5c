//! `modmill bench` as users call it.

use crate::common::{run, scratch, stderr, stdout};
use serde_json::Value;

const FIELDS: [&str; 16] = [
    "op",
    "bits",
    "backend",
    "algorithm",
    "isa",
    "batch",
    "threads",
    "ops_per_s",
    "median_ops_per_s",
    "cpu_ops_per_s",
    "waited",
    "stolen",
    "busy",
    "latency_ms",
    "verified",
    "peer",
];

fn bench(arguments: &[&str], name: &str) -> (std::process::Output, Vec<Value>) {
    let file = scratch(name);
    let mut all = vec!["bench", "--json", file.to_str().unwrap(), "--seconds", "0.02"];
    all.extend(arguments);
    let output = run(&all, "");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let records = serde_json::from_str(&text).unwrap_or_default();
    (output, records)
}

#[test]
fn records_have_every_field_and_are_verified() {
    let ops = "mul,mul_mod,square_mod,pow,pow_vartime,inv";
    for (name, peers) in [("none.json", "--peers=none"), ("all.json", "--peers")] {
        let (output, records) = bench(&["--ops", ops, "--bits", "128,192", peers], name);
        assert!(output.status.success(), "{}", stderr(&output));
        let (header, records) = records.split_first().unwrap();
        for field in ["machine", "cpu", "profile", "rustc", "version", "commit", "date", "command"] {
            assert!(!header[field].is_null(), "{field} in {header}");
        }
        assert_eq!(header["kind"], "header");
        for record in records {
            for field in FIELDS {
                assert!(record.get(field).is_some(), "{field} in {record}");
            }
            assert_eq!(record["verified"], true, "{record}");
            assert!(record["ops_per_s"].as_f64().unwrap() >= record["median_ops_per_s"].as_f64().unwrap());
            assert!(record["latency_ms"].as_f64().unwrap() > 0.0);
            if cfg!(unix) {
                assert!(record["cpu_ops_per_s"].as_f64().unwrap() > 0.0, "{record}");
                assert!((0.0..1.0).contains(&record["waited"].as_f64().unwrap()), "{record}");
            }
        }
        let found = header["peers"].as_array().unwrap().len();
        for op in ops.split(',') {
            for bits in [128, 192] {
                let here = || records.iter().filter(|r| r["op"] == op && r["bits"] == bits);
                assert_eq!(here().filter(|r| r["chosen"] == true).count(), 1, "{op} {bits}");
                assert_eq!(here().filter(|r| !r["peer"].is_null()).count(), found);
                assert!(stdout(&output).lines().any(|line| line.trim_start().starts_with(op)));
            }
        }
        assert!(name == "all.json" || found == 0);
    }
}

#[test]
fn rsa_is_measured_with_one_key_and_with_many() {
    for keys in ["1", "3"] {
        let (output, records) = bench(
            &["--ops", "rsa_sign,rsa_verify,rsa_decrypt", "--bits", "1024", "--batch", "9", "--keys", keys],
            "rsa.json",
        );
        assert!(output.status.success(), "{}", stderr(&output));
        let (header, records) = records.split_first().unwrap();
        let peers = header["peers"].as_array().unwrap();
        let has_openssl = peers.iter().any(|peer| peer["name"] == "openssl");
        for op in ["rsa_sign", "rsa_verify", "rsa_decrypt"] {
            let here = || records.iter().filter(|record| record["op"] == op);
            assert_eq!(here().filter(|record| record["chosen"] == true).count(), 1, "{op}");
            assert_eq!(here().any(|record| record["peer"] == "openssl"), has_openssl, "{op}");
            assert!(here().all(|record| record["verified"] == true && record["batch"] == 9), "{op}");
            assert!(here().all(|record| record["shared_modulus"] == (keys == "1")), "{op}");
        }
    }
    let (output, _) = bench(&["--ops", "rsa_sign", "--bits", "256"], "rsa.json");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("256 bits"), "{}", stderr(&output));
}

#[test]
fn operations_on_one_modulus_are_measured_beside_peers() {
    let ops = ["pow_fixed_base", "pow_fixed_base_vartime", "multi_pow", "product_mod", "sum_products"];
    let list = ops.join(",");
    let arguments =
        ["--ops", &list, "--bits", "256", "--exponent-bits", "64", "--batch", "70", "--backend", "cpu"];
    let (output, records) = bench(&arguments, "columns.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let (header, records) = records.split_first().unwrap();
    let peers = header["peers"].as_array().unwrap();
    let has_gmp = peers.iter().any(|peer| peer["name"] == "gmp");
    for op in ops {
        let here = || records.iter().filter(|record| record["op"] == op);
        assert_eq!(here().filter(|record| record["chosen"] == true).count(), 1, "{op}");
        assert_eq!(here().any(|record| record["peer"] == "gmp"), has_gmp, "{op}");
        assert!(here().all(|record| record["verified"] == true && record["batch"] == 70), "{op}");
    }
}

#[test]
fn lists_of_batches_threads_and_algorithms_are_measured() {
    let (output, records) = bench(
        &[
            "--bits=64,65",
            "--batch=1,3,20",
            "--threads",
            "1,2",
            "--algorithm=row",
            "--peers=none",
            "--exponent-bits",
            "17",
            "--ops=pow_vartime",
            "--shared-modulus",
            "--seed",
            "9",
        ],
        "lists.json",
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(records.len(), 1 + 2 * 3 * 2);
    for record in &records[1..] {
        assert_eq!(record["algorithm"], "row");
        assert_eq!(record["exponent_bits"], 17);
        assert_eq!(record["shared_modulus"], true);
        assert_eq!(record["peer"], Value::Null);
    }
}

#[test]
fn the_report_is_one_page_that_needs_nothing_else() {
    let page = scratch("report.html");
    let (output, _) =
        bench(&["--bits", "128,256", "--batch", "1,8", "--html", page.to_str().unwrap()], "html.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
    for part in ["<svg", "Throughput by size", "Throughput by batch size", "modmill bench --json", "<table>"]
    {
        assert!(text.contains(part), "{part}");
    }
    // The columns of the grid have one width, however few plots there are.
    assert!(text.contains("grid-template-columns:repeat(auto-fill,"), "{text}");
    for outside in ["<script", "http://", "https://", "@import", "NaN", "inf\""] {
        assert!(!text.contains(outside), "{outside}");
    }
}

#[test]
fn wrong_usage_is_explained_before_anything_is_measured() {
    let cases: [(&[&str], &str); 9] = [
        (&["--ops", "pow,root"], "unknown operation \"root\""),
        (&["--bits", "7"], "not a length from 8"),
        (&["--bits", "99999999999"], "not a length"),
        (&["--seconds", "0"], "seconds"),
        (&["--batch", "0"], "batch"),
        (&["--algorithm", "magic"], "unknown algorithm"),
        (&["--peers=mpir"], "unknown peer \"mpir\""),
        (&["--peers=gmp=/nowhere/libgmp.so"], "/nowhere/libgmp.so"),
        (&["--html", "/nowhere/report.html"], "cannot write /nowhere/report.html"),
    ];
    for (arguments, reason) in cases {
        let (output, _) = bench(arguments, "usage.json");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn files_are_measured_beside_the_library() {
    let arguments =
        ["--files", "--ops", "pow,mul_mod,inv", "--bits", "128", "--batch", "3000", "--threads", "2"];
    let (output, records) = bench(&arguments, "files.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let (header, records) = records.split_first().unwrap();
    assert_eq!(header["kind"], "header");
    let formats = if cfg!(feature = "files") { 3 } else { 1 };
    // Powers are measured with long and with short exponents.
    assert_eq!(records.len(), 4 * formats);
    for record in records {
        assert_eq!((&record["kind"], &record["verified"]), (&"file".into(), &true.into()), "{record}");
        assert_eq!((&record["bits"], &record["records"]), (&128.into(), &3000.into()), "{record}");
        for field in ["records_per_s", "megabytes_per_s", "library_per_s", "bytes"] {
            assert!(record[field].as_f64().unwrap() > 0.0, "{field} in {record}");
        }
    }
    assert!(stdout(&output).contains("library/s"), "{}", stdout(&output));
    let lines = stdout(&output).lines().filter(|line| line.ends_with('%')).count();
    assert_eq!(lines, records.len(), "{}", stdout(&output));
    let (output, _) = bench(&["--files", "--ops", "rsa_verify"], "none.json");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("rsa_verify is none of them"), "{}", stderr(&output));
}

#[test]
fn signatures_are_measured_from_file_to_file() {
    let arguments = ["--files", "--ops", "rsa_sign", "--bits", "1024", "--batch", "200", "--threads", "2"];
    let (output, records) = bench(&arguments, "sign-files.json");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(records.len(), 1 + if cfg!(feature = "files") { 3 } else { 1 });
    for record in &records[1..] {
        assert_eq!((&record["op"], &record["verified"]), (&"rsa_sign".into(), &true.into()), "{record}");
        assert_eq!((&record["bits"], &record["records"]), (&1024.into(), &200.into()), "{record}");
        assert!(record["library_per_s"].as_f64().unwrap() > 0.0, "{record}");
    }
}

#[test]
fn callers_are_measured_beside_one_caller() {
    let arguments = ["--callers", "1,3", "--ops", "pow,rsa_sign", "--bits", "512", "--batch", "4"];
    let (output, records) = bench(&arguments, "callers.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let (header, records) = records.split_first().unwrap();
    assert_eq!((&header["kind"], records.len()), (&"header".into(), 4));
    for record in records {
        assert_eq!((&record["kind"], &record["verified"]), (&"callers".into(), &true.into()), "{record}");
        assert_eq!((&record["items"], &record["bits"]), (&4.into(), &512.into()), "{record}");
        for field in ["ops_per_s", "one_caller_ops_per_s", "share", "latency_ms"] {
            assert!(record[field].as_f64().unwrap() > 0.0, "{field} in {record}");
        }
    }
    assert!(stdout(&output).contains("share"), "{}", stdout(&output));
    for (arguments, reason) in [
        (&["--callers", "0"][..], "callers"),
        (&["--callers", "2", "--ops", "mul_mod_chain"], "not measured with callers"),
        (&["--callers", "2", "--batches"], "--batches"),
        (&["--svg", "picture.svg"], "--batches"),
    ] {
        let (output, _) = bench(arguments, "usage.json");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{arguments:?}: {}", stderr(&output));
    }
}
