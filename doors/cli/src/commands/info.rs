//! `modmill info`: shows what this machine has, and the path that each operation takes.

use crate::build;
use crate::failure::Failure;
use crate::gpus;
use crate::io;
use crate::options::EngineOptions;
use modmill::{Engine, Isa, Op, Path, Plan, Request, Seconds};
use modmill_measure::machine::Machine;
use modmill_measure::table::{WIDTH, beside, plain, right, text};
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
        let plans = plans(&engine)?;
        io::print(&if self.json {
            to_json(&engine, &plans, &peers)
        } else {
            to_text(&engine, &plans, &peers, self.why)
        })
    }
}

fn plans(engine: &Engine) -> Result<Vec<Plan>, modmill::Error> {
    let cases = Op::OF_ITEMS.iter().flat_map(|&op| SIZES.map(|bits| COUNTS.map(|count| (op, bits, count))));
    cases.flatten().map(|(op, bits, count)| engine.plan(&Request::new(op, bits, count))).collect()
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
                "op": plan.op().name(),
                "bits": plan.request.bits,
                "batch": plan.request.count,
                "backend": plan.backend().name(),
                "isa": plan.path.isa.map(Isa::name),
                "algorithm": plan.family().name(),
                "variant": plan.variant,
                "lanes": plan.lanes,
                "threads": plan.threads,
                "window": plan.window,
                "chunk": plan.chunk,
                "seconds": plan.seconds,
                "reason": plan.reason,
                "others": plan.others.iter().map(|other| json!({
                    "path": other.path.to_string(),
                    "variant": other.variant,
                    "seconds": other.seconds,
                })).collect::<Vec<_>>(),
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
    let mut table = plain(["op", "bits", "batch", "path", "window", "time", "why"]);
    if table.width().is_none() {
        table.set_width(WIDTH as u16);
    }
    for plan in plans {
        table.add_row([
            plan.op().name().into(),
            right(plan.request.bits),
            right(plan.request.count),
            plan.path.to_string().into(),
            right(plan.window.map_or("-".to_owned(), |window| window.to_string())),
            right(Seconds(plan.seconds)),
            plan.reason.as_str().into(),
        ]);
    }
    text(table)
}

/// A plan with the plans that lost, a paragraph.
fn plan_with_others(plan: &Plan) -> String {
    let text = plan.to_string();
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default();
    let rest = lines.map(|line| beside("", 2, line.trim_start()));
    format!("{}{}", beside("", 0, title), rest.collect::<String>())
}
