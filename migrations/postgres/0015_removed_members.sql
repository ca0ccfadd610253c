-- Members whom somebody else took out of a channel. They stay out until somebody who may decides otherwise.
create table channel_removals (
    channel_id bigint not null references channels (id),
    principal_id bigint not null references principals (id),
    removed_at bigint not null,
    primary key (channel_id, principal_id)
);
