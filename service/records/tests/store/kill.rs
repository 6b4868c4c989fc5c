//! Processes that are killed at any moment.
//!
//! A test starts its own executable with a variable that says what to do, reads what it says to have done,
//! and kills it.

use crate::{Note, folder, kinds};
use modmill_records::master_key::MasterKey;
use modmill_records::store::{EmbeddedStore, Store};
use modmill_records::{Changes, Records, RecordsError, reseal};
use modmill_testing::rng::Rng;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The folder of the store of the process that is to be killed.
const DIR: &str = "MODMILL_TEST_KILL_DIR";
/// The beginning of the lines in which the process says something.
const SAID: &str = "said ";

/// How often a process is killed; `MODMILL_TEST_KILLS` says otherwise.
fn kills() -> u64 {
    std::env::var("MODMILL_TEST_KILLS").map_or(25, |kills| kills.parse().unwrap())
}

fn masters(dir: &Path) -> [MasterKey; 2] {
    ["key one", "key two"].map(|name| MasterKey::read_or_create(&dir.join(name)).unwrap())
}

async fn open(dir: &Path) -> (Arc<dyn Store>, Records) {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(&dir.join("store")).await.unwrap());
    let records = Records::unlock(Arc::clone(&store), masters(dir).to_vec(), kinds()).await.unwrap();
    (store, records)
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{SAID}{text}").unwrap();
    out.flush().unwrap();
}

/// Runs the test `name` of this executable in `dir`, kills it at a random moment, and returns what it said.
fn run_and_kill(name: &str, dir: &Path, random: &mut Rng) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut said = lines.filter_map(|line| line.strip_prefix(SAID).map(str::to_owned));
    // The process is killed within the step after a random number of steps. After none, it is killed while it
    // starts.
    let mut heard = Vec::new();
    let mut step = Duration::from_millis(60);
    for _ in 0..random.below(5) {
        let start = Instant::now();
        heard.extend(said.next());
        step = start.elapsed();
    }
    std::thread::sleep(step.mul_f64(random.below(1000) as f64 / 800.0));
    child.kill().unwrap();
    child.wait().unwrap();
    heard.extend(said);
    heard
}

#[test]
fn what_was_acknowledged_is_there() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Some(dir) = std::env::var_os(DIR) {
        return runtime.block_on(commit_forever(Path::new(&dir)));
    }
    let mut dir = folder();
    let mut random = Rng::new(1);
    let (mut acknowledged, mut commits) = (BTreeSet::new(), 0);
    for kill in 0..kills() {
        if kill % 10 == 9 {
            dir = folder();
            commits += acknowledged.len() as u64;
            acknowledged.clear();
        }
        let name = "kill::what_was_acknowledged_is_there";
        acknowledged.extend(run_and_kill(name, dir.path(), &mut random));
        let (_, records) = runtime.block_on(open(dir.path()));
        for id in &acknowledged {
            assert!(records.get::<Note>(id).is_some(), "{id} is missing after kill {kill}");
        }
        // Both notes of a commit are there, or none.
        for note in records.all::<Note>() {
            let other =
                note.id.strip_suffix(" twin").map_or_else(|| format!("{} twin", note.id), str::to_owned);
            assert!(
                note.is_whole() && records.get::<Note>(&other).is_some(),
                "{} is alone after kill {kill}",
                note.id
            );
        }
    }
    println!("{commits} commits over {} kills", kills());
    assert!(commits > kills());
}

async fn commit_forever(dir: &Path) {
    let (_, records) = open(dir).await;
    loop {
        let number = getrandom::u64().unwrap();
        let id = format!("{number:016x}");
        let (note, twin) = (Note::new(id.as_str(), number), Note::new(format!("{id} twin"), number));
        let put = |_: &Records| Ok::<_, RecordsError>((Changes::new().put(&note).put(&twin), ()));
        records.change(put).await.unwrap();
        say(&id);
    }
}

#[test]
fn a_killed_reseal_leaves_the_old_seals_or_the_new_ones() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Some(dir) = std::env::var_os(DIR) {
        return runtime.block_on(reseal_forever(Path::new(&dir)));
    }
    const NOTES: u64 = 50;
    let dir = folder();
    let (_, records) = runtime.block_on(open(dir.path()));
    let put = |_: &Records| {
        let changes = (0..NOTES)
            .fold(Changes::new(), |changes, number| changes.put(&Note::new(number.to_string(), number)));
        Ok::<_, RecordsError>((changes, ()))
    };
    runtime.block_on(records.change(put)).unwrap();
    drop(records);
    let mut random = Rng::new(2);
    let (mut seals, mut opened) = (0, [0, 0]);
    for kill in 0..kills() {
        let name = "kill::a_killed_reseal_leaves_the_old_seals_or_the_new_ones";
        let said = run_and_kill(name, dir.path(), &mut random);
        seals += said.iter().filter(|line| *line == "sealed").count();
        let store: Arc<dyn Store> =
            Arc::new(runtime.block_on(EmbeddedStore::open(&dir.path().join("store"))).unwrap());
        // One of the keys opens everything, the other one nothing.
        let try_key = |master: MasterKey| {
            let records =
                runtime.block_on(Records::unlock(Arc::clone(&store), vec![master], kinds())).ok()?;
            let whole = records.all::<Note>().iter().filter(|note| note.is_whole()).count() as u64;
            assert_eq!(whole, NOTES, "after kill {kill}");
            Some(())
        };
        let opens = masters(dir.path()).map(try_key);
        assert_eq!(opens.iter().flatten().count(), 1, "after kill {kill}");
        opened[usize::from(opens[0].is_none())] += 1;
    }
    println!("sealed {seals} times over {} kills; the keys opened {opened:?}", kills());
    assert!(seals as u64 > kills() / 2 && !opened.contains(&0));
}

async fn reseal_forever(dir: &Path) {
    let (store, _) = open(dir).await;
    let masters = masters(dir);
    say("started");
    loop {
        let new = &masters[getrandom::u32().unwrap() as usize % 2];
        reseal(&store, &masters, new).await.unwrap();
        say("sealed");
    }
}
