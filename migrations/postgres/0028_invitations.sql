-- Who invites whom, and what became of it.
alter table invitations add column note text;
alter table invitations add column invited_by bigint references users (id);
alter table invitations add column revoked_at bigint;
