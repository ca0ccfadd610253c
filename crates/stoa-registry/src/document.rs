//! One registry document: every fault that it has, or what it says.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::finding::{DocumentLocation, Finding, Findings, harmless, quote};
use crate::json::{self, Node};
use crate::key::{self, Key, Unusable};
use crate::names::{KID_FORM, PRINCIPAL_ID_FORM, is_public_key};
use crate::{Audience, KeyStatus, Scope, Scopes, VERSION, is_kid, is_principal_id};

const MAX_SCOPES: usize = Scope::ALL.len();

/// A valid document.
///
/// ```
/// use stoa_registry::{Audience, Document};
///
/// let document = Document::parse(
///     br#"{"version": "svc.machine-principal-registry/v1", "audience": "svc-brain", "principals": []}"#,
/// );
/// assert_eq!(document.unwrap().audience(), Audience::Brain);
///
/// let faults = Document::parse(br#"{"version": 1, "audience": "svc-hub", "principals": []}"#).unwrap_err();
/// assert_eq!(faults.len(), 2);
/// assert_eq!(faults[1].pointer, "/audience");
/// assert_eq!(faults[1].message, r#"must be svc-sense, svc-brain or svc-bell, not "svc-hub""#);
/// ```
#[derive(Debug, Clone)]
pub struct Document {
    audience: Audience,
    pub(crate) principals: Vec<Principal>,
    warnings: Vec<Finding>,
}

/// A service that is not a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub principal_id: String,
    /// Whether any of its keys is accepted.
    pub enabled: bool,
    /// In the order of the document.
    pub keys: Vec<Key>,
}

impl Document {
    /// Reads and checks a document. All its faults are found at once; the first hundred are listed.
    pub fn parse(bytes: &[u8]) -> Result<Document, Vec<Finding>> {
        let node = json::read(bytes).map_err(|fault| vec![fault])?;
        let mut faults = Findings::default();
        json::find_repeated_properties(&node, DocumentLocation::Document, &mut faults);
        let document = check_document(&node, &mut faults);
        match document {
            Some((audience, mut principals)) if faults.is_empty() => {
                let warnings = find_unusable_keys(&mut [(None, &mut principals)]);
                Ok(Document { audience, principals, warnings })
            }
            _ => Err(faults.into_list()),
        }
    }

    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.warnings = self.warnings.into_iter().map(|warning| warning.in_file(file)).collect();
        self
    }

    /// The component that the document is for.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// The principals, in the order of the document.
    #[must_use]
    pub fn principals(&self) -> &[Principal] {
        &self.principals
    }

    /// The keys that cannot be used, and why, as far as this document tells.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }
}

fn check_document(node: &Node, faults: &mut Findings) -> Option<(Audience, Vec<Principal>)> {
    let place = DocumentLocation::Document;
    let object = Object::open(node, &place, "the document", &["version", "audience", "principals"], faults)?;
    let version = object.text("version", faults, |text| {
        if text == VERSION { Ok(()) } else { Err(format!("must be {VERSION}, not {}", quote(text))) }
    });
    let audience = object.name("audience", faults, Audience::from_name, Audience::known);
    let mut ids = HashMap::new();
    let principals = object.items("principals", faults, |item, index, place, faults| {
        check_principal(item, index, place, &mut ids, faults)
    });
    version?;
    Some((audience?, principals?))
}

fn check_principal<'n>(
    node: &'n Node,
    index: usize,
    place: &DocumentLocation<'_>,
    ids: &mut HashMap<&'n str, usize>,
    faults: &mut Findings,
) -> Option<Principal> {
    let object = Object::open(node, place, "a principal", &["principal_id", "enabled", "keys"], faults)?;
    let principal_id = object.text("principal_id", faults, |text| {
        if !is_principal_id(text) {
            return Err(format!("must be {PRINCIPAL_ID_FORM}, not {}", quote(text)));
        }
        match ids.entry(text) {
            Entry::Occupied(first) => {
                Err(format!("{} is the principal_id of /principals/{} already", quote(text), first.get()))
            }
            Entry::Vacant(vacant) => {
                vacant.insert(index);
                Ok(text.to_owned())
            }
        }
    });
    let enabled = object.boolean("enabled", faults);
    let mut kids = HashMap::new();
    let keys =
        object.items("keys", faults, |item, index, place, faults| check_key(item, index, place, &mut kids, faults));
    Some(Principal { principal_id: principal_id?, enabled: enabled?, keys: keys? })
}

fn check_key<'n>(
    node: &'n Node,
    index: usize,
    place: &DocumentLocation<'_>,
    kids: &mut HashMap<&'n str, usize>,
    faults: &mut Findings,
) -> Option<Key> {
    let object = Object::open(node, place, "a key", &["kid", "public_key_base64url", "status", "scopes"], faults)?;
    let kid = object.text("kid", faults, |text| {
        if !is_kid(text) {
            return Err(format!("must be {KID_FORM}, not {}", quote(text)));
        }
        match kids.entry(text) {
            Entry::Occupied(first) => {
                Err(format!("key {} of this principal has the kid {} already", first.get(), quote(text)))
            }
            Entry::Vacant(vacant) => {
                vacant.insert(index);
                Ok(text.to_owned())
            }
        }
    });
    let public_key = object.text("public_key_base64url", faults, |text| {
        // The value is not repeated: what people paste here by mistake is the private key.
        let bytes = if is_public_key(text) { key::decode(text) } else { None };
        bytes.map(|bytes| (text.to_owned(), bytes)).ok_or_else(|| {
            format!(
                "must be the 32 bytes of the public key in base64url without padding: 43 of A-Z, a-z, 0-9, hyphen and \
                 underscore; this has {} characters{}",
                text.chars().count(),
                if text.chars().count() == 43 { ", not all of them of these" } else { "" }
            )
        })
    });
    let status = object.name("status", faults, KeyStatus::from_name, KeyStatus::known);
    let scopes = check_scopes(&object, faults);
    let (public_key_base64url, bytes) = public_key?;
    let verifying_key = key::verifying_key(&public_key_base64url, &bytes);
    Some(Key { kid: kid?, public_key_base64url, status: status?, scopes: scopes?, bytes, verifying_key })
}

fn check_scopes(key: &Object<'_, '_>, faults: &mut Findings) -> Option<Scopes> {
    let mut scopes = Scopes::default();
    let mut count = 0;
    let list = key.items("scopes", faults, |item, _, place, faults| {
        count += 1;
        let name = text_of(item, place, faults)?;
        let Some(scope) = Scope::from_name(name) else {
            faults.add_at(*place, || format!("must be {}, not {}", Scope::known(), quote(name)));
            return None;
        };
        if !scopes.insert(scope) {
            faults.add_at(*place, || format!("the scope {scope} is listed twice"));
            return None;
        }
        Some(scope)
    });
    if matches!(key.get("scopes"), Some(Node::Array(_))) && !(1..=MAX_SCOPES).contains(&count) {
        faults.add_at(DocumentLocation::Property(key.place, "scopes"), || {
            format!("must have 1 to {MAX_SCOPES} items, but has {count}")
        });
        return None;
    }
    list.map(|_| scopes)
}

/// An object of which the names of all properties are known to be right.
struct Object<'n, 'p> {
    properties: &'n [(String, Node)],
    place: &'p DocumentLocation<'p>,
}

impl<'n, 'p> Object<'n, 'p> {
    /// Notes what is missing and what is too much.
    fn open(
        node: &'n Node,
        place: &'p DocumentLocation<'p>,
        what: &str,
        known: &[&str],
        faults: &mut Findings,
    ) -> Option<Self> {
        let Node::Object(properties) = node else {
            faults.add_at(*place, || format!("{what} must be an object, not {}", node.kind()));
            return None;
        };
        let mut unknown = HashSet::new();
        for (name, _) in properties {
            // One that is there twice is a fault for that already.
            if !known.contains(&name.as_str()) && unknown.insert(name) {
                faults.add_at(DocumentLocation::Property(place, name), || {
                    format!("there is no such property; {what} has {} and no others", known.join(", "))
                });
            }
        }
        for name in known {
            if !properties.iter().any(|(given, _)| given == name) {
                faults.add_at(*place, || format!("{name} is missing"));
            }
        }
        Some(Self { properties, place })
    }

    /// The value of a property. Of one that is given twice, which is a fault already, the last.
    fn get(&self, name: &str) -> Option<&'n Node> {
        self.properties.iter().rfind(|(given, _)| given == name).map(|(_, value)| value)
    }

    fn text<T>(
        &self,
        name: &str,
        faults: &mut Findings,
        check: impl FnOnce(&'n str) -> Result<T, String>,
    ) -> Option<T> {
        let place = DocumentLocation::Property(self.place, name);
        let text = text_of(self.get(name)?, &place, faults)?;
        check(text).map_err(|message| faults.add_at(place, || message)).ok()
    }

    /// One of a closed list of names.
    fn name<T>(
        &self,
        name: &str,
        faults: &mut Findings,
        find: impl FnOnce(&str) -> Option<T>,
        known: impl FnOnce() -> String,
    ) -> Option<T> {
        self.text(name, faults, |text| find(text).ok_or_else(|| format!("must be {}, not {}", known(), quote(text))))
    }

    fn boolean(&self, name: &str, faults: &mut Findings) -> Option<bool> {
        match self.get(name)? {
            Node::Boolean(value) => Some(*value),
            other => {
                faults.add_at(DocumentLocation::Property(self.place, name), || {
                    format!("must be true or false, not {}", other.kind())
                });
                None
            }
        }
    }

    /// What `check` makes of each item; nothing if one of them has a fault.
    fn items<T>(
        &self,
        name: &str,
        faults: &mut Findings,
        mut check: impl FnMut(&'n Node, usize, &DocumentLocation<'_>, &mut Findings) -> Option<T>,
    ) -> Option<Vec<T>> {
        let place = DocumentLocation::Property(self.place, name);
        let Node::Array(items) = self.get(name)? else {
            let kind = self.get(name).map_or("null", Node::kind);
            faults.add_at(place, || format!("must be an array, not {kind}"));
            return None;
        };
        let mut checked = Some(Vec::with_capacity(items.len()));
        for (index, item) in items.iter().enumerate() {
            // All are checked, also after a fault.
            let item = check(item, index, &DocumentLocation::Item(&place, index), faults);
            checked = checked.zip(item).map(|(mut items, item)| {
                items.push(item);
                items
            });
        }
        checked
    }
}

fn text_of<'n>(node: &'n Node, place: &DocumentLocation<'_>, faults: &mut Findings) -> Option<&'n str> {
    match node {
        Node::String(text) => Some(text),
        other => {
            faults.add_at(*place, || format!("must be a string, not {}", other.kind()));
            None
        }
    }
}

/// Marks keys that are listed more than once in all these documents, and says of each unusable key why it is.
pub(crate) fn find_unusable_keys(documents: &mut [(Option<&str>, &mut Vec<Principal>)]) -> Vec<Finding> {
    // Where each public key is: document, principal, key. Revoked ones count, so that nobody takes them up again.
    let mut places: HashMap<[u8; 32], Vec<[usize; 3]>> = HashMap::new();
    for (document, (_, principals)) in documents.iter().enumerate() {
        for (principal, keys) in principals.iter().map(|principal| &principal.keys).enumerate() {
            for (index, key) in keys.iter().enumerate() {
                places.entry(key.bytes).or_default().push([document, principal, index]);
            }
        }
    }
    let files: Vec<_> = documents.iter().map(|(file, _)| *file).collect();
    let mut warnings = Findings::default();
    for (document, (file, principals)) in documents.iter_mut().enumerate() {
        for (principal_index, principal) in principals.iter_mut().enumerate() {
            for (index, key) in principal.keys.iter_mut().enumerate() {
                let here = [document, principal_index, index];
                let mut others = places.get(&key.bytes).into_iter().flatten().filter(|place| **place != here);
                let other = others.next();
                if other.is_some() && key.verifying_key.is_ok() {
                    key.verifying_key = Err(Unusable::UsedTwice);
                }
                let Err(unusable) = key.verifying_key else { continue };
                warnings.add(|| Finding {
                    file: file.map(str::to_owned),
                    pointer: pointer_to(here),
                    message: match other.filter(|_| unusable == Unusable::UsedTwice) {
                        Some(other) => {
                            let [other_document, ..] = *other;
                            let file = files.get(other_document).copied().flatten();
                            let file = file.filter(|_| other_document != document);
                            format!(
                                "{unusable} (it is also {}{})",
                                file.map(|file| format!("{}: ", harmless(file))).unwrap_or_default(),
                                pointer_to(*other)
                            )
                        }
                        None => unusable.to_string(),
                    },
                });
            }
        }
    }
    warnings.into_list()
}

fn pointer_to([_, principal, key]: [usize; 3]) -> String {
    format!("/principals/{principal}/keys/{key}/public_key_base64url")
}
