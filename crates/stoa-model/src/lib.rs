//! What Stoa talks about: records, requests, names, limits and the rules that need no database.
//!
//! Every surface (REST, MCP, web page, command line) speaks in these types, so none of them can
//! have rules of its own. There is one file per feature; nothing here does I/O, reads a clock or
//! draws a random number.

pub mod agents;
pub mod api_keys;
pub mod attachments;
pub mod audit;
pub mod automation;
pub mod channels;
pub mod cloud_events;
pub mod credentials;
pub mod csv;
pub mod dispatch;
pub mod environment;
pub mod handles;
pub mod hooks;
pub mod ids;
pub mod machines;
pub mod masking;
pub mod mcp;
pub mod mentions;
pub mod messages;
pub mod named;
pub mod notifications;
pub mod oauth;
pub mod page;
pub mod permissions;
pub mod pictures;
pub mod principals;
pub mod problem;
pub mod programs;
pub mod prompts;
pub mod reactions;
pub mod runs;
pub mod search;
pub mod secret;
pub mod secrets;
pub mod stars;
pub mod system;
pub mod templates;
pub mod text;
pub mod timestamp;
pub mod traces;
pub mod trust;
pub mod users;
pub mod validation;
pub mod webhooks;

pub use ids::{
    ApiKeyId, AuditId, ChannelId, ConversationId, DeliveryId, GrantId, MessageId, PrincipalId, RunId, SessionId,
    TraceId, WebhookId,
};
pub use secret::Secret;
pub use timestamp::Timestamp;
