-- What an agent is for, as everybody may read it.
alter table agents add column description text not null default '';

-- Conversations that somebody wants on top of their list: a channel, or the direct messages with a partner.
create table stars (
    principal_id bigint not null references principals (id),
    kind text not null check (kind in ('channel', 'dm')),
    -- A channel or a principal.
    target_id bigint not null,
    created_at bigint not null,
    primary key (principal_id, kind, target_id)
);
