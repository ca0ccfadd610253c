//! What documents of one audience say together, ready to be asked for each request.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use ed25519_dalek::VerifyingKey;

use crate::document::find_unusable_keys;
use crate::finding::{Findings, harmless, quote};
use crate::{Audience, Document, Finding, Key, KeyStatus, Principal, Unusable};

/// The principals of one audience. It never changes; a reload makes a new one to swap in.
///
/// ```
/// use stoa_registry::{Audience, Document, Refused, Registry, Scope};
///
/// let document = Document::parse(br#"{
///     "version": "svc.machine-principal-registry/v1",
///     "audience": "svc-brain",
///     "principals": [{
///         "principal_id": "svc:sense:demo",
///         "enabled": true,
///         "keys": [{
///             "kid": "key-2026-01",
///             "public_key_base64url": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
///             "status": "active",
///             "scopes": ["events:ingest"]
///         }]
///     }]
/// }"#).unwrap();
/// let registry = Registry::new(Audience::Brain, vec![("demo.json".to_owned(), document)]).unwrap();
///
/// let usable = registry.find_key("svc:sense:demo", "key-2026-01").unwrap();
/// assert!(usable.key.scopes.contains(Scope::EventsIngest));
/// assert_eq!(registry.find_key("svc:sense:demo", "key-2026-02").unwrap_err(), Refused::UnknownKey);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    audience: Audience,
    documents: usize,
    principals: Vec<Principal>,
    /// Where each principal is, and each of its keys in it.
    index: HashMap<String, (usize, HashMap<String, usize>)>,
    warnings: Vec<Finding>,
}

/// A key that may be believed now: its principal is enabled, it is active, and it can verify.
#[derive(Debug, Clone, Copy)]
pub struct UsableKey<'a> {
    pub principal: &'a Principal,
    pub key: &'a Key,
    pub verifying_key: &'a VerifyingKey,
}

/// Why a signature with some key is not to be believed. For logs and operators: to the caller all of these are one, or
/// strangers could find out who is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    UnknownPrincipal,
    UnknownKey,
    Unusable(Unusable),
    Revoked,
    Disabled,
}

impl Refused {
    /// A word for programs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Refused::UnknownPrincipal => "unknown_principal",
            Refused::UnknownKey => "unknown_key",
            Refused::Unusable(_) => "key_unusable",
            Refused::Revoked => "key_revoked",
            Refused::Disabled => "principal_disabled",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::UnknownPrincipal => formatter.write_str("the registry does not know the principal"),
            Refused::UnknownKey => formatter.write_str("the principal has no key with this kid"),
            Refused::Unusable(unusable) => unusable.fmt(formatter),
            Refused::Revoked => formatter.write_str("the key is revoked"),
            Refused::Disabled => formatter.write_str("the principal is disabled"),
        }
    }
}

impl std::error::Error for Refused {}

impl Registry {
    /// Puts documents together, each with the name of its file. A principal stands in one of them only, and all are
    /// for this audience.
    pub fn new(audience: Audience, documents: Vec<(String, Document)>) -> Result<Registry, Vec<Finding>> {
        let mut faults = Findings::default();
        let mut places: HashMap<&str, (&str, usize)> = HashMap::new();
        for (file, document) in &documents {
            if document.audience() != audience {
                faults.add(|| Finding {
                    file: Some(file.clone()),
                    pointer: "/audience".to_owned(),
                    message: format!("the document is for {}, but one for {audience} is needed", document.audience()),
                });
            }
            for (index, principal) in document.principals.iter().enumerate() {
                match places.entry(&principal.principal_id) {
                    Entry::Vacant(vacant) => {
                        vacant.insert((file, index));
                    }
                    Entry::Occupied(first) => faults.add(|| {
                        let (first_file, first_index) = first.get();
                        Finding {
                            file: Some(file.clone()),
                            pointer: format!("/principals/{index}/principal_id"),
                            message: format!(
                                "{} is the principal_id of /principals/{first_index} of {} already",
                                quote(&principal.principal_id),
                                harmless(first_file)
                            ),
                        }
                    }),
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults.into_list());
        }
        let count = documents.len();
        let (files, mut lists): (Vec<_>, Vec<_>) =
            documents.into_iter().map(|(file, document)| (file, document.principals)).unzip();
        let mut sources: Vec<_> = files.iter().map(|file| Some(file.as_str())).zip(&mut lists).collect();
        let warnings = find_unusable_keys(&mut sources);
        let mut principals: Vec<_> = lists.into_iter().flatten().collect();
        principals.sort_by(|a, b| a.principal_id.cmp(&b.principal_id));
        let index = principals.iter().enumerate().map(|(index, principal)| {
            let keys = principal.keys.iter().enumerate().map(|(index, key)| (key.kid.clone(), index));
            (principal.principal_id.clone(), (index, keys.collect()))
        });
        Ok(Registry { audience, documents: count, index: index.collect(), principals, warnings })
    }

    /// A registry that knows nobody.
    #[must_use]
    pub fn empty(audience: Audience) -> Registry {
        Registry { audience, documents: 0, principals: Vec::new(), index: HashMap::new(), warnings: Vec::new() }
    }

    /// The component that the principals call.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// How many documents it was made of. Without any nobody said that nobody is known.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// All principals, sorted by `principal_id`.
    #[must_use]
    pub fn principals(&self) -> &[Principal] {
        &self.principals
    }

    #[must_use]
    pub fn principal(&self, principal_id: &str) -> Option<&Principal> {
        self.principals.get(self.index.get(principal_id)?.0)
    }

    /// The keys that cannot be used, and why.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    pub(crate) fn warn(&mut self, warning: Finding) {
        self.warnings.push(warning);
    }

    /// The key of that name, if a signature made with it is to be believed now.
    #[must_use]
    pub fn usable_key(&self, principal_id: &str, kid: &str) -> Option<UsableKey<'_>> {
        self.find_key(principal_id, kid).ok()
    }

    /// The same, or why not: of several reasons the one that is hardest to mend, because a key that can never verify is not
    /// helped by enabling its principal.
    pub fn find_key(&self, principal_id: &str, kid: &str) -> Result<UsableKey<'_>, Refused> {
        let found = self.index.get(principal_id);
        let found = found.and_then(|(index, kids)| Some((self.principals.get(*index)?, kids)));
        let (principal, kids) = found.ok_or(Refused::UnknownPrincipal)?;
        let key = kids.get(kid).and_then(|index| principal.keys.get(*index)).ok_or(Refused::UnknownKey)?;
        let verifying_key = key.verifying_key().map_err(Refused::Unusable)?;
        if key.status == KeyStatus::Revoked {
            return Err(Refused::Revoked);
        }
        if !principal.enabled {
            return Err(Refused::Disabled);
        }
        Ok(UsableKey { principal, key, verifying_key })
    }
}
