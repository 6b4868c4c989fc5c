//! `openssl speed`: jobs of ASYNC are computed in batches, and lone signatures at once.

use crate::common::{Modmill, Setup};

#[test]
fn jobs_are_computed_in_batches() {
    let Some(setup) = Setup::new() else { return };
    for jobs in [1, 8, 64] {
        setup.ok(Modmill, &format!("speed -seconds 1 -async_jobs {jobs} rsa2048"));
        let (operations, batches) = setup.statistics();
        let mean = operations as f64 / batches as f64;
        // Each job also signs once at the start, alone.
        assert!(operations > jobs && mean <= jobs as f64, "{jobs} jobs: {operations} in {batches}");
        assert!(jobs == 1 || mean > 2.0, "{jobs} jobs: {operations} in {batches}");
    }
}

#[test]
fn the_provider_tells_its_name() {
    let Some(setup) = Setup::new() else { return };
    let listed = String::from_utf8(setup.ok(Modmill, "list -providers -verbose")).expect("text");
    assert!(listed.contains("name: modmill") && listed.contains("modmill-batches"), "{listed}");
    let listed = String::from_utf8(setup.ok(Modmill, "list -signature-algorithms")).expect("text");
    assert!(listed.contains("@ modmill"), "{listed}");
}
