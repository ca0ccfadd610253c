//! Who a client is, and whether it is the one it says.

use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stoa_model::Secret;

use super::client_store::{self, Client};
use super::failure::{Failure, Refusal};
use super::parameters::Parameters;
use crate::access::Call;
use crate::access::auth_log::{self, AuthEvent};
use crate::access::password_line::Caller;
use crate::hub::Hub;

const BASIC: &str = r#"Basic realm="stoa", charset="UTF-8""#;

/// What a client says about who it is.
struct Claim {
    client_id: String,
    secret: Option<Secret>,
    is_basic: bool,
}

impl Claim {
    fn read(headers: &HeaderMap, parameters: &Parameters) -> Result<Self, Refusal> {
        let in_body = parameters.one("client_id")?;
        let secret_in_body = parameters.one("client_secret")?;
        match basic(headers)? {
            Some(_) if secret_in_body.is_some() => {
                Err(Refusal::invalid_request("Use only one client authentication method."))
            }
            Some((client_id, _)) if in_body.is_some_and(|other| other != client_id) => {
                Err(Refusal::invalid_request("The client_id in the body differs from the Authorization header."))
            }
            Some((client_id, secret)) => Ok(Self { client_id, secret: Some(secret), is_basic: true }),
            None => {
                let Some(client_id) = in_body else {
                    let words = "Client authentication is missing: send client_id, or an Authorization header.";
                    return Err(Refusal::invalid_client(words, Some(BASIC)));
                };
                let secret = secret_in_body.map(Secret::new);
                Ok(Self { client_id: client_id.to_owned(), secret, is_basic: false })
            }
        }
    }
}

/// Name and secret of an `Authorization: Basic` header. Both are form-encoded before they are joined (RFC 6749 §2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, Secret)>, Refusal> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let read = || {
        let (scheme, encoded) = value.to_str().ok()?.split_once(' ')?;
        let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(encoded.trim()).ok())??;
        let text = String::from_utf8(decoded).ok().filter(|text| !text.contains('\0'))?;
        let (client_id, secret) = text.split_once(':')?;
        Some((form_decoded(client_id)?, Secret::new(form_decoded(secret)?)))
    };
    let words = "The Authorization header is not `Basic` with the client's id and secret.";
    read().map(Some).ok_or_else(|| Refusal::invalid_client(words, Some(BASIC)))
}

fn form_decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned()).filter(|decoded| !decoded.contains('\0'))
}

/// The client that asks, if it is the one it says. Public ones can only say so.
pub(super) async fn authenticate(
    hub: &Hub,
    call: &Call,
    headers: &HeaderMap,
    parameters: &Parameters,
) -> Result<Client, Failure> {
    let claim = Claim::read(headers, parameters)?;
    let challenge = claim.is_basic.then_some(BASIC);
    let refused = || Refusal::invalid_client("Unknown client or wrong secret.", challenge);
    let name = claim.client_id.clone();
    let client = hub.read_urgent(move |tx| client_store::find_standing_client(tx, &name)).await?.ok_or_else(refused)?;
    match (&client.secret_hash, &claim.secret) {
        (None, None) => Ok(client),
        (Some(hash), Some(secret)) => {
            hub.limits().take_client_secret(client.id, call.client_ip, hub.clock().now_ms())?;
            let is_right =
                hub.client_secrets().verify(Caller::Client(call.client_ip), secret, Some(hash.clone())).await;
            if !matches!(is_right, Ok(false)) {
                hub.limits().refund_client_secret(client.id, call.client_ip);
            }
            if is_right? {
                return Ok(client);
            }
            let detail = format!("OAuth client {}: wrong secret", client.client_id);
            auth_log::record(AuthEvent::LoginFailure, call, None, None, Some(&detail));
            Err(refused().into())
        }
        (Some(_), None) => Err(Refusal::invalid_client("This client must send its secret.", challenge).into()),
        (None, Some(_)) => {
            Err(Refusal::invalid_client("This is a public client. Do not send a secret.", challenge).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(authorization: Option<&str>, body: &str) -> Result<(String, Option<String>), &'static str> {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        let parameters = Parameters::parse(body.as_bytes()).unwrap();
        let claim = Claim::read(&headers, &parameters).map_err(|refusal| refusal.error)?;
        Ok((claim.client_id, claim.secret.map(|secret| secret.expose().to_owned())))
    }

    fn basic_of(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn a_client_says_who_it_is_in_one_way() {
        assert_eq!(claim(None, "client_id=a"), Ok(("a".to_owned(), None)));
        assert_eq!(claim(None, "client_id=a&client_secret=s"), Ok(("a".to_owned(), Some("s".to_owned()))));
        assert_eq!(claim(Some(&basic_of("a%3Ab:s%2Bt+u")), ""), Ok(("a:b".to_owned(), Some("s+t u".to_owned()))));
        assert_eq!(claim(Some(&basic_of("a:s")), "client_id=a"), Ok(("a".to_owned(), Some("s".to_owned()))));
        assert_eq!(claim(None, ""), Err("invalid_client"));
        assert_eq!(claim(Some("Bearer x"), "client_id=a"), Err("invalid_client"));
        assert_eq!(claim(Some(&basic_of("no colon")), ""), Err("invalid_client"));
        assert_eq!(claim(Some(&basic_of("a:%00")), ""), Err("invalid_client"));
        assert_eq!(claim(Some(&basic_of("a:s")), "client_id=b"), Err("invalid_request"));
        assert_eq!(claim(Some(&basic_of("a:s")), "client_secret=s"), Err("invalid_request"));
        assert_eq!(claim(None, "client_id=a&client_id=a"), Err("invalid_request"));
    }
}
