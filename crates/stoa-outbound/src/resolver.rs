//! From the name of a host to its addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::Pending;

/// Finds the addresses of a host. It is asked once for each request, and never for what is an address already.
pub trait Resolver: Send + Sync + 'static {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>>;
}

/// As many questions may be open at once. One may take half a minute when the servers of a domain are silent, longer
/// than anybody waits for it, and blocks a thread for that time, of which the hub has other uses.
const MAX_OPEN_QUESTIONS: usize = 32;

/// The resolver of the operating system, with its `hosts` file and its settings.
#[derive(Clone)]
pub struct SystemResolver {
    turns: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(MAX_OPEN_QUESTIONS)) }
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(io::Error::other)?;
            let host = host.to_owned();
            let asked = tokio::task::spawn_blocking(move || {
                let found =
                    (host.as_str(), 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect());
                drop(turn);
                found
            });
            asked.await.map_err(io::Error::other)?
        })
    }
}
