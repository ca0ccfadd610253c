//! One credential, one door: every kind of credential, sent in every way to every surface.

use serde_json::{Value, json};
use stoa_model::credentials::CredentialKind;

use crate::support::oauth::{App, FORM, Parameters};
use crate::support::{Identity, MINUTE, PASSWORD, RegistryFile, Reply, TestHub};

/// How a credential is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Carrier {
    Cookie,
    Bearer,
    Query,
    /// Fields of a form, also to routes that take no form.
    Form,
    /// The headers of a signed request.
    Signature,
}

const CARRIERS: [Carrier; 5] = [Carrier::Cookie, Carrier::Bearer, Carrier::Query, Carrier::Form, Carrier::Signature];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Session,
    AgentKey,
    ManagedKey,
    AccessToken,
    RefreshToken,
    AuthorizationCode,
    Invitation,
    /// Has the shape of one; the hub issues none yet.
    RunToken,
    Signature,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Surface {
    RestRead,
    RestWrite,
    /// A write whose credential is looked up in the command itself.
    RestCommand,
    Mcp,
    Me,
    Sessions,
    Profile,
    Authorize,
    Registration,
    /// The token endpoint, in the field `refresh_token`.
    Refresh,
    /// The token endpoint, in the field `code`.
    Exchange,
    MachineRead,
    MachineWrite,
}

const SURFACES: [Surface; 13] = [
    Surface::RestRead,
    Surface::RestWrite,
    Surface::RestCommand,
    Surface::Mcp,
    Surface::Me,
    Surface::Sessions,
    Surface::Profile,
    Surface::Authorize,
    Surface::Registration,
    Surface::Refresh,
    Surface::Exchange,
    Surface::MachineRead,
    Surface::MachineWrite,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Accepted,
    /// The credential is good, but it may not do this.
    Forbidden,
    /// Like a request without a credential, or with one that never existed.
    Refused,
}

/// The whole rule.
fn expected(kind: Kind, carrier: Carrier, surface: Surface) -> Outcome {
    use Surface::{
        Authorize, Exchange, MachineRead, MachineWrite, Mcp, Me, Profile, Refresh, RestCommand, RestRead, RestWrite,
        Sessions,
    };
    match (kind, carrier, surface) {
        (Kind::Session, Carrier::Cookie, RestRead | RestWrite | RestCommand | Me | Sessions | Profile | Authorize)
        | (Kind::AgentKey | Kind::ManagedKey, Carrier::Bearer, RestRead | RestWrite | RestCommand | Mcp)
        | (Kind::AccessToken, Carrier::Bearer, Mcp)
        | (Kind::RefreshToken, Carrier::Form, Refresh)
        | (Kind::AuthorizationCode, Carrier::Form, Exchange)
        | (Kind::Signature, Carrier::Signature, MachineRead | MachineWrite) => Outcome::Accepted,
        (Kind::AgentKey | Kind::ManagedKey, Carrier::Bearer, Me | Sessions | Profile) => Outcome::Forbidden,
        _ => Outcome::Refused,
    }
}

struct Scene {
    hub: TestHub,
    app: App,
    machine: Identity,
}

impl Scene {
    async fn send(&self, secret: &str, carrier: Carrier, surface: Surface, number: usize) -> Reply {
        let client = match carrier {
            Carrier::Cookie => self.hub.nobody().cookie(&format!("stoa_session={secret}")),
            Carrier::Bearer => self.hub.nobody().bearer(secret),
            Carrier::Query | Carrier::Form | Carrier::Signature => self.hub.nobody(),
        };
        let (method, path, body) = self.request(surface, number);
        if carrier == Carrier::Signature {
            let (content_type, text) = match surface {
                Surface::Refresh | Surface::Exchange => (FORM, Some(self.token_parameters(surface, "").encode())),
                _ => ("application/json", (!body.is_null()).then(|| body.to_string())),
            };
            let headers = [("content-type", content_type)];
            let headers = if text.is_some() { &headers[..] } else { &[] };
            return self.hub.machine(&self.machine).sign(method, &path, headers, text.as_deref()).send().await;
        }
        let path = if carrier == Carrier::Query { with_query(&path, secret) } else { path };
        let call = match (surface, carrier) {
            // Good but for the credential, which is in its field if the carrier is the form.
            (Surface::Refresh | Surface::Exchange, _) => {
                let in_form = if carrier == Carrier::Form { secret } else { "" };
                client.call(method, &path).form(&self.token_parameters(surface, in_form))
            }
            (_, Carrier::Form) => client.call(method, &path).form(&every_field(secret)),
            _ if body.is_null() => client.call(method, &path),
            _ => client.call(method, &path).json(&body),
        };
        call.header("accept", "application/json, text/event-stream").await
    }

    fn request(&self, surface: Surface, number: usize) -> (&'static str, String, Value) {
        let none = Value::Null;
        match surface {
            Surface::RestRead => ("GET", "/api/channels".to_owned(), none),
            Surface::RestWrite => ("POST", "/api/channels".to_owned(), json!({"name": format!("made-{number}")})),
            Surface::RestCommand => {
                ("POST", "/api/messages".to_owned(), json!({"channel": "general", "body": "hello"}))
            }
            Surface::Mcp => ("POST", "/mcp".to_owned(), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
            Surface::Me => ("GET", "/auth/me".to_owned(), none),
            Surface::Sessions => ("GET", "/auth/sessions".to_owned(), none),
            Surface::Profile => ("PUT", "/auth/profile".to_owned(), json!({"display_name": "Ada"})),
            Surface::Authorize => ("GET", format!("/oauth/authorize?{}", self.app.parameters().encode()), none),
            Surface::Registration => ("GET", format!("/oauth/register/{}", self.app.id), none),
            Surface::Refresh | Surface::Exchange => ("POST", "/oauth/token".to_owned(), none),
            Surface::MachineRead => ("GET", "/machine/source-configs".to_owned(), none),
            Surface::MachineWrite => {
                let status = json!({"status": "ok"});
                ("PUT", "/machine/runtime-status/worker".to_owned(), status)
            }
        }
    }

    fn token_parameters(&self, surface: Surface, secret: &str) -> Parameters {
        let parameters = match surface {
            Surface::Refresh => Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", secret)]),
            _ => self.app.exchange_parameters(secret),
        };
        parameters.set("client_id", &self.app.id)
    }
}

/// Every name by which some server takes a credential.
fn every_field(secret: &str) -> Parameters {
    let names = ["access_token", "token", "key", "api_key", "bearer", "stoa_session", "session", "signature"];
    names.iter().fold(Parameters::default(), |parameters, name| parameters.set(name, secret))
}

fn with_query(path: &str, secret: &str) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}{}", every_field(secret).and("refresh_token", secret).and("code", secret).encode())
}

#[track_caller]
fn check(reply: Reply, outcome: Outcome, surface: Surface) {
    match (outcome, surface) {
        (Outcome::Accepted, _) => drop(reply.ok()),
        (Outcome::Forbidden, _) => drop(reply.problem(403, "forbidden")),
        (Outcome::Refused, Surface::Authorize) => {
            // Somebody whom the hub does not know is sent to the login.
            assert!(reply.landing().place.ends_with("/login"));
        }
        (Outcome::Refused, Surface::Refresh | Surface::Exchange) => {
            let error = if reply.code() == 401 { "invalid_client" } else { "invalid_grant" };
            let error = if reply.json()["error"] == "invalid_request" { "invalid_request" } else { error };
            let status = if error == "invalid_client" { 401 } else { 400 };
            reply.oauth_error(status, error);
        }
        (Outcome::Refused, _) => {
            let reply = reply.status(401);
            assert!(reply.header("www-authenticate").is_some(), "{reply:?}");
        }
    }
}

#[tokio::test]
async fn every_credential_works_at_its_own_door_only() {
    let registry = RegistryFile::new();
    let machine = registry.add("svc:sense:demo", &crate::support::ALL_SCOPES);
    let hub = TestHub::setup().registry(&registry).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, managed) = ada.key("scout", json!(["*"])).await;
    let app = hub.app().await;
    let tokens = app.tokens(&ada, "scout").await;
    let code = app.code(&ada, "scout").await;
    let invitation = hub.operator().call("users.invite", json!({})).await["invite"].as_str().unwrap().to_owned();
    // A session that nobody has used yet.
    let login = hub.nobody().post("/auth/login", &json!({"username": "ada", "password": PASSWORD})).await.status(200);
    let session = login.cookie().split_once('=').unwrap().1.to_owned();
    let signed = hub.machine(&machine).sign("GET", "/machine/source-configs", &[], None).value("signature");
    let scene = Scene { hub, app, machine };
    let kinds = [
        (Kind::Session, session),
        (Kind::AgentKey, scout.key.clone()),
        (Kind::ManagedKey, managed),
        (Kind::AccessToken, tokens.access),
        (Kind::RefreshToken, tokens.refresh),
        (Kind::AuthorizationCode, code),
        (Kind::Invitation, invitation.clone()),
        (Kind::RunToken, CredentialKind::RunToken.render([7; 32])),
        (Kind::Signature, signed),
    ];
    let mut number = 0;
    for (kind, secret) in &kinds {
        // First the wrong ways, with a credential that was never used; then the right ones; then the wrong ways again.
        for (round, is_right) in [("cold", false), ("right", true), ("warm", false), ("right again", true)] {
            // What works once has worked.
            let is_spent = matches!(kind, Kind::RefreshToken | Kind::AuthorizationCode);
            if round == "right again" && is_spent {
                continue;
            }
            for carrier in CARRIERS {
                for surface in SURFACES {
                    let outcome = expected(*kind, carrier, surface);
                    let is_of_others = carrier == Carrier::Signature && *kind != Kind::Signature;
                    let has_no_form = carrier == Carrier::Form && scene.request(surface, 0).0 == "GET";
                    if (outcome != Outcome::Refused) != is_right || is_of_others || has_no_form {
                        continue;
                    }
                    number += 1;
                    println!("{kind:?} in {carrier:?} to {surface:?}, {round}");
                    let reply = scene.send(secret, carrier, surface, number).await;
                    check(reply, outcome, surface);
                }
            }
            if *kind == Kind::Invitation && round == "right" {
                let request = json!({"invite": secret, "username": "bob", "password": PASSWORD});
                scene.hub.nobody().post("/auth/register", &request).await.status(201);
            }
        }
    }
    scene.hub.finish().await;
}

/// The hub notes at most once a minute that a credential was used. A try at another door is no use.
#[tokio::test]
async fn a_refused_try_does_not_hide_a_use() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let seen_at = async || ada.get("/api/agents/scout").await.ok().json()["last_seen_at"].clone();
    scout.get("/api/channels").await.ok();
    let before = seen_at().await;
    hub.advance(2 * MINUTE);
    hub.nobody().cookie(&format!("stoa_session={}", scout.key)).get("/api/channels").await.status(401);
    assert_eq!(seen_at().await, before);
    scout.get("/api/channels").await.ok();
    assert_ne!(seen_at().await, before);
    hub.finish().await;
}
