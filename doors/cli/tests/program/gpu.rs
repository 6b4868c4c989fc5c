//! The program with a GPU, an emulated one, and without.

use crate::common::{modmill, on_emulator, run_command, scratch, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The output of `info` on the emulated device, with a tuning table in a file.
fn info_with(table: &Path) -> Option<Value> {
    let mut command = on_emulator(&["info", "--json"])?;
    Some(json(&command.env("MODMILL_TUNE", table).output().unwrap()))
}

#[test]
fn info_tells_of_gpus() {
    let Some(info) = info_with(&scratch("missing.json")) else { return };
    assert_eq!(info["gpus"][0]["name"], "emulated device");
    assert_eq!(
        (&info["gpus"][0]["capability"], &info["gpus"][0]["multiprocessors"]),
        (&"9.0".into(), &2.into())
    );
    assert_eq!(info["warnings"], Value::Array(Vec::new()));
    assert!(info["paths"].as_array().unwrap().iter().all(|path| path["backend"] == "cuda"));
    // Symbols, square roots and short products are the CPU's.
    let is_on_cpu = |plan: &Value| match plan["op"].as_str() {
        Some("jacobi" | "isqrt") => true,
        Some("mul" | "square") => plan["bits"].as_u64().unwrap() < 4096,
        _ => false,
    };
    let plans = info["plans"].as_array().unwrap();
    assert!(plans.iter().all(|plan| (plan["backend"] == "cpu") == is_on_cpu(plan)), "{plans:?}");
    let text = stdout(&on_emulator(&["info"]).unwrap().output().unwrap());
    for part in
        ["0: emulated device, compute capability 9.0, 2 multiprocessors", "kernel compiler", "cuda/row"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_missing_gpu_is_explained() {
    // No machine has a hundred GPUs.
    let without = |arguments: &[&str]| modmill(arguments).env("MODMILL_CUDA_DEVICES", "99").output().unwrap();
    for arguments in [&["powm", "--backend", "cuda"][..], &["info", "--backend", "cuda"], &["tune"]] {
        let output = without(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("NVIDIA") || stderr(&output).contains("99"), "{}", stderr(&output));
    }
    let info = json(&without(&["info", "--json", "--backend", "auto"]));
    assert_eq!(info["gpus"], Value::Array(Vec::new()));
    let output = without(&["bench", "--ops", "mul_mod_chain"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mul_mod_chain is for GPUs"), "{}", stderr(&output));
}

#[test]
fn a_self_test_that_requires_a_gpu_fails_without() {
    let mut command = modmill(&["selftest", "--algorithm", "row", "--brief"]);
    let output = command.env("MODMILL_REQUIRE_GPU", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("a GPU can be used: FAILED") && text.trim_end().ends_with(" 1 failed"), "{text}");
}

#[test]
fn powers_are_computed_by_every_algorithm_of_gpus() {
    let modulus = "f3b4c1a5d6e7f8091a2b3c4d5e6f7a8b";
    let line =
        |base: &str| format!("{{\"base\":\"{base}\",\"exp\":\"fedcba987654321\",\"mod\":\"{modulus}\"}}\n");
    let input: String =
        ["2", "ffffffffffffffffffffffffffffffff", "1234"].iter().map(|base| line(base)).collect();
    let expected = stdout(&run_command(&mut modmill(&["powm"]), &input));
    for algorithm in ["row", "two_pass", "wide", "narrow"] {
        let Some(mut command) = on_emulator(&["powm", "--algorithm", algorithm]) else { return };
        let output = run_command(&mut command, &input);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), expected, "{algorithm}");
    }
    let output = run_command(&mut on_emulator(&["powm", "--algorithm", "ifma"]).unwrap(), &input);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn tune_writes_a_table_that_engines_use() {
    let (table, measured) = (scratch("table.json"), scratch("measured.json"));
    let (out, all) = (table.to_str().unwrap(), measured.to_str().unwrap());
    let what = ["--bits", "128", "--algorithm", "row,fft", "--transform-bits", "4096", "--seconds", "0.01"];
    let arguments = [&["tune"][..], &what, &["--out", out, "--json", all]].concat();
    let Some(mut command) = on_emulator(&arguments) else { return };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let all = read(&measured);
    assert_eq!((&all["device"], &all["failed"]), (&"emulated device".into(), &Value::Array(Vec::new())));
    let timings = all["timings"].as_array().unwrap();
    assert!(timings.len() > 2 && timings.iter().any(|timing| timing["kept"] == true));
    for timing in timings {
        assert!(timing["ops_per_s"].as_f64().unwrap() > 0.0 && timing["family"] == "row", "{timing}");
    }
    // The lengths that were not measured stay.
    let written = read(&table);
    for (document, has_rate) in [(&all, true), (&written, false)] {
        let transforms = document["transforms"].as_array().unwrap();
        let ops: Vec<&str> = transforms.iter().map(|timing| timing["op"].as_str().unwrap()).collect();
        assert_eq!(ops, ["mul", "square", "mul_mod"]);
        for timing in transforms {
            assert_eq!((&timing["bits"], &timing["batch"]), (&4096.into(), &2.into()), "{timing}");
            assert!(timing["batch_seconds"].as_f64().unwrap() > 0.0, "{timing}");
            assert!(timing["alone_seconds"].as_f64().unwrap() > 0.0, "{timing}");
            assert_eq!(timing.get("ops_per_s").is_some(), has_rate, "{timing}");
        }
    }
    let sizes =
        |bits: u64| written["timings"].as_array().unwrap().iter().any(|timing| timing["bits"] == bits);
    assert!(sizes(128) && sizes(2048) && written["device"] == "emulated device");

    let reason = |info: &Value| {
        info["plans"].as_array().unwrap().iter().find(|plan| plan["op"] == "pow").unwrap()["reason"]
            .to_string()
    };
    let info = info_with(&table).unwrap();
    assert!(reason(&info).contains("measured on emulated device"), "{}", reason(&info));
    std::fs::write(&table, "{}").unwrap();
    let info = info_with(&table).unwrap();
    assert!(
        reason(&info).contains("H200") && info["warnings"][0].to_string().contains("table.json"),
        "{info}"
    );
}

#[test]
fn tune_says_what_it_cannot_do() {
    for (arguments, reason) in [
        (
            ["tune", "--algorithm", "ifma"],
            "GPUs have no algorithm \"ifma\"; known: row, two_pass, wide, narrow, rns, fft",
        ),
        (["tune", "--out", "/nowhere/table.json"], "cannot write /nowhere/table.json"),
    ] {
        let Some(mut command) = on_emulator(&arguments) else { return };
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn bench_measures_kernels_and_checks_samples() {
    let (file, page) = (scratch("gpu.json"), scratch("gpu.html"));
    let ops = "pow,pow_vartime,mul_mod,square_mod,mul_mod_chain,square_mod_chain";
    let arguments = [
        "bench",
        "--ops",
        ops,
        "--bits=128",
        "--batch=300",
        "--seconds=0.001",
        "--algorithm=row,wide",
        "--json",
        file.to_str().unwrap(),
        "--html",
        page.to_str().unwrap(),
    ];
    let Some(mut command) = on_emulator(&arguments) else { return };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let records = read(&file);
    let (header, records) = records.as_array().unwrap().split_first().unwrap();
    let peers = header["peers"].as_array().unwrap().len();
    for op in ops.split(',') {
        let here: Vec<&Value> = records.iter().filter(|record| record["op"] == op).collect();
        let chain = op.ends_with("chain");
        assert_eq!(here.len(), 2 + if chain { 0 } else { peers }, "{op}");
        for record in here {
            assert_eq!(record["verified"], true, "{record}");
            let ours = record["peer"].is_null();
            assert_eq!(record["device"] == "emulated device", ours);
            assert_eq!(record["kernel_ops_per_s"].as_f64().is_some_and(|rate| rate > 0.0), ours);
            if ours {
                assert_eq!((&record["backend"], &record["batch"]), (&"cuda".into(), &300.into()));
                assert_eq!(record["verified_items"], if chain { 16 } else { 256 });
            }
        }
    }
    assert!(stdout(&output).contains("kernel"));
    let text = std::fs::read_to_string(page).unwrap();
    for part in ["cuda/row, kernel alone", "kernel ops/s", "square_mod_chain"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("NaN"));
}

/// Batches of growing sizes on the CPU and on a GPU: a picture, and the batch from which on the GPU answers
/// sooner.
#[test]
fn batches_are_compared_and_drawn() {
    let (file, picture) = (scratch("batches.json"), scratch("batches.svg"));
    let arguments = [
        "bench",
        "--batches",
        "--bits=128",
        "--batch=1,8,64",
        "--seconds=0.001",
        "--json",
        file.to_str().unwrap(),
        "--svg",
        picture.to_str().unwrap(),
    ];
    let Some(mut command) = on_emulator(&arguments) else { return };
    let output = command.env("MODMILL_BACKEND", "auto").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let records = read(&file);
    let records = &records.as_array().unwrap()[1..];
    for backend in ["cpu", "cuda"] {
        let here = records.iter().filter(|record| record["backend"] == backend);
        let batches: Vec<u64> = here.map(|record| record["batch"].as_u64().unwrap()).collect();
        assert_eq!(batches, [1, 8, 64], "{backend}");
    }
    assert!(stdout(&output).contains("pow of 128 bits: "), "{}", stdout(&output));
    let picture = std::fs::read_to_string(picture).unwrap();
    assert!(picture.starts_with("<svg xmlns") && picture.contains("milliseconds for a batch"), "{picture}");
    assert_eq!(picture.matches("<polyline").count(), 4);
}

/// Callers whose batches a GPU computes together get their own answers.
#[test]
fn callers_of_a_gpu_are_measured() {
    let file = scratch("gpu-callers.json");
    let arguments =
        ["bench", "--callers=8", "--bits=128", "--batch=3", "--seconds=0.03", "--quiet", "--json"];
    let Some(mut command) = on_emulator(&[&arguments[..], &[file.to_str().unwrap()]].concat()) else {
        return;
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let record = &read(&file)[1];
    assert_eq!((&record["callers"], &record["verified"]), (&8.into(), &true.into()), "{record}");
}

/// GPUs make the same signatures as the CPU, and RSA is measured and timed by keys.
#[test]
#[ignore = "slow: .ci/run has it"]
fn rsa_on_gpus() {
    let [key, message, signature] = ["gpu.pem", "gpu.message", "gpu.sig"].map(scratch);
    let [key, message, signature] = [&key, &message, &signature].map(|path| path.to_str().unwrap());
    std::fs::write(message, "message").unwrap();
    let made = modmill(&["rsa", "keygen", "--bits", "512", "--allow-small", "--out", key]).output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    let with = ["--key", key, "--padding", "pkcs1v15", "--hash", "sha256", "--allow-small", "--in", message];
    for more in [&["--out", signature][..], &["--out", signature, "--direct-tables"]] {
        let sign: Vec<&str> = [&["rsa", "sign"][..], &with, more].concat();
        let Some(mut command) = on_emulator(&sign) else { return };
        let signed = command.output().unwrap();
        assert!(signed.status.success(), "{}", stderr(&signed));
        let verify: Vec<&str> = [&["rsa", "verify"][..], &with, &["--sig", signature]].concat();
        assert!(modmill(&verify).output().unwrap().status.success());
        assert!(on_emulator(&verify).unwrap().output().unwrap().status.success());
    }
    let path = scratch("rsa.json");
    let bench = [
        "bench",
        "--ops",
        "rsa_sign,rsa_verify",
        "--bits",
        "512",
        "--batch",
        "17",
        "--seconds",
        "0.001",
        "--json",
    ];
    let arguments: Vec<&str> =
        [&bench[..], &[path.to_str().unwrap(), "--quiet", "--peers=none", "--keys", "3"]].concat();
    let output = on_emulator(&arguments).unwrap().output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let records = read(&path);
    let records: Vec<&Value> =
        records.as_array().unwrap().iter().filter(|record| record["kind"] == "result").collect();
    assert_eq!(records.len(), 2);
    for (record, algorithm) in records.iter().zip(["rns", "row"]) {
        assert_eq!((&record["algorithm"], &record["verified"]), (&algorithm.into(), &true.into()));
        assert!(record["kernel_ops_per_s"].as_f64().unwrap() > 0.0);
    }
    let output = on_emulator(&["selftest", "--key-timing", "8"]).unwrap().output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("correlation with ones") && text.contains("3 passed, 0 failed"), "{text}");
}
