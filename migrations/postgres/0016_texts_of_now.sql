-- Approvals of texts that were edited afterwards: who approved or published which revision.
create table lapsed_approvals (
    message_id bigint not null,
    revision bigint not null,
    principal_id bigint not null,
    reaction text collate "C" not null check (reaction in ('approve', 'published')),
    reacted_at bigint not null,
    primary key (message_id, revision, principal_id, reaction)
);

-- Digests name messages and no longer say what these say: that is put in when somebody reads them.
update messages set body = case when body like 'This work is standing still and waits%'
        then 'This work is standing still and waits for you:' || chr(10)
        else 'This work has been standing still for long, and needs a person:' || chr(10) end
where author_id in (select id from principals where kind = 'system') and metadata like '{"stalemate":%';
-- The index is filled again, without them.
truncate search_documents, search_state;
