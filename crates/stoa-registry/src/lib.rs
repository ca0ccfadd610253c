//! The machine principal registry, version 1: which services may call a component, with which keys, for what.
//!
//! A [`Document`] is one JSON text, checked against the published [`SCHEMA`] and the rules beyond it. A [`Registry`] is
//! one or several of them for one [`Audience`], ready to be asked for the key of a signed request. [`files::load`] makes
//! one from a file or a folder.
//!
//! A fault makes a document worthless, and all its faults are found at once, each with its place. A key that satisfies
//! the schema but verifies nothing is a warning: the document is good, that key is not.
//!
//! Nothing here verifies a signature or knows a request; see the contract's `README.md` for how requests are signed.

mod document;
pub mod files;
mod finding;
mod json;
mod key;
mod names;
mod registry;

pub use document::{Document, Principal};
pub use finding::Finding;
pub use key::{Key, Unusable, fingerprint};
pub use names::{
    Audience, KID_FORM, KeyStatus, PRINCIPAL_ID_FORM, Scope, Scopes, UnknownName, is_kid, is_principal_id,
};
pub use registry::{Refused, Registry, UsableKey};

/// `version` of every document.
pub const VERSION: &str = "svc.machine-principal-registry/v1";

/// The published JSON Schema (draft 2020-12).
///
/// ```
/// assert!(stoa_registry::SCHEMA.contains(stoa_registry::VERSION));
/// ```
pub const SCHEMA: &str = include_str!("../schema.json");

/// Longest document.
pub const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;
