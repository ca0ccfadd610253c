-- What runs that others start can read and write.
alter table agents add column foreign_reach text not null default 'conversation' check (foreign_reach in ('conversation', 'agent'));
