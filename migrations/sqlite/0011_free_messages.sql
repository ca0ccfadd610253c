-- Only PostgreSQL has something to change here.
select 1;
