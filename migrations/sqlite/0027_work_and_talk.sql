-- Whether a message is work: it was proposed as such, or somebody has reacted to it. The rest is talk and has no state.
alter table messages add column is_work integer not null default 0 check (is_work in (0, 1));
-- When the status last changed; null while it is the one that the message was sent with.
alter table messages add column status_since integer;

update messages set is_work = 1 where workflow_state <> 'proposed' or id in (select message_id from reactions);
update messages set is_work = 1
    where is_work = 0 and channel_id in (select id from channels where workflow_enabled = 1) and reply_to is null and deleted_at is null
        and status in ('pending', 'processing')
        and json_extract(metadata, '$.action_type') is not null;
-- What nobody proposed and nobody reacted to was said, not asked for.
update messages set status = 'done', lease_until = null
    where is_work = 0 and channel_id is not null and status in ('pending', 'processing');

drop index messages_states;
create index messages_work on messages (conversation_id, workflow_state, id) where is_work = 1;
drop index messages_unreminded;
create index messages_unreminded on messages (channel_id, coalesce(state_since, created_at), id)
    where is_work = 1 and channel_id is not null and status in ('pending', 'processing') and reminded_at is null;
drop index messages_unescalated;
create index messages_unescalated on messages (channel_id, coalesce(state_since, created_at), id)
    where is_work = 1 and channel_id is not null and status in ('pending', 'processing') and escalated_at is null;
