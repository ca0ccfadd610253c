//! What to write into a client's settings so that it reaches the hub over MCP as an agent.

use serde::Deserialize;
use serde_json::{Value, json};
use stoa_model::Secret;
use stoa_model::agents::{McpAuth, McpClient};
use stoa_model::credentials::{CredentialKind, recognise};
use utoipa::IntoParams;

use super::service;
use crate::access::Actor;
use crate::config::MCP_PATH;
use crate::error::HubError;
use crate::hub::Hub;

/// The variable from which clients take a key that is not in the file itself.
const KEY_VARIABLE: &str = "STOA_MCP_KEY";

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConnectQuery {
    /// The client that the settings are for.
    #[serde(default)]
    #[param(inline)]
    pub client: McpClient,
    /// Default: `oauth` for clients that can log in; `key` for `generic` and `stdio`, and with `api_key`.
    #[serde(default)]
    #[param(inline)]
    pub auth: Option<McpAuth>,
    /// An agent key or a managed key to put in. Without one, the client takes it from `STOA_MCP_KEY` in its environment.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    pub api_key: Option<Secret>,
}

/// What stands for the caller in the settings.
enum Proof {
    Login,
    Variable,
    Key(Secret),
}

/// The settings with which a client reaches the hub as this agent, for its owner and itself.
pub async fn mcp_config(hub: &Hub, actor: &Actor, name: String, query: ConnectQuery) -> Result<Value, HubError> {
    let client = query.client;
    let proof = query.proof()?;
    service::get_agent(hub, actor, name).await?;
    let base_url = match actor.call.base_url.as_str() {
        "" => hub.base_url(),
        base_url => base_url,
    };
    Ok(settings(client, &format!("{base_url}{MCP_PATH}"), &proof))
}

impl ConnectQuery {
    fn proof(self) -> Result<Proof, HubError> {
        let logs_in = !matches!(self.client, McpClient::Generic | McpClient::Stdio);
        match (self.auth, self.api_key) {
            (Some(McpAuth::Oauth), Some(_)) => {
                Err(HubError::invalid_field("auth", "must be key, or be omitted, when api_key is set"))
            }
            (Some(McpAuth::Oauth), None) if self.client == McpClient::Stdio => {
                Err(HubError::invalid_field("auth", "must be key for stdio: `stoa mcp` does not log in"))
            }
            (_, Some(key)) if is_key(&key) => Ok(Proof::Key(key)),
            // It is not shown again: it may be a good one with a letter too many.
            (_, Some(_)) => Err(HubError::invalid_field("api_key", "is neither an agent key nor a managed key")
                .hint("Keys start with stoa_agent_ or stoa_key_. Copy the whole key.")),
            (Some(McpAuth::Oauth), None) => Ok(Proof::Login),
            (None, None) if logs_in => Ok(Proof::Login),
            (Some(McpAuth::Key) | None, None) => Ok(Proof::Variable),
        }
    }
}

fn is_key(key: &Secret) -> bool {
    matches!(recognise(key.expose()), Some(CredentialKind::AgentKey | CredentialKind::ApiKey))
}

fn settings(client: McpClient, url: &str, proof: &Proof) -> Value {
    match client {
        McpClient::Generic | McpClient::ClaudeCode => {
            let server = with_bearer(json!({"type": "http", "url": url}), proof, "${STOA_MCP_KEY}");
            json!({"mcpServers": {"stoa": server}})
        }
        McpClient::Cursor => {
            let server = with_bearer(json!({"url": url}), proof, "${env:STOA_MCP_KEY}");
            json!({"mcpServers": {"stoa": server}})
        }
        McpClient::Gemini => {
            let server = with_bearer(json!({"httpUrl": url}), proof, "${STOA_MCP_KEY}");
            json!({"mcpServers": {"stoa": server}})
        }
        McpClient::Vscode => {
            let server = with_bearer(json!({"type": "http", "url": url}), proof, "${input:stoa-key}");
            let mut settings = json!({"servers": {"stoa": server}});
            if matches!(proof, Proof::Variable) {
                let description = "Agent key in Stoa";
                settings["inputs"] = json!([
                    {"type": "promptString", "id": "stoa-key", "description": description, "password": true},
                ]);
            }
            settings
        }
        McpClient::Codex => json!({"toml": codex(url, proof)}),
        McpClient::Stdio => {
            let key = match proof {
                Proof::Key(key) => key.expose(),
                Proof::Login | Proof::Variable => "${STOA_MCP_KEY}",
            };
            let environment = json!({"STOA_MCP_URL": url, "STOA_MCP_KEY": key});
            json!({"mcpServers": {"stoa": {"command": "stoa", "args": ["mcp"], "env": environment}}})
        }
    }
}

fn with_bearer(mut server: Value, proof: &Proof, variable: &str) -> Value {
    let key = match proof {
        Proof::Login => return server,
        Proof::Variable => variable,
        Proof::Key(key) => key.expose(),
    };
    server["headers"] = json!({"Authorization": format!("Bearer {key}")});
    server
}

/// Its settings are TOML, and a text of JSON is one of TOML too.
fn codex(url: &str, proof: &Proof) -> String {
    let table = format!("[mcp_servers.stoa]\nurl = {}\n", json!(url));
    match proof {
        Proof::Login => table,
        Proof::Variable => format!("{table}bearer_token_env_var = \"{KEY_VARIABLE}\"\n"),
        Proof::Key(key) => {
            let bearer = json!(format!("Bearer {}", key.expose()));
            format!("{table}http_headers = {{ Authorization = {bearer} }}\n")
        }
    }
}
