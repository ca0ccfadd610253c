-- Approvals of texts that were edited afterwards: who approved or published which revision.
create table lapsed_approvals (
    message_id bigint not null,
    revision bigint not null,
    principal_id bigint not null,
    reaction text collate "C" not null check (reaction in ('approve', 'published')),
    reacted_at bigint not null,
    primary key (message_id, revision, principal_id, reaction)
);
