//! `modmill info`: shows what this machine has, and the path that each operation takes.

use crate::build;
use crate::failure::Failure;
use crate::gpus;
use crate::io;
use crate::options::EngineOptions;
use modmill::{Engine, Isa, Op, Path, Plan};
use modmill_measure::machine::Machine;
use modmill_measure::table::{WIDTH, beside, plain, right};
use modmill_measure::{About, PeerChoice, Peers};
use serde_json::json;

const LONG_ABOUT: &str = "\
Shows what this machine has, and the path that each operation takes at typical lengths.

A path is a family of algorithms on an instruction set of the CPU, or on GPUs. The engine takes the path \
with the shortest estimated time for the operation, the length of the numbers and the size of the batch. \
--backend, --algorithm and MODMILL_CPU restrict the choice. Where no GPU is used, the reason is shown.";

const EXAMPLES: &str = "\
Examples:
  modmill info
  modmill info --why                             the paths that lost, and by how much
  MODMILL_CPU=avx2 modmill info                  what it would do without AVX-512
  modmill info --backend cuda                    what GPUs do, or why none can be used
  modmill info --json | jq '.plans[] | select(.op == \"pow\")'";

/// Shows what this machine has, and the path of each operation
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Info {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Name the paths that were not chosen, too
    #[arg(long)]
    why: bool,
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
            to_text(&engine, &plans, &peers, self.why)
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

/// Width of the column of names.
const NAMES: usize = 19;

fn to_text(engine: &Engine, plans: &[Plan], peers: &[About], with_others: bool) -> String {
    let (machine, build) = (Machine::detect(), build::THIS);
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let version = format!("{}, commit {}, {}, {}", build.version, build.commit, build.profile, build.rustc);
    let cores = format!("{} ({} worker threads)", machine.cores, engine.threads());
    let sets = machine.instruction_sets.iter().map(|&set| set.to_owned()).collect();
    let mut facts = vec![
        ("modmill", version),
        ("processor", machine.cpu),
        ("cores", cores),
        ("instruction sets", list(sets)),
    ];
    facts.extend(gpus::found(engine).facts());
    facts.push(("paths", list(engine.paths().iter().map(Path::to_string).collect())));
    facts.push(("peers for bench", list(peers.iter().map(About::to_string).collect())));
    let mut text: String = facts.iter().map(|(name, value)| beside(name, NAMES, value)).collect();
    text.push('\n');
    text += &match with_others {
        true => plans.iter().map(plan_with_others).collect::<String>(),
        false => plan_table(plans),
    };
    text
}

fn plan_table(plans: &[Plan]) -> String {
    let mut table = plain(["op", "bits", "batch", "path", "lanes", "window", "why"]);
    if table.width().is_none() {
        table.set_width(WIDTH as u16);
    }
    for plan in plans {
        table.add_row([
            plan.op.name().into(),
            right(plan.bits),
            right(plan.count),
            plan.path().to_string().into(),
            right(plan.lanes),
            right(plan.window.map_or("-".to_owned(), |window| window.to_string())),
            Why::of(plan).reason.into(),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// A plan with the paths that lost, a paragraph.
fn plan_with_others(plan: &Plan) -> String {
    let Why { reason, others } = Why::of(plan);
    let window = plan.window.map_or(String::new(), |window| format!(", {window}-bit window"));
    let (op, bits, count, lanes) = (plan.op, plan.bits, plan.count, plan.lanes);
    let path = plan.path();
    let title = format!("{op} of {bits} bits, batch of {count}: {path}, {lanes} lanes{window}");
    let lines = [reason, others];
    let lines = lines.iter().filter(|line| !line.is_empty()).map(|line| beside("", 2, line));
    format!("{title}\n{}", lines.collect::<String>())
}

/// Why a path was chosen.
struct Why {
    /// One short reason.
    reason: String,
    /// The paths that lost, and further remarks.
    others: String,
}

impl Why {
    fn of(plan: &Plan) -> Self {
        match plan.reason.split_once([':', ';']) {
            Some((reason, others)) => Self { reason: reason.to_owned(), others: others.trim().to_owned() },
            None => Self { reason: plan.reason.clone(), others: String::new() },
        }
    }
}
