//! One hub per folder, and a start that fails with a sentence an operator can act on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use stoa_db::{Database, Engine, FolderLock, OpenError, Options};

use crate::child::{Helper, Role};
use crate::support::{NOTES, Notes, Place, bodies, insert, runs_on};

#[tokio::test]
async fn a_second_hub_does_not_start_in_the_same_folder() {
    let notes = Notes::open();
    for _ in 0..2 {
        let error = notes.place.open(NOTES).err().unwrap();
        assert!(matches!(&error, OpenError::Locked(folder) if *folder == notes.place.folder()), "{error:?}");
    }
    notes.write(insert("unharmed")).await.unwrap();
    let place = notes.shut().await;
    // Let go of at once: no wait, no second try.
    let db = place.open(NOTES).unwrap();
    assert_eq!(bodies(&db).await, ["unharmed"]);
}

#[test]
fn another_process_does_not_start_in_the_same_folder() {
    let notes = Notes::open();
    let mut second = Helper::start(Role::Open, &notes.place);
    let said = second.hear().unwrap();
    assert!(said.starts_with("Locked: "), "{said}");
    second.finish();
}

#[test]
fn a_killed_hub_lets_go_of_its_folder() {
    let place = Place::new();
    for _ in 0..3 {
        let mut holder = Helper::start(Role::Open, &place);
        holder.expect("opened");
        let error = place.open(NOTES).err().unwrap();
        assert!(matches!(error, OpenError::Locked(_)), "{error:?}");
        holder.kill();
        // The operating system has let go already: no stale lock to remove by hand.
        let lock = FolderLock::acquire(&place.folder()).unwrap();
        drop(lock);
    }
    assert!(place.open(NOTES).is_ok());
}

#[test]
fn a_folder_that_is_missing_is_made() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("some/where/deep");
    drop(FolderLock::acquire(&folder).unwrap());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

/// What opening SQLite in a folder says.
fn refusal(folder: &Path) -> OpenError {
    Database::open(Options::new(folder), NOTES).err().expect("it should not have opened")
}

#[test]
fn a_path_that_is_a_file_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "precious").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = refusal(&path);
        assert!(matches!(&error, OpenError::Folder { path: named, .. } if *named == path), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}

#[test]
fn a_folder_in_the_place_of_the_database_file_is_refused_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Place::new();
    fs::create_dir_all(place.file()).unwrap();
    let error = refusal(&place.folder());
    assert!(matches!(error, OpenError::Folder { .. }), "{error:?}");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_kept_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    for length in [2, 99, 100, 511, 4096, 70_000] {
        let place = Place::new();
        fs::create_dir_all(place.folder()).unwrap();
        let noise: Vec<u8> = (0..length).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
        fs::write(place.file(), &noise).unwrap();
        let error = refusal(&place.folder());
        assert!(matches!(&error, OpenError::Damaged { path, .. } if *path == place.file()), "{length}: {error:?}");
        assert!(error.to_string().contains("restore a backup"), "{error}");
        assert!(fs::read(place.file()).unwrap() == noise, "what could still be saved must not be overwritten");
    }
}

#[tokio::test]
async fn a_truncated_database_is_refused_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let notes = Notes::open();
    for number in 0..50 {
        notes.write(insert(format!("{number} {}", "x".repeat(2_000)))).await.unwrap();
    }
    let place = notes.shut().await;
    let whole = fs::read(place.file()).unwrap();
    assert!(whole.len() > 100_000);
    // Within the last page SQLite would not notice: it reads what is missing as zeros.
    for length in [50, 100, 1000, 4096, 4097, 8192, whole.len() / 2, whole.len() - 4096] {
        fs::write(place.file(), &whole[..length]).unwrap();
        let error = refusal(&place.folder());
        assert!(matches!(error, OpenError::Damaged { .. }), "{length} of {}: {error:?}", whole.len());
    }
    fs::write(place.file(), &whole).unwrap();
    let db = place.open(NOTES).unwrap();
    assert_eq!(bodies(&db).await.len(), 50);
}

#[tokio::test]
async fn a_damaged_schema_is_refused_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Notes::open().shut().await;
    let mut bytes = fs::read(place.file()).unwrap();
    // The table of contents is on the first page, behind the header of the file.
    bytes[100..4096].fill(0xa5);
    fs::write(place.file(), &bytes).unwrap();
    let error = refusal(&place.folder());
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
}

/// Root may write everywhere. Without its capabilities it is held to the modes of its files, like
/// any other user.
fn without_privileges() -> &'static [&'static str] {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0);
    if is_root { &["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"] } else { &[] }
}

/// Changes a mode for as long as it lives: a folder that stays read-only cannot be cleaned up.
struct Mode<'p> {
    path: &'p Path,
    before: u32,
}

impl<'p> Mode<'p> {
    fn set(path: &'p Path, mode: u32) -> Self {
        let before = fs::metadata(path).unwrap().permissions().mode();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        Self { path, before }
    }
}

impl Drop for Mode<'_> {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.path, fs::Permissions::from_mode(self.before));
    }
}

fn refusal_without_privileges(place: &Place) -> String {
    let mut child = Helper::start_under(without_privileges(), Role::Open, &place.folder(), place.url());
    let said = child.hear().unwrap();
    assert_ne!(said, "opened");
    child.finish();
    said
}

#[test]
fn a_folder_that_may_not_be_written_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.folder()).unwrap();
    let folder = place.folder();
    let _mode = Mode::set(&folder, 0o555);
    let said = refusal_without_privileges(&place);
    assert!(said.starts_with("Folder: ") && said.contains("ermission denied"), "{said}");
    assert!(said.contains(folder.to_str().unwrap()), "{said}");
}

#[test]
fn a_folder_that_may_not_be_made_is_refused() {
    let place = Place::new();
    let parent = place.folder().parent().unwrap().to_owned();
    let _mode = Mode::set(&parent, 0o555);
    let said = refusal_without_privileges(&place);
    assert!(said.starts_with("Folder: ") && said.contains("ermission denied"), "{said}");
}

#[tokio::test]
async fn a_database_in_a_folder_that_became_read_only_is_refused_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Notes::open().shut().await;
    let folder = place.folder();
    {
        // The lock file is there and may be opened, so it is SQLite that finds out.
        let _mode = Mode::set(&folder, 0o555);
        let said = refusal_without_privileges(&place);
        assert!(said.starts_with("Folder: "), "{said}");
    }
    assert!(place.open(NOTES).is_ok());
}

#[tokio::test]
async fn a_database_file_that_may_not_be_written_is_refused_on_sqlite() {
    if !runs_on(Engine::Sqlite) {
        return;
    }
    let place = Notes::open().shut().await;
    let file = place.file();
    {
        let _mode = Mode::set(&file, 0o400);
        let said = refusal_without_privileges(&place);
        assert!(said.starts_with("Folder: "), "{said}");
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o400, "somebody has set this mode on purpose");
    }
    assert!(place.open(NOTES).is_ok());
}
