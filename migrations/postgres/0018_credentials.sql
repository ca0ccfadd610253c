-- Refresh tokens are random. Earlier ones were computed from the seed of their grant: each still works once, as its hash is
-- stored, but nobody can compute its successors.
alter table oauth_grants drop column seed;

-- The successors of refresh tokens that were used a moment ago, for a client that asks twice. A copy is sealed, can be opened only
-- with the old token, is given out once, and is deleted after a few seconds.
create table oauth_successors (
    token_hash bytea primary key references oauth_refresh_tokens (token_hash) on delete cascade,
    grant_id bigint not null references oauth_grants (id) on delete cascade,
    successor bytea not null,
    expires_at bigint not null
);
create index oauth_successors_grant on oauth_successors (grant_id);
create index oauth_successors_expiry on oauth_successors (expires_at);

-- Counts the changes of a password. A login may store another hash of the same password, which is no change.
alter table users add column password_revision bigint not null default 0;
