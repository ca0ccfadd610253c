//! The lines for bcrypt: who waits in which line, and whose turn it is.
//!
//! Hashing one password takes a quarter of a second of a core, and strangers can ask for it. So the people whom the hub knows
//! wait in a line of their own, nobody can have more than a share of a line, and the networks in a line take turns.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Callers that one line holds, those at work included.
const MAX_IN_LINE: usize = 128;
/// Callers of one IPv4 address, and of one IPv6 /64. The limit on failed logins lets no more through at once.
const PER_ADDRESS: usize = 20;
/// Callers of one IPv6 /56, which is what many providers give to one customer.
const PER_SITE: usize = 24;
/// Callers of one IPv4 /24, and of one IPv6 /48.
const PER_NETWORK: usize = 32;
/// OAuth clients of one network.
const PER_CLIENT_NETWORK: usize = 96;
const PER_DEVICE: usize = 2;
const PER_USER: usize = 8;
const PER_OPERATOR: usize = 32;

/// Who wants to have a password hashed or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The operator at the admin socket, or the hub itself.
    Operator,
    /// A person who is logged in, or whose browser has logged in as this user before.
    Known { user: i64, device: Option<[u8; 16]> },
    /// Anybody else.
    Stranger(Option<IpAddr>),
    /// An OAuth client. Its secret costs little to compare, and a server may compare many for its own clients, so it has a larger
    /// share.
    Client(Option<IpAddr>),
}

/// What callers have in common who share a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Share {
    Operator,
    User(i64),
    Device([u8; 16]),
    /// The first bits of an address. IPv4 addresses are in their mapped form.
    Network {
        bits: u128,
        prefix: u32,
    },
    UnknownAddress,
}

const LINES: usize = 2;

impl Caller {
    fn line(self) -> usize {
        match self {
            Caller::Operator | Caller::Known { .. } => 0,
            Caller::Stranger(_) | Caller::Client(_) => 1,
        }
    }

    /// The shares that this caller uses, with their limits. The last one takes turns with others of its kind.
    fn shares(self) -> Vec<(Share, usize)> {
        match self {
            Caller::Operator => vec![(Share::Operator, PER_OPERATOR)],
            Caller::Known { user, device } => {
                let device = device.map(|id| (Share::Device(id), PER_DEVICE));
                device.into_iter().chain([(Share::User(user), PER_USER)]).collect()
            }
            Caller::Client(address) => vec![(widest(address), PER_CLIENT_NETWORK)],
            Caller::Stranger(None) => vec![(Share::UnknownAddress, PER_NETWORK)],
            Caller::Stranger(Some(address)) => match address.to_canonical() {
                IpAddr::V4(v4) => {
                    let bits = v4.to_ipv6_mapped().to_bits();
                    vec![(network(bits, 128), PER_ADDRESS), (widest(Some(address)), PER_NETWORK)]
                }
                IpAddr::V6(v6) => {
                    let bits = v6.to_bits();
                    let (address_share, site) = (network(bits, 64), network(bits, 56));
                    vec![(address_share, PER_ADDRESS), (site, PER_SITE), (widest(Some(address)), PER_NETWORK)]
                }
            },
        }
    }
}

/// The largest network of an address that shares anything: an IPv4 /24 or an IPv6 /48.
fn widest(address: Option<IpAddr>) -> Share {
    match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(v4)) => network(v4.to_ipv6_mapped().to_bits(), 96 + 24),
        Some(IpAddr::V6(v6)) => network(v6.to_bits(), 48),
        None => Share::UnknownAddress,
    }
}

fn network(bits: u128, prefix: u32) -> Share {
    Share::Network { bits: bits & (u128::MAX << (128 - prefix)), prefix }
}

/// All lines, which share the cores that bcrypt may use. Clones share them.
#[derive(Clone)]
pub struct PasswordLines(Arc<Mutex<State>>);

struct State {
    /// Cores that nobody uses. Nobody waits while there is one.
    free: usize,
    lines: [Line; LINES],
    /// The line whose turn it is.
    next: usize,
}

#[derive(Default)]
struct Line {
    places: usize,
    taken: HashMap<Share, usize>,
    /// Those who wait, in the order in which they came.
    waiting: HashMap<Share, VecDeque<oneshot::Sender<Turn>>>,
    /// The keys of `waiting`, in the order of their turns.
    turns: VecDeque<Share>,
}

/// A place in a line. Dropping it lets somebody else in.
pub struct Place {
    lines: PasswordLines,
    line: usize,
    shares: Vec<Share>,
}

/// The right to use one core. Dropping it passes it on.
pub struct Turn(Option<PasswordLines>);

impl PasswordLines {
    /// PasswordLines for `cores` cores.
    pub fn new(cores: usize) -> Self {
        Self(Arc::new(Mutex::new(State { free: cores, lines: Default::default(), next: 0 })))
    }

    /// Takes a place in the caller's line. None if the caller's share is used up, or if the line is full and nobody in it has
    /// more than the caller.
    pub fn enter(&self, caller: Caller) -> Option<Place> {
        let (line, shares) = (caller.line(), caller.shares());
        let turn_of = shares.last()?.0;
        let mut state = self.state();
        let own = &mut state.lines[line];
        if shares.iter().any(|(share, limit)| own.taken.get(share).is_some_and(|taken| taken >= limit)) {
            return None;
        }
        // Dropping the sender answers the one who has to go.
        if own.places >= MAX_IN_LINE {
            drop(own.displaced_by(turn_of)?);
        }
        own.places += 1;
        for (share, _) in &shares {
            *own.taken.entry(*share).or_default() += 1;
        }
        drop(state);
        Some(Place { lines: self.clone(), line, shares: shares.into_iter().map(|(share, _)| share).collect() })
    }

    /// Waits for a core. None if somebody else has got this place.
    pub async fn turn(&self, place: &Place) -> Option<Turn> {
        let turn_of = *place.shares.last()?;
        let granted = {
            let mut state = self.state();
            if state.free > 0 {
                state.free -= 1;
                return Some(Turn(Some(self.clone())));
            }
            let (sender, granted) = oneshot::channel();
            state.lines[place.line].push(turn_of, sender);
            granted
        };
        granted.await.ok()
    }

    fn pass_on(self) {
        loop {
            let waiter = {
                let mut state = self.state();
                let Some(waiter) = state.next_waiter() else {
                    state.free += 1;
                    return;
                };
                waiter
            };
            // Outside of the lock: a turn that nobody takes would be passed on while it is held.
            match waiter.send(Turn(Some(self.clone()))) {
                Ok(()) => return,
                Err(mut refused) => drop(refused.0.take()),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The next one who waits: lines take turns, and so do the networks and users within a line.
    fn next_waiter(&mut self) -> Option<oneshot::Sender<Turn>> {
        for step in 0..LINES {
            let line = (self.next + step) % LINES;
            if let Some(waiter) = self.lines[line].pop() {
                self.next = (line + 1) % LINES;
                return Some(waiter);
            }
        }
        None
    }
}

impl Line {
    fn push(&mut self, turn_of: Share, waiter: oneshot::Sender<Turn>) {
        let queue = self.waiting.entry(turn_of).or_default();
        if queue.is_empty() {
            self.turns.push_back(turn_of);
        }
        queue.push_back(waiter);
    }

    fn pop(&mut self) -> Option<oneshot::Sender<Turn>> {
        let turn_of = self.turns.pop_front()?;
        let queue = self.waiting.get_mut(&turn_of)?;
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&turn_of);
        } else {
            self.turns.push_back(turn_of);
        }
        waiter
    }

    /// The last one of those who have most in a full line, if that is more than the newcomer would have.
    fn displaced_by(&mut self, newcomer: Share) -> Option<oneshot::Sender<Turn>> {
        let count_of = |share: &Share| self.waiting.get(share).map_or(0, VecDeque::len);
        let most = *self.turns.iter().max_by_key(|share| count_of(share))?;
        if count_of(&most) <= count_of(&newcomer) + 1 {
            return None;
        }
        self.waiting.get_mut(&most)?.pop_back()
    }

    /// Forgets those who no longer wait.
    fn forget_gone(&mut self, turn_of: Share) {
        let Some(queue) = self.waiting.get_mut(&turn_of) else { return };
        queue.retain(|waiter| !waiter.is_closed());
        if queue.is_empty() {
            self.waiting.remove(&turn_of);
            self.turns.retain(|share| *share != turn_of);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.lines.state();
        let line = &mut state.lines[self.line];
        line.places -= 1;
        for share in &self.shares {
            if let Some(taken) = line.taken.get_mut(share) {
                *taken -= 1;
                if *taken == 0 {
                    line.taken.remove(share);
                }
            }
        }
        if let Some(turn_of) = self.shares.last() {
            line.forget_gone(*turn_of);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(lines) = self.0.take() {
            lines.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn stranger(address: &str) -> Caller {
        Caller::Stranger(Some(address.parse().unwrap()))
    }

    type Waiting = Pin<Box<dyn Future<Output = Option<Turn>>>>;

    fn poll(waiting: &mut Waiting) -> Option<Option<Turn>> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    fn begin(lines: &PasswordLines, caller: Caller) -> Option<Waiting> {
        let (place, lines) = (lines.enter(caller)?, lines.clone());
        Some(Box::pin(async move {
            let place = place;
            lines.turn(&place).await
        }))
    }

    /// Enters a line and waits there.
    fn wait(lines: &PasswordLines, caller: Caller) -> Option<Waiting> {
        let mut waiting = begin(lines, caller)?;
        assert!(poll(&mut waiting).is_none(), "somebody else has the core");
        Some(waiting)
    }

    /// PasswordLines for one core, and the turn of the one who has it.
    fn busy() -> (PasswordLines, Turn) {
        let lines = PasswordLines::new(1);
        let turn = poll(&mut begin(&lines, Caller::Operator).unwrap()).unwrap().unwrap();
        (lines, turn)
    }

    /// What came to the first of the crowd who need not wait any longer.
    fn first_answered(crowd: &mut Vec<Waiting>) -> Option<Option<Turn>> {
        let (at, outcome) =
            crowd.iter_mut().enumerate().find_map(|(at, waiting)| poll(waiting).map(|outcome| (at, outcome)))?;
        drop(crowd.swap_remove(at));
        Some(outcome)
    }

    #[test]
    fn no_network_fills_the_line() {
        for (address, limit) in [
            ((|_| "203.0.113.9".to_owned()) as fn(usize) -> String, PER_ADDRESS),
            (|number| format!("203.0.113.{}", number % 256), PER_NETWORK),
            (|number| format!("::ffff:203.0.113.{}", number % 256), PER_NETWORK),
            (|number| format!("2001:db8:1:2::{number:x}"), PER_ADDRESS),
            (|number| format!("2001:db8:1:2{:02x}::1", number % 256), PER_SITE),
            (|number| format!("2001:db8:1:{number:x}00::1"), PER_NETWORK),
        ] {
            let (lines, _turn) = busy();
            let places: Vec<_> = (0..MAX_IN_LINE).map_while(|n| lines.enter(stranger(&address(n)))).collect();
            assert_eq!(places.len(), limit, "{}", address(0));
            assert!(
                lines.enter(stranger("198.51.100.1")).is_some() && lines.enter(stranger("2001:db8:2::1")).is_some()
            );
            drop(places);
            assert!(lines.state().lines.iter().all(|line| line.taken.is_empty() && line.places == 0));
        }
    }

    #[test]
    fn the_one_who_has_least_gets_into_a_full_line() {
        let (lines, turn) = busy();
        let of_network = |n: usize| stranger(&format!("203.0.{}.{}", n % 4, n / 4));
        let mut crowd: Vec<_> = (0..MAX_IN_LINE).map(|n| wait(&lines, of_network(n)).unwrap()).collect();
        assert!(lines.enter(stranger("203.0.2.99")).is_none(), "this network has its share");
        let mut newcomer = wait(&lines, stranger("198.51.100.1")).unwrap();
        assert!(matches!(first_answered(&mut crowd), Some(None)), "one of the crowd must go");
        assert!(first_answered(&mut crowd).is_none());
        // Networks take turns, so the newcomer waits for each of the four once.
        let mut turn = Some(turn);
        for _ in 0..4 {
            drop(turn);
            assert!(poll(&mut newcomer).is_none());
            turn = first_answered(&mut crowd).unwrap();
            assert!(turn.is_some());
        }
        drop(turn);
        assert!(poll(&mut newcomer).unwrap().is_some());
    }

    #[test]
    fn those_who_are_known_do_not_wait_behind_strangers() {
        let (lines, turn) = busy();
        let mut crowd: Vec<_> =
            (0..MAX_IN_LINE).map(|n| wait(&lines, stranger(&format!("203.{n}.0.1"))).unwrap()).collect();
        assert!(lines.enter(stranger("198.51.100.1")).is_none(), "each of them has as much as the newcomer");
        let known = |user, device: u8| Caller::Known { user, device: Some([device; 16]) };
        let mut first = wait(&lines, known(7, 1)).unwrap();
        let _second = wait(&lines, known(7, 1)).unwrap();
        assert!(lines.enter(known(7, 1)).is_none(), "a stolen cookie gives little");
        let more: Vec<_> = (2..50).map_while(|device| lines.enter(known(7, device))).collect();
        assert_eq!(more.len(), PER_USER - 2);
        let mut other = wait(&lines, known(8, 99)).unwrap();
        // The lines take turns, and so do the users of one line.
        drop(turn);
        drop(poll(&mut first).unwrap().unwrap());
        drop(first_answered(&mut crowd).unwrap().unwrap());
        assert!(poll(&mut other).unwrap().is_some());
    }

    #[test]
    fn a_turn_that_nobody_takes_is_passed_on() {
        let (lines, turn) = busy();
        let gone = wait(&lines, stranger("203.0.113.9")).unwrap();
        let also_gone = wait(&lines, stranger("203.0.113.9")).unwrap();
        drop(gone);
        assert_eq!(lines.state().lines[1].waiting.values().map(VecDeque::len).sum::<usize>(), 1);
        drop(turn);
        assert_eq!(lines.state().free, 0, "it was given to the one who is left");
        drop(also_gone);
        let state = lines.state();
        assert!(state.free == 1 && state.lines.iter().all(|line| line.waiting.is_empty() && line.turns.is_empty()));
    }
}
