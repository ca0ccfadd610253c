//! A cable between a hub and PostgreSQL, which a test can cut or freeze.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Stands between a hub and the server and can cut the line.
pub(crate) struct Cable {
    address: SocketAddr,
    state: Arc<CableState>,
}

#[derive(Default)]
struct CableState {
    is_cut: AtomicBool,
    is_gone: AtomicBool,
    /// Swallow the server's answer to the next commit, and hang up instead.
    loses_commit_answer: AtomicBool,
    lines: Mutex<Vec<TcpStream>>,
    /// While it is, nothing is carried and nobody hangs up: so it looks when the server is frozen.
    is_frozen: Mutex<bool>,
    thaw: Condvar,
}

impl Cable {
    /// To the server of an address, and the address that leads through the cable.
    pub(crate) fn to(url: &str) -> (Self, String) {
        use ::postgres::config::Host;
        let config: ::postgres::Config = url.parse().unwrap();
        let [Host::Tcp(host)] = config.get_hosts() else { panic!("the test server must be reached over TCP") };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let server = (host.as_str(), port).to_socket_addrs().unwrap().next().unwrap();
        let cable = Self::lay(server);
        let password = config.get_password().map(|word| format!(":{}", String::from_utf8_lossy(word)));
        let url = format!(
            "postgres://{}{}@{}/{}",
            config.get_user().unwrap(),
            password.unwrap_or_default(),
            cable.address,
            config.get_dbname().unwrap()
        );
        (cable, url)
    }

    /// Has the server's answer to the next commit lost.
    pub(crate) fn lose_commit_answer(&self) {
        self.state.loses_commit_answer.store(true, Ordering::SeqCst);
    }

    fn lay(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<CableState>::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_gone.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(client) = client
                    && let Ok(server) = TcpStream::connect(server)
                {
                    shared.connect(client, server);
                }
            }
        });
        Self { address, state }
    }

    pub(crate) fn cut(&self) {
        let mut lines = self.state.lines.lock().unwrap();
        self.state.is_cut.store(true, Ordering::SeqCst);
        for line in lines.drain(..) {
            let _ = line.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn freeze(&self) {
        *self.state.is_frozen.lock().unwrap() = true;
    }

    pub(crate) fn thaw(&self) {
        *self.state.is_frozen.lock().unwrap() = false;
        self.state.thaw.notify_all();
    }

    pub(crate) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

impl CableState {
    fn connect(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        let mut lines = self.lines.lock().unwrap();
        if self.is_cut.load(Ordering::SeqCst) {
            return;
        }
        lines.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
        let mutes = Arc::new(AtomicBool::new(false));
        let (shared, muted, answering) = (self.clone(), mutes.clone(), self.clone());
        let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || {
            carry(from, to, |message| {
                shared.wait_for_thaw();
                let is_commit = message.windows(7).any(|window| window == b"commit\0");
                if is_commit && shared.loses_commit_answer.swap(false, Ordering::SeqCst) {
                    muted.store(true, Ordering::SeqCst);
                }
                true
            });
        });
        std::thread::spawn(move || {
            carry(server, client, |_| {
                answering.wait_for_thaw();
                !mutes.load(Ordering::SeqCst)
            });
        });
    }

    fn wait_for_thaw(&self) {
        let frozen = self.is_frozen.lock().unwrap();
        drop(self.thaw.wait_while(frozen, |is_frozen| *is_frozen).unwrap());
    }
}

/// Copies until an end hangs up or `passes` says no; then hangs up on both.
fn carry(mut from: TcpStream, mut to: TcpStream, passes: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !passes(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.thaw();
        self.cut();
        self.state.is_gone.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees that it should go.
        let _ = TcpStream::connect(self.address);
    }
}
