-- What signs the calls to agents that run elsewhere.
create table run_secrets (
    agent_id integer primary key references principals (id),
    -- Sealed.
    secret blob not null,
    created_at integer not null
) strict;
