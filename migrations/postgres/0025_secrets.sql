-- Environment variables that the operator gives to the runs of a user's agents, or of one agent.
create table secrets (
    principal_id bigint not null references principals (id),
    name text collate "C" not null,
    -- Sealed with the key of the hub.
    value bytea not null,
    -- Whether runs that somebody else started get it too.
    all_runs bigint not null check (all_runs in (0, 1)),
    -- None for the operator, who is no principal.
    created_by bigint references principals (id),
    created_at bigint not null,
    updated_at bigint not null,
    primary key (principal_id, name)
);
