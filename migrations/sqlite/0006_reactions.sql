-- Reactions (provisional: only what search needs to know of them).

create table reactions (
    id integer primary key autoincrement,
    message_id integer not null references messages (id),
    principal_id integer not null references principals (id),
    reaction text not null,
    metadata text not null,
    created_at integer not null,
    unique (message_id, principal_id, reaction)
) strict;
alter table messages add column workflow_state text not null default 'proposed';
alter table messages add column state_since integer;
