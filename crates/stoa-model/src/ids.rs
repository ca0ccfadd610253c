//! Numbers that name things, each of its own type so that they cannot be mixed up.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        #[serde(transparent)]
        #[schema(value_type = i64)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )*};
}

ids! {
    /// A user, an agent, a machine or `system`: every possible author.
    PrincipalId,
    SessionId,
    ApiKeyId,
    AuditId,
    ChannelId,
    ConversationId,
    MessageId,
    TraceId,
    /// What a person let an OAuth client do.
    GrantId,
    WebhookId,
    /// Something that is sent to a webhook.
    DeliveryId,
    /// A run of an agent.
    RunId,
}
