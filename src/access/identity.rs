//! Identities that were looked up, and how long they can be believed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest, Sha256};
use stoa_db::{DbError, Engine, Tx};
use stoa_model::credentials::CredentialKind;

use crate::access::Principal;

/// Uses of a credential within this time are noted as one.
pub const SEEN_EVERY_MS: i64 = 60_000;
const CACHE_LIMIT: usize = 50_000;
/// How long an identity is remembered where changes are not heard of.
const MAX_AGE_MS: i64 = 60_000;

/// What a lookup by hash found.
#[derive(Debug, Clone)]
pub struct FoundIdentity {
    pub principal: Principal,
    /// When its use was last noted.
    pub seen_at: Option<i64>,
}

/// A kind of credential: where it is accepted, how its principal is found, and how its use is noted. The feature that issues
/// it registers it.
#[derive(Debug, Clone, Copy)]
pub struct CredentialStore {
    pub form: CredentialForm,
    /// A credential works at these doors only.
    pub doors: &'static [Door],
    pub find: fn(&mut Tx<'_>, &[u8; 32]) -> Result<Option<FoundIdentity>, DbError>,
    pub note_use: fn(&mut Tx<'_>, &Principal) -> Result<(), DbError>,
}

/// What a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialForm {
    Session,
    /// Recognised by its prefix.
    Bearer(CredentialKind),
}

/// How a credential was sent, and to which surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Door {
    /// The session cookie.
    Cookie,
    /// A bearer token to anything but `/mcp`.
    RestBearer,
    /// A bearer token to `/mcp`.
    McpBearer,
}

/// Every kind of credential that is looked up by its hash, a part of the hub.
pub struct CredentialStores(pub Vec<CredentialStore>);

impl CredentialStores {
    /// The store of credentials of this form, if they are accepted at this door.
    pub fn find(&self, form: CredentialForm, door: Door) -> Option<CredentialStore> {
        self.0.iter().find(|store| store.form == form && store.doors.contains(&door)).copied()
    }
}

/// What an identity is remembered by. The form and the door are part of it, so a credential that is accepted at one door
/// is unknown at every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdentityKey {
    pub form: CredentialForm,
    pub door: Door,
    pub hash: [u8; 32],
}

/// Credentials that were found good, until anything about identities changes.
///
/// On SQLite every change goes through this process. On PostgreSQL another hub could revoke a key without our noticing, so there
/// an identity is only remembered for those who [look again](Use::LookedAtAgain).
pub struct IdentityCache {
    is_on: bool,
    hears_all_changes: bool,
    generation: Arc<AtomicU64>,
    entries: RwLock<HashMap<IdentityKey, Entry>>,
}

/// What a remembered identity is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Something that relies on it.
    ReliedOn,
    /// A command, which finds out by itself whether it is still good.
    LookedAtAgain,
}

struct Entry {
    /// The state of things that this entry was read from.
    generation: u64,
    principal: Arc<Principal>,
    seen_at: AtomicI64,
    read_at: i64,
}

impl IdentityCache {
    pub fn new(engine: Engine, is_wanted: bool) -> Self {
        let hears_all_changes = engine == Engine::Sqlite;
        Self { is_on: is_wanted, hears_all_changes, generation: Arc::default(), entries: RwLock::default() }
    }

    /// Forgets everything once `tx` is committed, and before its caller is answered: whoever hears
    /// that a key was revoked can rely on it.
    pub fn forget_after(&self, tx: &mut Tx<'_>) {
        let generation = self.generation.clone();
        tx.after_commit(move || {
            generation.fetch_add(1, Ordering::SeqCst);
        });
    }

    /// The state of things now, to be read before a lookup whose result is to be kept.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// The principal, and whether its use is due to be noted again.
    pub fn get(&self, key: &IdentityKey, now_ms: i64, purpose: Use) -> Option<(Arc<Principal>, bool)> {
        if !self.hears_all_changes && purpose == Use::ReliedOn {
            return None;
        }
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let is_young = |entry: &&Entry| self.hears_all_changes || now_ms - entry.read_at < MAX_AGE_MS;
        let entry = entries.get(key).filter(|entry| entry.generation == self.generation()).filter(is_young)?;
        let is_stale = now_ms - entry.seen_at.load(Ordering::Relaxed) >= SEEN_EVERY_MS;
        if is_stale {
            entry.seen_at.store(now_ms, Ordering::Relaxed);
        }
        Some((entry.principal.clone(), is_stale))
    }

    /// Forgets an identity that was found to be no longer good.
    pub fn forget(&self, key: &IdentityKey) {
        self.entries.write().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    pub fn insert(&self, key: IdentityKey, generation: u64, principal: Arc<Principal>, seen_at: i64, now_ms: i64) {
        if !self.is_on {
            return;
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= CACHE_LIMIT {
            entries.clear();
        }
        entries.insert(key, Entry { generation, principal, seen_at: AtomicI64::new(seen_at), read_at: now_ms });
    }
}

/// The hash under which a credential is stored. Credentials are random, so no salt is needed.
pub fn credential_hash(credential: &str) -> [u8; 32] {
    Sha256::digest(credential.as_bytes()).into()
}
