-- Environment variables that the operator gives to the runs of a user's agents, or of one agent.
create table secrets (
    principal_id integer not null references principals (id),
    name text not null,
    -- Sealed with the key of the hub.
    value blob not null,
    -- Whether runs that somebody else started get it too.
    all_runs integer not null check (all_runs in (0, 1)),
    -- None for the operator, who is no principal.
    created_by integer references principals (id),
    created_at integer not null,
    updated_at integer not null,
    primary key (principal_id, name)
) strict;
