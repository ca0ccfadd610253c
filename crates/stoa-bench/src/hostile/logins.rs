//! Floods of passwords: wrong logins from many addresses and networks, and registrations that cannot succeed.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::http::Request;
use super::scene::{PASSWORD, Shared, attacker_address};
use crate::real_time::pause;

/// Logins at the same time.
const CLIENTS: usize = 200;
/// Addresses from which registrations come, and how many at the same time.
const REGISTERING: usize = 60;
/// The address that the hub believes when it names another caller.
const PROXY: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Logins {
    /// Each from another IPv4 address.
    Addresses,
    /// Each from another network of one provider's IPv6 range.
    Networks,
    /// With an invitation that stays unspent, because the name is taken.
    Register,
}

pub(super) async fn play(scene: Shared, logins: Logins) -> JoinSet<()> {
    scene.begin();
    let tasks = tasks(&scene, logins);
    scene.run(tasks, scene.duration * 2).await
}

pub(super) fn tasks(scene: &Shared, logins: Logins) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    let next = Arc::new(AtomicUsize::new(0));
    let clients = scene.count(if logins == Logins::Register { REGISTERING } else { CLIENTS });
    (0..clients).map(move |client| {
        let (scene, next) = (scene.clone(), next.clone());
        async move {
            while scene.is_hub_alive() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let wrong = json!({"username": format!("name{number}"), "password": "a wrong password"});
                let login = Request::post("/auth/login", &wrong);
                let _ = match logins {
                    Logins::Addresses => scene.ask(attacker_address(number), &login).await,
                    Logins::Networks => {
                        let address = format!("2001:db8:77:{:x}::1", number % 0xffff);
                        scene.ask(PROXY, &login.header("x-forwarded-for", &address)).await
                    }
                    Logins::Register => {
                        let taken = json!({
                            "invite": scene.invitation, "username": scene.other.name, "password": PASSWORD,
                        });
                        scene.ask(attacker_address(client), &Request::post("/auth/register", &taken)).await
                    }
                };
                pause(PAUSE).await;
            }
        }
    })
}
