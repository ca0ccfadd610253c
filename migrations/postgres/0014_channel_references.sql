-- Keys and routes name channels by id. Somebody else may take the name of a deleted channel.
alter table api_keys add column is_limited bigint not null default 0 check (is_limited in (0, 1));
update api_keys set is_limited = 1 where channels <> '';

create table api_key_channels (
    key_id bigint not null references api_keys (id),
    channel_id bigint not null references channels (id),
    primary key (key_id, channel_id)
);
create index api_key_channels_channel on api_key_channels (channel_id);
-- Names are those of the channels that there are now; a name that nothing has leads nowhere.
insert into api_key_channels (key_id, channel_id)
select k.id, c.id from api_keys k join channels c on c.name = any (string_to_array(k.channels, ','))
where c.deleted_at is null;
alter table api_keys drop column channels;

create table machine_route_channels (
    principal_id bigint not null,
    config_name text collate "C" not null,
    channel_name text collate "C" not null,
    channel_id bigint not null references channels (id),
    primary key (principal_id, config_name, channel_name),
    foreign key (principal_id, config_name) references machine_source_configs (principal_id, name) on delete cascade
);
create index machine_route_channels_channel on machine_route_channels (channel_id);
insert into machine_route_channels (principal_id, config_name, channel_name, channel_id)
select distinct s.principal_id, s.name, c.name, c.id
from machine_source_configs s cross join jsonb_array_elements(s.config::jsonb -> 'routes') route
join channels c on c.name = route ->> 'channel' and c.deleted_at is null;

-- Only its former owner may take the name of a deleted channel.
create index channels_deleted_name on channels (name, deleted_at) where deleted_at is not null;
