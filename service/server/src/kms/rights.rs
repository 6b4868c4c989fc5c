//! The rights to operations: key policies, the rights of credentials, grants.

use super::documents::{Grant, KeyRecord};
use super::names::Key;
use super::policy::{Facts, Policy, Question, Verdict};
use crate::credentials::{Principal, Right};
use crate::records::Records;
use parking_lot::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

/// Whether something is allowed, and by what.
#[derive(Debug, Clone)]
pub enum Decision {
    /// The key policy allows it, by itself or with the right of the credential.
    Allowed,
    /// A grant allows it.
    Granted(Arc<Grant>),
    /// The key policy denies it.
    Denied,
    /// Nothing allows it.
    NotAllowed,
}

/// The caller of an operation: a credential and its ARN.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The credential.
    pub principal: &'a Principal,
    /// Its ARN.
    pub arn: &'a str,
    /// Its account.
    pub account: &'a str,
}

/// Policies that were read, and grants by their keys.
#[derive(Default)]
pub(super) struct Rights {
    /// The policy of each key, with the document that it was read from. A weak reference keeps the document's
    /// address from being used again, but not its secrets.
    policies: RwLock<HashMap<String, Read>>,
    grants: RwLock<Option<Arc<Grants>>>,
}

/// A policy, and the document that it was read from.
type Read = (Weak<KeyRecord>, Arc<Policy>);

/// All grants at one commit.
struct Grants {
    seen: u64,
    by_key: HashMap<String, Vec<Arc<Grant>>>,
}

impl Rights {
    /// Whether `asker` may do `action`, which stands without `kms:`, with `key`.
    #[must_use]
    pub(super) fn decide(
        &self,
        records: &Records,
        asker: &Asker<'_>,
        key: &Key,
        action: &str,
        facts: &Facts<'_>,
    ) -> Decision {
        let policy = self.policy(&key.record);
        match verdict(&policy, asker, &key.arn, action, facts) {
            Verdict::Denied => return Decision::Denied,
            Verdict::Allowed => return Decision::Allowed,
            Verdict::Delegated if asker.principal.may(Right::Kms) => return Decision::Allowed,
            Verdict::Delegated | Verdict::Silent => {}
        }
        let grants = self.grants(records);
        let grants = grants.by_key.get(&key.record.id).map(Vec::as_slice).unwrap_or_default();
        match grants.iter().find(|grant| allows(grant, asker.arn, action, facts.encryption_context)) {
            Some(grant) => Decision::Granted(Arc::clone(grant)),
            None => Decision::NotAllowed,
        }
    }

    /// The grants of a key.
    #[must_use]
    pub(super) fn grants_of(&self, records: &Records, key_id: &str) -> Vec<Arc<Grant>> {
        self.grants(records).by_key.get(key_id).cloned().unwrap_or_default()
    }

    fn policy(&self, record: &Arc<KeyRecord>) -> Arc<Policy> {
        {
            let policies = self.policies.read();
            if let Some((of, policy)) = policies.get(&record.id)
                && std::ptr::eq(of.as_ptr(), Arc::as_ptr(record))
            {
                return Arc::clone(policy);
            }
        }
        if let Err(reason) = Policy::parse(&record.policy) {
            tracing::warn!(
                key = record.id,
                reason,
                "the policy of a key is one that would be refused now, and may not mean what it says: set another"
            );
        }
        // Documents hold policies that were checked. One that cannot be read allows nothing.
        let policy = Arc::new(Policy::parse_stored(&record.policy).unwrap_or_else(|_| Policy::nothing()));
        let mut policies = self.policies.write();
        policies.insert(record.id.clone(), (Arc::downgrade(record), Arc::clone(&policy)));
        policy
    }

    fn grants(&self, records: &Records) -> Arc<Grants> {
        // The number is read before the documents, so that the grants are never older than it says.
        let seen = records.seen();
        if let Some(grants) = &*self.grants.read()
            && grants.seen == seen
        {
            return Arc::clone(grants);
        }
        let mut by_key: HashMap<String, Vec<Arc<Grant>>> = HashMap::new();
        for grant in records.all::<Grant>() {
            by_key.entry(grant.key_id.clone()).or_default().push(grant);
        }
        let grants = Arc::new(Grants { seen, by_key });
        *self.grants.write() = Some(Arc::clone(&grants));
        grants
    }

    /// Forgets the policies of keys that are gone.
    pub(super) fn forget_deleted(&self) {
        let mut policies = self.policies.write();
        policies.retain(|_, (record, _)| record.strong_count() > 0);
    }
}

/// The answer of `policy`.
#[must_use]
pub(super) fn verdict(
    policy: &Policy,
    asker: &Asker<'_>,
    resource: &str,
    action: &str,
    facts: &Facts<'_>,
) -> Verdict {
    let action = ["kms:", action].concat();
    let Asker { arn: principal, account, .. } = *asker;
    policy.verdict(&Question { principal, account, action: &action, resource, facts })
}

/// Operations whose grants have no regard to an encryption context.
const WITHOUT_CONTEXT: [&str; 3] = ["CreateGrant", "RetireGrant", "DescribeKey"];

fn allows(grant: &Grant, arn: &str, action: &str, context: Option<&BTreeMap<String, String>>) -> bool {
    let empty = BTreeMap::new();
    let context = context.unwrap_or(&empty);
    let subset = |wanted: &BTreeMap<String, String>| {
        wanted.iter().all(|(name, value)| context.get(name).is_some_and(|found| found == value))
    };
    grant.grantee == arn
        && grant.operations.contains(action)
        && (WITHOUT_CONTEXT.contains(&action)
            || grant.context_equals.as_ref().is_none_or(|wanted| wanted == context)
                && grant.context_subset.as_ref().is_none_or(subset))
}
