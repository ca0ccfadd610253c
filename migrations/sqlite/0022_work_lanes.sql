-- Items of one lane take turns with those of others, and a lane may have a limit of items that are worked on at a time.
alter table work add column lane text not null default '';
-- What is counted against a rate when the item is begun: names with a space between them.
alter table work add column meters text not null default '';
drop index work_due;
create index work_lanes on work (queue, lane, due_at, id);
create index work_leased on work (queue, lane, lease_until) where lease_owner is not null;

-- When an item was begun under a meter. Rows are deleted when the period of the rate is over.
create table work_starts (
    id integer primary key autoincrement,
    queue text not null,
    meter text not null,
    started_at integer not null
) strict;
create index work_starts_of_meter on work_starts (queue, meter, started_at);
