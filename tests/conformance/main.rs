//! A hub that also offers what the conformance suite of MCP asks servers for: `conformance serve FOLDER`.
//!
//! `scripts/check-mcp` starts it. It is built as a test, so that no release can contain it, but is none: `cargo test` runs it
//! without arguments, and then it does nothing. Its first line says in JSON where it is and how to log in; it serves until
//! SIGTERM.

mod conversations;
mod fixtures;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use serde_json::json;
use stoa::config::Config;
use stoa::feature::Feature;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", folder] => tokio::runtime::Runtime::new()?.block_on(serve(folder)),
        _ => Ok(()),
    }
}

async fn serve(folder: &str) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let show = move |password: &str| {
        let settings = json!({"url": url, "username": "admin", "password": password});
        // Who started this reads it, or has gone.
        let _ = writeln!(std::io::stdout(), "{settings}");
    };
    let config = Config { bcrypt_cost: 4, rate_limit: 0, show_password: Arc::new(show), ..Config::new(folder) };
    let mut features = stoa::features::all();
    features.0.push(Feature { mcp: fixtures::add, ..Feature::new("fixtures") });
    let mut terminated = signal(SignalKind::terminate())?;
    let shutdown = async move {
        let _ = terminated.recv().await;
    };
    Ok(stoa::run_with(config, features, listener, |_| {}, shutdown).await?)
}
