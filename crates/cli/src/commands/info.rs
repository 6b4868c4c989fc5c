//! `modmill info`: what this machine has, which path each operation takes, and why.

use crate::build;
use crate::failure::Failure;
use crate::gpus;
use crate::io;
use crate::options::EngineOptions;
use modmill::{Engine, Isa, Op, Path, Plan};
use modmill_measure::machine::Machine;
use modmill_measure::table::{plain, right};
use modmill_measure::{About, PeerChoice, Peers};
use serde_json::json;

const LONG_ABOUT: &str = "\
What this machine has, which path each operation takes at typical sizes, and why.

A path is a family of algorithms on an instruction set of the CPU or on GPUs; the engine takes the one
that is done first with the operation, the length of the numbers and the size of the batch. --backend,
--algorithm and MODMILL_CPU hold it to something else. Where no GPU is used, it says why.";

const EXAMPLES: &str = "\
Examples:
  modmill info
  MODMILL_CPU=avx2 modmill info                  what it would do without AVX-512
  modmill info --backend cuda                    what GPUs do, or why none can be used
  modmill info --json | jq '.plans[] | select(.op == \"pow\")'";

/// What this machine has, and which path is taken
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Info {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

const SIZES: [usize; 3] = [1024, 2048, 4096];
const COUNTS: [usize; 2] = [1, 10_000];

impl Info {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine.engine()?;
        let peers = Peers::load(&PeerChoice::Found).map_err(Failure::Usage)?.about();
        let plans = plans(&engine);
        io::print(&if self.json {
            to_json(&engine, &plans, &peers)
        } else {
            to_text(&engine, &plans, &peers)
        })
    }
}

fn plans(engine: &Engine) -> Vec<Plan> {
    let mut plans = Vec::new();
    for &op in Op::ALL {
        for bits in SIZES {
            plans.extend(COUNTS.map(|count| engine.explain(op, bits, count)));
        }
    }
    plans
}

fn to_json(engine: &Engine, plans: &[Plan], peers: &[About]) -> String {
    let paths: Vec<_> = engine
        .paths()
        .into_iter()
        .map(|path| {
            json!({
                "backend": path.backend.name(),
                "isa": path.isa.map(Isa::name),
                "algorithm": path.family.name(),
            })
        })
        .collect();
    let plans: Vec<_> = plans
        .iter()
        .map(|plan| {
            json!({
                "op": plan.op.name(),
                "bits": plan.bits,
                "batch": plan.count,
                "backend": plan.backend.name(),
                "isa": plan.isa.map(Isa::name),
                "algorithm": plan.family.name(),
                "lanes": plan.lanes,
                "threads": plan.threads,
                "window": plan.window,
                "reason": plan.reason,
            })
        })
        .collect();
    let gpus = gpus::found(engine);
    let info = json!({
        "machine": Machine::detect(),
        "build": build::THIS,
        "threads": engine.threads(),
        "gpus": gpus.devices.iter().map(gpus::to_json).collect::<Vec<_>>(),
        "gpu_faults": gpus.faults,
        "nvrtc": gpus.compiler.as_ref().ok(),
        "nvrtc_file": gpus.compiler_file,
        "nvrtc_fault": gpus.compiler.as_ref().err(),
        "warnings": gpus.warnings,
        "paths": paths,
        "plans": plans,
        "peers": peers,
    });
    format!("{info:#}\n")
}

fn to_text(engine: &Engine, plans: &[Plan], peers: &[About]) -> String {
    let (machine, build) = (Machine::detect(), build::THIS);
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let sets = machine.instruction_sets.iter().map(|&set| set.to_owned()).collect();
    let paths = engine.paths().iter().map(Path::to_string).collect();
    let found = peers.iter().map(About::to_string);
    let mut table = plain();
    table.set_header(["op", "bits", "batch", "path", "lanes", "window", "why"]);
    for plan in plans {
        table.add_row([
            plan.op.name().into(),
            right(plan.bits),
            right(plan.count),
            plan.path().to_string().into(),
            right(plan.lanes),
            right(plan.window.map_or("-".to_owned(), |window| window.to_string())),
            plan.reason.as_str().into(),
        ]);
    }
    format!(
        "\
modmill            {}, commit {}, {}, {}
processor          {}
cores              {} ({} worker threads)
instruction sets   {}
{}paths              {}
peers for bench    {}

{}
",
        build.version,
        build.commit,
        build.profile,
        build.rustc,
        machine.cpu,
        machine.cores,
        engine.threads(),
        list(sets),
        gpus::found(engine).to_text(),
        list(paths),
        list(found.collect()),
        table.trim_fmt(),
    )
}
