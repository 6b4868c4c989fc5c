//! Secrets that the disk must not hold.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modmill_records::master_key::MasterKey;
use modmill_records::store::{EmbeddedStore, Store};
use modmill_records::{Changes, Document, Kinds, Records, RecordsError, backup};
use modmill_seal::SecretBytes;
use modmill_server::credentials::{self, Right};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct Note {
    id: String,
    secret: SecretBytes,
}

impl Document for Note {
    const KIND: &'static str = "note";

    fn id(&self) -> &str {
        &self.id
    }
}

fn holds(file: &[u8], bytes: &[u8]) -> bool {
    file.windows(bytes.len()).any(|window| window == bytes)
}

#[tokio::test]
async fn the_files_hold_no_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(dir.path()).await.unwrap());
    let mut text = [0; 32];
    getrandom::fill(&mut text).unwrap();
    let text = STANDARD.encode(text);
    let master = MasterKey::parse(&text, "the text").unwrap();
    let kinds = credentials::kinds(Kinds::default().with::<Note>());
    let records = Records::unlock(Arc::clone(&store), vec![master.clone()], kinds).await.unwrap();
    // As long as a private key of 2048 bits in PKCS #8.
    let mut der = vec![0; 1218];
    getrandom::fill(&mut der).unwrap();
    let note = Note { id: "a key".into(), secret: SecretBytes::new(der.clone().into()) };
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
    let new = credentials::create(&records, "alice", BTreeSet::from([Right::Kms]), 1).await.unwrap();
    let copy = dir.path().join("backup");
    backup::write(&*store, &copy).await.unwrap();
    let sealed = store
        .changes(0)
        .await
        .unwrap()
        .0
        .into_iter()
        .filter(|row| row.kind == "note")
        .find_map(|row| row.body);
    drop((records, store));

    for file in [dir.path().join("store.redb"), copy] {
        let file = std::fs::read(file).unwrap();
        assert!(holds(&file, sealed.as_deref().unwrap()), "the sealed document is found by the same search");
        assert!(!holds(&file, &der[600..624]) && !holds(&file, &STANDARD.encode(&der).as_bytes()[200..232]));
        let secret = STANDARD.encode(new.secret_access_key.as_bytes());
        for secret in [&secret, &*new.secret_access_key, &*new.token, &text, "alice"] {
            assert!(!holds(&file, secret.as_bytes()));
        }
    }
}
