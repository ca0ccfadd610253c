//! Copies of git repositories. Each run works in a copy of its own, and what it changed becomes a branch of the repository.
//!
//! A copy shares the objects of the repository, which the run can only read. The repository knows nothing of its copies, so a crash leaves
//! nothing in it but perhaps a part of a file of objects, which git removes by itself. The program can write whatever it likes into its
//! copy, also settings by which git starts other programs. So every git that the hub starts is isolated like a run, works with settings of
//! the hub, and sees of the repository no more than it needs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stoa_model::runs::{MAX_PATCH_BYTES, RunWorkspace};
use stoa_supervisor::Ended;

use super::aside::{self, Aside};
use super::begin::Job;
use super::isolation::View;
use super::workspace::{Changes, Fault, Wanted};
use super::{execution, folder, progress};
use crate::config::RunSettings;
use crate::hub::Hub;
use crate::hub::folders::find_repository;

/// How long one command of git may take.
const LONGEST: Duration = Duration::from_secs(120);
/// What is read of the answers that are short.
const SHORT: u64 = 64 * 1024;
/// What is read of the names of changed files.
const MAX_LIST: u64 = 32 * 1024 * 1024;
/// The settings that hold instead of those of the machine and of the hub's user.
const SETTINGS: &str = "\
[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsmonitor = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
";
/// What the repository's own settings must not change.
const FIRM: [&str; 10] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "submodule.recurse=false",
];

/// A copy that a run works in.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    pub(super) folder: PathBuf,
    /// The objects of the repository.
    pub(super) objects: PathBuf,
    /// The repository's own folder of git.
    repository: PathBuf,
    /// The commit that the run began with, at its first attempt.
    base: String,
}

/// How git is called here.
struct Git<'a> {
    hub: &'a Hub,
    program: PathBuf,
    /// A folder of the hub beside that of the run, which the program of the run cannot see.
    private: PathBuf,
    author: String,
}

/// One call: what it may read and write beside the hub's own settings.
#[derive(Default, Clone)]
struct Call<'a> {
    folder: Option<&'a Path>,
    view: View<'a>,
    environment: Vec<(&'static str, &'a Path)>,
    input: Option<&'a Path>,
    max_output: Option<u64>,
}

impl<'a> Call<'a> {
    fn reading(readable: &[&'a Path]) -> Self {
        Self { view: View { readable: readable.to_vec(), writable: Vec::new() }, ..Self::default() }
    }

    fn writing(mut self, writable: &'a Path) -> Self {
        self.view.writable.push(writable);
        self
    }
}

struct Answer {
    code: i32,
    output: Vec<u8>,
    errors: String,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).trim().to_owned()
    }

    /// What git said, if it failed.
    fn succeeded(self, doing: &str) -> Result<Self, Fault> {
        if self.code == 0 {
            return Ok(self);
        }
        let line = self.errors.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("git failed");
        let line: String = line.trim_start_matches("fatal: ").chars().take(300).collect();
        Err(Fault(format!("{doing}: {line}")))
    }
}

impl<'a> Git<'a> {
    async fn new(hub: &'a Hub, job: &Job) -> Result<Self, Fault> {
        let path = format!("{}:{}", hub.config().runs.path, RunSettings::default().path);
        let program = execution::look_up("git", &path).ok_or("needs git, which is not installed on the server")?;
        let private = job.folder.with_extension("git");
        let private_in = private.clone();
        let made = tokio::task::spawn_blocking(move || {
            folder::private_folder(&private_in, true)?;
            let settings = private_in.join("settings");
            if settings.exists() { Ok(()) } else { folder::private_file(&settings, SETTINGS) }
        });
        made.await.map_err(|error| Fault(error.to_string()))?.map_err(|error| Fault(error.to_string()))?;
        Ok(Self { hub, program, private, author: job.run.agent_name.clone() })
    }

    async fn call(&self, arguments: &[&str], call: &Call<'_>) -> Result<Answer, Fault> {
        let settings = self.private.join("settings");
        let email = format!("{}@stoa.invalid", self.author);
        let own = [
            ("PATH", RunSettings::default().path),
            ("HOME", self.private.display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", settings.display().to_string()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_OPTIONAL_LOCKS", "0".to_owned()),
            ("GIT_NO_LAZY_FETCH", "1".to_owned()),
            // No address of the repository's settings is called.
            ("GIT_ALLOW_PROTOCOL", "file".to_owned()),
            ("GIT_AUTHOR_NAME", self.author.clone()),
            ("GIT_AUTHOR_EMAIL", email.clone()),
            ("GIT_COMMITTER_NAME", self.author.clone()),
            ("GIT_COMMITTER_EMAIL", email),
        ];
        let mut environment: BTreeMap<String, String> =
            own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let further = call.environment.iter().map(|(name, path)| ((*name).to_owned(), path.display().to_string()));
        environment.extend(further);
        let mut view = call.view.clone();
        view.readable.push(&settings);
        let aside = Aside {
            program: self.program.clone(),
            arguments: FIRM.iter().chain(arguments).map(|word| (*word).to_owned()).collect(),
            environment,
            folder: call.folder.unwrap_or(Path::new("/")).to_owned(),
            input: call.input.map(Path::to_owned),
            view,
            max_output: call.max_output.unwrap_or(SHORT),
            limit: LONGEST,
        };
        let finished = aside::run(self.hub, aside).await;
        let finished = finished.map_err(|error| Fault(format!("git did not end as it should: {error}")))?;
        match finished.ended {
            Ended::Exited(code) => Ok(Answer { code, output: finished.output, errors: finished.errors }),
            _ => Err("git was stopped".into()),
        }
    }
}

/// A repository's own files, and its objects.
fn open_repository(path: &Path) -> Result<(PathBuf, PathBuf), Fault> {
    let repository = find_repository(path).ok_or("is not a git repository")?;
    let objects = repository.join("objects");
    if objects.join("info/alternates").exists() {
        return Err("borrows objects from another repository, which is not supported".into());
    }
    Ok((repository, objects))
}

/// Makes the copy that a run works in. It begins where an earlier attempt of the run ended.
pub(super) async fn copy(hub: &Hub, job: &Job, wanted: &Wanted, path: PathBuf) -> Result<Copy, Fault> {
    let looked = tokio::task::spawn_blocking(move || open_repository(&path)).await;
    let (repository, objects) = looked.map_err(|error| Fault(error.to_string()))??;
    let git = Git::new(hub, job).await?;
    let git_dir = format!("--git-dir={}", repository.display());
    let in_repository = Call::reading(&[&repository]);
    let commit_of = async |name: &str| -> Result<Option<String>, Fault> {
        let name = format!("{name}^{{commit}}");
        let arguments = [&git_dir, "rev-parse", "--verify", "-q", "--end-of-options", &name];
        let found = git.call(&arguments, &in_repository).await?;
        Ok(Some(found.text()).filter(|text| found.code == 0 && !text.is_empty()))
    };
    let earlier = wanted.earlier.as_ref();
    let known = match earlier.and_then(|earlier| earlier.base_commit.as_deref()) {
        Some(base) => commit_of(base).await?,
        None => None,
    };
    let left = match earlier.and_then(|earlier| earlier.commit.as_deref()).filter(|_| known.is_some()) {
        Some(commit) => commit_of(commit).await?,
        None => None,
    };
    let base = match known {
        Some(base) => base,
        None => commit_of("HEAD").await?.ok_or("has no commit yet")?,
    };
    let start = left.unwrap_or_else(|| base.clone());
    let folder = job.folder.join("workspace");
    let (from, to) = (repository.display().to_string(), folder.display().to_string());
    let (name, email) = (format!("user.name={}", git.author), format!("user.email={}@stoa.invalid", git.author));
    let branch = format!("stoa-run-{}", job.run.id);
    let clone = ["clone", "-q", "--shared", "--no-checkout", "--template=", "--config", &name, "--config", &email];
    // The copy has no remote, so nothing can be pushed by mistake.
    let steps: [(&[&str], &str); 3] = [
        (&[&clone[..], &["--", &from, &to]].concat(), "cannot be copied"),
        (&["-C", &to, "checkout", "-q", "--no-track", "-B", &branch, &start, "--"], "cannot be checked out"),
        (&["-C", &to, "remote", "remove", "origin"], "cannot be copied"),
    ];
    for (arguments, doing) in steps {
        let call = Call::reading(&[&repository]).writing(&job.folder);
        git.call(arguments, &call).await?.succeeded(doing)?;
    }
    Ok(Copy { folder, objects, repository, base })
}

/// Makes a branch of what a run has changed, if it has changed anything.
pub(super) async fn collect(hub: &Hub, job: &Job, wanted: &Wanted, copy: &Copy) -> Result<Changes, Fault> {
    let files = copy.folder.clone();
    let is_there =
        tokio::task::spawn_blocking(move || files.symlink_metadata().is_ok_and(|found| found.is_dir())).await;
    // A link in its place would lead git to files that the run could not read.
    if !is_there.unwrap_or(false) {
        return Err("was removed by the run".into());
    }
    let git = Git::new(hub, job).await?;
    let own = git.private.join("copy");
    let (own_text, from) = (own.display().to_string(), copy.repository.display().to_string());
    let own_dir = format!("--git-dir={own_text}");
    // It is a second copy, because the program may have changed the settings of its own.
    let making = own.clone();
    let made = tokio::task::spawn_blocking(move || folder::private_folder(&making, false)).await;
    made.map_err(|error| Fault(error.to_string()))?.map_err(|error| Fault(error.to_string()))?;
    let clone = ["clone", "-q", "--bare", "--shared", "--no-tags", "--template=", "--", &from, &own_text];
    let cloning = Call::reading(&[&copy.repository]).writing(&own);
    git.call(&clone, &cloning).await?.succeeded("cannot be copied")?;
    // From here on git sees what the program has written, and of the repository no more than the program did.
    let writing = Call::reading(&[&copy.objects, &copy.folder]).writing(&own);

    // The program may have made commits. They count if they follow the one that it began with.
    let program = copy.folder.join(".git").display().to_string();
    let fetch = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", &program, "+HEAD:refs/heads/stoa-program"];
    let fetched = git.call(&[&[own_dir.as_str()][..], &fetch].concat(), &writing).await;
    let follows = [&own_dir, "merge-base", "--is-ancestor", &copy.base, "refs/heads/stoa-program"];
    let has_commits = fetched.is_ok_and(|fetched| fetched.code == 0) && git.call(&follows, &writing).await?.code == 0;
    let parent = if has_commits { "refs/heads/stoa-program" } else { copy.base.as_str() };

    let index = own.join("stoa-index");
    let in_files = [("GIT_DIR", own.as_path()), ("GIT_WORK_TREE", &copy.folder), ("GIT_INDEX_FILE", &index)];
    let among_files = Call { folder: Some(&copy.folder), environment: in_files.to_vec(), ..writing.clone() };
    git.call(&["read-tree", parent], &among_files).await?.succeeded("cannot be compared")?;
    let left_out = add_files(&git, copy, &among_files).await?;
    let tree = git.call(&["write-tree"], &among_files).await?.succeeded("cannot be compared")?.text();
    let look_up = async |name: &str| -> Result<String, Fault> {
        let found = git.call(&[&own_dir, "rev-parse", "--verify", "-q", "--end-of-options", name], &writing).await?;
        Ok(found.succeeded("cannot be compared")?.text())
    };
    let parent_commit = look_up(&format!("{parent}^{{commit}}")).await?;
    let commit = if look_up(&format!("{parent}^{{tree}}")).await? == tree {
        parent_commit
    } else {
        let message = format!("Changes of run {}", job.run.id);
        let commit =
            git.call(&[&own_dir, "commit-tree", &tree, "-p", &parent_commit, "-m", &message], &writing).await?;
        commit.succeeded("has changes that cannot be kept")?.text()
    };
    let unchanged = RunWorkspace { base_commit: Some(copy.base.clone()), ..wanted.unchanged() };
    if commit == copy.base {
        return Ok(Changes { workspace: unchanged, note: left_out });
    }
    let update = [own_dir.as_str(), "update-ref", "refs/heads/stoa-result", &commit];
    git.call(&update, &writing).await?.succeeded("has changes that cannot be kept")?;
    let branch = keep(&git, job, wanted, copy, &own).await?;
    let mut workspace = RunWorkspace { branch: Some(branch), commit: Some(commit.clone()), ..unchanged };
    // They are kept. That they cannot be shown must not say otherwise.
    let undescribed = describe(&git, job, copy, &mut workspace, &commit).await.err();
    let undescribed = undescribed.map(|fault| format!("The patch cannot be shown: the repository {}.", fault.0));
    let notes: Vec<String> = left_out.into_iter().chain(undescribed).collect();
    Ok(Changes { workspace, note: Some(notes.join(" ")).filter(|notes| !notes.is_empty()) })
}

/// Adds what was changed to the index. Returns what was left out, in words.
///
/// Not with `git add`: that starts git in the repositories inside, with their own settings.
async fn add_files(git: &Git<'_>, copy: &Copy, among_files: &Call<'_>) -> Result<Option<String>, Fault> {
    let list = ["ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", "--", "."];
    let listing = Call { max_output: Some(MAX_LIST), ..among_files.clone() };
    let listed = git.call(&list, &listing).await?.succeeded("cannot be compared")?.output;
    if listed.len() as u64 >= MAX_LIST {
        return Err("has too many changed files".into());
    }
    let (folder, input) = (copy.folder.clone(), git.private.join("files"));
    let input_in = input.clone();
    let written = tokio::task::spawn_blocking(move || {
        let (added, left_out) = what_can_be_added(&folder, &listed);
        folder::private_file(&input_in, added).map(|()| left_out)
    });
    let left_out =
        written.await.map_err(|error| Fault(error.to_string()))?.map_err(|error| Fault(error.to_string()))?;
    let add = ["-c", "core.bigFileThreshold=1m", "-c", "core.compression=1", "update-index", "-z", "--add", "--remove"];
    let adding = Call { input: Some(&input), ..among_files.clone() };
    let added = git.call(&[&add[..], &["--replace", "--stdin"]].concat(), &adding).await?;
    added.succeeded("has changes that cannot be kept")?;
    Ok(left_out)
}

/// The names, with NUL after each, without those that git would stop at: repositories inside, and files that cannot be read. The latter
/// are returned in words.
fn what_can_be_added(folder: &Path, listed: &[u8]) -> (Vec<u8>, Option<String>) {
    let (mut folders, mut files, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let path = Path::new(OsStr::from_bytes(name));
        if name.ends_with(b"/") || is_closed(folder, path) {
            left_out.push(String::from_utf8_lossy(name).into_owned());
        } else {
            // A folder in place of a file takes it away, which must be before what is in the folder is added.
            let is_folder = folder.join(path).symlink_metadata().is_ok_and(|found| found.is_dir());
            let names = if is_folder { &mut folders } else { &mut files };
            names.extend(name);
            names.push(0);
        }
    }
    folders.extend(files);
    let shown: Vec<&str> = left_out.iter().take(3).map(String::as_str).collect();
    let words = match left_out.len() {
        0 => None,
        1..=3 => Some(format!("Not in the branch: {}.", shown.join(", "))),
        count => Some(format!("Not in the branch: {} and {} more.", shown.join(", "), count - shown.len())),
    };
    (folders, words)
}

/// Whether the program has taken away the right to read a file, or a folder on the way to it. Modes are looked at instead of trying it:
/// the hub may be root, and git is not when it is isolated.
fn is_closed(folder: &Path, name: &Path) -> bool {
    const MISSING: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    let mut path = folder.to_owned();
    for part in name.components() {
        path.push(part);
        let needed = match path.symlink_metadata() {
            Ok(found) if found.is_dir() => 0o500 & !found.permissions().mode(),
            Ok(found) if found.is_file() => 0o400 & !found.permissions().mode(),
            Ok(_) => 0,
            // It was deleted, which is a change like others.
            Err(error) => return !MISSING.contains(&error.kind()),
        };
        if needed != 0 {
            return true;
        }
    }
    false
}

/// Names for the branch of a run. Another hub may have used the same numbers, and a branch `stoa` leaves no room for one in `stoa/`.
fn branches_of(job: &Job, wanted: &Wanted) -> Vec<String> {
    let id = job.run.id;
    let earlier = wanted.earlier.as_ref().and_then(|earlier| earlier.branch.clone());
    let numbered = (2..10).map(|number| format!("stoa/run-{id}-{number}"));
    let name = job.folder.file_name().unwrap_or_default().to_string_lossy();
    let own = format!("stoa-run-{id}-{}", name.chars().take(8).collect::<String>());
    let usual = [format!("stoa/run-{id}")].into_iter().chain(numbered).chain([format!("stoa-run-{id}"), own]);
    earlier.into_iter().chain(usual).collect()
}

/// Has the repository fetch the result as a branch, and returns its name. Nothing else in it changes, and nothing of others is overwritten.
async fn keep(git: &Git<'_>, job: &Job, wanted: &Wanted, copy: &Copy, own: &Path) -> Result<String, Fault> {
    let git_dir = format!("--git-dir={}", copy.repository.display());
    let from = own.display().to_string();
    let reading = Call::reading(&[&copy.repository]);
    let writing = Call::reading(&[own]).writing(&copy.repository);
    let options =
        ["-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--"];
    let earlier = wanted.earlier.as_ref().and_then(|earlier| earlier.branch.as_ref());
    let mut last = Fault::from("has no free name for the branch");
    for branch in branches_of(job, wanted) {
        let name = format!("refs/heads/{branch}");
        let is_taken = git.call(&[&git_dir, "rev-parse", "--verify", "-q", &name], &reading).await?.code == 0;
        if is_taken && Some(&branch) != earlier {
            continue;
        }
        // Without a plus before it: what somebody else has put there stays.
        let refspec = format!("refs/heads/stoa-result:{name}");
        let arguments = [&[git_dir.as_str(), "fetch"][..], &options, &[from.as_str(), &refspec]].concat();
        match git.call(&arguments, &writing).await?.succeeded("cannot keep the changes as a branch") {
            Ok(_) => return Ok(branch),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

/// Adds the patch and its figures.
async fn describe(
    git: &Git<'_>,
    job: &Job,
    copy: &Copy,
    workspace: &mut RunWorkspace,
    commit: &str,
) -> Result<(), Fault> {
    let git_dir = format!("--git-dir={}", copy.repository.display());
    let diff = async |option: &str, max_output: usize| -> Result<Vec<u8>, Fault> {
        let fixed =
            ["-c", "core.bigFileThreshold=16m", &git_dir, "diff", "--no-ext-diff", "--no-textconv", "--no-color"];
        // As everybody expects it, whatever the repository has set.
        let form = ["--src-prefix=a/", "--dst-prefix=b/", "--unified=3", option, &copy.base, commit, "--"];
        let call = Call { max_output: Some(max_output as u64), ..Call::reading(&[&copy.repository]) };
        Ok(git.call(&[&fixed[..], &form].concat(), &call).await?.succeeded("cannot be compared")?.output)
    };
    let figures = String::from_utf8_lossy(&diff("--shortstat", SHORT as usize).await?).into_owned();
    (workspace.files, workspace.insertions, workspace.deletions) = figures_in(&figures);
    // A secret at the end of what is shown is recognised by what follows it.
    let patch = diff("--patch", MAX_PATCH_BYTES + job.masker.held_bytes()).await?;
    // The patch must not show secrets of the run. PostgreSQL stores no NUL.
    let text = String::from_utf8_lossy(&patch).replace('\0', "\u{fffd}");
    let masked = job.masker.mask(&text);
    let (shown, is_cut) = progress::cut_at(&masked, MAX_PATCH_BYTES);
    workspace.truncated = is_cut || patch.len() > MAX_PATCH_BYTES;
    workspace.patch = Some(shown.to_owned());
    Ok(())
}

/// What `git diff --shortstat` says: " 3 files changed, 10 insertions(+), 2 deletions(-)".
fn figures_in(text: &str) -> (i64, i64, i64) {
    let number_before = |word: &str| {
        let part = text.split(',').find(|part| part.contains(word))?;
        part.split_whitespace().next()?.parse().ok()
    };
    let find = |word| number_before(word).unwrap_or(0);
    (find("changed"), find("insertion"), find("deletion"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        assert_eq!(figures_in(" 3 files changed, 10 insertions(+), 2 deletions(-)\n"), (3, 10, 2));
        assert_eq!(figures_in(" 1 file changed, 1 deletion(-)\n"), (1, 0, 1));
        assert_eq!(figures_in(""), (0, 0, 0));
    }

    #[test]
    fn repositories_are_found_where_they_are() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        assert!(open_repository(path).is_err());
        std::fs::create_dir_all(path.join(".git/objects/info")).unwrap();
        std::fs::write(path.join(".git/HEAD"), "").unwrap();
        assert_eq!(open_repository(path).unwrap().0, path.join(".git"));
        std::fs::write(path.join(".git/objects/info/alternates"), "/etc").unwrap();
        assert!(open_repository(path).unwrap_err().0.contains("borrows"));
        // A worktree or a submodule has its files elsewhere.
        std::fs::remove_dir_all(path.join(".git")).unwrap();
        std::fs::write(path.join(".git"), "gitdir: /elsewhere").unwrap();
        assert!(open_repository(path).is_err());
        std::fs::remove_file(path.join(".git")).unwrap();
        std::os::unix::fs::symlink("/etc", path.join(".git")).unwrap();
        assert!(open_repository(path).is_err());
    }
}
