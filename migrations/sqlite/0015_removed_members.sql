-- Members whom somebody else took out of a channel. They stay out until somebody who may decides otherwise.
create table channel_removals (
    channel_id integer not null references channels (id),
    principal_id integer not null references principals (id),
    removed_at integer not null,
    primary key (channel_id, principal_id)
) strict, without rowid;
