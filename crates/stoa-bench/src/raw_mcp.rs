//! The least that a tool can cost: the library that speaks MCP, set up as the hub has it, and nothing behind it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::requests::MCP_PATH;

/// A server in this process whose tools answer as a send does, and do nothing.
pub(super) struct BareMcp {
    pub(super) address: SocketAddr,
    serving: AbortHandle,
}

impl BareMcp {
    pub(super) async fn start() -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
        let service = StreamableHttpService::new(|| Ok(Echo), Arc::new(NeverSessionManager::default()), config);
        let router = axum::Router::new().route_service(MCP_PATH, service);
        let listener = listener.tap_io(|stream| {
            // Where it cannot be set, the latency shows.
            let _ = stream.set_nodelay(true);
        });
        let serving = tokio::spawn(async move { drop(axum::serve(listener, router).await) }).abort_handle();
        Ok(Self { address, serving })
    }
}

impl Drop for BareMcp {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", env!("CARGO_PKG_VERSION")))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let recipient = arguments.get("to").or(arguments.get("channel"));
        let delivery = json!([{"recipient": recipient, "state": "stored"}]);
        Ok(CallToolResult::structured(json!({"id": 4711, "delivery": delivery})).into())
    }
}
