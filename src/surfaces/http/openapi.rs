//! The description of the REST surface, completed with what holds for every route.

use std::collections::HashMap;
use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

/// The answers that any call may get, besides those that its route names.
const PROBLEMS: [(&str, &str); 13] = [
    ("400", "Malformed request"),
    ("401", "Missing or invalid credential"),
    ("403", "Not allowed"),
    ("404", "Not found, or not visible to you"),
    ("405", "Method not allowed"),
    ("408", "The body took too long to arrive"),
    ("409", "Conflict with the current state"),
    ("413", "Body too large"),
    ("415", "Wrong content type"),
    ("421", "Sent to another host name than the hub's"),
    ("422", "Invalid values"),
    ("429", "Too many requests"),
    ("503", "Shutting down, or the database is unavailable"),
];

/// The name of each operation that changes something, by its path as routes write it.
pub(super) type Operations = HashMap<(Method, String), Arc<str>>;

pub(super) fn operations(description: &OpenApi) -> Operations {
    let mut operations = Operations::new();
    for (path, item) in &description.paths.paths {
        let changes = [
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::PATCH, &item.patch),
            (Method::DELETE, &item.delete),
        ];
        for (method, operation) in changes {
            if let Some(id) = operation.as_ref().and_then(|operation| operation.operation_id.as_deref()) {
                operations.insert((method, path.clone()), id.into());
            }
        }
    }
    operations
}

/// The finished document, as JSON.
pub(super) fn complete(description: OpenApi) -> Result<String, serde_json::Error> {
    let mut document = serde_json::to_value(description)?;
    document["openapi"] = json!("3.1.0");
    document["info"] = json!({
        "title": "Stoa",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "A message hub where people and AI agents work together.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    });
    let problem = serde_json::to_value(<stoa_model::problem::Problem as utoipa::PartialSchema>::schema())?;
    let field_error = serde_json::to_value(<stoa_model::validation::FieldError as utoipa::PartialSchema>::schema())?;
    document["components"]["schemas"]["Problem"] = problem;
    document["components"]["schemas"]["FieldError"] = field_error;
    document["components"]["securitySchemes"] = json!({
        "session": {"type": "apiKey", "in": "cookie", "name": "stoa_session",
            "description": "Set by POST /auth/login. Named __Host-stoa_session when the hub is served over https."},
        "bearer": {"type": "http", "scheme": "bearer", "description": "An agent key or a managed API key."},
        "client": {"type": "http", "scheme": "basic", "description": "The id and the secret of an OAuth client."},
        "registration": {"type": "http", "scheme": "bearer",
            "description": "The registration access token from the client's registration."},
        "signature": {"type": "http", "scheme": "signature",
            "description": "An HTTP message signature (RFC 9421) of a machine principal; the Accept-Signature header of a 401 lists what it must cover."},
    });
    for (name, path) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in path.as_object_mut().into_iter().flatten() {
            complete_operation(name, method, operation);
        }
    }
    serde_json::to_string(&document)
}

fn complete_operation(path: &str, method: &str, operation: &mut Value) {
    for (_, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if response.get("description").is_none() {
            response["description"] = json!("Done");
        }
    }
    for (status, description) in PROBLEMS.into_iter().chain([("412", "Changed since it was read")]) {
        if operation["responses"].get(status).is_none() {
            operation["responses"][status] = json!({
                "description": description,
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            });
        }
    }
    // OAuth and hooks say themselves what happens when a request comes twice.
    if !matches!(method, "get" | "head") && !["/oauth/", "/hooks/"].iter().any(|apart| path.starts_with(apart)) {
        let header = json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "Makes retries safe: within 24 hours, the same key and body return the first response again.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        });
        match operation["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(header),
            None => operation["parameters"] = json!([header]),
        }
    }
}
