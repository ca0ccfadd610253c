-- Texts that wait to be indexed: those of an owner who writes more than others at once. Like the index itself it can be made
-- again, so it is neither logged nor backed up.

create unlogged table search_queue (
    message_id bigint primary key,
    conversation_id bigint not null,
    owner_id bigint not null,
    bytes bigint not null
);
