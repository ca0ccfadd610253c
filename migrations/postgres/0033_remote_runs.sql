-- What signs the calls to agents that run elsewhere.
create table run_secrets (
    agent_id bigint primary key references principals (id),
    -- Sealed.
    secret bytea not null,
    created_at bigint not null
);
