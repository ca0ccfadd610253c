-- How large pictures are, in pixels, as their headers say. Unknown for other files, and for those that were stored before.

alter table blobs add column width bigint, add column height bigint;
