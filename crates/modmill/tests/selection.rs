//! Which path runs: what is forced is what runs, and what cannot be forced is said.

use modmill::{Engine, Error, Family, Isa, Op};
use std::process::{Command, Output};

const FORCE: &str = "MODMILL_CPU";

/// Runs the ignored test below in a process of its own, where the variable can be set.
fn child(value: Option<&str>) -> Output {
    child_with(value.map(|value| (FORCE, value)))
}

/// The same for any variable.
fn child_with(variable: Option<(&str, &str)>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "report_what_the_environment_chose", "--ignored", "--nocapture"]);
    command.env_remove(FORCE).env_remove("MODMILL_BACKEND");
    command.envs(variable).output().unwrap()
}

#[test]
fn the_environment_names_a_backend() {
    for value in ["auto", "cpu"] {
        let output = child_with(Some(("MODMILL_BACKEND", value)));
        assert!(!answers(&output, "path:").is_empty(), "{output:?}");
    }
    let output = child_with(Some(("MODMILL_BACKEND", "abacus")));
    let errors = answers(&output, "error:");
    assert!(errors.len() == 1 && errors[0].contains("MODMILL_BACKEND: unknown backend"), "{output:?}");
}

/// What the child printed after `key`.
fn answers(output: &Output, key: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    // The test harness prints the name of the test in front of the first line.
    text.lines().filter_map(|line| Some(line.split_once(key)?.1.trim().to_owned())).collect()
}

#[test]
#[ignore = "run by the other tests in a process of its own"]
fn report_what_the_environment_chose() {
    println!();
    match Engine::new() {
        Ok(engine) => {
            for (isa, family) in engine.paths() {
                println!("path: {isa} {family}");
            }
            println!("plan: {}", engine.explain(Op::Pow, 2048, 1000).isa);
            let forced = Engine::builder().isa(Isa::Portable).build().unwrap();
            println!("builder: {}", forced.explain(Op::Pow, 2048, 1000).isa);
        }
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_environment_limits_the_instruction_set() {
    let here = Engine::new().unwrap().paths();
    for &limit in Isa::ALL {
        let output = child(Some(limit.name()));
        let errors = answers(&output, "error:");
        if !here.iter().any(|&(isa, _)| isa == limit) {
            // Not built, or not this processor: an error or something lower, never something else.
            assert!(errors.len() == 1 || !answers(&output, "path:").is_empty(), "{output:?}");
            continue;
        }
        assert_eq!(errors, [""; 0]);
        let expected: Vec<String> = here
            .iter()
            .filter(|(isa, _)| *isa <= limit)
            .map(|(isa, family)| format!("{isa} {family}"))
            .collect();
        assert_eq!(answers(&output, "path:"), expected, "{FORCE}={limit}");
        let plan: Isa = answers(&output, "plan:")[0].parse().unwrap();
        assert!(plan <= limit, "{FORCE}={limit}, yet {plan} was planned");
        // What the program says goes before what the environment says.
        assert_eq!(answers(&output, "builder:"), ["portable"]);
    }
    assert_eq!(answers(&child(None), "path:").len(), here.len());
}

#[test]
fn an_unknown_value_in_the_environment_is_a_clear_error() {
    for value in ["turbo", "", "AVX2", "avx512 "] {
        let output = child(Some(value));
        let errors = answers(&output, "error:");
        assert_eq!(errors.len(), 1, "{FORCE}={value:?} was accepted: {output:?}");
        for part in [FORCE, &format!("{value:?}"), "portable, avx2, avx512"] {
            assert!(errors[0].contains(part), "{errors:?} does not say {part:?}");
        }
    }
}

#[test]
fn a_forced_path_is_the_only_one_and_the_one_that_is_planned() {
    for (isa, family) in Engine::new().unwrap().paths() {
        let engine = Engine::builder().isa(isa).family(family).build().unwrap();
        assert_eq!(engine.paths(), [(isa, family)]);
        for &op in Op::ALL {
            for bits in [64, 1024, 4096] {
                for count in [1, 8, 1000] {
                    let plan = engine.explain(op, bits, count);
                    // Inverses take the portable road whatever is forced, and say so.
                    let planned = if op == Op::Inv { (Isa::Portable, Family::Row) } else { (isa, family) };
                    assert_eq!((plan.isa, plan.family), planned, "{plan}");
                    assert_eq!((plan.op, plan.bits, plan.count), (op, bits, count));
                    assert_eq!(plan.window.is_some(), matches!(op, Op::Pow | Op::PowVartime));
                    assert!(!plan.reason.is_empty() && plan.lanes > 0 && plan.threads == engine.threads());
                }
            }
        }
    }
}

#[test]
fn without_force_the_plan_names_a_path_of_the_engine() {
    let engine = Engine::new().unwrap();
    for &op in Op::ALL {
        for bits in [1, 64, 65, 2048, 32_768] {
            for count in [0, 1, 7, 8, 100_000] {
                let plan = engine.explain(op, bits, count);
                assert!(engine.paths().contains(&(plan.isa, plan.family)), "{plan}");
                assert!(plan.to_string().contains(plan.isa.name()), "{plan}");
            }
        }
    }
}

#[test]
fn every_engine_has_the_portable_path_unless_told_otherwise() {
    assert!(Engine::new().unwrap().paths().contains(&(Isa::Portable, Family::Row)));
    let portable = Engine::builder().isa(Isa::Portable).build().unwrap();
    assert!(portable.paths().iter().all(|&(isa, _)| isa == Isa::Portable));
}

#[test]
fn what_is_not_here_is_an_error_that_says_what() {
    let error = Engine::builder().isa(Isa::Portable).family(Family::Ifma).build().err().unwrap();
    assert!(matches!(error, Error::Unavailable(_)));
    let text = error.to_string();
    assert!(text.contains("ifma") && text.contains("portable"), "{text}");
}
