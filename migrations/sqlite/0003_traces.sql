-- What principals did, call by call. Written in batches, after the fact, and never changed.
--
-- Without references to principals: their rows are never deleted, and a check of two keys for each trace would be paid for on the
-- busiest path there is.
create table traces (
    id integer primary key autoincrement,
    -- The human who answers for it, and whoever did it.
    owner_id integer not null,
    principal_id integer not null,
    action text not null,
    details text not null,
    error text,
    duration_ms integer not null,
    request_id text,
    run_id integer,
    created_at integer not null
) strict;
-- Every list is of one owner, newest first, of a range of time: of all they answer for, of one agent, of one action. Each of these
-- is read from its end without sorting, and counted without looking at a row.
create index traces_owner on traces (owner_id, created_at);
create index traces_principal on traces (owner_id, principal_id, created_at);
create index traces_action on traces (owner_id, action, created_at);
-- For those that have become too old, and for the operator, who sees everybody's.
create index traces_age on traces (created_at);
