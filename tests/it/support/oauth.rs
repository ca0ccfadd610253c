//! A program that wants to act for somebody: it registers, sends people to the consent page, and trades what comes
//! back for tokens. It knows of the hub what the standards say, and nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Call, Client, Human, PASSWORD, Proof, Reply, TestHub};

pub(crate) const CALLBACK: &str = "https://app.example/callback";
/// The pair of RFC 7636, appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Comes back as it was, whatever is in it.
pub(crate) const STATE: &str = "a state & more=ä+%20";
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
/// What a token may do when nobody asks for less.
pub(crate) const ALL: &str = "mcp:read mcp:write";

pub(crate) fn challenge_of(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Parameters of a query or a form, in their order. A name may come twice.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(crate) fn new(pairs: &[(&str, &str)]) -> Self {
        pairs.iter().fold(Self::default(), |parameters, (name, value)| parameters.and(name, value))
    }

    /// With this value in place of any other.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// With this value beside any other.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(found, _)| found != name);
        self
    }

    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> String {
        let found = self.0.iter().find(|(found, _)| found == name);
        found.unwrap_or_else(|| panic!("{name} is not in {self:?}")).1.clone()
    }

    pub(crate) fn encode(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish()
    }
}

impl Call {
    pub(crate) fn form(self, parameters: &Parameters) -> Self {
        self.body(FORM, parameters.encode())
    }

    /// As if it came through a proxy from there.
    pub(crate) fn sent_from(self, address: &str) -> Self {
        self.header("x-forwarded-for", address)
    }
}

/// An address that nobody has called from: some endpoints count.
fn fresh_address() -> String {
    static ADDRESSES: AtomicU32 = AtomicU32::new(0);
    let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
    format!("198.18.{}.{}", number / 256 % 256, number % 256)
}

pub(crate) fn registration(http: &Client, metadata: &Value) -> Call {
    http.post("/oauth/register", metadata).sent_from(&fresh_address())
}

#[derive(Clone)]
pub(crate) struct App {
    pub(crate) http: Client,
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    pub(crate) redirect_uri: String,
    /// What the hub said when it was made; null for those that it was not made by.
    pub(crate) registered: Value,
}

impl App {
    /// A public client, as most programs are.
    pub(crate) async fn register(http: &Client) -> Self {
        let metadata =
            json!({"redirect_uris": [CALLBACK], "client_name": "An App", "token_endpoint_auth_method": "none"});
        Self::register_with(http, &metadata).await
    }

    pub(crate) async fn register_with(http: &Client, metadata: &Value) -> Self {
        let registered = registration(http, metadata).await.status(201).json();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            http: http.clone(),
            id: text(&registered["client_id"]).unwrap(),
            secret: text(&registered["client_secret"]),
            redirect_uri: text(&metadata["redirect_uris"][0]).unwrap(),
            registered,
        }
    }

    /// One with a public client's redirect URI, and else the defaults.
    pub(crate) async fn redirecting_to(http: &Client, redirect_uri: &str) -> Self {
        let metadata = json!({"redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"});
        Self::register_with(http, &metadata).await
    }

    /// One that nobody registered: a document of its own says what it is.
    pub(crate) fn known_as(http: &Client, id: &str, redirect_uri: &str) -> Self {
        let (id, redirect_uri) = (id.to_owned(), redirect_uri.to_owned());
        Self { http: http.clone(), id, secret: None, redirect_uri, registered: Value::Null }
    }

    /// One that an owner made for an agent: `{client, client_secret}`.
    pub(crate) fn owned(http: &Client, created: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        Self {
            http: http.clone(),
            id: text(&created["client"]["client_id"]),
            secret: Some(text(&created["client_secret"])),
            redirect_uri: String::new(),
            registered: created.clone(),
        }
    }

    /// The same after the hub has moved.
    pub(crate) fn at(&self, hub: &TestHub) -> Self {
        Self { http: hub.nobody(), ..self.clone() }
    }

    /// The same with another redirect URI.
    pub(crate) fn using(&self, redirect_uri: &str) -> Self {
        Self { redirect_uri: redirect_uri.to_owned(), ..self.clone() }
    }

    /// What a good request for a code says.
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::new(&[
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", &self.redirect_uri),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", STATE),
        ])
    }

    /// The page, as this person sees it.
    pub(crate) async fn consent(&self, person: &Client) -> Consent {
        Consent::of(authorize(person, &self.parameters()).await)
    }

    pub(crate) async fn code(&self, person: &Client, agent: &str) -> String {
        self.consent(person).await.approve(person, agent).await.landing().get("code")
    }

    pub(crate) async fn tokens(&self, person: &Client, agent: &str) -> Tokens {
        let code = self.code(person, agent).await;
        self.exchange(&code).await.tokens()
    }

    /// A call of the token endpoint, and of those that know clients in the same way.
    pub(crate) fn call(&self, path: &str, parameters: Parameters) -> Call {
        let call = self.http.call("POST", path);
        match &self.secret {
            Some(secret) => call.header("authorization", basic(&self.id, secret)).form(&parameters),
            None => call.form(&parameters.set("client_id", &self.id)),
        }
    }

    pub(crate) fn token(&self, parameters: Parameters) -> Call {
        self.call("/oauth/token", parameters)
    }

    pub(crate) fn exchange_parameters(&self, code: &str) -> Parameters {
        Parameters::new(&[
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("code_verifier", VERIFIER),
        ])
    }

    pub(crate) fn exchange(&self, code: &str) -> Call {
        self.token(self.exchange_parameters(code))
    }

    pub(crate) fn refresh(&self, refresh_token: &str) -> Call {
        self.token(Parameters::new(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]))
    }

    /// Asks for a token for the agent that it is bound to.
    pub(crate) fn ask_for_own(&self) -> Call {
        self.token(Parameters::new(&[("grant_type", "client_credentials")]))
    }

    pub(crate) async fn own_token(&self) -> String {
        self.ask_for_own().await.status(200).json()["access_token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn revoke(&self, token: &str) -> Call {
        self.call("/oauth/revoke", Parameters::new(&[("token", token)]))
    }

    pub(crate) async fn introspect(&self, token: &str) -> Value {
        self.call("/oauth/introspect", Parameters::new(&[("token", token)])).await.status(200).json()
    }

    /// Whether the hub says that a token works. One that does not is told of in one way only.
    pub(crate) async fn is_active(&self, token: &str) -> bool {
        let said = self.introspect(token).await;
        let is_active = said["active"].as_bool().unwrap();
        assert!(is_active || said == json!({"active": false}), "{said}");
        is_active
    }
}

pub(crate) fn authorize(person: &Client, parameters: &Parameters) -> Call {
    person.get(&format!("/oauth/authorize?{}", parameters.encode())).sent_from(&fresh_address())
}

pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")))
}

/// What the token endpoint gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: String,
    pub(crate) scope: String,
    pub(crate) expires_in: u64,
}

/// Where a person is sent with an answer for a client.
#[derive(Debug)]
pub(crate) struct Landing {
    /// Without its query.
    pub(crate) place: String,
    pub(crate) location: String,
    parameters: BTreeMap<String, String>,
}

impl Landing {
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> String {
        self.find(name).unwrap_or_else(|| panic!("{name} is missing: {self:?}"))
    }

    pub(crate) fn find(&self, name: &str) -> Option<String> {
        self.parameters.get(name).cloned()
    }

    /// Sent back without a code, for this reason.
    #[track_caller]
    pub(crate) fn error(self, error: &str) -> Self {
        assert_eq!(self.find("error").as_deref(), Some(error), "{self:?}");
        assert_eq!(self.find("code"), None, "{self:?}");
        assert!(self.find("iss").is_some(), "{self:?}");
        self
    }
}

impl Reply {
    /// A refusal in the shape of RFC 6749.
    #[track_caller]
    pub(crate) fn oauth_error(self, status: u16, error: &str) -> Self {
        assert_eq!(self.code(), status, "{self:?}");
        assert!(self.header("content-type").is_some_and(|kind| kind.starts_with("application/json")), "{self:?}");
        assert_eq!(self.json()["error"], error, "{self:?}");
        assert!(self.json()["error_description"].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
        assert_eq!(self.header("cache-control"), Some("no-store"), "{self:?}");
        self
    }

    /// A page for a person, who is not sent anywhere.
    #[track_caller]
    pub(crate) fn page(self, status: u16) -> Self {
        assert_eq!(self.code(), status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("text/html; charset=utf-8"), "{self:?}");
        assert_eq!(self.header("location"), None, "{self:?}");
        let policy = self.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{self:?}");
        assert!(!self.text().contains("<script"), "{self:?}");
        assert!(self.header("cache-control").is_some_and(|value| value.contains("no-store")), "{self:?}");
        self
    }

    /// A person is sent back to the client. Anything but 303 would repeat their form there.
    #[track_caller]
    pub(crate) fn landing(self) -> Landing {
        assert_eq!(self.code(), 303, "{self:?}");
        let location = self.header("location").unwrap_or_else(|| panic!("no location: {self:?}")).to_owned();
        let (place, query) = location.split_once('?').unwrap_or((&location, ""));
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let parameters: BTreeMap<_, _> = pairs.iter().cloned().collect();
        assert_eq!(parameters.len(), pairs.len(), "a parameter comes twice: {location}");
        Landing { place: place.to_owned(), parameters, location }
    }

    #[track_caller]
    pub(crate) fn tokens(self) -> Tokens {
        let reply = self.status(200);
        let said = reply.json();
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply:?}");
        assert_eq!(said["token_type"], "Bearer", "{reply:?}");
        let secret = |name: &str, prefix: &str| {
            let text = said[name].as_str().unwrap_or_else(|| panic!("{name} is missing: {said}"));
            assert!(text.starts_with(prefix) && text.len() == prefix.len() + 49, "{said}");
            text.to_owned()
        };
        Tokens {
            access: secret("access_token", "stoa_at_"),
            refresh: secret("refresh_token", "stoa_rt_"),
            expires_in: said["expires_in"].as_u64().unwrap_or_else(|| panic!("no expires_in: {said}")),
            scope: said["scope"].as_str().unwrap_or_else(|| panic!("the scope is missing: {said}")).to_owned(),
        }
    }
}

/// The page on which a person decides.
pub(crate) struct Consent {
    pub(crate) page: Reply,
    /// What goes back as it came.
    pub(crate) hidden: Parameters,
    /// What the client could act as.
    pub(crate) agents: Vec<String>,
    decisions: Vec<String>,
}

impl Consent {
    #[track_caller]
    pub(crate) fn of(reply: Reply) -> Self {
        let page = reply.page(200);
        let form = forms(&page.text()).into_iter().find(|form| form.values("agent").next().is_some());
        let form = form.unwrap_or_else(|| panic!("no form asks which agent: {page:?}"));
        assert_eq!((form.action.as_str(), form.method.as_str()), ("/oauth/authorize/decision", "post"), "{page:?}");
        let decisions = form.values("decision").collect();
        let agents = form.values("agent").collect();
        let hidden = form.fields.iter().filter(|field| field.kind == "hidden");
        let hidden = hidden.fold(Parameters::default(), |hidden, field| hidden.and(&field.name, &field.value));
        Self { page, hidden, agents, decisions }
    }

    pub(crate) fn request_id(&self) -> String {
        self.hidden.get("request_id")
    }

    /// What the browser sends when the person has chosen.
    pub(crate) fn choice(&self, agent: &str, decision: &str) -> Parameters {
        assert!(self.decisions.iter().any(|offered| offered == decision), "{decision} is not in {:?}", self.decisions);
        self.hidden.clone().and("agent", agent).and("decision", decision)
    }

    pub(crate) fn approve(&self, person: &Client, agent: &str) -> Call {
        decide(person, &self.choice(agent, "approve"))
    }

    pub(crate) fn deny(&self, person: &Client) -> Call {
        decide(person, &self.choice("self", "deny"))
    }
}

pub(crate) fn decide(person: &Client, parameters: &Parameters) -> Call {
    person.call("POST", "/oauth/authorize/decision").form(parameters)
}

/// Where the page of a request that was begun before is.
pub(crate) fn consent_path(request_id: &str) -> String {
    format!("/oauth/authorize?{}", Parameters::new(&[("request_id", request_id)]).encode())
}

/// Logs in at the page that a person without a session was sent to.
pub(crate) async fn log_in_at(hub: &TestHub, location: &str, username: &str) -> Reply {
    let page = hub.nobody().get(location).await.status(200);
    let form = forms(&page.text()).into_iter().find(|form| form.action == "/login").unwrap();
    let next = form.values("next").next().unwrap();
    let fields = Parameters::new(&[("username", username), ("password", PASSWORD), ("next", &next)]);
    hub.nobody().call("POST", "/login").form(&fields).await.status(303)
}

#[derive(Default, Debug)]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) method: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) value: String,
}

impl Form {
    /// The values that a field of this name can have.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = String> {
        self.fields.iter().filter(move |field| field.name == name).map(|field| field.value.clone())
    }
}

/// The forms of a page, with all that has a name in them.
pub(crate) fn forms(html: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for tag in html.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let (name, rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        let attributes = attributes(rest);
        let get = |name: &str| attributes.get(name).cloned().unwrap_or_default();
        match name {
            "form" => forms.push(Form { action: get("action"), method: get("method").to_lowercase(), fields: vec![] }),
            "input" | "button" => {
                if let (Some(form), Some(name)) = (forms.last_mut(), attributes.get("name")) {
                    form.fields.push(Field { name: name.clone(), kind: get("type"), value: get("value") });
                }
            }
            _ => {}
        }
    }
    forms
}

fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    let mut rest = tag;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else { break };
        let name = name.split_whitespace().last().unwrap_or_default();
        attributes.insert(name.to_owned(), unescaped(value));
        rest = after;
    }
    attributes
}

/// Text as it was before it was put into a page.
pub(crate) fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let entity = after.split(';').next().unwrap_or_default();
        let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
        let character = match entity {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            _ => match (entity.strip_prefix("#x"), entity.strip_prefix('#')) {
                (Some(digits), _) => number(digits, 16),
                (_, Some(digits)) => number(digits, 10),
                _ => None,
            },
        };
        plain.push(character.unwrap_or('&'));
        rest = if character.is_some() { &after[entity.len() + 1..] } else { after };
    }
    plain + rest
}

impl TestHub {
    pub(crate) async fn app(&self) -> App {
        App::register(&self.nobody()).await
    }

    /// A client that may ask about everybody's tokens.
    pub(crate) async fn inspector(&self) -> App {
        let owner = self.human("inspector").await;
        owner.agent("inspectors-agent").await;
        let client = json!({"name": "Inspector", "agent": "inspectors-agent"});
        let params = json!({"owner": "inspector", "client": client, "introspects_all": true});
        App::owned(&self.nobody(), &self.operator().call("oauth.clients.create", params).await)
    }

    /// The same caller, after the hub has moved.
    pub(crate) fn found_by(&self, caller: &Client) -> Client {
        self.nobody().with(caller.proof.clone())
    }
}

impl Human {
    /// A client of this person's, bound to their agent.
    pub(crate) async fn owned_app(&self, agent: &str) -> App {
        let request = json!({"name": "A Daemon", "agent": agent});
        let created = self.post("/api/oauth/clients", &request).await.status(201).json();
        App::owned(&self.client.with(Proof::Nothing), &created)
    }

    pub(crate) async fn grants(&self) -> Vec<Value> {
        self.list("/api/oauth/grants").await
    }
}
