//! Resources: things with an address that agents can read, and be told of when they change.

use serde_json::Value;
use stoa_model::permissions::{Permission, PermissionSet};

use crate::actor::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// A thing, or a kind of thing, with an address like `stoa://inbox` or `stoa://channels/{name}`.
#[derive(Debug, Clone, Copy)]
pub struct ResourceSpec {
    pub uri: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    pub permission: Permission,
}

/// What is read at an address.
pub enum ResourceValue {
    Json(Value),
    /// A text and its type.
    Text(String, String),
    /// Bytes in base64, and their type.
    Blob(String, String),
}

impl ResourceSpec {
    /// What comes before the variable part. The whole, if there is none.
    fn prefix(&self) -> &'static str {
        self.uri.split('{').next().unwrap_or(self.uri)
    }

    pub(super) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    pub(super) fn is_open_to(&self, permissions: PermissionSet) -> bool {
        permissions.contains(self.permission)
    }
}

type Reader = Box<dyn Fn(Hub, Actor, String) -> BoxFuture<'static, Result<ResourceValue, HubError>> + Send + Sync>;

pub(super) struct Resource {
    pub(super) spec: ResourceSpec,
    /// Whether what is read is JSON; else each has a type of its own.
    pub(super) is_json: bool,
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
        self.add_of_any_type(spec, move |hub, actor, rest| {
            let reading = read(hub, actor, rest);
            async move { reading.await.map(ResourceValue::Json) }
        });
        if let Some(added) = self.0.last_mut() {
            added.is_json = true;
        }
    }

    /// Adds a resource that is something else.
    pub fn add_of_any_type<F, A>(&mut self, spec: ResourceSpec, read: F)
    where
        F: Fn(Hub, Actor, String) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ResourceValue, HubError>> + Send + 'static,
    {
        let reader: Reader = Box::new(move |hub, actor, rest| Box::pin(read(hub, actor, rest)));
        self.0.push(Resource { spec, is_json: false, reader });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Resource> {
        self.0.iter()
    }

    /// The resource that an address is of, and the variable part of it.
    pub(super) fn find<'u>(&self, uri: &'u str) -> Option<(&Resource, &'u str)> {
        self.0.iter().find_map(|resource| {
            let rest = uri.strip_prefix(resource.spec.prefix())?;
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
    pub(super) async fn read(&self, hub: &Hub, actor: &Actor, rest: &str) -> Result<ResourceValue, HubError> {
        actor.require(self.spec.permission)?;
        (self.reader)(hub.clone(), actor.clone(), rest.to_owned()).await
    }
}
