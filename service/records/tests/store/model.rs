//! Random commits have the same effect on every store.

use crate::postgres::Database;
use modmill_records::store::{Change, EmbeddedStore, MemoryStore, Row, Store, Write};
use modmill_testing::rng::Rng;

/// The rows in one order, without those that were deleted before the commit `opened`.
fn sorted(mut rows: Vec<Row>, opened: u64) -> Vec<Row> {
    rows.retain(|row| row.body.is_some() || row.version > opened);
    rows.sort_by(|a, b| (&a.kind, &a.id).cmp(&(&b.kind, &b.id)));
    rows
}

async fn random_change(random: &mut Rng, model: &MemoryStore) -> Change {
    let kind = random.pick(&["one", "two"]).to_string();
    let id = ["", "a", "A", "b\u{e9}", "long".repeat(50).as_str()][random.below(5)].to_owned();
    let rows = model.changes(0).await.unwrap().0;
    let held = rows.into_iter().find(|row| row.kind == kind && row.id == id && row.body.is_some());
    let expected = match random.below(20) {
        0 => None,
        1 => Some(random.below(50) as u64),
        _ => held.map(|row| row.version),
    };
    let write = match random.below(5) {
        0 => Write::Keep,
        1 => Write::Delete,
        _ => {
            let length = random.below(6000);
            Write::Put(random.bytes(length))
        }
    };
    Change { kind, id, expected, write }
}

/// `again` opens the store a second time.
async fn like_the_model<S: Store>(mut store: S, commits: usize, mut again: impl AsyncFnMut(S) -> S) {
    let model = MemoryStore::default();
    let mut random = Rng::new(17);
    let mut opened = 0;
    for round in 0..commits {
        let mut changes = Vec::new();
        for _ in 0..random.below(4) {
            changes.push(random_change(&mut random, &model).await);
        }
        let last = model.changes(0).await.unwrap().1;
        let expected = [None, None, Some(last), Some(last + 1)][random.below(4)];
        let answer = model.commit_if(expected, changes.clone()).await;
        assert_eq!(store.commit_if(expected, changes).await, answer, "commit {round}");
        let since = random.below(last as usize + 3) as u64;
        let (rows, number) = model.changes(since).await.unwrap();
        let (found, found_number) = store.changes(since).await.unwrap();
        let (found, rows) = (sorted(found, opened), sorted(rows, opened));
        assert_eq!((found, found_number), (rows, number), "after commit {round}, since {since}");
        if round % 50 == 49 {
            store = again(store).await;
            opened = number;
        }
    }
    let name = Change { kind: "k".into(), id: "a\0b".into(), expected: None, write: Write::Put(vec![]) };
    assert_eq!(store.commit(vec![name.clone()]).await, model.commit(vec![name]).await);
}

#[tokio::test]
async fn the_embedded_store_is_like_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(dir.path()).await.unwrap();
    like_the_model(store, 300, async |store| {
        drop(store);
        EmbeddedStore::open(dir.path()).await.unwrap()
    })
    .await;
}

#[tokio::test]
async fn postgresql_is_like_the_model() {
    let Some(database) = Database::create().await else { return };
    like_the_model(database.store().await, 300, async |_| database.store().await).await;
    database.drop().await;
}
