//! `modmill powm`, `mul`, `inv` and `gcd` as users call them.

use crate::common::{ends_quietly_without_a_reader, modmill, run, run_command, scratch, stderr, stdout};
use modmill_testing::oracle::jacobi;
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

fn big(text: &str) -> BigUint {
    let digits = text.trim_start_matches("0x").trim_start_matches("0X");
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap()
}

/// Hexadecimal digits, sometimes with leading zeros.
fn digits(random: &mut Rng, count: usize) -> String {
    (0..count).map(|_| char::from(*random.pick(b"0123456789abcdef"))).collect()
}

fn results(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn powm_line(base: &str, exponent: &str, modulus: &str) -> String {
    format!("{{\"base\":\"{base}\",\"exp\":\"{exponent}\",\"mod\":\"{modulus}\"}}\n")
}

/// Tasks of many lengths and both parities, with the answers num-bigint gives.
fn mixed(count: usize, longest: usize, seed: u64) -> (String, Vec<String>) {
    let mut random = Rng::new(seed);
    let (mut input, mut expected) = (String::new(), Vec::new());
    for item in 0..count {
        let length = |random: &mut Rng| 1 + random.below(longest);
        let (base, exponent) = (length(&mut random), length(&mut random).min(40));
        let (mut base, mut exponent) = (digits(&mut random, base), digits(&mut random, exponent));
        let length = length(&mut random);
        let mut modulus = digits(&mut random, length);
        if big(&modulus) == BigUint::ZERO {
            modulus = "1".to_owned();
        }
        match item % 8 {
            1 => modulus = format!("0x{modulus}"),
            2 => base = base.to_uppercase(),
            3 => exponent = format!("0X{exponent}"),
            4 => modulus += "0",
            5 => modulus = format!("000{modulus}00000000000000000000"),
            6 => modulus += "1",
            _ => {}
        }
        input += &powm_line(&base, &exponent, &modulus);
        expected.push(format!("{:x}", big(&base).modpow(&big(&exponent), &big(&modulus))));
    }
    (input, expected)
}

#[test]
fn a_mixed_file_is_answered_right_and_in_order() {
    let (input, expected) = mixed(600, 300, 1);
    for arguments in
        [&["powm"][..], &["powm", "--vartime"], &["powm", "--threads", "1", "--algorithm", "row"]]
    {
        let output = run(arguments, &input);
        assert_eq!(stderr(&output), "");
        assert!(output.status.success());
        let found = results(&stdout(&output));
        assert_eq!(found.len(), expected.len());
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found["result"], expected.as_str(), "line {}", index + 1);
        }
    }
}

#[test]
fn order_is_kept_over_several_chunks_and_through_files() {
    // More lines than are computed together, with a bad line in each chunk.
    let (from, to) = (scratch("chunks.jsonl"), scratch("chunks.out"));
    let mut input = String::new();
    for item in 0..10_000u32 {
        input += &match item % 4000 {
            77 => "bad\n".to_owned(),
            _ => powm_line(&format!("{item:x}"), "1", &format!("1{}1", "0".repeat(8 + item as usize % 40))),
        };
    }
    std::fs::write(&from, input).unwrap();
    let output = run(&["powm", "--in", from.to_str().unwrap(), "--out", to.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("3 of 10000 lines"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    let found = results(&std::fs::read_to_string(&to).unwrap());
    assert_eq!(found.len(), 10_000);
    for (item, found) in found.iter().enumerate() {
        if item % 4000 == 77 {
            let error = found["error"].as_str().unwrap();
            assert!(error.starts_with(&format!("line {}: ", item + 1)), "{error}");
        } else {
            assert_eq!(found["result"], format!("{item:x}"));
        }
    }
}

#[test]
fn conventions_hold() {
    let cases = [
        ("5", "0", "7", "1"), // anything to the 0
        ("0", "0", "7", "1"), // 0^0
        ("0", "0", "1", "0"), // modulo 1
        ("5", "3", "1", "0"),
        ("0", "5", "7", "0"),
        ("FF", "1", "0x10", "f"), // base >= modulus, even modulus
        ("123456789abcdef0123456789abcdef", "1", "11", "0"),
        ("2", "40", "10000000000000000", "0"), // a power of two
        ("3", "10001", "fffffffb", "9d6b6b8b"),
        ("2", "a", "000000000000000000000000000003e9", "17"),
    ];
    let input: String = cases.iter().map(|(base, exp, modulus, _)| powm_line(base, exp, modulus)).collect();
    for arguments in [&["powm"][..], &["powm", "--vartime"]] {
        let output = run(arguments, &input);
        for (found, (base, exp, modulus, expected)) in results(&stdout(&output)).iter().zip(cases) {
            let computed = format!("{:x}", big(base).modpow(&big(exp), &big(modulus)));
            assert_eq!(found["result"], computed.as_str(), "{base}^{exp} mod {modulus}");
            if base != "3" && base.len() < 5 {
                assert_eq!(computed, expected);
            }
        }
        assert!(stdout(&output).starts_with("{\"result\":\"1\"}\n{\"result\":\"1\"}\n{\"result\":\"0\"}\n"));
    }
}

#[test]
fn every_kind_of_bad_line_has_an_error_at_its_place() {
    let bad = [
        ("{\"base\":\"2\"", "bad JSON"),
        ("not json", "not a JSON object"),
        ("[1,2]", "not a JSON object"),
        ("", "empty line"),
        ("   ", "empty line"),
        ("{}", "\"base\" is missing"),
        ("{\"base\":\"2\",\"exp\":\"3\"}", "\"mod\" is missing"),
        ("{\"base\":\"2\",\"mod\":\"3\"}", "\"exp\" is missing"),
        ("{\"exp\":\"2\",\"mod\":\"3\"}", "\"base\" is missing"),
        ("{\"base\":\"xyz\",\"exp\":\"2\",\"mod\":\"3\"}", "base: 'x' at position 0"),
        ("{\"base\":\"\",\"exp\":\"2\",\"mod\":\"3\"}", "base: an empty string"),
        ("{\"base\":\"1\",\"exp\":\"0x\",\"mod\":\"3\"}", "exp: an empty string"),
        ("{\"base\":\"1\",\"exp\":\"2\",\"mod\":\"0\"}", "mod: the modulus is zero"),
        ("{\"base\":\"1\",\"exp\":\"2\",\"mod\":\"0x0000\"}", "mod: the modulus is zero"),
        ("{\"base\":\"1\",\"exp\":\"2\",\"mod\":\" 3\"}", "mod: ' ' at position 0"),
        ("{\"base\":1,\"exp\":\"2\",\"mod\":\"3\"}", "integer `1`"),
        ("{\"base\":null,\"exp\":\"2\",\"mod\":\"3\"}", "null"),
    ];
    let good = powm_line("2", "3", "f");
    let mut input = good.clone();
    for (line, _) in &bad {
        input += &format!("{line}\n{good}");
    }
    let output = run(&["powm"], &input);
    assert_eq!(output.status.code(), Some(1));
    let summary = stderr(&output);
    assert!(summary.contains(&format!("{} of {} lines", bad.len(), 2 * bad.len() + 1)), "{summary}");
    assert!(summary.contains("the first: line 2: bad JSON"), "{summary}");
    let found = results(&stdout(&output));
    assert_eq!(found.len(), 2 * bad.len() + 1);
    for (index, found) in found.iter().enumerate() {
        if index % 2 == 0 {
            assert_eq!(found["result"], "8");
        } else {
            let (error, (line, reason)) = (found["error"].as_str().unwrap(), bad[index / 2]);
            assert!(error.starts_with(&format!("line {}: ", index + 1)), "{error}");
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}

#[test]
fn a_file_cut_short_loses_only_its_last_line() {
    let good = powm_line("2", "3", "f");
    let output = run(&["powm"], &format!("{good}{}", &good[..20]));
    assert_eq!(output.status.code(), Some(1));
    let found = results(&stdout(&output));
    assert_eq!(found[0]["result"], "8");
    assert_eq!(found[1]["error"], "line 2: the input ends in the middle of this line");
    // A missing line break alone loses nothing.
    let output = run(&["powm"], good.trim_end());
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "{\"result\":\"8\"}\n"));
}

#[test]
fn no_input_is_no_output() {
    for input in ["", "\n", "\n\r\n  \n"] {
        for command in ["powm", "mul", "inv", "gcd", "batch-gcd", "div", "isqrt", "jacobi"] {
            let output = run(&[command], input);
            assert!(output.status.success());
            assert!(output.stdout.is_empty() && output.stderr.is_empty());
        }
    }
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let output = run(&["powm", "--in", "/nonexistent/tasks.jsonl"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot read /nonexistent/tasks.jsonl"), "{}", stderr(&output));
    let output = run(&["mul", "--out", "/nonexistent/out.jsonl"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write /nonexistent/out.jsonl"), "{}", stderr(&output));
    let folder = scratch("folder");
    std::fs::create_dir_all(&folder).unwrap();
    let output = run(&["powm", "--in", folder.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("folder"), "{}", stderr(&output));
    let file = scratch("same.jsonl");
    std::fs::write(&file, powm_line("2", "3", "f")).unwrap();
    let path = file.to_str().unwrap();
    let output = run(&["powm", "--in", path, "--out", path], "");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), powm_line("2", "3", "f"));
}

/// A file under several names is one file: none of them may be an output.
#[cfg(unix)]
#[test]
fn the_input_is_not_overwritten_under_another_name() {
    let task = powm_line("2", "3", "f");
    let [file, hard, soft] = ["aliased.jsonl", "hard.jsonl", "soft.jsonl"].map(scratch);
    std::fs::write(&file, &task).unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    std::os::unix::fs::symlink(&file, &soft).unwrap();
    let input = file.to_str().unwrap();
    for alias in [&hard, &soft] {
        let output = run(&["powm", "--in", input, "--out", alias.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("is the file that --in reads"), "{}", stderr(&output));
    }
    // Files that the shell opens are not overwritten either.
    let opened = || std::fs::File::open(&file).unwrap();
    let appended = || std::fs::OpenOptions::new().append(true).open(&hard).unwrap();
    let mut from_shell = modmill(&["powm", "--out", hard.to_str().unwrap()]);
    assert_eq!(from_shell.stdin(opened()).output().unwrap().status.code(), Some(2));
    let mut to_shell = modmill(&["powm", "--in", input]);
    assert_eq!(to_shell.stdout(appended()).stderr(Stdio::null()).status().unwrap().code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), task);
}

#[test]
fn an_output_is_replaced_only_by_a_whole_one() {
    let folder = scratch("whole");
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join("answers.jsonl");
    std::fs::write(&out, "precious\n").unwrap();
    let path = out.to_str().unwrap();
    for arguments in [
        &["powm", "--in", "/nonexistent", "--out", path][..],
        &["powm", "--in", folder.to_str().unwrap(), "--out", path],
        &["powm", "--in", path, "--algorithm", "nothing", "--out", path],
    ] {
        assert_eq!(run(arguments, "").status.code(), Some(2));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious\n");
    }
    let output = run(&["powm", "--out", path], &(powm_line("2", "3", "f") + "bad\n"));
    assert_eq!(output.status.code(), Some(1));
    assert!(std::fs::read_to_string(&out).unwrap().starts_with("{\"result\":\"8\"}\n{\"error\":"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
    // An output that is no regular file is written to as it is.
    #[cfg(unix)]
    assert!(run(&["powm", "--out", "/dev/null"], &powm_line("2", "3", "f")).status.success());
}

#[test]
fn lines_have_a_limit_that_can_be_set() {
    let good = powm_line("2", "3", "f");
    let long = powm_line(&"0".repeat(2000), "1", "f");
    let output = run(&["powm", "--max-line", "1K"], &format!("{good}{long}{good}"));
    assert_eq!(output.status.code(), Some(1));
    let found = results(&stdout(&output));
    let reason = format!("line 2: the line has {} bytes; the limit is 1024 (--max-line sets it)", long.len());
    assert_eq!((&found[0]["result"], &found[2]["result"]), (&"8".into(), &"8".into()));
    assert_eq!(found[1]["error"], reason);
    assert!(run(&["powm", "--max-line", "4k"], &long).status.success());
    assert_eq!(run(&["powm", "--max-line", "much"], "").status.code(), Some(2));
}

#[test]
fn a_pipe_that_runs_dry_is_answered() {
    let mut child = modmill(&["powm"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    // Each line is written only after the line before it was answered.
    for exponent in ["1", "2", "3"] {
        stdin.write_all(powm_line("2", exponent, "ff").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["result"], format!("{:x}", 1 << exponent.parse::<u32>().unwrap()));
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert!(child.wait().unwrap().success());
}

/// The memory of a process that may be written, where the system shows it to its parent.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> std::io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let file = std::fs::File::open(format!("/proc/{process}/mem"))?;
    let mut memory = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw") && !line.contains("[v")) {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).unwrap());
        for page in (start..end).step_by(4096) {
            let mut bytes = [0; 4096];
            // A page that was never touched may not be readable.
            if file.read_at(&mut bytes, page).is_ok() {
                memory.extend(bytes);
            }
        }
    }
    Ok(memory)
}

#[cfg(target_os = "linux")]
#[test]
fn numbers_are_zeroized_when_they_are_answered() {
    let (base, exponent) = ("5ec2e7ba5e00112233445566778899aa", "5ec2e7e4901f0e0d0c0b0a9988776655");
    let mut child = modmill(&["powm"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    let modulus = "f3b4c1a5d6e7f8091a2b3c4d5e6f7a8b";
    stdin.write_all(powm_line(base, exponent, modulus).as_bytes()).unwrap();
    let expected = format!("{{\"result\":\"{:x}\"}}", big(base).modpow(&big(exponent), &big(modulus)));
    assert_eq!(answers.next().unwrap().unwrap(), expected);
    // The program has answered and waits for the next line; give it time to get there.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let memory = memory(child.id());
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let memory = match memory {
        Ok(memory) => memory,
        Err(why) => return println!("skipped: the memory of the program cannot be read: {why}"),
    };
    let holds = |bytes: &[u8]| memory.windows(bytes.len()).any(|window| window == bytes);
    // The search finds what is there: an environment variable.
    assert!(holds(b"MODMILL_BACKEND=cpu") && memory.len() > 1 << 16);
    for secret in [base, exponent] {
        // As text, as bytes with the most significant first, and as limbs in memory.
        let bytes = big(secret).to_bytes_be();
        let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
        for form in [&secret.as_bytes()[8..], &bytes[4..], &reversed[..12]] {
            assert!(!holds(form), "{secret} is still in memory as {form:x?}");
        }
    }
}

/// Returns the text that the program writes to a terminal of 100 columns when `typed` is typed into it;
/// `None` where no `script` can make a terminal.
#[cfg(target_os = "linux")]
fn on_terminal(command: &str, typed: &str) -> Option<String> {
    let program = format!("stty cols 100; {} {command}", env!("CARGO_BIN_EXE_modmill"));
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &program, "/dev/null"]).env("MODMILL_BACKEND", "cpu");
    match script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
        Err(_) => {
            println!("skipped: no `script` to make a terminal");
            None
        }
        Ok(mut child) => {
            child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
            Some(stdout(&child.wait_with_output().unwrap()))
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_told_that_lines_are_awaited() {
    // Ctrl-D ends the input.
    let typed = powm_line("2", "3", "f") + "\u{4}";
    let Some(text) = on_terminal("powm", &typed) else { return };
    assert!(
        text.contains("waiting for lines {\"base\":\"...\",\"exp\":\"...\",\"mod\":\"...\"}; Ctrl-D ends"),
        "{text}"
    );
    assert!(text.contains("{\"result\":\"8\"}"), "{text}");
    let text = on_terminal("powm --quiet", &typed).unwrap();
    assert!(!text.contains("Ctrl-D") && text.contains("{\"result\":\"8\"}"), "{text}");
    let key = scratch("terminal.der");
    let _ = std::fs::remove_file(&key);
    let text = on_terminal("rsa keygen --bits 512 --allow-small --der", "").unwrap();
    assert!(text.contains("binary data is not written to a terminal; name a file with --out"), "{text}");
    let text = on_terminal("rsa keygen --bits 512 --allow-small --der --out /dev/tty", "").unwrap();
    assert!(text.contains("binary data is not written to a terminal; name a file with --out"), "{text}");
}

/// Standard output by another name goes on where the program before it stopped, and is not replaced.
#[cfg(target_os = "linux")]
#[test]
fn names_of_standard_output_are_standard_output() {
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"] {
        let log = scratch("names.log");
        std::fs::write(&log, "before\n").unwrap();
        let file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        let mut command = modmill(&["powm", "--out", name]);
        let mut child = command.stdin(Stdio::piped()).stdout(file).spawn().unwrap();
        child.stdin.take().unwrap().write_all(powm_line("2", "3", "f").as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "before\n{\"result\":\"8\"}\n", "{name}");
    }
}

#[cfg(not(feature = "files"))]
#[test]
fn parquet_files_are_refused_with_a_way_out() {
    let output = run(&["powm", "--in", "tasks.parquet", "--out", "answers.parquet"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--features files"), "{}", stderr(&output));
}

#[test]
fn products_are_plain_or_reduced() {
    let mut random = Rng::new(3);
    let (mut input, mut expected) = (String::new(), Vec::new());
    for item in 0..300 {
        let mut number = |most: usize| {
            let length = 1 + random.below(most);
            digits(&mut random, length)
        };
        let (a, b, modulus) = (number(200), number(90), format!("{}{}", number(120), item % 3 + 1));
        let product = big(&a) * big(&b);
        if item % 2 == 0 {
            input += &format!("{{\"a\":\"{a}\",\"b\":\"{b}\"}}\n");
            expected.push(format!("{product:x}"));
        } else {
            input += &format!("{{\"a\":\"{a}\",\"mod\":\"{modulus}\",\"b\":\"{b}\"}}\n");
            expected.push(format!("{:x}", product % big(&modulus)));
        }
    }
    let output = run(&["mul"], &input);
    assert!(output.status.success());
    for (found, expected) in results(&stdout(&output)).iter().zip(&expected) {
        assert_eq!(found["result"], expected.as_str());
    }
    let output = run(
        &["mul"],
        "{\"a\":\"2\"}\n{\"a\":\"2\",\"b\":\"3\",\"mod\":\"0\"}\n{\"a\":\"2\",\"b\":\"3\",\"modulus\":\"5\"}\n{\"a\":\"2\",\"b\":\"3\",\"mod\":null}\n",
    );
    assert_eq!(output.status.code(), Some(1));
    let reasons = ["\"b\" is missing", "the modulus is zero", "unknown field `modulus`", "null"];
    for (found, reason) in results(&stdout(&output)).iter().zip(reasons) {
        assert!(found["error"].as_str().unwrap().contains(reason), "{found}");
    }
}

#[test]
fn inverses_and_divisors_are_right() {
    let mut random = Rng::new(21);
    let (mut inverses, mut divisors, mut numbers) = (String::new(), String::new(), Vec::new());
    for item in 0..200 {
        let length = 1 + random.below(120);
        let (a, b) = (digits(&mut random, length), digits(&mut random, 1 + item % 70) + "1");
        inverses += &format!("{{\"id\":{item},\"a\":\"{a}\",\"mod\":\"{b}\"}}\n");
        divisors += &format!("{{\"a\":\"0x{a}\",\"b\":\"{b}\"}}\n");
        numbers.push((big(&a), big(&b)));
    }
    let output = run(&["gcd"], &divisors);
    assert!(output.status.success(), "{}", stderr(&output));
    let found_divisors: Vec<BigUint> =
        results(&stdout(&output)).iter().map(|found| big(found["result"].as_str().unwrap())).collect();
    let found_inverses = results(&stdout(&run(&["inv"], &inverses)));
    assert_eq!((found_inverses.len(), found_divisors.len()), (200, 200));
    for ((a, b), (divisor, inverse)) in numbers.iter().zip(found_divisors.iter().zip(&found_inverses)) {
        let (mut x, mut y) = (a.clone(), b.clone());
        while y != BigUint::ZERO {
            (x, y) = (y.clone(), x % y);
        }
        assert_eq!(*divisor, x);
        if x == BigUint::from(1u8) {
            let inverse = big(inverse["result"].as_str().unwrap());
            assert!(inverse < *b && inverse * a % b == BigUint::from(1u8) % b);
        } else {
            assert!(inverse["error"].as_str().unwrap().contains("shares a factor"), "{inverse}");
        }
    }
    let output = run(&["inv"], "{\"a\":\"3\"}\n{\"a\":\"3\",\"mod\":\"0\"}\n{\"a\":\"3\",\"mod\":\"1\"}\n");
    assert_eq!(output.status.code(), Some(1));
    let found = results(&stdout(&output));
    assert!(found[0]["error"].as_str().unwrap().contains("\"mod\" is missing"));
    assert!(found[1]["error"].as_str().unwrap().contains("the modulus is zero"));
    assert_eq!(found[2]["result"], "0");
    let output = run(&["gcd"], "{\"a\":\"0\",\"b\":\"0\"}\n{\"a\":\"3\"}\n");
    let found = results(&stdout(&output));
    assert_eq!(found[0]["result"], "0");
    assert!(found[1]["error"].as_str().unwrap().contains("\"b\" is missing"));
}

/// Numbers of several chunks share factors with each other, whatever lines cannot be read.
#[test]
fn factors_are_shared_across_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("moduli.jsonl"), folder.path().join("factors.jsonl"));
    // Products of a prime of 61 bits by distinct primes: the first number and the last one share the prime.
    let prime = (1u128 << 61) - 1;
    let odd = |index: u128| (1u128 << 62) + 2 * index + 1;
    let count = 20_000;
    let number =
        |index: u128| if index == 0 || index == count - 1 { prime * (3 + 2 * index) } else { odd(index) };
    let mut lines: Vec<String> =
        (0..count).map(|index| format!("{{\"n\":\"{:x}\"}}", number(index))).collect();
    lines[100] = "{\"n\":\"0\"}".to_owned();
    lines[200] = "{\"m\":\"3\"}".to_owned();
    std::fs::write(&input, lines.join("\n")).unwrap();
    let status = run(&["batch-gcd", "--in", input.to_str().unwrap(), "--out", output.to_str().unwrap()], "");
    assert_eq!(status.status.code(), Some(1), "{}", stderr(&status));
    let found = results(&std::fs::read_to_string(&output).unwrap());
    assert_eq!(found.len() as u128, count);
    assert!(
        found[100]["error"].as_str().unwrap().contains("line 101: the modulus is zero"),
        "{}",
        found[100]
    );
    assert!(found[200]["error"].as_str().unwrap().contains("\"n\" is missing"), "{}", found[200]);
    let value = |index: usize| u128::from_str_radix(found[index]["result"].as_str().unwrap(), 16).unwrap();
    for (first, second) in [(0, count as usize - 1), (count as usize - 1, 0)] {
        assert_eq!(value(first) % prime, 0, "item {first} shares the prime of item {second}");
    }
    // Each divisor divides its number, and is one exactly where no other number has a factor of it.
    for index in (1..300).filter(|index| ![100, 200].contains(index)) {
        assert_eq!(number(index as u128) % value(index), 0);
        let shares = (0..count).filter(|&other| other != index as u128 && ![100, 200].contains(&other));
        let shares = shares.map(number).any(|other| divisor(number(index as u128), other) > 1);
        assert_eq!(value(index) > 1, shares, "item {index}");
    }
}

/// Lists of fastgcd: a number a line, in and out. A line without an answer is empty.
#[test]
fn factors_of_hexadecimal_lists_are_lists() {
    let run_hex = |input: &str| {
        let output = run(&["batch-gcd", "--format", "hex"], input);
        (output.status.code(), stdout(&output), stderr(&output))
    };
    assert_eq!(run_hex("f\n23\n8F\n0x23"), (Some(0), "5\n23\n1\n23\n".to_owned(), String::new()));
    assert_eq!(run_hex("\n"), (Some(0), String::new(), String::new()));
    let (status, answers, errors) = run_hex("f\r\nxyz\n0\n\n23");
    assert_eq!((status, answers.as_str()), (Some(1), "5\n\n\n\n5\n"));
    for error in ["line 2: 'x' at position 0", "line 3: the modulus is zero", "line 4: an empty line"] {
        assert!(errors.contains(error), "{errors}");
    }
    // A long line that is no JSON object is a number all the same.
    let long = "f".repeat(5000);
    assert_eq!(run_hex(&format!("{long}\n{long}")).1, format!("{long}\n{long}\n"));
    let refused = run(&["powm", "--format", "hex"], "f\n");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("takes or answers more"), "{}", stderr(&refused));
}

/// The greatest common divisor by Euclid's algorithm.
fn divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[test]
fn quotients_roots_and_symbols_of_random_numbers() {
    let mut random = Rng::new(12);
    let (mut pairs, mut records, mut numbers) = (String::new(), String::new(), Vec::new());
    for item in 0..100 {
        let length = 1 + random.below(120);
        let (a, b) = (digits(&mut random, length), digits(&mut random, 1 + item % 70) + "1");
        pairs += &format!("{{\"a\":\"0x{a}\",\"b\":\"{b}\"}}\n");
        records += &format!("{{\"a\":\"{a}\",\"mod\":\"{b}\"}}\n");
        numbers.push((big(&a), big(&b)));
    }
    let answers = |command: &str, input: &str| {
        let output = run(&[command], input);
        assert!(output.status.success(), "{}", stderr(&output));
        results(&stdout(&output))
    };
    let (quotients, roots) = (answers("div", &pairs), answers("isqrt", &records));
    let symbols = answers("jacobi", &records);
    assert_eq!((quotients.len(), roots.len(), symbols.len()), (100, 100, 100));
    let number = |answer: &serde_json::Value, name: &str| big(answer[name].as_str().unwrap());
    for (item, (a, b)) in numbers.iter().enumerate() {
        assert_eq!(number(&quotients[item], "quotient"), a / b);
        assert_eq!(number(&quotients[item], "remainder"), a % b);
        let root = number(&roots[item], "result");
        assert_eq!(root, a.sqrt());
        assert_eq!(&root * &root + number(&roots[item], "remainder"), *a);
        assert_eq!(symbols[item]["result"], jacobi(a, b).to_string());
    }
    let found = answers(
        "jacobi",
        "{\"a\":\"2\",\"mod\":\"7\"}\n{\"a\":\"3\",\"mod\":\"7\"}\n{\"a\":\"e\",\"mod\":\"7\"}\n",
    );
    assert_eq!(
        found.iter().map(|found| found["result"].as_str().unwrap()).collect::<Vec<_>>(),
        ["1", "-1", "0"]
    );
    let output = run(&["div"], "{\"a\":\"9\",\"b\":\"0\"}\n{\"a\":\"9\",\"b\":\"2\"}\n");
    assert_eq!(output.status.code(), Some(1));
    let text = "{\"error\":\"line 1: b: the divisor is zero\"}\n{\"quotient\":\"4\",\"remainder\":\"1\"}\n";
    assert_eq!(stdout(&output), text);
    let output = run(&["jacobi"], "{\"a\":\"9\",\"mod\":\"4\"}\n");
    assert_eq!(stdout(&output), "{\"error\":\"line 1: there is no symbol modulo an even number\"}\n");
}

#[test]
fn one_modulus_for_all_and_repeated_moduli_are_right() {
    let mut random = Rng::new(11);
    for modulus in [digits(&mut random, 100) + "1", digits(&mut random, 100) + "0"] {
        let mut expected = Vec::new();
        let input: String = (0..50)
            .map(|_| {
                let (base, exponent) = (digits(&mut random, 100), digits(&mut random, 20));
                expected.push(format!("{:x}", big(&base).modpow(&big(&exponent), &big(&modulus))));
                powm_line(&base, &exponent, &modulus)
            })
            .collect();
        let found = results(&stdout(&run(&["powm"], &input)));
        assert!(found.iter().zip(&expected).all(|(found, expected)| found["result"] == expected.as_str()));
    }
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let (input, _) = mixed(5000, 20, 9);
    let file = scratch("pipe.jsonl");
    std::fs::write(&file, input.repeat(4)).unwrap();
    ends_quietly_without_a_reader(&["powm", "--in", file.to_str().unwrap()]);
}

#[test]
fn unknown_settings_are_explained() {
    let cases: [(&[&str], &str); 5] = [
        (&["powm", "--backend", "gpu"], "known: cpu, cuda, auto"),
        (&["powm", "--algorithm", "gpu"], "fft, auto"),
        (&["powm", "--algorithm", "magic"], "known: row"),
        (&["powm", "--threads=-1"], "threads"),
        (&["frobnicate"], "frobnicate"),
    ];
    for (arguments, reason) in cases {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    let output = run_command(modmill(&["mul"]).env("MODMILL_BACKEND", "abacus"), "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("MODMILL_BACKEND"), "{}", stderr(&output));
    for name in ["cpu", "CPU", "Auto", ""] {
        let output = run_command(modmill(&["mul", "--algorithm", "ROW"]).env("MODMILL_BACKEND", name), "");
        assert!(output.status.success(), "{name}: {}", stderr(&output));
    }
    let output = run_command(modmill(&["mul"]).env("MODMILL_CPU", "z80"), "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("MODMILL_CPU"), "{}", stderr(&output));
}

#[test]
fn numbers_of_any_length_are_taken() {
    // (2^k - 1)^2 = 2^2k - 2^(k+1) + 1, and 2^k - 1 = 1 modulo 2^k - 2.
    for digits in [20_000, 1_000_000] {
        let ones = "f".repeat(digits);
        let output = run(&["mul"], &format!("{{\"a\":\"{ones}\",\"b\":\"{ones}\"}}\n"));
        let expected = format!("{}e{}1", "f".repeat(digits - 1), "0".repeat(digits - 1));
        assert!(stdout(&output).contains(&format!("\"{expected}\"")), "{digits} digits");
    }
    let digits = 20_000;
    let ones = "f".repeat(digits);
    let even = format!("{}e", "f".repeat(digits - 1));
    let output = run(&["powm"], &powm_line(&ones, "10001", &even));
    assert_eq!(stdout(&output).trim(), "{\"result\":\"1\"}");
}
