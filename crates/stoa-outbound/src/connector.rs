//! From an address to a stream of bytes.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::Pending;

/// Connects to an address that was found to be permitted.
pub trait Connector: Send + Sync + 'static {
    fn connect(&self, address: SocketAddr) -> Pending<'_, io::Result<Connection>>;
}

/// Bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

pub struct Connection {
    pub stream: Box<dyn Stream>,
    /// Whom the stream is connected to, as the operating system says.
    pub peer: SocketAddr,
}

/// TCP, straight to the address.
#[derive(Debug, Clone, Copy, Default)]
pub struct TcpConnector;

impl Connector for TcpConnector {
    fn connect(&self, address: SocketAddr) -> Pending<'_, io::Result<Connection>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let peer = stream.peer_addr()?;
            Ok(Connection { stream: Box::new(stream), peer })
        })
    }
}
