-- Where runs worked, and what they changed there.
create table run_workspaces (
    run_id bigint primary key references reactive_runs (id) on delete cascade,
    kind text not null,
    path text not null,
    -- Of a git repository.
    branch text,
    base_commit text,
    commit_id text,
    files bigint not null default 0,
    insertions bigint not null default 0,
    deletions bigint not null default 0,
    patch text,
    truncated bigint not null default 0 check (truncated in (0, 1))
);
