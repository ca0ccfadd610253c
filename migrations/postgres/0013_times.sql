-- The time of the latest message. A transaction does not see what others have committed since it began, but it sees a sequence as it is.
create sequence if not exists commit_times minvalue 0 start 0;
select setval('commit_times', coalesce((select created_at from messages order by id desc limit 1), 0));
