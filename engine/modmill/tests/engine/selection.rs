//! The choice of the path: a forced path runs, and a path that cannot be forced is reported.

use modmill::{Backend, Batch, Engine, Error, Family, Isa, Op, Path, Request, primality};
use std::process::{Command, Output};

const FORCE: &str = "MODMILL_CPU";

const PORTABLE: Path = Path { backend: Backend::Cpu, isa: Some(Isa::Portable), family: Family::Row };

/// Runs the ignored test below in a process of its own, where the variable can be set.
fn child(value: Option<&str>) -> Output {
    child_with(value.map(|value| (FORCE, value)))
}

/// Runs that test with any variable set.
fn child_with(variable: Option<(&str, &str)>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "selection::report_what_the_environment_chose", "--ignored", "--nocapture"]);
    command.env_remove(FORCE).env("MODMILL_BACKEND", "cpu");
    command.envs(variable).output().unwrap()
}

#[test]
fn the_environment_names_a_backend() {
    for value in ["auto", "cpu"] {
        let output = child_with(Some(("MODMILL_BACKEND", value)));
        assert!(!answers(&output, "path:").is_empty(), "{output:?}");
    }
    let output = child_with(Some(("MODMILL_BACKEND", "abacus")));
    assert_eq!(answers(&output, "any:"), ["ok"], "what is asked for in the program goes first");
    let errors = answers(&output, "error:");
    assert!(errors.len() == 1 && errors[0].contains("MODMILL_BACKEND: unknown backend"), "{output:?}");
}

/// The values that the child printed after `key`.
fn answers(output: &Output, key: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    // The test harness prints the name of the test in front of the first line.
    text.lines().filter_map(|line| Some(line.split_once(key)?.1.trim().to_owned())).collect()
}

#[test]
#[ignore = "run by the other tests in a process of its own"]
fn report_what_the_environment_chose() {
    println!();
    println!(
        "any: {}",
        Engine::builder()
            .ignore_backend_env()
            .build()
            .map_or_else(|error| error.to_string(), |_| "ok".to_owned())
    );
    match Engine::new() {
        Ok(engine) => {
            for path in engine.paths() {
                println!("path: {path}");
            }
            println!("plan: {}", engine.plan(&Request::new(Op::Pow, 2048, 1000)).unwrap().path);
            let forced = Engine::builder().isa(Isa::Portable).build().unwrap();
            println!("builder: {}", forced.plan(&Request::new(Op::Pow, 2048, 1000)).unwrap().path);
            compute_a_little(&engine);
            println!("threads: {}", threads_of_this_process());
        }
        Err(error) => println!("error: {error}"),
    }
}

/// Calls of every operation on a few small numbers, modulo odd and even ones.
fn compute_a_little(engine: &Engine) {
    let (numbers, moduli) = (Batch::from_hex(["5", "7"]).unwrap(), Batch::from_hex(["b", "c"]).unwrap());
    engine.mul_mod(&numbers, &numbers, &moduli).unwrap();
    engine.pow(&numbers, &numbers, &moduli).unwrap();
    engine.mul(&numbers, &numbers).unwrap();
    engine.inv(&numbers, &moduli).unwrap();
    engine.gcd(&numbers, &moduli).unwrap();
    primality::is_probable_prime(engine, &numbers, &[2]).unwrap();
}

/// The number of this process's threads if the system tells it; 0 elsewhere.
fn threads_of_this_process() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn the_environment_limits_the_instruction_set() {
    // This process may have a limit of its own.
    let here = answers(&child(None), "path:");
    let isa = |path: &String| path.split('/').next().unwrap().parse::<Isa>().unwrap();
    for &limit in Isa::ALL {
        let output = child(Some(limit.name()));
        let errors = answers(&output, "error:");
        if !here.iter().any(|path| isa(path) == limit) {
            // Not built, or not this processor: an error or something lower, never something else.
            assert!(errors.len() == 1 || !answers(&output, "path:").is_empty(), "{output:?}");
            continue;
        }
        assert_eq!(errors, [""; 0]);
        let expected: Vec<String> = here.iter().filter(|&path| isa(path) <= limit).cloned().collect();
        assert_eq!(answers(&output, "path:"), expected, "{FORCE}={limit}");
        let plan = &answers(&output, "plan:")[0];
        assert!(expected.contains(plan), "{FORCE}={limit}, yet {plan} was planned");
        // The setting of the program goes before that of the environment.
        assert_eq!(answers(&output, "builder:"), ["portable/row"]);
    }
}

/// Names are read in upper and lower case, and an empty variable is no value.
#[test]
fn names_are_read_in_any_case() {
    assert_eq!(answers(&child(Some("Portable")), "plan:"), ["portable/row"]);
    assert_eq!(answers(&child(Some("")), "path:"), answers(&child(None), "path:"));
    for value in ["", "AUTO", "Cpu"] {
        let output = child_with(Some(("MODMILL_BACKEND", value)));
        assert_eq!(answers(&output, "error:"), [""; 0], "{value:?}");
    }
}

/// More threads than any machine has are not started.
#[test]
fn an_absurd_number_of_threads_in_the_environment_is_ignored() {
    let output = child_with(Some(("RAYON_NUM_THREADS", "20000")));
    assert!(!answers(&output, "plan:").is_empty(), "{output:?}");
    // The child has two engines, and no threads except theirs.
    let threads: usize = answers(&output, "threads:")[0].parse().unwrap();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(threads <= 2 * cores + 8, "{threads} threads run");
}

#[test]
fn an_unknown_value_in_the_environment_is_a_clear_error() {
    for value in ["turbo", "AVX-2", "avx512 "] {
        let output = child(Some(value));
        let errors = answers(&output, "error:");
        assert_eq!(errors.len(), 1, "{FORCE}={value:?} was accepted: {output:?}");
        for part in [FORCE, &format!("{value:?}"), "portable, x86, avx2, avx512, avx512ifma"] {
            assert!(errors[0].contains(part), "{errors:?} does not say {part:?}");
        }
    }
}

#[test]
fn a_forced_path_is_the_only_one_and_the_one_that_is_planned() {
    for path in Engine::new().unwrap().paths() {
        let engine = Engine::builder().path(path).build().unwrap();
        assert_eq!(engine.paths(), [path]);
        for &op in Op::OF_ITEMS {
            for bits in [64, 1024, 4096] {
                for count in [1, 8, 1000] {
                    let plan = engine.plan(&Request::new(op, bits, count)).unwrap();
                    // Full products take the portable road where residues are; where GPUs are forced,
                    // transforms or any road of the CPU's.
                    match op {
                        // Inverses take division steps, in vectors of the path's instruction set at most,
                        // quotients its scalar code, and GPUs have kernels for both; roots and symbols are
                        // the CPU's.
                        Op::Inv | Op::Jacobi | Op::Div | Op::Isqrt => {
                            let is_on_gpus = matches!(op, Op::Inv | Op::Div);
                            let backend = if is_on_gpus { path.backend } else { Backend::Cpu };
                            assert_eq!((plan.backend(), plan.family()), (backend, Family::Row));
                            assert!(path.isa.is_none() || plan.path.isa <= path.isa, "{plan}");
                        }
                        // Divisors too, or they are half-gcd's, whose products may go by transforms.
                        Op::Gcd => {
                            assert_eq!(plan.backend(), path.backend);
                            assert!(matches!(plan.family(), Family::Row | Family::Fft), "{plan}");
                        }
                        Op::Mul | Op::Square if path.family == Family::Rns => {
                            assert_eq!(plan.path, PORTABLE, "{plan}")
                        }
                        Op::Mul | Op::Square if path.backend == Backend::Cuda => {
                            assert!(plan.backend() == Backend::Cpu || plan.family() == Family::Fft, "{plan}")
                        }
                        // GPUs have no transforms for short moduli.
                        _ if path.backend == Backend::Cuda && path.family == Family::Fft => {
                            assert!(plan.backend() == Backend::Cpu || plan.path == path, "{plan}")
                        }
                        _ => assert_eq!(plan.path, path, "{plan}"),
                    }
                    assert_eq!(plan.request, Request::new(op, bits, count));
                    assert_eq!(plan.window.is_some(), op.is_power());
                    assert!(!plan.reason.is_empty() && plan.lanes > 0 && plan.threads > 0);
                }
            }
        }
    }
}

#[test]
fn residues_leave_to_another_path_what_they_do_not_compute() {
    let engine = Engine::builder().isa(Isa::Portable).family(Family::Rns).build().unwrap();
    let plan = engine.plan(&Request::new(Op::Pow, 8192, 1)).unwrap();
    assert_eq!(plan.family(), Family::Rns, "{plan}");
    for plan in [(Op::Pow, 10_000), (Op::Mul, 1024)]
        .map(|(op, bits)| engine.plan(&Request::new(op, bits, 1)).unwrap())
    {
        assert_eq!(plan.path, PORTABLE, "{plan}");
        assert!(plan.reason.contains("rns"), "{plan}");
    }
}

#[test]
fn without_force_the_plan_names_a_path_of_the_engine() {
    let engine = Engine::new().unwrap();
    for &op in Op::OF_ITEMS {
        for bits in [1, 64, 65, 2048, 32_768] {
            for count in [0, 1, 7, 8, 100_000] {
                let plan = engine.plan(&Request::new(op, bits, count)).unwrap();
                // Division steps and divisions run in the vectors of an instruction set, whatever family its
                // paths have.
                let mut paths = engine.paths().into_iter();
                let is_here = match op {
                    Op::Inv | Op::Gcd | Op::Jacobi => paths.any(|path| path.isa == plan.path.isa),
                    Op::MulMod | Op::SquareMod | Op::Div | Op::Isqrt if plan.path.family == Family::Row => {
                        paths.any(|path| path.isa == plan.path.isa)
                    }
                    _ => paths.any(|path| path == plan.path),
                };
                assert!(is_here, "{plan}");
                assert!(plan.to_string().contains(&plan.path.to_string()), "{plan}");
            }
        }
    }
}

#[test]
fn every_engine_has_the_portable_path_unless_told_otherwise() {
    assert!(Engine::new().unwrap().paths().contains(&PORTABLE));
    let portable = Engine::builder().isa(Isa::Portable).build().unwrap();
    assert!(portable.paths().iter().all(|path| path.isa == Some(Isa::Portable)));
}

#[test]
fn what_is_not_here_is_an_error_that_says_what() {
    let error = Engine::builder().isa(Isa::Portable).family(Family::Ifma).build().err().unwrap();
    assert!(matches!(error, Error::Unavailable(_)));
    let text = error.to_string();
    assert!(text.contains("ifma") && text.contains("portable"), "{text}");
}
