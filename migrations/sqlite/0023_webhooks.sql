create table webhooks (
    id integer primary key autoincrement,
    agent_id integer not null references principals (id),
    owner_id integer not null references principals (id),
    url text not null,
    -- A bit for each event.
    events integer not null,
    secret blob not null,
    -- The secret before the last rotation, and until when it signs, too.
    old_secret blob,
    old_secret_until integer,
    disabled_at integer,
    disabled_reason text check (disabled_reason in ('by_owner', 'failures', 'gone', 'unconfirmed', 'unreachable')),
    -- Deliveries that failed for good, one after another, and when the first of them did.
    failures integer not null default 0,
    failing_since integer,
    last_delivery_at integer,
    created_at integer not null
) strict;
create index webhooks_of_agent on webhooks (agent_id);
create index webhooks_of_owner on webhooks (owner_id, id);

create table webhook_deliveries (
    id integer primary key autoincrement,
    webhook_id integer not null references webhooks (id) on delete cascade,
    -- What the receiver knows it by.
    public_id text not null,
    event text not null,
    -- Which message it is about. What it says is put in when it is sent.
    message_id integer,
    -- What else happened, without any text of others.
    facts text not null,
    depth integer not null,
    status text not null check (status in ('pending', 'delivered', 'dead', 'held', 'suppressed_loop')),
    reason text,
    -- Tries since it was last begun: at the fourth it is dead.
    tries integer not null default 0,
    attempts text not null default '[]',
    created_at integer not null,
    -- When it became what it is.
    changed_at integer not null
) strict;
create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_by_status on webhook_deliveries (webhook_id, status, id);
create index webhook_deliveries_by_age on webhook_deliveries (status, changed_at);
create index webhook_deliveries_of_message on webhook_deliveries (message_id) where message_id is not null;
