//! The only HTTP client with which the hub calls addresses that somebody else has chosen: webhooks, client metadata
//! documents, web push. It keeps whoever chooses an address from reaching what the hub can reach and they cannot.
//!
//! A URL is read as browsers read it, so that `http://0x7f.1/` is judged as 127.0.0.1. Its host is resolved once; if any
//! of the answers is forbidden, nothing is connected to; else only to the addresses that were judged, and the peer
//! is compared after connecting. The next request resolves again: no answer of the DNS, no connection and no TLS session
//! is kept. Redirects are not followed, proxies of the environment not asked, answers not decompressed, and reading stops
//! at a number of bytes and at a time; [`Client::open`] is for the answers that have no end, and stops when they fall silent.
//!
//! It is a crate of its own, without anything of the hub, so that all of this can be tried against resolvers and peers
//! that lie. See `docs/adr/0008-outbound-client.md` for why it stands on hyper itself.
//!
//! ```
//! use stoa_outbound::{Client, Limits, Policy, Request};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy { allow: vec!["10.20.0.0/16".parse()?], ..Policy::default() };
//!
//! // When somebody registers a URL, before anything is resolved:
//! assert!(policy.check_url("https://hooks.example:8443/stoa").is_ok());
//! assert!(policy.check_url("https://10.20.30.40/").is_ok());
//! let refused = policy.check_url("https://0x7f.1/").unwrap_err();
//! assert_eq!(refused.code(), "forbidden_address");
//!
//! // When there is something to send:
//! let client = Client::new(policy, Limits::default())?;
//! let request = Request::post("https://hooks.example:8443/stoa", "{}")
//!     .header("content-type".parse()?, "application/json".parse()?);
//! let sending = async {
//!     match client.send(request).await {
//!         Ok(answer) if answer.status.is_success() => println!("{} bytes", answer.body.len()),
//!         Ok(answer) => println!("The server answered {}", answer.status),
//!         Err(error) => println!("{error}"),
//!     }
//! };
//! # drop(sending);
//! # Ok(()) }
//! ```

mod address;
mod client;
mod connector;
mod error;
mod network;
mod policy;
mod request;
mod resolver;
mod streamed;
mod target;
mod trust;

pub use address::is_public;
pub use client::{Client, Parts};
pub use connector::{Connection, Connector, Stream, TcpConnector};
pub use error::{ClientError, ConnectFault, OutboundError, Stage, TlsFault};
pub use network::{BadNetwork, Network};
pub use policy::{Limits, Policy};
pub use request::{Answer, Request};
pub use resolver::{Resolver, SystemResolver};
pub use streamed::{Streamed, StreamedBody};
pub use tokio_rustls::rustls::pki_types::CertificateDer;
pub use trust::Roots;
pub use url::Url;

/// A future behind a trait object, as [`Resolver`] and [`Connector`] return them.
pub type Pending<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The longest URL that is called or accepted.
pub const MAX_URL_BYTES: usize = 4096;
