-- Attachments (provisional: only what search needs to know of them).

create table message_attachments (
    message_id integer not null references messages (id),
    position integer not null,
    sha256 text not null,
    filename text not null,
    size integer not null,
    mime_type text not null,
    primary key (message_id, position)
) strict;
