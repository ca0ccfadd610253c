-- The ground: who there is, how they prove themselves, what happened, what is to be done.

create table meta (
    name text primary key,
    value text not null
) strict;

create table principals (
    id integer primary key autoincrement,
    kind text not null check (kind in ('user', 'agent', 'system', 'machine')),
    handle text not null,
    -- Compared without case, and kept when the principal is deleted: a handle is never given out twice.
    folded_handle text not null unique,
    display_name text not null,
    -- Lower-cased by the hub, because the engines disagree on what that means.
    folded_display_name text not null,
    owner_id integer references principals (id),
    created_at integer not null,
    last_seen_at integer,
    deleted_at integer
) strict;
create index principals_owner on principals (owner_id, folded_handle) where owner_id is not null;

create table users (
    id integer primary key references principals (id),
    password_hash text not null,
    role text not null check (role in ('member', 'admin')),
    disabled_at integer
) strict;

create table sessions (
    id integer primary key autoincrement,
    user_id integer not null references users (id),
    token_hash blob not null unique,
    created_at integer not null,
    last_seen_at integer not null,
    expires_at integer not null,
    remote_ip text,
    user_agent text
) strict;
create index sessions_user on sessions (user_id, id);
create index sessions_expiry on sessions (expires_at);

create table invitations (
    id integer primary key autoincrement,
    token_hash blob not null unique,
    role text not null check (role in ('member', 'admin')),
    created_at integer not null,
    expires_at integer not null,
    used_at integer,
    used_by integer references users (id)
) strict;

create table agents (
    id integer primary key references principals (id),
    archetype text not null,
    trigger_mode text not null,
    cooldown_seconds integer not null,
    budget text not null,
    max_trigger_depth integer not null,
    k8s_image text,
    harness text,
    instructions text not null,
    pending_work integer not null default 0,
    paused_at integer,
    pause_reason text,
    quarantined_at integer,
    revision integer not null default 1
) strict;

create table agent_keys (
    agent_id integer primary key references agents (id),
    token_hash blob not null unique,
    created_at integer not null,
    last_used_at integer
) strict;

create table api_keys (
    id integer primary key autoincrement,
    owner_id integer not null references users (id),
    agent_id integer not null references agents (id),
    name text not null,
    token_hash blob not null unique,
    permissions text not null,
    channels text not null,
    created_at integer not null,
    expires_at integer,
    last_used_at integer,
    revoked_at integer
) strict;
create index api_keys_owner on api_keys (owner_id, id);
create index api_keys_agent on api_keys (agent_id);

create table audit (
    id integer primary key autoincrement,
    at integer not null,
    actor text,
    action text not null,
    target text,
    details text not null,
    remote_ip text,
    request_id text
) strict;
create index audit_action on audit (action, id);
create index audit_actor on audit (actor, id);

-- Answers to writes that carried an idempotency key, sealed, because they may contain a secret that is shown once.
create table idempotency (
    caller text not null,
    route text not null,
    key text not null,
    answer blob not null,
    created_at integer not null,
    primary key (caller, route, key)
) strict, without rowid;
create index idempotency_age on idempotency (created_at);

-- What happened, in order. A position is (xid, seq); here xid is always 0, because one writer's
-- numbers are in the order of its commits.
create table outbox (
    seq integer primary key autoincrement,
    xid integer not null default 0,
    at integer not null,
    kind text not null,
    conversation_id integer,
    actor_id integer,
    payload text not null
) strict;
create index outbox_position on outbox (xid, seq);
create index outbox_age on outbox (at);

create table listener_cursors (
    name text primary key,
    xid integer not null,
    seq integer not null,
    lease_owner text,
    lease_until integer
) strict;

-- What is to be done. Whoever holds the lease does it.
create table work (
    id integer primary key autoincrement,
    queue text not null,
    subject text not null,
    due_at integer not null,
    attempt integer not null default 0,
    lease_owner text,
    lease_until integer,
    created_at integer not null,
    unique (queue, subject)
) strict;
create index work_due on work (queue, due_at);

insert into principals (kind, handle, folded_handle, display_name, folded_display_name, created_at)
values ('system', 'system', 'system', 'System', 'system', 0);
