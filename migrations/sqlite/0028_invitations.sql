-- Who invites whom, and what became of it.
alter table invitations add column note text;
alter table invitations add column invited_by integer references users (id);
alter table invitations add column revoked_at integer;
