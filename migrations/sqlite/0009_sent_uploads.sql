-- Whether the uploader has sent it, also when the message is deleted by now.
alter table uploads add column is_sent integer not null default 0 check (is_sent in (0, 1));
update uploads set is_sent = 1 where exists (
    select 1 from message_attachments a join messages m on m.id = a.message_id
    where a.sha256 = uploads.sha256 and m.author_id = uploads.uploader_id);
