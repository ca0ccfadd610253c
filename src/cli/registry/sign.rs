//! `stoa registry sign`: the headers of one signed request, for trying things out and for scripts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::clock::Clock;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Method, Uri};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use serde_json::{Map, Value, json};
use stoa_registry::Audience;
use stoa_signature::{MAX_LIFETIME_SECONDS, Request, Signer, TAG_PREFIX, authority_of};

use super::entry::{parse_kid, parse_principal_id};
use super::{Failure, Output, fill, key_file};

pub(super) const EXAMPLE: &str = "\
Example:
  stoa registry sign --key demo.pem --principal svc:sense:demo --kid key-2026-01 \\
    --audience svc-brain --url http://127.0.0.1:8080/machine/events --body event.json > headers
  curl -H @headers --data-binary @event.json http://127.0.0.1:8080/machine/events

The body must be sent byte for byte: with --data-binary, as --data takes the line breaks out.
Each signature is valid for one request.";

#[derive(Args)]
pub(super) struct SignArguments {
    /// Private key of the principal (PKCS #8, PEM), as `stoa registry keygen` or OpenSSL make it; nobody else may read it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The principal, for example svc:sense:demo
    #[arg(long, value_name = "PRINCIPAL_ID", value_parser = parse_principal_id)]
    principal: String,

    /// Which of its keys this is
    #[arg(long, value_parser = parse_kid)]
    kid: String,

    /// What the hub is, its STOA_AUDIENCE: svc-sense, svc-brain or svc-bell
    #[arg(long)]
    audience: Audience,

    /// Method of the request [default: POST with a body, else GET]
    #[arg(long, value_parser = parse_method)]
    method: Option<Method>,

    /// Address of the request, starting with the hub's public address
    #[arg(long)]
    url: String,

    /// File with the body of the request; - reads it from standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// What the body is
    #[arg(long, value_name = "TYPE", default_value = "application/cloudevents+json", value_parser = parse_content_type)]
    content_type: HeaderValue,

    /// How long the signature is valid, in seconds, at most 300
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = parse_lifetime)]
    lifetime: i64,

    /// What makes the signature unique: 22 to 64 characters of the base64url alphabet [default: random]
    #[arg(long)]
    nonce: Option<String>,

    /// When it was signed, in seconds of Unix time [default: now]
    #[arg(long, value_name = "SECONDS")]
    created: Option<i64>,
}

/// Methods know upper and lower case, and people type `put`.
fn parse_method(text: &str) -> Result<Method, String> {
    text.to_ascii_uppercase().parse().map_err(|_| "must be an HTTP method such as PUT".to_owned())
}

fn parse_content_type(text: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(text).ok().filter(|_| !text.trim().is_empty());
    value.ok_or_else(|| "must be a type such as application/json".to_owned())
}

fn parse_lifetime(text: &str) -> Result<i64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=MAX_LIFETIME_SECONDS).contains(seconds));
    seconds.ok_or_else(|| format!("must be 1 to {MAX_LIFETIME_SECONDS} seconds"))
}

impl SignArguments {
    pub(super) fn run(self, output: &Output) -> Result<ExitCode, Failure> {
        let key = key_file::read_private_key(&self.key)
            .map_err(|reason| Failure::Other(format!("the private key {}: {reason}", self.key.display())))?;
        let key_id = format!("{}/{}", self.principal, self.kid);
        let signer = Signer::new(key, &key_id, &format!("{TAG_PREFIX}{}", self.audience.name())).map_err(usage)?;

        let refused = || Failure::Usage(format!("--url {}: this is no http or https address to be signed", self.url));
        let authority = authority_of(&self.url).ok_or_else(refused)?;
        let uri = self.url.parse::<Uri>().map_err(|_| refused())?;
        let body = self.body.as_deref().map(read_body).transpose()?;
        let method = self.method.unwrap_or(if body.is_some() { Method::POST } else { Method::GET });

        let mut headers = HeaderMap::new();
        if body.is_some() || [Method::POST, Method::PUT, Method::PATCH].contains(&method) {
            headers.insert(CONTENT_TYPE, self.content_type);
        }
        let request = Request {
            method: method.as_str(),
            scheme: uri.scheme_str().unwrap_or_default(),
            authority: &authority,
            path: uri.path(),
            query: uri.query(),
            headers: &headers,
        };
        let created = self.created.unwrap_or_else(|| Clock::system().now_ms().div_euclid(1000));
        let nonce = self.nonce.map_or_else(random_nonce, Ok)?;
        let added = signer.sign(&request, body.as_deref(), created, self.lifetime, &nonce).map_err(usage)?;
        headers.extend(added);

        // In the order and the spelling in which people read them.
        let names = ["Content-Type", "Content-Digest", "Signature-Input", "Signature"];
        let printed = |name: &'static str| Some((name, headers.get(name)?.to_str().ok()?.to_owned()));
        let headers: Vec<_> = names.into_iter().filter_map(printed).collect();
        let by_name: Map<_, _> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str()))).collect();
        let result = json!({"method": method.as_str(), "url": self.url, "headers": by_name});
        output.result(&result, |_| headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn usage(error: stoa_signature::SigningError) -> Failure {
    Failure::Usage(error.to_string())
}

fn read_body(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut body)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut body))
    };
    read.map_err(|error| Failure::Other(format!("the body {}: {error}", path.display())))?;
    Ok(body)
}

fn random_nonce() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
