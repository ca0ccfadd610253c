-- Approvals of texts that were edited afterwards: who approved or published which revision.
create table lapsed_approvals (
    message_id integer not null references messages (id),
    revision integer not null,
    principal_id integer not null references principals (id),
    reaction text not null check (reaction in ('approve', 'published')),
    reacted_at integer not null,
    primary key (message_id, revision, principal_id, reaction)
) strict, without rowid;

-- Digests name messages and no longer say what these say: that is put in when somebody reads them.
update messages set body = case when body like 'This work is standing still and waits%'
        then 'This work is standing still and waits for you:' || char(10)
        else 'This work has been standing still for long, and needs a person:' || char(10) end
where author_id in (select id from principals where kind = 'system') and metadata like '{"stalemate":%';
