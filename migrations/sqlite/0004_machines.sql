-- What machine principals do here. Who they are, and what their keys may do, stands in the registry; of it the database has only a
-- row of `principals` for each, so that they can be authors and members.

-- The nonces of signatures that were accepted, until their time is over: none is accepted twice.
create table machine_nonces (
    key_id text not null,
    nonce text not null,
    forget_at integer not null,
    primary key (key_id, nonce)
) strict, without rowid;
create index machine_nonces_age on machine_nonces (forget_at);

-- How a principal wants its events to be routed. The name is of the principal's own choice.
create table machine_source_configs (
    principal_id integer not null references principals (id),
    name text not null,
    version integer not null,
    config text not null,
    created_at integer not null,
    updated_at integer not null,
    primary key (principal_id, name)
) strict, without rowid;

-- What each component of a principal said last about itself.
create table machine_runtime_status (
    principal_id integer not null references principals (id),
    component text not null,
    status text not null,
    message text,
    version text,
    details text not null,
    reported_at integer not null,
    primary key (principal_id, component)
) strict, without rowid;
create index machine_runtime_status_age on machine_runtime_status (reported_at);

-- Events, as they were taken in, and what became of each.
create table machine_events (
    id integer primary key autoincrement,
    principal_id integer not null references principals (id),
    event_id text not null,
    type text not null,
    event text not null,
    outcome text not null check (outcome in ('stored', 'routed', 'not_routed')),
    -- Why it was not routed.
    reason text,
    -- The source config that had a route for it, as it was then.
    config_name text,
    config_version integer,
    -- It outlives the message: a purge takes what was said.
    message_id integer,
    request_id text,
    received_at integer not null,
    unique (principal_id, event_id)
) strict;
-- Lists are of one principal, in the order in which events came in. Numbers are given in that order too, which is how the oldest are found.
create index machine_events_received on machine_events (principal_id, received_at, id);

-- Who used which key when, and who was refused for what. Hubs add to these from time to time.
create table machine_key_uses (
    principal_id integer not null references principals (id),
    kid text not null,
    uses integer not null,
    last_used_at integer not null,
    primary key (principal_id, kid)
) strict, without rowid;
create table machine_refusals (
    principal_id integer not null references principals (id),
    reason text not null,
    refusals integer not null,
    last_refused_at integer not null,
    primary key (principal_id, reason)
) strict, without rowid;
