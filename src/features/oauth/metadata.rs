//! What clients find out by themselves: where everything is, and what is possible.

use stoa_model::oauth::{AuthMethod, AuthorizationServerMetadata, GrantType, OauthScopes, ProtectedResourceMetadata};

use crate::config::MCP_PATH;

pub(super) fn authorization_server(base_url: &str) -> AuthorizationServerMetadata {
    let methods = || [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
    let names = |methods: &[AuthMethod]| methods.iter().map(|method| method.name()).collect();
    let grants = [GrantType::AuthorizationCode, GrantType::RefreshToken, GrantType::ClientCredentials];
    AuthorizationServerMetadata {
        issuer: base_url.to_owned(),
        authorization_endpoint: format!("{base_url}/oauth/authorize"),
        token_endpoint: format!("{base_url}/oauth/token"),
        registration_endpoint: format!("{base_url}/oauth/register"),
        revocation_endpoint: format!("{base_url}/oauth/revoke"),
        introspection_endpoint: format!("{base_url}/oauth/introspect"),
        response_types_supported: vec!["code"],
        response_modes_supported: vec!["query"],
        grant_types_supported: grants.iter().map(|grant| grant.name()).collect(),
        token_endpoint_auth_methods_supported: names(&methods()),
        revocation_endpoint_auth_methods_supported: names(&methods()),
        introspection_endpoint_auth_methods_supported: names(&methods()[1..]),
        code_challenge_methods_supported: vec!["S256"],
        scopes_supported: OauthScopes::NAMES.to_vec(),
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
    }
}

/// `path` is that of the resource which is asked about: the whole hub, or its MCP endpoint.
pub(super) fn protected_resource(base_url: &str, path: &str) -> ProtectedResourceMetadata {
    ProtectedResourceMetadata {
        resource: format!("{base_url}{path}"),
        authorization_servers: vec![base_url.to_owned()],
        // Staying logged in is not the resource's business.
        scopes_supported: OauthScopes::NAMES.into_iter().filter(|name| name.starts_with("mcp:")).collect(),
        bearer_methods_supported: vec!["header"],
        resource_name: "Stoa".to_owned(),
    }
}

/// What tokens are for, whatever they were asked for.
pub(super) fn audience(base_url: &str) -> String {
    format!("{base_url}{MCP_PATH}")
}

/// Whether a resource that a client named (RFC 8707) is this hub, by one of its addresses.
pub(super) fn is_own_resource(resource: &str, own: [&str; 2]) -> bool {
    own.iter().any(|base_url| {
        resource
            .strip_prefix(base_url)
            .is_some_and(|path| ["", MCP_PATH].contains(&path.strip_suffix('/').unwrap_or(path)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_knows_its_own_resource() {
        let is_own = |resource| is_own_resource(resource, ["https://hub.example", "https://hub.example"]);
        for own in
            ["https://hub.example", "https://hub.example/", "https://hub.example/mcp", "https://hub.example/mcp/"]
        {
            assert!(is_own(own), "{own}");
        }
        for other in ["https://hub.example.evil/mcp", "https://hub.example/mcp/x", "http://hub.example/mcp", "", "mcp"]
        {
            assert!(!is_own(other), "{other}");
        }
    }
}
