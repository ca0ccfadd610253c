-- Incoming webhooks. A hook is a principal of the kind machine, so that its messages have an author of their own.
create table hooks (
    id text primary key,
    principal_id integer not null unique references principals (id),
    owner_id integer not null references principals (id),
    kind text not null check (kind in ('github', 'standard', 'url')),
    channel_id integer references channels (id),
    agent_id integer references principals (id),
    events text not null,
    template text,
    secret blob not null,
    is_enabled integer not null default 1 check (is_enabled in (0, 1)),
    created_at integer not null,
    check ((channel_id is null) <> (agent_id is null))
) strict;
create index hooks_owner on hooks (owner_id, principal_id);
create index hooks_channel on hooks (channel_id) where channel_id is not null;
create index hooks_agent on hooks (agent_id) where agent_id is not null;

-- Deliveries of the last 24 hours, by a hash of their id or body, so that a repeated request makes no second message.
create table hook_deliveries (
    hook_id text not null references hooks (id) on delete cascade,
    delivery_hash blob not null,
    received_at integer not null,
    primary key (hook_id, delivery_hash)
) strict, without rowid;
create index hook_deliveries_received on hook_deliveries (received_at);

-- The latest requests of each hook.
create table hook_requests (
    id integer primary key autoincrement,
    hook_id text not null references hooks (id) on delete cascade,
    outcome text not null,
    event text,
    delivery_id text,
    message_id integer,
    received_at integer not null
) strict;
create index hook_requests_hook on hook_requests (hook_id, id);
