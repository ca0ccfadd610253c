-- A run can wait for the provider of its model.
alter table reactive_runs drop constraint reactive_runs_status_check;
alter table reactive_runs add constraint reactive_runs_status_check
    check (status in ('queued', 'running', 'waiting', 'deferred', 'succeeded', 'failed', 'cancelled', 'timed_out'));
-- Until when, since when, and how often.
alter table reactive_runs add column deferred_until bigint;
alter table reactive_runs add column deferred_since bigint;
alter table reactive_runs add column deferrals bigint not null default 0;
drop index reactive_runs_active;
drop index reactive_runs_running;
-- One run at a time for each agent.
create unique index reactive_runs_active on reactive_runs (agent_id) where status in ('queued', 'running', 'deferred');
create index reactive_runs_running on reactive_runs (status, id) where status in ('queued', 'running', 'deferred');
