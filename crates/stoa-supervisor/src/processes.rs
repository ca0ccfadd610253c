//! Finding and ending processes, from what `/proc` says.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

const PAUSE: Duration = Duration::from_millis(10);
/// How often processes are looked for that go on after SIGKILL: for ten seconds. After that they hang in the kernel.
const MAX_ROUNDS: usize = 1000;
const FEW_ROUNDS: usize = 20;

/// All processes, with their parents.
fn list_parents() -> io::Result<HashMap<i32, i32>> {
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if let Some(parent) = parent_of(pid) {
            parents.insert(pid, parent);
        }
    }
    Ok(parents)
}

/// None if the process has ended: zombies, too, have nothing left to end.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in the second field may contain spaces and parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.next()?.parse().ok()
}

/// The processes below a process.
pub(crate) fn list_descendants(ancestor: i32) -> io::Result<Vec<i32>> {
    let parents = list_parents()?;
    let is_below = |pid: i32| {
        let mut seen = HashSet::new();
        let mut next = parents.get(&pid).copied();
        while let Some(parent) = next {
            if parent == ancestor {
                return true;
            }
            // Processes come and go while they are listed, so the list may have a circle.
            if !seen.insert(parent) {
                return false;
            }
            next = parents.get(&parent).copied();
        }
        false
    };
    Ok(parents.keys().copied().filter(|pid| is_below(*pid)).collect())
}

/// Signals a process, provided that it still is who was meant: another process may have its number by now.
fn signal_if(pid: i32, signal: Signal, is_meant: impl Fn() -> bool) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty())
        && is_meant()
    {
        // It may end by itself in between.
        let _ = pidfd_send_signal(descriptor, signal);
    }
}

/// Signals all processes below this one but one, if that is named.
pub(crate) fn signal_descendants(signal: Signal, spared: Option<i32>) -> io::Result<usize> {
    let own = getpid().as_raw_pid();
    let found = list_descendants(own)?;
    for pid in found.iter().filter(|pid| Some(**pid) != spared) {
        // The parent is still one of ours, or this process, which adopts orphans.
        let is_ours = || parent_of(*pid).is_some_and(|parent| parent == own || found.contains(&parent));
        signal_if(*pid, signal, is_ours);
    }
    Ok(found.len())
}

/// Ends all processes below this one. Somebody else must reap them.
pub(crate) fn kill_descendants() -> io::Result<()> {
    for _ in 0..MAX_ROUNDS {
        // A process that is stopped first cannot create others while the rest is looked for.
        signal_descendants(Signal::STOP, None)?;
        if signal_descendants(Signal::KILL, None)? == 0 {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    Err(io::Error::other("processes go on after SIGKILL"))
}

/// Ends the processes below another one. Some may escape that are being made at this moment: see [`end_marked`].
pub(crate) fn end_below(ancestor: i32) {
    for _ in 0..FEW_ROUNDS {
        let found = list_descendants(ancestor).unwrap_or_default();
        if found.is_empty() {
            return;
        }
        for pid in &found {
            let is_meant = || parent_of(*pid).is_some_and(|parent| parent == ancestor || found.contains(&parent));
            signal_if(*pid, Signal::KILL, is_meant);
        }
    }
}

/// What tells a process from every other one on this machine, also from a later one with its number.
pub fn own_identity() -> String {
    let pid = getpid().as_raw_pid();
    format!("{pid}-{}", start_of(pid).unwrap_or_default())
}

/// Whether the process with this identity is alive.
pub fn is_alive(identity: &str) -> bool {
    let parsed = identity.split_once('-').and_then(|(pid, start)| Some((pid.parse::<i32>().ok()?, start)));
    parsed.is_some_and(|(pid, start)| start_of(pid).is_some_and(|found| found == start))
}

/// When a process began, in ticks since the machine did.
fn start_of(pid: i32) -> Option<String> {
    // One that has ended and was not reaped is not alive.
    parent_of(pid)?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

/// Whether a process is one of `ancestors`, or descends from one. One that has ended may have, so it counts as one.
pub fn descends_from(pid: u32, ancestors: &[u32]) -> bool {
    let is_ancestor = |pid: i32| u32::try_from(pid).is_ok_and(|pid| ancestors.contains(&pid));
    let mut next = i32::try_from(pid).ok();
    // Longer lines of ancestors do not occur by themselves.
    for _ in 0..1000 {
        match next {
            Some(pid) if is_ancestor(pid) => return true,
            Some(pid) if pid > 1 => next = parent_of(pid),
            Some(_) => return false,
            None => return true,
        }
    }
    true
}

/// Ends all processes that have this variable in their environment, as it was when they began. This is for what a
/// supervisor left behind that was killed itself. Returns how many were found.
pub fn end_marked(variable: &str, is_marked: impl Fn(&str) -> bool) -> io::Result<usize> {
    let own = getpid().as_raw_pid();
    let prefix = format!("{variable}=");
    let has_mark = |pid: i32| {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
        let mut entries = environment.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
        entries.any(|entry| entry.strip_prefix(&prefix).is_some_and(&is_marked))
    };
    let mut all = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let found: Vec<i32> = list_parents()?.into_keys().filter(|pid| *pid != own && has_mark(*pid)).collect();
        for pid in &found {
            signal_if(*pid, Signal::KILL, || has_mark(*pid));
        }
        if found.is_empty() {
            return Ok(all.len());
        }
        all.extend(found);
        thread::sleep(PAUSE);
    }
    Err(io::Error::other("processes go on after SIGKILL"))
}
