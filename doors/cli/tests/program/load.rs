//! Long inputs, small memory, full disks and readers that leave.

use crate::common::{modmill, run, scratch, stderr};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A product whose answer is `item`, and whose factors have one of many shapes.
fn product(item: usize) -> String {
    let width = 1 + 16 * (item % 7);
    format!("{{\"a\":\"{item:0>width$x}\",\"b\":\"{:0>1$}\"}}\n", 1, 1 + item % 40)
}

#[test]
fn order_is_kept_under_load() {
    const COUNT: usize = 20_000;
    let input = scratch("load.jsonl");
    std::fs::write(&input, (0..COUNT).map(product).collect::<String>()).unwrap();
    // Chunks of a few hundred records, and of all records.
    for (memory, threads) in [("300K", "4"), ("1M", "1"), ("1G", "3")] {
        let arguments =
            ["mul", "--memory", memory, "--threads", threads, "--in", input.to_str().unwrap(), "--quiet"];
        let output = run(&arguments, "");
        assert!(output.status.success(), "{}", stderr(&output));
        let expected: String = (0..COUNT).map(|item| format!("{{\"result\":\"{item:x}\"}}\n")).collect();
        assert!(output.stdout == expected.as_bytes(), "{memory}");
    }
}

/// The most memory that a process had so far, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? << 10)
}

/// Sends `bytes` bytes of products through the program. Returns the most memory that it had.
#[cfg(target_os = "linux")]
fn peak_memory_of(memory: &str, bytes: usize) -> usize {
    let mut child = modmill(&["mul", "--memory", memory, "--format", "lines"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = format!("{{\"a\":\"{}\",\"b\":\"{}\"}}\n", "7".repeat(1000), "9".repeat(1000));
    let block = line.repeat(500);
    let blocks = bytes.div_ceil(block.len());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (mut lines, mut peak) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(move || (0..blocks).for_each(|_| stdin.write_all(block.as_bytes()).unwrap()));
        let mut answer = Vec::new();
        while stdout.read_until(b'\n', &mut answer).unwrap() > 0 {
            lines += 1;
            answer.clear();
            // The last lines are answered before the program ends.
            if lines % 500 == 0 {
                peak = peak_memory(&child).unwrap_or(0).max(peak);
            }
        }
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(lines, 500 * blocks);
    assert!(peak > 0);
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_held_however_long_the_input_is() {
    let peak = peak_memory_of("24M", 100 << 20);
    // The program's own code and its threads take some memory in addition to the records.
    assert!(peak < 80 << 20, "{} MiB", peak >> 20);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes minutes"]
fn memory_is_held_for_twenty_gigabytes() {
    let peak = peak_memory_of("256M", 20 << 30);
    assert!(peak < 320 << 20, "{} MiB", peak >> 20);
}

/// Waits for a program that should end by itself.
fn wait(child: &mut Child) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return status,
            None if start.elapsed() > Duration::from_secs(600) => {
                child.kill().unwrap();
                panic!("the program waits");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn a_reader_that_leaves_ends_the_program_while_the_input_is_open() {
    let mut child = modmill(&["mul"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(product(1).as_bytes()).unwrap();
    let mut first = [0u8; 10];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    // The answer to this line finds nobody. The input goes on.
    stdin.write_all(product(2).as_bytes()).unwrap();
    assert!(wait(&mut child).success());
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
    drop(stdin);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let lines: String = (0..20_000).map(product).collect();
    let output = run(&["mul", "--out", "/dev/full"], &lines);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write /dev/full: No space left"), "{}", stderr(&output));
}

#[test]
fn an_input_of_one_long_record_takes_the_memory_that_it_needs() {
    let input = scratch("long.jsonl");
    let mut file = BufWriter::new(std::fs::File::create(&input).unwrap());
    for digits in [3_000_000, 1, 3_000_000] {
        writeln!(file, "{{\"a\":\"{}\",\"b\":\"1\"}}", "5".repeat(digits)).unwrap();
    }
    file.flush().unwrap();
    let output = run(&["mul", "--memory", "64K", "--in", input.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", stderr(&output));
    let lengths: Vec<usize> = output.stdout.split(|&byte| byte == b'\n').map(<[u8]>::len).collect();
    assert_eq!(lengths, [3_000_013, 14, 3_000_013, 0]);
}
