use super::*;
use crate::master_key::MasterKey;
use crate::store::MemoryStore;

async fn records() -> Records {
    let master = MasterKey::random().unwrap();
    Records::unlock(Arc::new(MemoryStore::default()), vec![master], kinds(Kinds::default())).await.unwrap()
}

#[tokio::test]
async fn a_credential_has_the_shapes_that_clients_expect() {
    let records = records().await;
    let rights = BTreeSet::from([Right::Kms, Right::Bulk]);
    let new = create(&records, "alice@example.com", rights.clone(), 5).await.unwrap();
    let (prefix, id) = new.access_key_id.split_at(4);
    assert_eq!((prefix, id.len()), ("AKIA", 16));
    assert!(id.bytes().all(|byte| BASE32.contains(&byte)));
    assert_eq!(new.secret_access_key.len(), 40);
    assert_eq!(URL_SAFE_NO_PAD.decode(new.token.strip_prefix("mm.").unwrap()).unwrap().len(), 32);
    let held = records.get::<Credential>(&new.access_key_id).unwrap();
    assert_eq!(held.secret_access_key.expose(), new.secret_access_key.as_bytes());
    assert_eq!((held.name.as_str(), &held.rights, held.created_ms), ("alice@example.com", &rights, 5));
    let other = create(&records, "bob", BTreeSet::new(), 5).await.unwrap();
    assert!(other.access_key_id != new.access_key_id && other.token != new.token);
    assert!(other.secret_access_key != new.secret_access_key);
    assert_eq!(list(&records).len(), 2);
}

#[tokio::test]
async fn names_that_arns_cannot_hold_are_refused() {
    let records = records().await;
    for name in ["", "a b", "a/b", "a:b", "a\n", "\u{e9}", &"a".repeat(65)] {
        assert!(
            matches!(create(&records, name, BTreeSet::new(), 0).await, Err(CredentialError::Name)),
            "{name:?}"
        );
    }
    create(&records, &"a".repeat(64), BTreeSet::new(), 0).await.unwrap();
}

#[tokio::test]
async fn a_token_is_found_until_it_is_revoked() {
    let records = records().await;
    let index = CredentialIndex::default();
    assert!(index.by_token(&records, "mm.none").is_none());
    let alice = create(&records, "alice", BTreeSet::new(), 0).await.unwrap();
    let bob = create(&records, "bob", BTreeSet::new(), 0).await.unwrap();
    let name = |token: &str| index.by_token(&records, token).map(|credential| credential.name.clone());
    for _ in 0..2 {
        assert_eq!(name(&alice.token).as_deref(), Some("alice"));
        assert_eq!(name(&bob.token).as_deref(), Some("bob"));
        assert_eq!(name(&alice.token[1..]), None);
    }
    revoke(&records, &alice.access_key_id).await.unwrap();
    assert_eq!(name(&alice.token), None);
    assert_eq!(name(&bob.token).as_deref(), Some("bob"));
    let again = revoke(&records, &alice.access_key_id).await;
    assert!(matches!(again, Err(CredentialError::Unknown(id)) if id == alice.access_key_id));
}
