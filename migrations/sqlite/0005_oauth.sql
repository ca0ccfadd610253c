-- OAuth 2.1: programs that act for people and for their agents. Secrets are here only as hashes.

-- Those that registered themselves, those that an owner made for an agent, and those that a document at their own address describes,
-- whose client_id is that address.
create table oauth_clients (
    id integer primary key autoincrement,
    client_id text not null unique,
    kind text not null check (kind in ('registered', 'owned', 'document')),
    name text not null,
    auth_method text not null check (auth_method in ('none', 'client_secret_basic', 'client_secret_post')),
    -- bcrypt; none for public clients.
    secret_hash text,
    -- What lets a registered client read and delete its registration.
    registration_hash blob,
    -- Lists, as JSON.
    redirect_uris text not null,
    grant_types text not null,
    -- The most that it may ask for; none means all there is.
    scope text,
    application_type text,
    owner_id integer references users (id),
    agent_id integer references agents (id),
    introspects_all integer not null default 0 check (introspects_all in (0, 1)),
    created_at integer not null,
    last_used_at integer,
    -- How long a document is believed without reading it again.
    fresh_until integer
) strict;
create index oauth_clients_owner on oauth_clients (owner_id, id) where owner_id is not null;
create index oauth_clients_agent on oauth_clients (agent_id) where agent_id is not null;
create index oauth_clients_age on oauth_clients (kind, created_at);

-- Questions to a person that are not answered yet.
create table oauth_requests (
    id_hash blob primary key,
    -- A request that waits, as it came, for somebody to log in before it is looked at. Then it has nothing of what follows.
    query text,
    client_id integer references oauth_clients (id) on delete cascade,
    -- Whom the question was shown to; none until somebody has logged in.
    session_id integer,
    redirect_uri text,
    state text,
    scope text,
    code_challenge text,
    expires_at integer not null,
    check ((query is null) = (client_id is not null and redirect_uri is not null and scope is not null and code_challenge is not null))
) strict, without rowid;
create index oauth_requests_client on oauth_requests (client_id) where client_id is not null;
create index oauth_requests_expiry on oauth_requests (expires_at);

-- What a person let a client do: the code that says so, and all tokens that came of it.
create table oauth_grants (
    id integer primary key autoincrement,
    kind text not null check (kind in ('consent', 'client')),
    client_id integer not null references oauth_clients (id) on delete cascade,
    user_id integer not null references users (id),
    -- Whom the client acts as; none means the person.
    agent_id integer references agents (id),
    scope text not null,
    redirect_uri text,
    code_hash blob unique,
    code_challenge text,
    code_expires_at integer,
    code_used_at integer,
    -- Refresh tokens are made of this, of the number of the generation and of the hub's key.
    seed blob not null,
    generation integer not null default 0,
    created_at integer not null,
    last_used_at integer,
    expires_at integer not null,
    revoked_at integer
) strict;
create index oauth_grants_user on oauth_grants (user_id, id);
create index oauth_grants_client on oauth_grants (client_id);
create index oauth_grants_agent on oauth_grants (agent_id) where agent_id is not null;
create index oauth_grants_expiry on oauth_grants (expires_at);

-- Used ones are kept as long as their grant: whoever shows one again may be a thief.
create table oauth_refresh_tokens (
    token_hash blob primary key,
    grant_id integer not null references oauth_grants (id) on delete cascade,
    generation integer not null,
    created_at integer not null,
    expires_at integer not null,
    used_at integer,
    unique (grant_id, generation)
) strict, without rowid;

create table oauth_access_tokens (
    token_hash blob primary key,
    grant_id integer not null references oauth_grants (id) on delete cascade,
    scope text not null,
    created_at integer not null,
    expires_at integer not null
) strict, without rowid;
create index oauth_access_tokens_grant on oauth_access_tokens (grant_id);
create index oauth_access_tokens_expiry on oauth_access_tokens (expires_at);
