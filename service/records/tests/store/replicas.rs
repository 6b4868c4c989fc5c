//! Several services on one store.

use crate::postgres::Database;
use crate::{Note, kinds};
use modmill_records::master_key::MasterKey;
use modmill_records::store::{EmbeddedStore, MemoryStore, Store, StoreError};
use modmill_records::{Changes, Records, RecordsError, SealError, reseal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

async fn unlock(store: &Arc<dyn Store>, masters: &[&MasterKey]) -> Records {
    let masters = masters.iter().copied().cloned().collect();
    Records::unlock(Arc::clone(store), masters, kinds()).await.unwrap()
}

async fn put(records: &Records, id: &str, number: u64) {
    let note = Note::new(id, number);
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
}

async fn add_one(records: &Records) -> Result<u64, RecordsError> {
    let decide = |records: &Records| {
        let number = records.get::<Note>("counter").map_or(0, |note| note.number) + 1;
        Ok::<_, RecordsError>((Changes::new().put(&Note::new("counter", number)), number))
    };
    records.change(decide).await
}

fn number(records: &Records, id: &str) -> Option<u64> {
    records.get::<Note>(id).filter(|note| note.is_whole()).map(|note| note.number)
}

/// `stores` are ways to the same rows.
async fn see_each_other(stores: [Arc<dyn Store>; 2]) {
    let master = MasterKey::random().unwrap();
    // Both find the store empty, and agree on one data key.
    let masters = [&master];
    let (one, two) = tokio::join!(unlock(&stores[0], &masters), unlock(&stores[1], &masters));
    put(&one, "a", 1).await;
    assert_eq!(number(&two, "a"), None);
    assert!(two.refresh().await.unwrap());
    assert_eq!(number(&two, "a"), Some(1));
    assert!(!two.refresh().await.unwrap());
    two.change(|_| Ok::<_, RecordsError>((Changes::new().delete::<Note>("a"), ()))).await.unwrap();
    one.refresh().await.unwrap();
    assert_eq!(number(&one, "a"), None);

    // Changes that others come before are decided again.
    let count = async |records: &Records| {
        for _ in 0..25 {
            add_one(records).await.unwrap();
        }
    };
    tokio::join!(count(&one), count(&two), count(&one), count(&two));
    one.refresh().await.unwrap();
    assert_eq!(number(&one, "counter"), Some(100));
}

/// A replica goes over to a new data key, and adds nothing that the old one sealed.
async fn reseal_under_a_replica(store: Arc<dyn Store>) {
    let (old, new) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
    let both = unlock(&store, &[&old, &new]).await;
    let only_old = unlock(&store, &[&old]).await;
    put(&both, "a", 1).await;
    assert_eq!(reseal(&store, std::slice::from_ref(&old), &new).await.unwrap(), 1);
    put(&both, "b", 2).await;

    let wrong = |result: Result<u64, RecordsError>| {
        assert!(matches!(result, Err(RecordsError::Seal(SealError::WrongMasterKey))), "{result:?}");
    };
    wrong(add_one(&only_old).await);
    assert!(only_old.trouble().unwrap().reason.contains("master key"));
    only_old.add_master_key(new.clone());
    assert_eq!(add_one(&only_old).await.unwrap(), 1);
    assert!(only_old.trouble().is_none());

    let fresh = unlock(&store, &[&new]).await;
    assert_eq!(["a", "b", "counter"].map(|id| number(&fresh, id)), [Some(1), Some(2), Some(1)]);
    wrong(Records::unlock(Arc::clone(&store), vec![old.clone()], kinds()).await.map(|_| 0));
    wrong(reseal(&store, &[old], &new).await.map(|_| 0));
}

/// Resealing while others write loses nothing and leaves nothing under the old key.
async fn reseal_while_others_write(store: Arc<dyn Store>) {
    let masters = [MasterKey::random().unwrap(), MasterKey::random().unwrap()];
    let records = unlock(&store, &[&masters[0], &masters[1]]).await;
    let write = async {
        for number in 0..60 {
            put(&records, &format!("note {number}"), number).await;
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let reseal = async {
        let mut done = 0;
        for round in 0..8 {
            done += usize::from(reseal(&store, &masters, &masters[round % 2]).await.is_ok());
        }
        done
    };
    let ((), done) = tokio::join!(write, reseal);
    assert!(done > 0, "the store was sealed anew at least once");
    let fresh = unlock(&store, &[&masters[0], &masters[1]]).await;
    for number in 0..60 {
        assert_eq!(self::number(&fresh, &format!("note {number}")), Some(number));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_memory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    see_each_other([Arc::clone(&store), store]).await;
    reseal_under_a_replica(Arc::new(MemoryStore::default())).await;
    reseal_while_others_write(Arc::new(MemoryStore::default())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let open = async |name: &str| {
        Arc::new(EmbeddedStore::open(&dir.path().join(name)).await.unwrap()) as Arc<dyn Store>
    };
    let store = open("one").await;
    see_each_other([Arc::clone(&store), store]).await;
    reseal_under_a_replica(open("two").await).await;
    reseal_while_others_write(open("three").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_postgresql() {
    for part in 0..3 {
        let Some(database) = Database::create().await else { return };
        match part {
            0 => {
                // The tables are made by both at once.
                let (one, two) = tokio::join!(database.store(), database.store());
                see_each_other([Arc::new(one), Arc::new(two)]).await;
            }
            1 => reseal_under_a_replica(Arc::new(database.store().await)).await,
            _ => reseal_while_others_write(Arc::new(database.store().await)).await,
        }
        database.drop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_reach_other_replicas_by_themselves() {
    let Some(database) = Database::create().await else { return };
    let master = MasterKey::random().unwrap();
    let one = unlock(&(Arc::new(database.store().await) as _), &[&master]).await;
    let two = Arc::new(unlock(&(Arc::new(database.store().await) as _), &[&master]).await);
    let follower = Arc::clone(&two);
    let task = tokio::spawn(async move { follower.follow().await });
    let mut slowest = Duration::ZERO;
    for number in 0..50 {
        let start = Instant::now();
        put(&one, "a", number).await;
        while self::number(&two, "a") != Some(number) {
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert!(start.elapsed() < Duration::from_secs(120), "change {number} is not seen");
        }
        slowest = slowest.max(start.elapsed());
    }
    println!("the slowest of 50 changes took {slowest:?}");
    task.abort();
    database.drop().await;
}

/// Connections that break at any moment, also within a commit, lose no change and make none twice.
#[tokio::test(flavor = "multi_thread")]
async fn broken_connections_lose_nothing() {
    let Some(database) = Database::create().await else { return };
    let master = MasterKey::random().unwrap();
    let records = unlock(&(Arc::new(database.store().await) as _), &[&master]).await;
    let (made, unknown) = (AtomicU64::new(0), AtomicU64::new(0));
    let possible = || {
        let made = made.load(Ordering::Relaxed);
        made..=made + unknown.load(Ordering::Relaxed)
    };
    let count = async {
        loop {
            match add_one(&records).await {
                Ok(number) => {
                    assert!(possible().contains(&(number - 1)), "each change is made once");
                    made.fetch_add(1, Ordering::Relaxed);
                }
                // A machine that is slow enough runs out of patience. Then the change was not made, unless
                // this is said to be unknown.
                Err(RecordsError::Store(StoreError::Unavailable(_))) => {}
                Err(RecordsError::Store(StoreError::Unknown(_))) => {
                    _ = unknown.fetch_add(1, Ordering::Relaxed)
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    let cut = async {
        let query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                     WHERE datname = $1 AND application_name = 'modmill'";
        let (mut broken, end) = (0, Instant::now() + Duration::from_secs(600));
        while made.load(Ordering::Relaxed) < 30 || broken < 30 {
            assert!(Instant::now() < end, "changes go on");
            let pause = getrandom::u32().unwrap() % 400;
            tokio::time::sleep(Duration::from_millis(pause.into())).await;
            broken += database.admin.query_one(query, &[&database.name]).await.unwrap().get::<_, i64>(0);
        }
        broken
    };
    // Counting ends at any moment as well, so that one more change may have been made than was counted.
    let broken = tokio::select! {
        () = count => 0,
        broken = cut => broken,
    };
    println!("{:?} changes over {broken} broken connections", possible());
    let fresh = unlock(&(Arc::new(database.store().await) as _), &[&master]).await;
    let counter = number(&fresh, "counter").unwrap();
    assert!(possible().contains(&counter) || possible().contains(&(counter - 1)), "{counter}");
    database.drop().await;
}

/// The command in `MODMILL_TEST_POSTGRES_RESTART` restarts the server while changes are made.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "restarts the PostgreSQL server"]
async fn a_server_that_restarts_loses_nothing() {
    let Some(database) = Database::create().await else { return };
    let Ok(restart) = std::env::var("MODMILL_TEST_POSTGRES_RESTART") else {
        panic!("MODMILL_TEST_POSTGRES_RESTART is not set")
    };
    let master = MasterKey::random().unwrap();
    let records = unlock(&(Arc::new(database.store().await) as _), &[&master]).await;
    let (mut made, mut unknown) = (0, 0);
    let count = async {
        loop {
            match add_one(&records).await {
                Ok(_) => made += 1,
                Err(_) => unknown += 1,
            }
        }
    };
    let restarts = async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let status = tokio::task::spawn_blocking({
                let restart = restart.clone();
                move || std::process::Command::new("sh").args(["-c", &restart]).status()
            });
            assert!(status.await.unwrap().unwrap().success());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = count => {}
        () = restarts => {}
    }
    println!("{made} changes, {unknown} unknown, over three restarts");
    let fresh = unlock(&(Arc::new(database.store().await) as _), &[&master]).await;
    let counter = number(&fresh, "counter").unwrap();
    // One more may have been under way when counting stopped.
    assert!((made..=made + unknown + 1).contains(&counter), "{counter}");
}
