-- The order of events is that of their commits, which a lock sees to from now on. Until now an event was placed by the
-- transaction that wrote it, so the later ones get a number that is larger than all of those.
do $$ begin
    execute format('alter table outbox alter column xid set default %s', pg_current_xact_id()::text::bigint);
end $$;
