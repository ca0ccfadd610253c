-- Who starts an agent, and how its runs are counted.
alter table agents add column trigger_from text not null default 'people' check (trigger_from in ('owner', 'people', 'everyone'));
-- Names of users and agents, as JSON.
alter table agents add column trigger_allow text not null default '[]';
alter table agents add column max_round_trips integer not null default 12;
-- When its last run ended.
alter table agents add column last_run_ended_at integer;
-- The last message of a person to it: agents that only answer one another are damped.
alter table agents add column person_message_id integer not null default 0;

-- The message that a chain of automation began with; null for a message that begins one.
alter table messages add column chain_id integer;
-- What a message that an agent got has set in motion, why not, and the run that covered it. Null where nobody asked.
alter table messages add column wake_state text check (wake_state in ('woken', 'deferred', 'not_woken'));
alter table messages add column wake_reason text;
alter table messages add column wake_run_id integer;
create index messages_waiting on messages (recipient_id, id) where wake_state = 'deferred' and wake_run_id is null;
create index messages_of_run on messages (run_id, id) where run_id is not null;
create index messages_covered on messages (wake_run_id, id) where wake_run_id is not null;

create table reactive_runs (
    id integer primary key autoincrement,
    agent_id integer not null references principals (id),
    owner_id integer not null references principals (id),
    status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    reason text,
    -- Messages, which a purge may take: of a mention the one in the channel, and the DM about it.
    trigger_message_id integer,
    inbox_message_id integer,
    -- Who wrote it, and the person who answers for them.
    sender_id integer references principals (id),
    sender_human_id integer references principals (id),
    is_foreign integer not null check (is_foreign in (0, 1)),
    depth integer not null,
    chain_id integer not null,
    attempt integer not null,
    retry_of integer references reactive_runs (id),
    -- Whether the hub repeated it by itself after a crash.
    is_repeated integer not null default 0 check (is_repeated in (0, 1)),
    goal_id integer,
    task_id integer,
    -- The agent as it was.
    snapshot text not null,
    last_step text,
    steps integer not null default 0,
    tokens integer,
    cost_usd real,
    -- Of the token with which its program calls the hub, while it is running.
    token_hash blob unique,
    -- The hub that runs it, and how long it is believed to do so.
    hub text,
    lease_until integer,
    -- Why it is to end.
    stop_reason text,
    created_at integer not null,
    started_at integer,
    finished_at integer
) strict;
-- One run at a time for each agent.
create unique index reactive_runs_active on reactive_runs (agent_id) where status in ('queued', 'running');
create index reactive_runs_agent on reactive_runs (agent_id, id);
create index reactive_runs_owner on reactive_runs (owner_id, id);
create index reactive_runs_running on reactive_runs (status, id) where status in ('queued', 'running');
create index reactive_runs_sender on reactive_runs (sender_human_id, agent_id, created_at);
create index reactive_runs_trigger on reactive_runs (trigger_message_id) where trigger_message_id is not null;
create index reactive_runs_retry on reactive_runs (retry_of) where retry_of is not null;

create table harness_runs (
    id integer primary key autoincrement,
    reactive_run_id integer not null unique references reactive_runs (id) on delete cascade,
    backend text not null,
    session_id text,
    prompt text,
    response text,
    tokens_in integer,
    tokens_out integer,
    tokens_cached integer,
    cost_usd real,
    cost_estimated integer not null default 0 check (cost_estimated in (0, 1)),
    model text,
    exit_code integer,
    trace_id text,
    logs_excerpt text,
    error_log text,
    truncated integer not null default 0 check (truncated in (0, 1))
) strict;

create table run_steps (
    run_id integer not null references reactive_runs (id) on delete cascade,
    position integer not null,
    at integer not null,
    kind text not null,
    text text not null,
    duration_ms integer,
    primary key (run_id, position)
) strict, without rowid;

-- Runs of an agent on one day (UTC, days since 1970).
create table run_days (
    agent_id integer not null references principals (id),
    day integer not null,
    runs integer not null,
    foreign_runs integer not null,
    primary key (agent_id, day)
) strict, without rowid;

-- Runs that descend from one message.
create table run_chains (
    chain_id integer primary key,
    runs integer not null,
    updated_at integer not null
) strict;
create index run_chains_updated on run_chains (updated_at);

-- What is stopped: everything, under 0, or all that acts for one user.
create table acting_stops (
    scope integer primary key,
    reason text not null,
    stopped_at integer not null
) strict;
