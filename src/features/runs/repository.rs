//! Copies of git repositories. Each run works in a copy of its own, and what it changed becomes a branch of the repository.
//!
//! A copy shares the objects of the repository, which the run can only read. The repository knows nothing of its copies, so a crash leaves
//! nothing in it. The program can write whatever it likes into its copy, also settings by which git starts other programs. So every git
//! that the hub starts is isolated like a run, works with settings of the hub, and never with those of the copy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stoa_model::RunId;
use stoa_model::runs::{MAX_PATCH_BYTES, RunWorkspace};
use stoa_supervisor::Ended;

use super::aside::{self, Aside};
use super::begin::Job;
use super::isolation::View;
use super::workspace::{Fault, Wanted};
use super::{execution, folder, progress};
use crate::config::RunSettings;
use crate::hub::Hub;

/// How long one command of git may take.
const LONGEST: Duration = Duration::from_secs(120);
/// What is read of the answers that are short.
const SHORT: u64 = 64 * 1024;
/// Branches of one name, with a number at the end.
const MAX_BRANCHES: u32 = 1000;
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
[advice]
\taddEmbeddedRepo = false
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
    branch: String,
}

/// How git is called here.
struct Git<'a> {
    hub: &'a Hub,
    program: PathBuf,
    /// A folder of the hub beside that of the run, which the program of the run cannot see.
    private: PathBuf,
    author: String,
    run: RunId,
}

/// One call: what it may read and write beside the hub's own settings.
#[derive(Default, Clone)]
struct Call<'a> {
    folder: Option<&'a Path>,
    view: View<'a>,
    environment: Vec<(&'static str, &'a Path)>,
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
        Ok(Self { hub, program, private, author: job.run.agent_name.clone(), run: job.run.id })
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

    /// A branch that does not exist yet. Another hub may have used the same numbers.
    async fn free_branch(&self, repository: &Path) -> Result<String, Fault> {
        let git_dir = format!("--git-dir={}", repository.display());
        let pattern = format!("refs/heads/stoa/run-{}*", self.run);
        let call = Call::reading(&[repository]);
        let listed = self.call(&[&git_dir, "for-each-ref", "--format=%(refname:short)", &pattern], &call).await?;
        let taken = listed.succeeded("has branches that cannot be listed")?.text();
        let first = format!("stoa/run-{}", self.run);
        let candidates =
            std::iter::once(first.clone()).chain((2..MAX_BRANCHES).map(|number| format!("{first}-{number}")));
        let mut free = candidates.filter(|name| !taken.lines().any(|line| line == name));
        free.next().ok_or_else(|| "has too many branches of this name".into())
    }
}

/// Where a repository has its own files: a folder with files that has them in `.git`, or a bare repository.
fn find_repository(path: &Path) -> Result<(PathBuf, PathBuf), Fault> {
    const NONE: &str = "is not a git repository";
    let inner = path.join(".git");
    let repository = if inner.symlink_metadata().is_ok() { inner } else { path.to_owned() };
    let objects = repository.join("objects");
    // Links and worktrees lead to other places, which the operator may not have meant.
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    if !is_folder(&repository) || !is_folder(&objects) || !repository.join("HEAD").exists() {
        return Err(NONE.into());
    }
    if objects.join("info/alternates").exists() {
        return Err("borrows objects from another repository, which is not supported".into());
    }
    Ok((repository, objects))
}

/// Makes the copy that a run works in. It begins where an earlier attempt of the run ended.
pub(super) async fn copy(hub: &Hub, job: &Job, wanted: &Wanted, path: PathBuf) -> Result<Copy, Fault> {
    let looked = tokio::task::spawn_blocking(move || find_repository(&path)).await;
    let (repository, objects) = looked.map_err(|error| Fault(error.to_string()))??;
    let git = Git::new(hub, job).await?;
    let git_dir = format!("--git-dir={}", repository.display());
    let in_repository = Call::reading(&[&repository]);
    let commit_of = async |name: &str| -> Result<Option<String>, Fault> {
        let name = format!("{name}^{{commit}}");
        let found =
            git.call(&[&git_dir, "rev-parse", "--verify", "-q", "--end-of-options", &name], &in_repository).await?;
        Ok(Some(found.text()).filter(|text| found.code == 0 && !text.is_empty()))
    };
    let earlier = wanted.earlier.as_ref();
    let known = match earlier.and_then(|earlier| earlier.base_commit.as_deref()) {
        Some(base) => commit_of(base).await?,
        None => None,
    };
    let base = match known {
        Some(base) => base,
        None => commit_of("HEAD").await?.ok_or("has no commit yet")?,
    };
    let begun = earlier.and_then(|earlier| earlier.branch.clone().zip(earlier.commit.clone()));
    let (branch, start) = match begun {
        Some((branch, commit)) if commit_of(&commit).await?.is_some() => (branch, commit),
        _ => (git.free_branch(&repository).await?, base.clone()),
    };
    let folder = job.folder.join("workspace");
    let (from, to) = (repository.display().to_string(), folder.display().to_string());
    let (name, email) = (format!("user.name={}", git.author), format!("user.email={}@stoa.invalid", git.author));
    // The copy has no remote, so nothing can be pushed by mistake.
    let steps: [(&[&str], &str); 3] = [
        (
            &[
                "clone",
                "-q",
                "--shared",
                "--no-checkout",
                "--template=",
                "--config",
                &name,
                "--config",
                &email,
                "--",
                &from,
                &to,
            ],
            "cannot be copied",
        ),
        (&["-C", &to, "checkout", "-q", "--no-track", "-B", &branch, &start, "--"], "cannot be checked out"),
        (&["-C", &to, "remote", "remove", "origin"], "cannot be copied"),
    ];
    for (arguments, doing) in steps {
        let call = Call::reading(&[&repository]).writing(&job.folder);
        git.call(arguments, &call).await?.succeeded(doing)?;
    }
    Ok(Copy { folder, objects, repository, base, branch })
}

/// Makes a branch of what a run has changed, if it has changed anything.
pub(super) async fn collect(hub: &Hub, job: &Job, wanted: &Wanted, copy: &Copy) -> Result<RunWorkspace, Fault> {
    let files = copy.folder.clone();
    let is_there =
        tokio::task::spawn_blocking(move || files.symlink_metadata().is_ok_and(|found| found.is_dir())).await;
    // A link in its place would lead git to files that the run could not read.
    if !is_there.unwrap_or(false) {
        return Err("was removed by the run".into());
    }
    let git = Git::new(hub, job).await?;
    let (own, repository) = (git.private.join("copy"), copy.repository.as_path());
    let (own_text, from) = (own.display().to_string(), repository.display().to_string());
    let own_dir = format!("--git-dir={own_text}");
    // It is a second copy, because the program may have changed the settings of its own.
    let making = own.clone();
    let made = tokio::task::spawn_blocking(move || folder::private_folder(&making, false)).await;
    made.map_err(|error| Fault(error.to_string()))?.map_err(|error| Fault(error.to_string()))?;
    let writing = Call::reading(&[repository, &copy.folder]).writing(&own);
    let clone = ["clone", "-q", "--bare", "--shared", "--no-tags", "--template=", "--", &from, &own_text];
    git.call(&clone, &writing).await?.succeeded("cannot be copied")?;

    // The program may have made commits. They count if they follow the one that it began with.
    let program = copy.folder.join(".git").display().to_string();
    let fetch = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", &program, "+HEAD:refs/heads/stoa-program"];
    let fetched = git.call(&[&[own_dir.as_str()][..], &fetch].concat(), &writing).await?;
    let follows = [&own_dir, "merge-base", "--is-ancestor", &copy.base, "refs/heads/stoa-program"];
    let has_commits = fetched.code == 0 && git.call(&follows, &writing).await?.code == 0;
    let parent = if has_commits { "refs/heads/stoa-program" } else { copy.base.as_str() };

    let index = own.join("stoa-index");
    let in_files = [("GIT_DIR", own.as_path()), ("GIT_WORK_TREE", &copy.folder), ("GIT_INDEX_FILE", &index)];
    let among_files = Call { folder: Some(&copy.folder), environment: in_files.to_vec(), ..writing.clone() };
    git.call(&["read-tree", parent], &among_files).await?.succeeded("cannot be compared")?;
    // Some files cannot be added: a repository in the repository, or one that the program has closed. The others can.
    let add = ["-c", "core.bigFileThreshold=1m", "-c", "core.compression=1", "add", "-A", "--ignore-errors", "--", "."];
    git.call(&add, &among_files).await?;
    let tree = git.call(&["write-tree"], &among_files).await?.succeeded("cannot be compared")?.text();
    let tree_of = |commit: &str| format!("{commit}^{{tree}}");
    let look_up = async |name: &str| -> Result<String, Fault> {
        let found = git.call(&[&own_dir, "rev-parse", "--verify", "-q", "--end-of-options", name], &writing).await?;
        Ok(found.succeeded("cannot be compared")?.text())
    };
    let parent_commit = look_up(&format!("{parent}^{{commit}}")).await?;
    let commit = if look_up(&tree_of(parent)).await? == tree {
        parent_commit
    } else {
        let message = format!("Changes of run {}", job.run.id);
        let commit =
            git.call(&[&own_dir, "commit-tree", &tree, "-p", &parent_commit, "-m", &message], &writing).await?;
        commit.succeeded("has changes that cannot be kept")?.text()
    };
    let unchanged = RunWorkspace { base_commit: Some(copy.base.clone()), ..wanted.unchanged() };
    if commit == copy.base {
        return Ok(unchanged);
    }
    let update = [own_dir.as_str(), "update-ref", "refs/heads/stoa-result", &commit];
    git.call(&update, &writing).await?.succeeded("has changes that cannot be kept")?;
    keep(&git, copy, &own).await?;
    let workspace = RunWorkspace { branch: Some(copy.branch.clone()), commit: Some(commit.clone()), ..unchanged };
    describe(&git, job, copy, workspace, &commit).await
}

/// Has the repository fetch the result as a branch. Nothing else in it changes.
async fn keep(git: &Git<'_>, copy: &Copy, own: &Path) -> Result<(), Fault> {
    let git_dir = format!("--git-dir={}", copy.repository.display());
    let branch = format!("+refs/heads/stoa-result:refs/heads/{}", copy.branch);
    let from = own.display().to_string();
    let arguments = [
        git_dir.as_str(),
        "fetch",
        "-q",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--",
        &from,
        &branch,
    ];
    let call = Call::reading(&[own]).writing(&copy.repository);
    git.call(&arguments, &call).await?.succeeded("cannot keep the changes as a branch")?;
    Ok(())
}

/// Adds the patch and its figures.
async fn describe(
    git: &Git<'_>,
    job: &Job,
    copy: &Copy,
    mut workspace: RunWorkspace,
    commit: &str,
) -> Result<RunWorkspace, Fault> {
    let git_dir = format!("--git-dir={}", copy.repository.display());
    let diff = async |option: &str, max_output: u64| -> Result<Vec<u8>, Fault> {
        let arguments = [
            git_dir.as_str(),
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            option,
            &copy.base,
            commit,
            "--",
        ];
        let call = Call { max_output: Some(max_output), ..Call::reading(&[&copy.repository]) };
        Ok(git.call(&arguments, &call).await?.succeeded("cannot be compared")?.output)
    };
    let figures = String::from_utf8_lossy(&diff("--shortstat", SHORT).await?).into_owned();
    (workspace.files, workspace.insertions, workspace.deletions) = figures_in(&figures);
    let patch = diff("--patch", MAX_PATCH_BYTES as u64 + 1).await?;
    // Whoever reads the run is not meant to read the secrets of the run. PostgreSQL stores no NUL.
    let text = String::from_utf8_lossy(&patch).replace('\0', "\u{fffd}");
    let masked = job.masker.mask(&text);
    let (shown, is_cut) = progress::cut_at(&masked, MAX_PATCH_BYTES);
    workspace.truncated = is_cut || patch.len() > MAX_PATCH_BYTES;
    workspace.patch = Some(shown.to_owned());
    Ok(workspace)
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
        assert!(find_repository(path).is_err());
        std::fs::create_dir_all(path.join(".git/objects/info")).unwrap();
        std::fs::write(path.join(".git/HEAD"), "").unwrap();
        assert_eq!(find_repository(path).unwrap().0, path.join(".git"));
        std::fs::write(path.join(".git/objects/info/alternates"), "/etc").unwrap();
        assert!(find_repository(path).unwrap_err().0.contains("borrows"));
        // A worktree or a submodule has its files elsewhere.
        std::fs::remove_dir_all(path.join(".git")).unwrap();
        std::fs::write(path.join(".git"), "gitdir: /elsewhere").unwrap();
        assert!(find_repository(path).is_err());
        std::fs::remove_file(path.join(".git")).unwrap();
        std::os::unix::fs::symlink("/etc", path.join(".git")).unwrap();
        assert!(find_repository(path).is_err());
    }
}
