//! The supervisor's own process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, setrlimit, setsid, wait,
};
use rustix::thread::set_no_new_privs;

use crate::processes::{kill_descendants, list_descendants, signal_descendants};
use crate::{Limits, Obstacle, Order, Report, Wish};

const MAX_ORDER_BYTES: u64 = 4 * 1024 * 1024;
/// How often the processes of the command are counted.
const COUNTING: Duration = Duration::from_millis(500);
/// How often a wrapper that has not yet started the command is looked at, when the command shall end.
const ASKING: Duration = Duration::from_millis(20);
/// The wrapper itself, and the first process of the surroundings that it makes.
const WRAPPER_PROCESSES: usize = 2;

/// Runs the order that comes through standard input, a socket, and reports there. Standard output and standard error are
/// those of the command.
pub fn supervise() -> ExitCode {
    match try_supervise() {
        Ok(()) => ExitCode::SUCCESS,
        // The other side sees that the socket is closed without a report, and cleans up, if it is there.
        Err(_) => {
            drop(kill_descendants());
            ExitCode::FAILURE
        }
    }
}

fn try_supervise() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reports = socket.try_clone()?;
    let mut wishes = BufReader::new(socket);
    let mut line = String::new();
    (&mut wishes).take(MAX_ORDER_BYTES).read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;

    // A terminal of the operator sends no signals here. It fails where the process leads a session already.
    let _ = setsid();
    // No program of the command can become another user, out of reach of this one.
    set_no_new_privs(true)?;
    set_child_subreaper(Some(getpid()))?;
    set_limits(order.limits)?;

    let main = match start(&order) {
        Ok(pid) => pid,
        Err(error) => return report(&mut reports, &Report::NotStarted(obstacle_of(&error))),
    };
    // A wrapper that is asked to end would end the command at once.
    let spared = order.wrapper.is_some().then_some(main);
    thread::spawn(move || obey(wishes, spared));
    let is_crowded = Arc::new(AtomicBool::new(false));
    let flag = is_crowded.clone();
    thread::spawn(move || count_processes(order.limits.processes, &flag));

    let status = reap(main)?;
    report(
        &mut reports,
        &Report::Ended {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            had_too_many_processes: is_crowded.load(Ordering::Relaxed),
        },
    )
}

fn set_limits(limits: Limits) -> io::Result<()> {
    for (resource, limit) in
        [(Resource::Nofile, limits.open_files), (Resource::Fsize, limits.file_bytes), (Resource::Core, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    Ok(())
}

/// Starts the command, and returns its process id.
fn start(order: &Order) -> io::Result<i32> {
    // The hub may have inherited files of others, and the command shall not have them.
    close_fds::set_fds_cloexec(3, &[]);
    let input = match &order.input {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    };
    let mut command = match &order.wrapper {
        Some(wrapper) => {
            let mut command = Command::new(&wrapper.program);
            command.args(&wrapper.arguments).arg(&order.program);
            command
        }
        None => Command::new(&order.program),
    };
    let child = command
        .args(&order.arguments)
        .env_clear()
        .envs(&order.environment)
        .current_dir(&order.folder)
        .stdin(input)
        .process_group(0)
        .spawn()?;
    i32::try_from(child.id()).map_err(io::Error::other)
}

fn obstacle_of(error: &io::Error) -> Obstacle {
    match error.kind() {
        io::ErrorKind::NotFound => Obstacle::NotFound,
        io::ErrorKind::PermissionDenied => Obstacle::NotExecutable,
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => Obstacle::NotExecutable,
        _ => Obstacle::Other,
    }
}

/// Waits until the command and everything that it left behind has ended.
fn reap(main: i32) -> io::Result<WaitStatus> {
    let mut status = None;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, ended))) if pid.as_raw_pid() == main => {
                status = Some(ended);
                // In a thread of its own, because this one reaps what it kills.
                thread::spawn(kill_descendants);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // There is no child left.
            Err(rustix::io::Errno::CHILD) => {
                return status.ok_or_else(|| io::Error::other("another process reaped the command"));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Does what the other side wishes, and ends everything when it has ended.
fn obey(wishes: impl BufRead, spared: Option<i32>) {
    for line in wishes.lines() {
        match line.ok().and_then(|line| serde_json::from_str(&line).ok()) {
            Some(Wish::Stop) => {
                // In a thread of its own, because the next wish may come meanwhile.
                thread::spawn(move || ask_to_end(spared));
            }
            Some(Wish::Kill) | None => break,
        }
    }
    drop(kill_descendants());
}

/// Sends SIGTERM to all processes but the wrapper. A wrapper needs a moment until it has started the command, and its own first process
/// does not heed the signal, so this waits until there is somebody to ask.
fn ask_to_end(wrapper: Option<i32>) {
    let fewest = if wrapper.is_some() { WRAPPER_PROCESSES + 1 } else { 0 };
    loop {
        match signal_descendants(Signal::TERM, wrapper) {
            Ok(found) if found > 0 && found < fewest => thread::sleep(ASKING),
            _ => return,
        }
    }
}

fn count_processes(most: usize, is_crowded: &AtomicBool) {
    let own = getpid().as_raw_pid();
    loop {
        thread::sleep(COUNTING);
        if list_descendants(own).is_ok_and(|found| found.len() > most) {
            is_crowded.store(true, Ordering::Relaxed);
            drop(kill_descendants());
        }
    }
}

fn report(socket: &mut UnixStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    socket.write_all(&line)
}
