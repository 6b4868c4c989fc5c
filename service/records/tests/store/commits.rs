//! Commits whose answer does not come: what is said about them is true.

use crate::postgres::Database;
use crate::proxy::{Cut, Proxy};
use modmill_records::store::{Change, PostgresStore, PostgresTimes, Store, StoreError, Write};
use std::time::Duration;

/// Long enough for a machine that is busy.
const LONG: Duration = Duration::from_secs(200);

/// The answer to a commit that is cut, and how often it was made in truth.
async fn cut(database: &Database, cut: Cut, times: PostgresTimes) -> (Result<u64, StoreError>, u64) {
    // The tables are made here, so that connecting through the proxy takes little time.
    let direct = database.store().await;
    let proxy = Proxy::start(database.server().await).await;
    let store = PostgresStore::connect_within(&database.url_at(proxy.address), times).await.unwrap();
    let before = direct.changes(0).await.unwrap().1;
    proxy.cut(cut);
    let write = Write::Put(b"body".to_vec());
    let change = Change { kind: "k".into(), id: format!("after {before}"), expected: None, write };
    let answer = store.commit(vec![change]).await;
    assert!(proxy.has_cut());
    let (rows, last) = direct.changes(before).await.unwrap();
    assert_eq!(rows.len() as u64, last - before);
    if let Ok(number) = &answer {
        assert_eq!(*number, last);
    }
    (answer, last - before)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_is_made_once_if_there_is_time_to_ask() {
    let Some(database) = Database::create().await else { return };
    let times = PostgresTimes { patience: LONG, ..PostgresTimes::default() };
    for arrives in [true, false] {
        let way = Cut { arrives, closes: true, stays_away: false };
        let (answer, made) = cut(&database, way, times).await;
        assert_eq!((answer.is_ok(), made), (true, 1), "{way:?}: {answer:?}");
    }
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_given_up_was_not_made() {
    let Some(database) = Database::create().await else { return };
    // One attempt, after which the database is only asked.
    let times = PostgresTimes { patience: Duration::ZERO, attempt: Duration::from_secs(10), settling: LONG };
    for (arrives, closes) in [(true, true), (true, false), (false, true), (false, false)] {
        let way = Cut { arrives, closes, stays_away: false };
        let (answer, made) = cut(&database, way, times).await;
        match answer {
            Ok(_) => assert!(arrives && made == 1, "{way:?}"),
            Err(error) => {
                assert!(
                    matches!(error, StoreError::Unavailable(_)) && !arrives && made == 0,
                    "{way:?}: {error}"
                );
            }
        }
    }
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_cannot_be_asked_for_is_said_to_be_unknown() {
    let Some(database) = Database::create().await else { return };
    let times = PostgresTimes { patience: Duration::ZERO, settling: Duration::ZERO, ..Default::default() };
    for arrives in [true, false] {
        let way = Cut { arrives, closes: true, stays_away: true };
        let (answer, made) = cut(&database, way, times).await;
        assert!(matches!(answer, Err(StoreError::Unknown(_))), "{way:?}: {answer:?}");
        assert_eq!(made, u64::from(arrives));
    }
    database.drop().await;
}
