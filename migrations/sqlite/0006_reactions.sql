-- Reactions: what is said about the work that a message stands for, the state that follows from it, and how far
-- agents are trusted because of it.

create table reactions (
    -- In the order in which they were made.
    id integer primary key autoincrement,
    message_id integer not null references messages (id),
    principal_id integer not null references principals (id),
    reaction text not null check (reaction in ('approve', 'reject', 'in_progress', 'done', 'published')),
    metadata text not null,
    created_at integer not null,
    unique (message_id, principal_id, reaction)
) strict;
-- Of two who claim a message at once, one must lose: this decides which.
create unique index reactions_claim on reactions (message_id) where reaction = 'in_progress';
create index reactions_claimant on reactions (principal_id, id) where reaction = 'in_progress';

-- Follows from the reactions, and is kept so that it can be looked for.
alter table messages add column workflow_state text not null default 'proposed'
    check (workflow_state in ('proposed', 'approved', 'in_progress', 'rejected', 'done', 'published'));
-- Since when; null means since it was written.
alter table messages add column state_since integer;
-- When it was told that the work stands still in this state.
alter table messages add column reminded_at integer;
alter table messages add column escalated_at integer;

-- With what a list of proposals has to know, too: in a channel where most work is settled it passes over much.
drop index messages_conversation;
create index messages_conversation on messages (conversation_id, id, author_id, deleted_at, workflow_state, reply_to);
-- Nothing here costs a message that nobody reacted to, or one that is no work.
create index messages_states on messages (conversation_id, workflow_state, id) where workflow_state <> 'proposed';
create index messages_unreminded on messages (channel_id, coalesce(state_since, created_at), id)
    where channel_id is not null and status in ('pending', 'processing') and reminded_at is null
        and (reply_to is null or workflow_state = 'in_progress');
create index messages_unescalated on messages (channel_id, coalesce(state_since, created_at), id)
    where channel_id is not null and status in ('pending', 'processing') and escalated_at is null
        and (reply_to is null or workflow_state = 'in_progress');
create index channels_workflow on channels (id) where workflow_enabled = 1 and deleted_at is null;

-- What people have said about the work of agents, in the order in which they said it. A row outlives its message.
create table trust_ledger (
    id integer primary key autoincrement,
    agent_id integer not null references principals (id),
    action_type text not null,
    message_id integer not null,
    human_id integer not null references principals (id),
    reaction text not null check (reaction in ('approve', 'reject')),
    -- In hundredths, as scores are: sums of 0.05 would not be exact.
    delta integer not null,
    -- The score after it.
    score integer not null check (score between 0 and 100),
    created_at integer not null,
    unique (message_id, human_id, reaction)
) strict;
create index trust_ledger_agent on trust_ledger (agent_id, action_type, id);

-- What the ledger comes to.
create table trust (
    agent_id integer not null references principals (id),
    action_type text not null,
    score integer not null check (score between 0 and 100),
    adjustments integer not null,
    updated_at integer not null,
    primary key (agent_id, action_type)
) strict, without rowid;
