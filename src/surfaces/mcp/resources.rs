//! Resources: things with an address that agents can read, and be told of when they change.

use serde_json::Value;
use stoa_model::permissions::{Permission, PermissionSet};

use super::completion::Completer;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// A thing, or a kind of thing, with an address like `stoa://inbox` or `stoa://channels/{name}`.
#[derive(Debug, Clone, Copy)]
pub struct ResourceSpec {
    pub uri: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    /// All that reading it needs; who lacks some of it is not shown the resource.
    pub permissions: &'static [Permission],
    /// Finds values for the variable part.
    pub completer: Option<Completer>,
}

impl ResourceSpec {
    pub const fn new(
        uri: &'static str,
        name: &'static str,
        permissions: &'static [Permission],
        description: &'static str,
    ) -> Self {
        Self { uri, name, description, permissions, completer: None }
    }

    pub const fn completed_by(self, completer: Completer) -> Self {
        Self { completer: Some(completer), ..self }
    }

    /// The name of the variable part.
    pub(super) fn variable(&self) -> Option<&'static str> {
        self.uri.split_once('{')?.1.split_once('}').map(|(name, _)| name)
    }

    /// What comes before the variable part, and what after it. The whole, if there is none.
    fn around(&self) -> (&'static str, &'static str) {
        let (before, rest) = self.uri.split_once('{').unwrap_or((self.uri, ""));
        (before, rest.split_once('}').map_or("", |(_, after)| after))
    }

    pub(super) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    pub(super) fn is_open_to(&self, permissions: PermissionSet) -> bool {
        self.permissions.iter().all(|needed| permissions.contains(*needed))
    }
}

/// What a resource holds.
pub(super) enum Contents {
    Json(Value),
    Bytes(Vec<u8>),
    File(File),
}

/// A resource that says itself what it is.
pub struct File {
    pub mime_type: String,
    pub content: FileContent,
}

pub enum FileContent {
    Text(String),
    Bytes(Vec<u8>),
}

type Reader = Box<dyn Fn(Hub, Actor, String) -> BoxFuture<'static, Result<Contents, HubError>> + Send + Sync>;

const JSON: &str = "application/json";

pub(super) struct Resource {
    pub(super) spec: ResourceSpec,
    /// None if each is of another.
    pub(super) mime_type: Option<&'static str>,
    reader: Reader,
}

/// The resources that features offer.
#[derive(Default)]
pub struct Resources(Vec<Resource>);

impl Resources {
    /// Adds a resource that is JSON. The reader is given the variable part of the address.
    pub fn add<F, A>(&mut self, spec: ResourceSpec, read: F)
    where
        F: Fn(Hub, Actor, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Value, HubError>> + Send + 'static,
    {
        let reader: Reader = Box::new(move |hub, actor, rest| {
            let reading = read(hub, actor, rest);
            Box::pin(async move { reading.await.map(Contents::Json) })
        });
        self.0.push(Resource { spec, mime_type: Some(JSON), reader });
    }

    /// Adds a resource that is not text.
    pub fn add_bytes<F, A>(&mut self, spec: ResourceSpec, mime_type: &'static str, read: F)
    where
        F: Fn(Hub, Actor, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<u8>, HubError>> + Send + 'static,
    {
        let reader: Reader = Box::new(move |hub, actor, rest| {
            let reading = read(hub, actor, rest);
            Box::pin(async move { reading.await.map(Contents::Bytes) })
        });
        self.0.push(Resource { spec, mime_type: Some(mime_type), reader });
    }

    /// Adds resources of which each has a type of its own.
    pub fn add_files<F, A>(&mut self, spec: ResourceSpec, read: F)
    where
        F: Fn(Hub, Actor, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<File, HubError>> + Send + 'static,
    {
        let reader: Reader = Box::new(move |hub, actor, rest| {
            let reading = read(hub, actor, rest);
            Box::pin(async move { reading.await.map(Contents::File) })
        });
        self.0.push(Resource { spec, mime_type: None, reader });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.0.iter()
    }

    /// The resource of which this is the address as it is listed.
    pub(super) fn find_listed(&self, uri: &str) -> Option<&Resource> {
        self.0.iter().find(|resource| resource.spec.uri == uri)
    }

    /// The resource that an address is of, and the variable part of it.
    pub(super) fn find<'u>(&self, uri: &'u str) -> Option<(&Resource, &'u str)> {
        self.0.iter().find_map(|resource| {
            let (before, after) = resource.spec.around();
            let rest = uri.strip_prefix(before)?.strip_suffix(after)?;
            let fits = if resource.spec.is_template() { is_name(rest) } else { rest.is_empty() };
            fits.then_some((resource, rest))
        })
    }
}

fn is_name(rest: &str) -> bool {
    (1..=64).contains(&rest.len())
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl Resource {
    pub(super) async fn read(&self, hub: &Hub, actor: &Actor, rest: &str) -> Result<Contents, HubError> {
        for needed in self.spec.permissions {
            actor.require(*needed)?;
        }
        (self.reader)(hub.clone(), actor.clone(), rest.to_owned()).await
    }
}
