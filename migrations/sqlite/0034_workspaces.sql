-- Where runs worked, and what they changed there.
create table run_workspaces (
    run_id integer primary key references reactive_runs (id) on delete cascade,
    kind text not null,
    path text not null,
    -- Of a git repository.
    branch text,
    base_commit text,
    commit_id text,
    files integer not null default 0,
    insertions integer not null default 0,
    deletions integer not null default 0,
    patch text,
    truncated integer not null default 0 check (truncated in (0, 1))
) strict;
