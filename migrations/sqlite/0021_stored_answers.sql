-- Whose stored answers these are, and how long they are: all of one owner's together have a limit. Older ones count for nobody, and are
-- deleted within a day.
alter table idempotency add column owner_id integer;
alter table idempotency add column bytes integer not null default 0;
create index idempotency_owner on idempotency (owner_id, bytes) where owner_id is not null;
