//! The folders of runs: one for each run, which is its program's to write in, and a home for each agent.
//!
//! What is in them was written by programs that may be hostile. So links are never followed, and nothing is done in a recursion that a
//! deep tree could make as deep as it likes.

use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fstat, mkdirat, openat, renameat, statvfs, unlinkat,
};
use rustix::io::Errno;
use stoa_model::PrincipalId;
use stoa_model::runs::MAX_RESULT_BYTES;

use super::begin::Job;
use crate::hub::folders::run_folder;
use crate::hub::{BoxFuture, Hub, pause};

/// The work folder of a run is kept for this long.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
const SWEEP_EVERY: Duration = Duration::from_secs(600);
/// A run needs this much room on the disk.
const MIN_FREE_BYTES: u64 = 1024 * 1024 * 1024;
/// Files that are counted; a folder with more is too large.
const MAX_COUNTED: usize = 200_000;
pub(super) const PROMPT: &str = "prompt.txt";
const RESULT: &str = "result.json";

/// Where all folders of runs are.
pub(super) fn root(hub: &Hub) -> PathBuf {
    run_folder(hub.config())
}

pub(super) fn of_run(hub: &Hub, name: &str) -> PathBuf {
    root(hub).join("work").join(name)
}

/// The home of an agent. A run that others started has an empty one of its own.
pub(super) fn home_of(hub: &Hub, agent: PrincipalId, run: Option<&String>) -> PathBuf {
    match run {
        Some(run) => of_run(hub, run).join("home"),
        None => root(hub).join("homes").join(agent.to_string()),
    }
}

/// Why a folder could not be made.
#[derive(Debug)]
pub(super) enum NoFolder {
    DiskLow,
    Failed(io::Error),
}

impl From<io::Error> for NoFolder {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Makes the folder where all folders of runs are.
pub(super) fn make_root(root: &Path) -> io::Result<()> {
    private_folder(root, true)?;
    private_folder(&root.join("work"), true)?;
    private_folder(&root.join("homes"), true)
}

/// Makes the folder of a run, with all that its program is given to read.
pub(super) fn create(root: &Path, job: &Job) -> Result<(), NoFolder> {
    make_root(root)?;
    let free = statvfs(root).map_err(io::Error::from)?;
    if free.f_bavail.saturating_mul(free.f_frsize) < MIN_FREE_BYTES {
        return Err(NoFolder::DiskLow);
    }
    // Its name is random, so nobody can have made it before.
    private_folder(&job.folder, false)?;
    private_folder(&job.folder.join("tmp"), false)?;
    private_folder(&job.home, true)?;
    for (name, content) in &job.files {
        private_file(&job.folder.join(name), content)?;
    }
    private_file(&job.folder.join(PROMPT), &job.prompt)?;
    for (path, content) in &job.home_files {
        write_in_home(&job.home, path, content)?;
    }
    Ok(())
}

/// The folder in which programs are asked for their version. Some write into their home even then.
pub(super) fn for_versions(root: &Path) -> io::Result<PathBuf> {
    let folder = root.join("versions");
    private_folder(root, true)?;
    private_folder(&folder, true)?;
    Ok(folder)
}

/// Writes a file in a folder of the agent's home. Earlier runs may have put links there, which must lead nowhere.
fn write_in_home(home: &Path, path: &str, content: &str) -> io::Result<()> {
    let Some((folder, name)) = path.split_once('/') else { return Err(io::Error::other("has no folder")) };
    let home = open_folder(CWD, home)?;
    if let Err(error) = mkdirat(&home, folder, Mode::RWXU)
        && error != Errno::EXIST
    {
        return Err(error.into());
    }
    let folder = match open_folder(&home, folder) {
        // A link or a file in its place.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            unlinkat(&home, folder, AtFlags::empty())?;
            mkdirat(&home, folder, Mode::RWXU)?;
            open_folder(&home, folder)?
        }
        opened => opened?,
    };
    match unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    fs::File::from(file).write_all(content.as_bytes())
}

pub(super) fn private_folder(path: &Path, may_exist: bool) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if may_exist && error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(path)?;
            if !metadata.is_dir() {
                return Err(io::Error::other("is not a folder"));
            }
            // What runs leave there is nobody else's business.
            if metadata.permissions().mode() & 0o077 == 0 {
                return Ok(());
            }
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))
        }
        made => made,
    }
}

pub(super) fn private_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content.as_ref())
}

/// Whether a folder has more in it than it may.
pub(super) fn is_too_large(folder: &Path, max_bytes: u64) -> bool {
    let (mut bytes, mut counted) = (0_u64, 0_usize);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // A path this long, or a closed folder, is made to be hard to look at.
            Err(error) if error.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()) => return true,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return true,
            // It was deleted in the meantime.
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            counted += 1;
            bytes = bytes.saturating_add(std::os::unix::fs::MetadataExt::blocks(&metadata).saturating_mul(512));
            if counted > MAX_COUNTED || bytes > max_bytes {
                return true;
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    false
}

/// What a program left as its result: none if there is nothing, an error if it is not an ordinary file of bearable size.
pub(super) fn read_result(folder: &Path) -> Result<Option<Vec<u8>>, &'static str> {
    let opened = open_folder(CWD, folder).and_then(|folder| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(&folder, RESULT, flags, Mode::empty())
    });
    let file = match opened {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::MLINK) => return Err("is a link"),
        Err(_) => return Err("cannot be opened"),
    };
    let stat = fstat(&file).map_err(|_| "cannot be looked at")?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err("is not an ordinary file");
    }
    if stat.st_nlink != 1 {
        return Err("has another name elsewhere");
    }
    let mut bytes = Vec::new();
    let read = fs::File::from(file).take(MAX_RESULT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|_| "cannot be read")?;
    if bytes.len() as u64 > MAX_RESULT_BYTES { Err("is larger than 256 KiB") } else { Ok(Some(bytes)) }
}

fn open_folder<P: rustix::path::Arg>(parent: impl AsFd, name: P) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Deletes folders of runs that are old, from time to time.
pub(super) fn sweep(hub: Hub) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            let work = root(&hub).join("work");
            let kept_since = hub.clock().now().as_ms() - crate::clock::milliseconds(KEPT_FOR);
            let swept = tokio::task::spawn_blocking(move || remove_old(&work, kept_since)).await;
            if let Ok(Err(error)) = swept {
                tracing::warn!(%error, "old folders of runs could not be removed");
            }
            tokio::select! {
                () = hub.stopping() => return,
                () = pause(SWEEP_EVERY) => {}
            }
        }
    })
}

fn remove_old(work: &Path, kept_since_ms: i64) -> io::Result<()> {
    let entries = match fs::read_dir(work) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries.flatten() {
        let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
        let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        if i64::try_from(since.as_millis()).unwrap_or(i64::MAX) < kept_since_ms {
            // One that cannot be removed must not keep the others.
            if let Err(error) = remove(work, &entry.file_name()) {
                tracing::warn!(%error, folder = %entry.path().display(), "the folder of a run could not be removed");
            }
        }
    }
    Ok(())
}

/// Deletes a folder with all that is in it. What is deep is brought up first, so that no path and no recursion gets long.
fn remove(parent: &Path, name: &std::ffi::OsStr) -> io::Result<()> {
    let parent = open_folder(CWD, parent)?;
    let _ = chmodat(&parent, name, Mode::RWXU, AtFlags::empty());
    let top = open_folder(&parent, name)?;
    let mut brought_up = 0_u64;
    loop {
        let mut is_empty = true;
        for inner in names_in(&top)? {
            is_empty = false;
            if unlinkat(&top, &inner, AtFlags::empty()).is_ok() {
                continue;
            }
            // It is a folder, and the program may have taken away the right to look into it.
            let _ = chmodat(&top, inner.as_c_str(), Mode::RWXU, AtFlags::empty());
            let Ok(folder) = open_folder(&top, inner.as_c_str()) else {
                return Err(io::Error::other("something cannot be removed"));
            };
            for deeper in names_in(&folder)? {
                if unlinkat(&folder, &deeper, AtFlags::empty()).is_err() {
                    // The program may have taken a name.
                    let taken = [Errno::EXIST, Errno::NOTEMPTY, Errno::NOTDIR, Errno::ISDIR];
                    loop {
                        brought_up += 1;
                        match renameat(&folder, &deeper, &top, format!(".up-{brought_up}")) {
                            Err(error) if taken.contains(&error) => {}
                            moved => break moved?,
                        }
                    }
                }
            }
            unlinkat(&top, &inner, AtFlags::REMOVEDIR)?;
        }
        if is_empty {
            return Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?);
        }
    }
}

fn names_in(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_tree_and_links_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let outside = place.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "").unwrap();
        let folder = place.path().join("run");
        let mut deepest = open_folder(CWD, place.path()).unwrap();
        for name in std::iter::once("run").chain(std::iter::repeat_n("d", 5000)) {
            rustix::fs::mkdirat(&deepest, name, Mode::RWXU).unwrap();
            deepest = open_folder(&deepest, name).unwrap();
        }
        assert!(is_too_large(&folder, u64::MAX), "its paths are too long");
        std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
        fs::create_dir_all(folder.join(".up-1/x/y")).unwrap();
        fs::write(folder.join(".up-1/x/y/z"), "").unwrap();
        fs::create_dir(folder.join("closed")).unwrap();
        fs::write(folder.join("closed/file"), "").unwrap();
        fs::set_permissions(folder.join("closed"), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
        remove(place.path(), "run".as_ref()).unwrap();
        assert!(!folder.exists());
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn files_in_a_home_replace_what_a_program_left_there() {
        let place = tempfile::tempdir().unwrap();
        let (home, outside) = (place.path().join("home"), place.path().join("outside"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("settings"), "kept").unwrap();
        std::os::unix::fs::symlink(&outside, home.join(".agent")).unwrap();
        write_in_home(&home, ".agent/settings", "first").unwrap();
        fs::remove_file(home.join(".agent/settings")).unwrap();
        std::os::unix::fs::symlink(outside.join("settings"), home.join(".agent/settings")).unwrap();
        write_in_home(&home, ".agent/settings", "second").unwrap();
        assert_eq!(fs::read_to_string(home.join(".agent/settings")).unwrap(), "second");
        assert_eq!(fs::read_to_string(outside.join("settings")).unwrap(), "kept");
    }

    #[test]
    fn sizes_are_counted() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a"), vec![1; 100_000]).unwrap();
        assert!(!is_too_large(place.path(), 1_000_000));
        assert!(is_too_large(place.path(), 50_000));
    }

    #[test]
    fn results_that_are_no_ordinary_files_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(RESULT);
        assert_eq!(read_result(place.path()), Ok(None));
        fs::write(&path, "{}").unwrap();
        assert_eq!(read_result(place.path()), Ok(Some(b"{}".to_vec())));
        fs::hard_link(&path, place.path().join("other")).unwrap();
        assert_eq!(read_result(place.path()), Err("has another name elsewhere"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(place.path().join("other"), &path).unwrap();
        assert_eq!(read_result(place.path()), Err("is a link"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(read_result(place.path()), Err("is not an ordinary file"));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, vec![b' '; 300_000]).unwrap();
        assert_eq!(read_result(place.path()), Err("is larger than 256 KiB"));
    }
}
