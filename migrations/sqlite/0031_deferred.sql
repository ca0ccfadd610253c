-- A run can wait for the provider of its model. A condition of a column cannot be changed in place, so the table is made anew, and with it
-- the two that refer to it.
create table new_reactive_runs (
    id integer primary key autoincrement,
    agent_id integer not null references principals (id),
    owner_id integer not null references principals (id),
    status text not null check (status in ('queued', 'running', 'waiting', 'deferred', 'succeeded', 'failed', 'cancelled', 'timed_out')),
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
    retry_of integer references new_reactive_runs (id),
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
    -- For the provider of its model: until when, since when, and how often.
    deferred_until integer,
    deferred_since integer,
    deferrals integer not null default 0,
    created_at integer not null,
    started_at integer,
    finished_at integer
) strict;
insert into new_reactive_runs (
    id, agent_id, owner_id, status, reason, trigger_message_id, inbox_message_id, sender_id, sender_human_id, is_foreign,
    depth, chain_id, attempt, retry_of, is_repeated, goal_id, task_id, snapshot, last_step, steps, tokens, cost_usd,
    token_hash, hub, lease_until, stop_reason, created_at, started_at, finished_at
) select
    id, agent_id, owner_id, status, reason, trigger_message_id, inbox_message_id, sender_id, sender_human_id, is_foreign,
    depth, chain_id, attempt, retry_of, is_repeated, goal_id, task_id, snapshot, last_step, steps, tokens, cost_usd,
    token_hash, hub, lease_until, stop_reason, created_at, started_at, finished_at
from reactive_runs;

create table new_harness_runs (
    id integer primary key autoincrement,
    reactive_run_id integer not null unique references new_reactive_runs (id) on delete cascade,
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
    truncated integer not null default 0 check (truncated in (0, 1)),
    -- What a program counted for its whole session, so that the next run of the session is not counted twice.
    session_tokens_in integer,
    session_tokens_out integer,
    session_tokens_cached integer,
    session_cost_usd real
) strict;
insert into new_harness_runs (
    id, reactive_run_id, backend, session_id, prompt, response, tokens_in, tokens_out, tokens_cached, cost_usd,
    cost_estimated, model, exit_code, trace_id, logs_excerpt, error_log, truncated, session_tokens_in, session_tokens_out,
    session_tokens_cached, session_cost_usd
) select
    id, reactive_run_id, backend, session_id, prompt, response, tokens_in, tokens_out, tokens_cached, cost_usd,
    cost_estimated, model, exit_code, trace_id, logs_excerpt, error_log, truncated, session_tokens_in, session_tokens_out,
    session_tokens_cached, session_cost_usd
from harness_runs;

create table new_run_steps (
    run_id integer not null references new_reactive_runs (id) on delete cascade,
    position integer not null,
    at integer not null,
    kind text not null,
    text text not null,
    duration_ms integer,
    primary key (run_id, position)
) strict, without rowid;
insert into new_run_steps (run_id, position, at, kind, text, duration_ms) select run_id, position, at, kind, text, duration_ms from run_steps;

drop table run_steps;
drop table harness_runs;
drop table reactive_runs;
alter table new_reactive_runs rename to reactive_runs;
alter table new_harness_runs rename to harness_runs;
alter table new_run_steps rename to run_steps;

-- One run at a time for each agent.
create unique index reactive_runs_active on reactive_runs (agent_id) where status in ('queued', 'running', 'deferred');
create index reactive_runs_agent on reactive_runs (agent_id, id);
create index reactive_runs_owner on reactive_runs (owner_id, id);
create index reactive_runs_running on reactive_runs (status, id) where status in ('queued', 'running', 'deferred');
create index reactive_runs_sender on reactive_runs (sender_human_id, agent_id, created_at);
create index reactive_runs_trigger on reactive_runs (trigger_message_id) where trigger_message_id is not null;
create index reactive_runs_retry on reactive_runs (retry_of) where retry_of is not null;
create index harness_runs_session on harness_runs (session_id) where session_id is not null;
