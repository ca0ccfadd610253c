-- Files that people and agents send: what is in them once for each content, who uploaded it, and which messages show it.

create table blobs (
    -- Of the content, in lower-case hexadecimal.
    sha256 text primary key,
    -- What the content is called in the store. Each name is given out once: what is removed under it can be nobody else's.
    object text not null unique,
    size integer not null,
    mime_type text not null,
    created_at integer not null
) strict, without rowid;
create index blobs_age on blobs (created_at);

-- Who uploaded a content, and what they called it: one row for each of them.
create table uploads (
    id integer primary key autoincrement,
    sha256 text not null references blobs (sha256),
    uploader_id integer not null references principals (id),
    filename text not null,
    created_at integer not null
) strict;
create unique index uploads_content on uploads (sha256, uploader_id);
create index uploads_uploader on uploads (uploader_id, id);
create index uploads_age on uploads (uploader_id, created_at);

create table message_attachments (
    message_id integer not null references messages (id),
    position integer not null,
    sha256 text not null references blobs (sha256),
    -- What its sender called it; others may have called the same content otherwise.
    filename text not null,
    size integer not null,
    mime_type text not null,
    primary key (message_id, position)
) strict, without rowid;
create index message_attachments_content on message_attachments (sha256, message_id);

-- Contents that nobody has any more, until the store has let go of them.
create table blob_removals (
    object text primary key,
    created_at integer not null
) strict, without rowid;

-- Who needs contents to stay in the store for a while, although nobody has them any more: backups that are being made.
create table blob_holds (
    name text primary key,
    until_ms integer not null
) strict, without rowid;
