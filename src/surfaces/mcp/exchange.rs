//! What talks with its client: it tells of its progress, or asks back before it answers.

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;

use crate::access::Actor;
use crate::hub::{BoxFuture, Hub};

/// A whole request, and the way back to the client while it is being answered.
pub struct Exchange<Request> {
    pub hub: Hub,
    pub actor: Actor,
    pub request: Request,
    pub context: RequestContext<RoleServer>,
}

pub(super) type Converse<Request, Response> =
    Box<dyn Fn(Exchange<Request>) -> BoxFuture<'static, Result<Response, ErrorData>> + Send + Sync>;
