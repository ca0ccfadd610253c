use stoa_db::{DbError, Tx, params};
use stoa_model::RunId;
use stoa_model::runs::RunWorkspace;

use crate::storage::columns::named;

/// Stores where a run worked, in place of what its earlier attempts left.
pub(super) fn replace(tx: &mut Tx<'_>, run: RunId, workspace: &RunWorkspace) -> Result<(), DbError> {
    tx.execute(
        "insert into run_workspaces (run_id, kind, path, branch, base_commit, commit_id, files, insertions, deletions, patch, truncated)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         on conflict (run_id) do update set kind = excluded.kind, path = excluded.path, branch = excluded.branch,
             base_commit = excluded.base_commit, commit_id = excluded.commit_id, files = excluded.files,
             insertions = excluded.insertions, deletions = excluded.deletions, patch = excluded.patch, truncated = excluded.truncated",
        params![
            run.0,
            workspace.kind.name(),
            workspace.path,
            workspace.branch,
            workspace.base_commit,
            workspace.commit,
            workspace.files,
            workspace.insertions,
            workspace.deletions,
            workspace.patch,
            i64::from(workspace.truncated)
        ],
    )?;
    Ok(())
}

pub(super) fn find(tx: &mut Tx<'_>, run: RunId) -> Result<Option<RunWorkspace>, DbError> {
    tx.query_optional(
        "select kind, path, branch, base_commit, commit_id, files, insertions, deletions, patch, truncated
         from run_workspaces where run_id = $1",
        params![run.0],
        |row| {
            Ok(RunWorkspace {
                kind: named(row, "kind")?,
                path: row.get("path")?,
                branch: row.get("branch")?,
                base_commit: row.get("base_commit")?,
                commit: row.get("commit_id")?,
                files: row.get("files")?,
                insertions: row.get("insertions")?,
                deletions: row.get("deletions")?,
                patch: row.get("patch")?,
                truncated: row.get("truncated")?,
            })
        },
    )
}

/// Forgets what was changed, and keeps where.
pub(super) fn update_forgotten(tx: &mut Tx<'_>, run: RunId) -> Result<(), DbError> {
    tx.execute("update run_workspaces set patch = null where run_id = $1", params![run.0])?;
    Ok(())
}
