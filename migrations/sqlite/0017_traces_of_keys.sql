-- The managed key that was used. A key that is limited to channels sees its own traces and no others.
alter table traces add column key_id integer;
