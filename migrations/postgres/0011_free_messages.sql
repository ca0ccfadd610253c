-- What a message points to is never deleted. To check that, PostgreSQL locks the rows that it points to, so that a message would
-- wait for whoever holds one of them, and with it all messages that are stored in the same transaction.
alter table messages
    drop constraint messages_conversation_id_fkey,
    drop constraint messages_channel_id_fkey,
    drop constraint messages_author_id_fkey,
    drop constraint messages_recipient_id_fkey;
