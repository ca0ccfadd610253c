//! Where a hub keeps its data: a temporary folder, and on PostgreSQL a fresh database besides.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};
use stoa_db::{Database, Options};
use stoa_schema::MIGRATIONS;
use tempfile::TempDir;

fn server_url() -> Option<String> {
    std::env::var("STOA_TEST_DATABASE_URL").ok().filter(|url| !url.is_empty())
}

/// Whether this run is on PostgreSQL. For `if !on_postgres() { return; }` at the top of tests that
/// make sense on one engine only.
pub(crate) fn on_postgres() -> bool {
    server_url().is_some()
}

/// A place of its own in the bucket of this run; none if contents are in the data folder.
pub(crate) fn attachments_url() -> Option<String> {
    let bucket = std::env::var("STOA_TEST_ATTACHMENTS_URL").ok().filter(|url| !url.is_empty())?;
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    Some(format!("{bucket}/{:016x}", u64::from_le_bytes(bytes)))
}

/// The PostgreSQL client runs a loop of its own, which a thread inside of tokio may not do.
pub(crate) fn off_the_runtime<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn admin(statement: &str) -> Result<(), postgres::Error> {
    let url = server_url().expect("asked only on PostgreSQL");
    off_the_runtime(|| postgres::Client::connect(&url, postgres::NoTls)?.batch_execute(statement))
}

/// A database of its own on the server, which is dropped with it.
pub(crate) struct TestDatabase {
    name: String,
    pub(crate) url: String,
}

impl TestDatabase {
    /// An empty one; none on SQLite.
    pub(crate) fn create() -> Option<Arc<Self>> {
        Self::copy_of("template template1")
    }

    /// One that has the tables of a hub already: making them takes longer than most tests do. None on SQLite.
    pub(crate) fn create_with_tables() -> Option<Arc<Self>> {
        static TEMPLATE: OnceLock<Option<String>> = OnceLock::new();
        Self::copy_of(TEMPLATE.get_or_init(Self::template).as_deref()?)
    }

    fn copy_of(how: &str) -> Option<Arc<Self>> {
        let server = server_url()?;
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).unwrap();
        let name = format!("stoa_it_{:016x}", u64::from_le_bytes(bytes));
        admin(&format!("create database {name} {how}")).unwrap();
        let (before, rest) = server.rsplit_once('/').unwrap();
        let query = rest.find('?').map_or("", |at| &rest[at..]);
        Some(Arc::new(Self { url: format!("{before}/{name}{query}"), name }))
    }

    /// How to copy a database with tables and nothing in them, which is left on the server for the next run. Its name says which
    /// tables they are.
    fn template() -> Option<String> {
        let server = server_url()?;
        let mut hash = Sha256::new();
        for migration in MIGRATIONS {
            hash.update(migration.postgres);
        }
        let name: String = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("stoa_it_tables_{name}");
        let sql = "select current_setting('server_version_num')::int >= 150000, exists (select from pg_database where datname = $1)";
        let row =
            off_the_runtime(|| postgres::Client::connect(&server, postgres::NoTls)?.query_one(sql, &[&name])).unwrap();
        // What an older server does without being told.
        let how = format!("template {name}{}", if row.get(0) { " strategy file_copy" } else { "" });
        if row.get(1) {
            return Some(how);
        }
        let database = Self::create()?;
        let folder = Folder::create();
        let mut options = Options::new(folder.path());
        options.postgres_url = Some(database.url.clone());
        make_tables(options);
        // If another run was faster, there is one.
        let renamed = admin(&format!("alter database {} rename to {name}", database.name));
        if let Err(error) = renamed {
            assert_eq!(error.code(), Some(&postgres::error::SqlState::DUPLICATE_DATABASE), "{error}");
        }
        Some(how)
    }

    /// Ends every connection, as a network that breaks does.
    pub(crate) fn lose_connections(&self) {
        let sql = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{}'", self.name);
        admin(&sql).unwrap();
    }

    /// Lets nobody in until it [comes back](Self::come_back).
    pub(crate) fn go_away(&self) {
        admin(&format!("alter database {} allow_connections false", self.name)).unwrap();
        self.lose_connections();
    }

    pub(crate) fn come_back(&self) {
        admin(&format!("alter database {} allow_connections true", self.name)).unwrap();
    }

    /// All rows of all tables as text.
    pub(crate) fn everything_stored(&self) -> Vec<u8> {
        let read = || {
            let mut client = self.connect();
            let tables = client.query("select tablename from pg_tables where schemaname = 'public'", &[]).unwrap();
            let mut text = String::new();
            for table in tables {
                let sql = format!("select t::text from {} t", table.get::<_, String>(0));
                for row in client.query(&sql, &[]).unwrap() {
                    text += &row.get::<_, String>(0);
                    text.push('\n');
                }
            }
            text
        };
        let text = off_the_runtime(read);
        // Byte columns are shown in hexadecimal; a secret could hide there.
        let hidden: Vec<u8> = text.split("\\x").skip(1).flat_map(unhexed).collect();
        [text.into_bytes(), hidden].concat()
    }

    /// A connection beside those of the hub. Use it on a thread of its own.
    pub(crate) fn connect(&self) -> postgres::Client {
        postgres::Client::connect(&self.url, postgres::NoTls).unwrap()
    }
}

fn unhexed(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().map_while(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let dropped = admin(&format!("drop database if exists {} with (force)", self.name));
        if !std::thread::panicking() {
            dropped.unwrap();
        }
    }
}

/// Makes a data folder whose database has the tables of a hub already: making them takes longer than most tests do. On
/// PostgreSQL it makes none, as the tables are not in it.
pub(crate) fn make_data_with_tables(data: &Path) {
    if !on_postgres() {
        make_sqlite_with_tables(data);
    }
}

fn make_sqlite_with_tables(data: &Path) {
    static DATABASE: OnceLock<Vec<u8>> = OnceLock::new();
    let database = DATABASE.get_or_init(|| {
        let folder = Folder::create();
        make_tables(Options::new(folder.path()));
        fs::read(folder.path().join("stoa.db")).unwrap()
    });
    fs::create_dir(data).unwrap();
    fs::write(data.join("stoa.db"), database).unwrap();
}

fn make_tables(options: Options) {
    off_the_runtime(|| {
        let opened = Database::open(options, MIGRATIONS).unwrap();
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(opened.close());
    });
}

/// A data folder that goes away with its last user.
#[derive(Clone)]
pub(crate) struct Folder(Arc<TempDir>);

impl Folder {
    pub(crate) fn create() -> Self {
        Self(Arc::new(tempfile::tempdir().unwrap()))
    }

    pub(crate) fn create_with_tables() -> Self {
        let folder = Self::create();
        make_data_with_tables(&folder.path());
        folder
    }

    /// For SQLite, whatever this run is on.
    pub(crate) fn create_with_sqlite_tables() -> Self {
        let folder = Self::create();
        make_sqlite_with_tables(&folder.path());
        folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }
}
