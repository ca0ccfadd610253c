//! What a signature covers, and the text that is signed (RFC 9421, section 2).

use std::ops::Range;

use http::HeaderMap;
use http::header::HeaderName;

use crate::error::short;
use crate::fields::{Bare, InnerList, Item, write_parameters};
use crate::{Request, SignatureError};

/// The covered components and parameters of one signature.
#[derive(Debug, Clone)]
pub(crate) struct Covered {
    /// The value of `@signature-params`.
    text: String,
    components: Vec<Component>,
}

#[derive(Debug, Clone)]
struct Component {
    /// Its identifier, in the text above.
    identifier: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Method,
    Authority,
    Scheme,
    TargetUri,
    RequestTarget,
    Path,
    Query,
    Field(HeaderName),
}

impl Covered {
    pub(crate) fn new(list: &InnerList<'_>) -> Result<Self, SignatureError> {
        let mut covered =
            Covered { text: String::with_capacity(384), components: Vec::with_capacity(list.items.len()) };
        covered.text.push('(');
        for item in &list.items {
            if !covered.components.is_empty() {
                covered.text.push(' ');
            }
            let kind = Kind::of(item)?;
            if covered.components.iter().any(|known| known.kind == kind) {
                return Err(SignatureError::malformed("The signature covers a component twice."));
            }
            let start = covered.text.len();
            item.write_to(&mut covered.text);
            covered.components.push(Component { identifier: start..covered.text.len(), kind });
        }
        covered.text.push(')');
        write_parameters(&list.parameters, &mut covered.text);
        Ok(covered)
    }

    /// The value of `@signature-params`, which is also the entry in Signature-Input.
    pub(crate) fn parameters(&self) -> &str {
        &self.text
    }

    pub(crate) fn has(&self, kind: &Kind) -> bool {
        self.components.iter().any(|component| component.kind == *kind)
    }

    /// Every covered header must be there.
    pub(crate) fn check_presence(&self, headers: &HeaderMap) -> Result<(), SignatureError> {
        for component in &self.components {
            if let Kind::Field(name) = &component.kind
                && !headers.contains_key(name)
            {
                return Err(absent(name));
            }
        }
        Ok(())
    }

    /// The text that is signed: a line for each component, then the parameters.
    pub(crate) fn base(&self, request: &Request<'_>) -> Result<String, SignatureError> {
        let mut base = String::with_capacity(2 * self.text.len() + 256);
        for component in &self.components {
            base.push_str(self.text.get(component.identifier.clone()).unwrap_or_default());
            base.push_str(": ");
            component.kind.write_to(request, &mut base)?;
            base.push('\n');
        }
        base.push_str("\"@signature-params\": ");
        base.push_str(&self.text);
        Ok(base)
    }
}

impl Kind {
    fn of(item: &Item<'_>) -> Result<Self, SignatureError> {
        let Bare::String(name) = item.value else {
            return Err(SignatureError::malformed("The covered components must be strings in double quotes."));
        };
        // With @query always covered it would add nothing, and looking for many of them in a long query is work that
        // anybody could ask for.
        if name == "@query-param" {
            return Err(SignatureError::malformed("@query-param is not supported: cover @query."));
        }
        // Ignoring one that is not understood would be to check another text than was signed.
        if let Some((parameter, _)) = item.parameters.first() {
            return Err(SignatureError::malformed(format!(
                "The covered component {} has the parameter {}, which is not supported.",
                short(name),
                short(parameter)
            )));
        }
        Ok(match name {
            "@method" => Kind::Method,
            "@authority" => Kind::Authority,
            "@scheme" => Kind::Scheme,
            "@target-uri" => Kind::TargetUri,
            "@request-target" => Kind::RequestTarget,
            "@path" => Kind::Path,
            "@query" => Kind::Query,
            _ if name.starts_with('@') => {
                return Err(SignatureError::malformed(format!(
                    "The component {} cannot be covered in a request.",
                    short(name)
                )));
            }
            _ => match HeaderName::from_lowercase(name.as_bytes()) {
                Ok(header) => Kind::Field(header),
                Err(_) => {
                    return Err(SignatureError::malformed(format!(
                        "The covered component {} is not the name of a header in lower case.",
                        short(name)
                    )));
                }
            },
        })
    }

    fn write_to(&self, request: &Request<'_>, base: &mut String) -> Result<(), SignatureError> {
        match self {
            Kind::Method => request.write_method(base),
            Kind::Authority => request.write_authority(base),
            Kind::Scheme => request.write_scheme(base),
            Kind::TargetUri => {
                request.write_scheme(base)?;
                base.push_str("://");
                request.write_authority(base)?;
                request.write_target(base)
            }
            Kind::RequestTarget => request.write_target(base),
            Kind::Path => request.write_path(base),
            Kind::Query => request.write_query(base),
            Kind::Field(name) => write_field(request.headers, name, base),
        }
    }
}

/// All lines of a header, each without blanks around it, joined by a comma and a space.
fn write_field(headers: &HeaderMap, name: &HeaderName, base: &mut String) -> Result<(), SignatureError> {
    let mut is_present = false;
    for line in headers.get_all(name) {
        let Ok(text) = line.to_str() else {
            return Err(SignatureError::malformed(format!(
                "The covered header {} has characters that are not ASCII.",
                short(name.as_str())
            )));
        };
        if is_present {
            base.push_str(", ");
        }
        is_present = true;
        base.push_str(text.trim_matches([' ', '\t']));
    }
    if is_present { Ok(()) } else { Err(absent(name)) }
}

fn absent(name: &HeaderName) -> SignatureError {
    SignatureError::incomplete(format!(
        "The signature covers the header {}, which the request does not have.",
        short(name.as_str())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Member, parse_dictionary};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
    use http::HeaderValue;

    fn covered(input: &str) -> Result<Covered, SignatureError> {
        let parsed = parse_dictionary(input).unwrap();
        match &parsed[0].1 {
            Member::InnerList(list) => Covered::new(list),
            Member::Item(_) => panic!("{input} is no list"),
        }
    }

    /// The request of RFC 9421, appendix B.2.
    fn example(headers: &HeaderMap) -> Request<'_> {
        Request {
            method: "POST",
            scheme: "https",
            authority: "example.com",
            path: "/foo",
            query: Some("param=Value&Pet=dog"),
            headers,
        }
    }

    fn example_headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "example.com"),
            ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
            ("content-type", "application/json"),
            ("content-length", "18"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
    }

    /// RFC 9421, appendix B.2.6: the key `test-key-ed25519`.
    #[test]
    fn the_ed25519_example_of_the_rfc_comes_out_the_same() {
        let headers = example_headers();
        let base = covered(
            r#"sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#,
        )
        .unwrap()
        .base(&example(&headers))
        .unwrap();
        assert_eq!(
            base,
            r#""date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#
        );

        let signature = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==";
        let secret: [u8; 32] =
            STANDARD.decode("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU=").unwrap().try_into().unwrap();
        let public: [u8; 32] =
            STANDARD.decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=").unwrap().try_into().unwrap();
        assert_eq!(STANDARD.encode(SigningKey::from_bytes(&secret).sign(base.as_bytes()).to_bytes()), signature);
        let signature = Signature::from_slice(&STANDARD.decode(signature).unwrap()).unwrap();
        VerifyingKey::from_bytes(&public).unwrap().verify_strict(base.as_bytes(), &signature).unwrap();
    }

    #[test]
    fn every_component_has_its_value() {
        let headers = example_headers();
        let request = example(&headers);
        let empty = Request { query: Some(""), ..request };
        let bare = Request { path: "", query: None, authority: "EXAMPLE.com:443", scheme: "HTTPS", ..request };
        let port = Request { authority: "example.com:80", ..bare };
        let plain = Request { scheme: "http", ..port };
        for (component, request, value) in [
            ("@method", request, "POST"),
            ("@authority", request, "example.com"),
            ("@authority", bare, "example.com"),
            ("@authority", port, "example.com:80"),
            ("@authority", plain, "example.com"),
            ("@scheme", request, "https"),
            ("@scheme", bare, "https"),
            ("@target-uri", request, "https://example.com/foo?param=Value&Pet=dog"),
            ("@target-uri", bare, "https://example.com/"),
            ("@request-target", request, "/foo?param=Value&Pet=dog"),
            ("@request-target", empty, "/foo?"),
            ("@request-target", bare, "/"),
            ("@path", request, "/foo"),
            ("@path", bare, "/"),
            ("@query", request, "?param=Value&Pet=dog"),
            ("@query", empty, "?"),
            ("@query", bare, "?"),
        ] {
            let base = covered(&format!("a=(\"{component}\")")).unwrap().base(&request).unwrap();
            assert_eq!(base, format!("\"{component}\": {value}\n\"@signature-params\": (\"{component}\")"));
        }
    }

    /// RFC 9421, section 2.1, and its examples.
    #[test]
    fn lines_of_a_header_are_trimmed_and_joined() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cache-control", "max-age=60"),
            ("cache-control", "\t  must-revalidate "),
            ("x-empty", ""),
            ("x-obs", "  a  b\tc  "),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let base = covered(r#"a=("cache-control" "x-empty" "x-obs")"#).unwrap().base(&example(&headers)).unwrap();
        assert_eq!(
            base,
            "\"cache-control\": max-age=60, must-revalidate\n\"x-empty\": \n\"x-obs\": a  b\tc\n\
             \"@signature-params\": (\"cache-control\" \"x-empty\" \"x-obs\")"
        );
    }

    #[test]
    fn nothing_can_break_a_line() {
        let mut headers = HeaderMap::new();
        headers.insert("x-latin", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        let request = example(&headers);
        for (component, request) in [
            ("@method", Request { method: "GET\n\"@path\": /", ..request }),
            ("@authority", Request { authority: "a\nb", ..request }),
            ("@scheme", Request { scheme: "a b", ..request }),
            ("@path", Request { path: "/a\nb", ..request }),
            ("@path", Request { path: "/é", ..request }),
            ("@query", Request { query: Some("a b"), ..request }),
            ("x-latin", request),
        ] {
            let refused = covered(&format!("a=(\"{component}\")")).unwrap().base(&request);
            assert!(matches!(refused, Err(SignatureError::Malformed(_))), "{component}: {refused:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_covered() {
        for (input, named) in [
            (r#"a=("@signature-params")"#, "@signature-params"),
            (r#"a=("@status")"#, "@status"),
            (r#"a=("@methods")"#, "@methods"),
            (r#"a=("@query-param";name="a")"#, "@query-param"),
            (r#"a=("@method";req)"#, "req"),
            (r#"a=("content-type";sf)"#, "sf"),
            (r#"a=("content-type";key="a")"#, "key"),
            (r#"a=("content-type";bs)"#, "bs"),
            (r#"a=("content-type";tr)"#, "tr"),
            (r#"a=("content-type";unknown=1)"#, "unknown"),
            (r#"a=("Content-Type")"#, "Content-Type"),
            (r#"a=("content type")"#, "content type"),
            (r#"a=("")"#, "lower case"),
            (r#"a=("a\"b")"#, "lower case"),
            (r#"a=(content-type)"#, "strings"),
            (r#"a=(1)"#, "strings"),
            (r#"a=("@method" "@path" "@method")"#, "twice"),
            (r#"a=("date" "date")"#, "twice"),
        ] {
            match covered(input) {
                Err(SignatureError::Malformed(sentence)) => assert!(sentence.contains(named), "{input}: {sentence}"),
                other => panic!("{input}: {other:?}"),
            }
        }
    }
}
