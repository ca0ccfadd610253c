-- What a program counted for its whole session, so that the next run of the session is not counted twice.
alter table harness_runs add column session_tokens_in bigint;
alter table harness_runs add column session_tokens_out bigint;
alter table harness_runs add column session_tokens_cached bigint;
alter table harness_runs add column session_cost_usd double precision;
create index harness_runs_session on harness_runs (session_id) where session_id is not null;
