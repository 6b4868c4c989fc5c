//! The other commands as users call them.

use crate::common::{modmill, on_emulator, run, scratch, stderr, stdout};
use serde_json::Value;
use std::process::Stdio;

#[test]
fn info_tells_paths_and_reasons() {
    let output = run(&["info", "--json"], "");
    assert!(output.status.success());
    let info: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(info["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(!info["paths"].as_array().unwrap().is_empty());
    for plan in info["plans"].as_array().unwrap() {
        for field in ["op", "bits", "batch", "backend", "isa", "algorithm", "lanes", "threads", "reason"] {
            assert!(!plan[field].is_null(), "{field} in {plan}");
        }
    }
    let text = stdout(&run(&["info"], ""));
    for part in ["processor", "cores", "instruction sets", "paths", "peers", "pow_vartime", "2048"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn info_obeys_the_environment() {
    let output = modmill(&["info", "--json"]).env("MODMILL_CPU", "portable").output().unwrap();
    let info: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(info["plans"].as_array().unwrap().iter().all(|plan| plan["isa"] == "portable"));
}

#[test]
fn completions_are_written_for_each_shell() {
    for (shell, part) in
        [("bash", "_modmill()"), ("zsh", "#compdef modmill"), ("fish", "complete -c modmill")]
    {
        let output = run(&["completions", shell], "");
        assert!(output.status.success());
        assert!(stdout(&output).contains(part), "{shell}");
    }
    assert_eq!(run(&["completions", "dos"], "").status.code(), Some(2));
}

/// The names of the commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    // The text of a command may go on in the next line, which begins with more spaces.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !["", "help"].contains(name)).map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = scratch("man1");
    let output = run(&["man", "--out", folder.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", stderr(&output));
    let mut left = vec![vec![]];
    let mut pages = 0;
    while let Some(words) = left.pop() {
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        let below = listed(&stdout(&run(&[&arguments[..], &["-h"]].concat(), "")));
        let name = [&["modmill"], &arguments[..]].concat().join("-");
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert_eq!(stdout(&run(&[&["man"], &arguments[..]].concat(), "")), page, "{name}");
        assert!(page.contains(&format!(".TH {name} 1")) && page.contains(".SH DESCRIPTION"), "{page}");
        for command in below {
            let listed = format!("{name}-{command}(1)").replace('-', "\\-");
            assert!(page.contains(&listed), "{listed} in {page}");
            left.push([&words[..], &[command]].concat());
        }
        pages += 1;
    }
    let least = if cfg!(feature = "full") { 30 } else { 20 };
    assert!(pages > least && std::fs::read_dir(&folder).unwrap().count() == pages, "{pages} pages");
    let page = stdout(&run(&["man"], ""));
    assert!(page.contains(".SH EXAMPLES\n.nf\n") && page.contains(".SH \"EXIT STATUS\"\n.nf\n"), "{page}");
    let sections = stdout(&run(&["man", "rsa", "sign"], "")).matches("\n.SH ").count();
    assert_eq!(sections, 5, "name, synopsis, description, options, examples");
    let unknown = run(&["man", "rsa", "forge"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("modmill-rsa has no command \"forge\""), "{}", stderr(&unknown));
}

#[test]
fn help_teaches_with_examples() {
    for command in [
        "info",
        "powm",
        "mul",
        "inv",
        "gcd",
        "batch-gcd",
        #[cfg(feature = "audit")]
        "audit",
        "div",
        "isqrt",
        "jacobi",
        "bench",
        "selftest",
        "tune",
        "warm",
        "completions",
        "man",
    ] {
        let text = stdout(&run(&[command, "--help"], ""));
        assert!(text.contains("Examples:") && text.contains(&format!("modmill {command}")), "{command}");
    }
    assert!(stdout(&run(&["--help"], "")).contains("Exit status"));
    assert!(stdout(&run(&["--version"], "")).starts_with("modmill "));
    assert_eq!(run(&[], "").status.code(), Some(2));
}

#[test]
fn warm_compiles_what_the_engine_would_run() {
    let refused = run(&["warm", "--ops", "pow", "--bits", "128"], "");
    assert!(stderr(&refused).contains("there is no GPU to compile for"), "{refused:?}");
    assert!(stderr(&run(&["warm", "--ops", "jacobi"], "")).contains("jacobi is computed by the CPU"));
    let arguments =
        ["warm", "--ops", "mul_mod,rsa", "--bits", "128,256", "--batch", "1", "--shared-modulus", "--json"];
    let Some(mut command) = on_emulator(&arguments) else { return };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let lines = lines.as_array().unwrap();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line["path"].as_str().unwrap().starts_with("cuda")), "{lines:?}");
}

/// A bundle holds machine code for GPUs, which the emulated device has none of; a folder that is not there
/// shows at once.
#[test]
fn a_bundle_is_written_whole_or_not_at_all() {
    let path = scratch("kernels.bundle");
    let small = ["warm", "--ops", "mul_mod", "--bits", "128", "--batch", "1", "--bundle"];
    let Some(mut command) = on_emulator(&[&small[..], &[path.to_str().unwrap()]].concat()) else { return };
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("no kernels to write"), "{refused:?}");
    assert!(!path.exists());
    let nowhere = on_emulator(&[&small[..], &["/nowhere/kernels"]].concat()).unwrap().output().unwrap();
    assert!(stderr(&nowhere).contains("cannot write /nowhere/kernels"), "{nowhere:?}");
}

/// On a terminal the program says that kernels are being compiled, unless it is told to be quiet.
#[cfg(target_os = "linux")]
#[test]
fn compilations_are_shown_on_a_terminal() {
    use std::process::{Command, Stdio};
    let record = scratch("record.jsonl");
    std::fs::write(&record, r#"{"base":"3","exp":"5","mod":"fffffffb"}"#).unwrap();
    let on_terminal = |options: &str| {
        let program = env!("CARGO_BIN_EXE_modmill");
        let command = format!("{program} powm {options} --in {}", record.display());
        // `script` runs a command on a terminal of its own.
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).env("MODMILL_CACHE", "off");
        script.env("MODMILL_BACKEND", "cuda").env("MODMILL_CUDA_DEVICES", "emulator");
        script.env_remove("MODMILL_CPU").env("TERM", "xterm").output().ok()
    };
    if on_emulator(&[]).is_none() {
        return;
    }
    let Some(loud) = on_terminal("") else { return println!("skipped: there is no script(1)") };
    assert!(
        stdout(&loud).contains("compiling kernels for the GPU") && stdout(&loud).contains("f3"),
        "{loud:?}"
    );
    let quiet = on_terminal("--quiet").unwrap();
    assert!(!stdout(&quiet).contains("compiling") && stdout(&quiet).contains("f3"), "{quiet:?}");
}

/// Lines that are broken by hand are broken again by narrower terminals. Those of 100 columns leave them
/// alone.
#[test]
fn help_fits_100_columns() {
    let rsa = ["keygen", "sign", "verify", "encrypt", "decrypt", "inspect"].map(|name| vec!["rsa", name]);
    let others = [
        "powm",
        "mul",
        "inv",
        "gcd",
        "batch-gcd",
        "div",
        "isqrt",
        "jacobi",
        "primality",
        "completions",
        "man",
    ]
    .map(|name| vec![name]);
    let audit = cfg!(feature = "audit").then_some(vec!["audit"]);
    let ec = ["keygen", "sign", "verify", "derive", "inspect"].map(|name| vec!["ec", name]);
    let ec = ec.into_iter().filter(|_| cfg!(feature = "ec"));
    for command in [vec![], vec!["rsa"]].into_iter().chain(rsa).chain(others).chain(audit).chain(ec) {
        let arguments = [&command[..], &["--help"]].concat();
        // Without a terminal nothing but this says how wide the text may be.
        let wide = stdout(&modmill(&arguments).env("COLUMNS", "1000").output().unwrap());
        let (about, rest) = wide.split_once("\nUsage:").unwrap();
        let examples = rest.split_once("\nExamples:").map_or("", |(_, examples)| examples);
        for line in about.lines().chain(examples.lines()) {
            assert!(line.chars().count() <= 98, "{command:?}: {line}");
        }
        let narrow = stdout(&modmill(&arguments).env("COLUMNS", "100").output().unwrap());
        assert!(narrow.lines().all(|line| line.chars().count() <= 100), "{command:?}: {narrow}");
        assert!(narrow.starts_with(about), "{command:?}: {narrow}");
    }
}

#[test]
fn no_command_minds_a_closed_pipe() {
    for arguments in [&["info"][..], &["completions", "bash"], &["--help"], &["bench", "--help"]] {
        let mut child = modmill(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn selftest_closes_with_a_count() {
    let file = scratch("selftest.json");
    let output = run(&["selftest", "--algorithm", "row", "--brief", "--json", file.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let words: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert!(matches!(words[..], [_, "passed,", "0", "failed"]), "{text}");
    let passed: u64 = words[0].parse().unwrap();
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(json["passed"], passed);
    assert_eq!(json["cases"].as_array().unwrap().len() as u64, passed);
}

#[test]
fn primality_of_mersenne_and_fermat_numbers_is_told() {
    for (arguments, verdict) in [
        (["--mersenne", "1279"], "2^1279 - 1 is prime"),
        (["--mersenne", "1283"], "2^1283 - 1 is composite"),
        (["--mersenne", "1281"], "2^1281 - 1 is composite"),
        (["--fermat", "4"], "2^(2^4) + 1 is prime"),
        (["--fermat", "10"], "2^(2^10) + 1 is composite"),
    ] {
        let output = run(&[&["primality"], &arguments[..]].concat(), "");
        assert_eq!(stdout(&output).trim(), verdict);
    }
    assert_eq!(run(&["primality"], "").status.code(), Some(2));
}
