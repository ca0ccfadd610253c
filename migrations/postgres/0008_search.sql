-- Search: an index of what was said. All of it can be made again from the messages, so it is neither logged nor backed
-- up: after a crash of the server it is empty, and the hub fills it again.

create unlogged table search_documents (
    message_id bigint primary key,
    conversation_id bigint not null,
    author_id bigint not null,
    created_at bigint not null,
    -- Made by the hub, not by the server: both engines are to find the same.
    words tsvector not null
);
create index search_documents_words on search_documents using gin (words);
create index search_documents_age on search_documents (created_at);

-- How far the index has come, in one row at most.
create unlogged table search_state (
    id bigint primary key check (id = 1),
    epoch text not null,
    xid bigint not null,
    seq bigint not null,
    built_through bigint not null
);
