-- The hub never deletes what a message points to. To check a foreign key, PostgreSQL locks the row that it points to. If another
-- transaction holds that row, the message waits, and so do all messages of the same transaction.
alter table messages
    drop constraint messages_conversation_id_fkey,
    drop constraint messages_channel_id_fkey,
    drop constraint messages_author_id_fkey,
    drop constraint messages_recipient_id_fkey;
