-- Whether a person reacted, with a session. A program that acts for a person is no person. Earlier versions made no
-- difference, so a user's earlier reaction stays a person's.
alter table reactions add column is_by_person bigint not null default 0 check (is_by_person in (0, 1));
update reactions set is_by_person = 1 where principal_id in (select id from principals where kind = 'user');

-- What each recipient is working on, deepest first: every message that a program sends asks for it.
create index messages_claimed on messages (recipient_id, depth, lease_until) where status = 'processing';
