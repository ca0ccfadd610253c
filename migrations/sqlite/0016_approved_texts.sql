-- Approvals of texts that were edited afterwards: who approved or published which revision.
create table lapsed_approvals (
    message_id integer not null references messages (id),
    revision integer not null,
    principal_id integer not null references principals (id),
    reaction text not null check (reaction in ('approve', 'published')),
    reacted_at integer not null,
    primary key (message_id, revision, principal_id, reaction)
) strict, without rowid;
