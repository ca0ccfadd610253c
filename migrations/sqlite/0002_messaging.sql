-- Conversations: channels and pairs, what is said in them, and how far each has read.

create table conversations (
    id integer primary key autoincrement,
    -- The two sides of a DM, the smaller id first; both null for a channel's conversation.
    low_id integer references principals (id),
    high_id integer references principals (id),
    created_at integer not null,
    check ((low_id is null) = (high_id is null) and (low_id is null or low_id < high_id))
) strict;
create unique index conversations_pair on conversations (low_id, high_id) where low_id is not null;
create index conversations_high on conversations (high_id) where high_id is not null;

create table channels (
    id integer primary key autoincrement,
    conversation_id integer not null unique references conversations (id),
    name text not null,
    topic text not null,
    description text not null,
    is_public integer not null check (is_public in (0, 1)),
    owner_id integer not null references users (id),
    workflow_enabled integer not null default 0 check (workflow_enabled in (0, 1)),
    auto_approve integer not null default 0 check (auto_approve in (0, 1)),
    stalemate_remind_after text not null default '24h',
    stalemate_escalate_after text not null default '72h',
    publish_threshold real not null default 0.8,
    approve_threshold real not null default 0.6,
    revision integer not null default 1,
    created_at integer not null,
    deleted_at integer,
    -- When the last of what was said in a deleted channel was taken away.
    purged_at integer
) strict;
-- The name of a deleted channel is free again.
create unique index channels_name on channels (name) where deleted_at is null;

create index channels_to_purge on channels (id) where deleted_at is not null and purged_at is null;

create table channel_members (
    channel_id integer not null references channels (id),
    principal_id integer not null references principals (id),
    joined_at integer not null,
    primary key (channel_id, principal_id)
) strict, without rowid;
create index channel_members_principal on channel_members (principal_id, channel_id);

create table read_cursors (
    principal_id integer not null references principals (id),
    conversation_id integer not null references conversations (id),
    message_id integer not null,
    primary key (principal_id, conversation_id)
) strict, without rowid;

-- What somebody wants to be told of: everything that is said, or only that they are mentioned.
create table notification_defaults (
    principal_id integer primary key references principals (id),
    level text not null check (level in ('all', 'mentions'))
) strict;
create table notification_levels (
    principal_id integer not null references principals (id),
    channel_id integer not null references channels (id),
    level text not null check (level in ('all', 'mentions')),
    primary key (principal_id, channel_id)
) strict, without rowid;

create table messages (
    id integer primary key autoincrement,
    conversation_id integer not null references conversations (id),
    channel_id integer references channels (id),
    author_id integer not null references principals (id),
    -- The other side of a DM; null in a channel.
    recipient_id integer references principals (id),
    subject text,
    body text not null,
    -- These three name messages, but outlive them: a purge takes the old and leaves the young.
    reply_to integer,
    thread_id integer,
    -- The channel message that this inbox DM tells its recipient about.
    mention_of integer,
    status text not null check (status in ('pending', 'processing', 'done', 'failed')),
    priority integer not null,
    metadata text not null,
    mentions text not null,
    depth integer not null,
    run_id integer,
    lease_until integer,
    created_at integer not null,
    edited_at integer,
    deleted_at integer
) strict;
-- With all that counting what is unread has to know, so that it does not read the messages themselves.
create index messages_conversation on messages (conversation_id, id, author_id, deleted_at);
create index messages_reply on messages (reply_to, id) where reply_to is not null;
create index messages_thread on messages (thread_id, id) where thread_id is not null;
create index messages_answers on messages (conversation_id, id) where thread_id is not null;
create index messages_mention on messages (mention_of) where mention_of is not null;
-- Open work apart from what is settled, so that a long history costs an inbox nothing.
create index messages_open on messages (recipient_id, id) where recipient_id is not null and status in ('pending', 'processing');
create index messages_claims on messages (recipient_id, priority desc, id) where recipient_id is not null and status in ('pending', 'processing');
create index messages_settled on messages (recipient_id, id) where recipient_id is not null and status in ('done', 'failed');
create index messages_leases on messages (lease_until) where status = 'processing';

create table message_revisions (
    message_id integer not null references messages (id),
    revision integer not null,
    body text not null,
    -- When this text was written.
    written_at integer not null,
    primary key (message_id, revision)
) strict, without rowid;

create table channel_pins (
    channel_id integer not null references channels (id),
    message_id integer not null references messages (id),
    pinned_by integer not null references principals (id),
    pinned_at integer not null,
    primary key (channel_id, message_id)
) strict, without rowid;
create index channel_pins_message on channel_pins (message_id);

create table thread_mutes (
    principal_id integer not null references principals (id),
    message_id integer not null references messages (id),
    muted_at integer not null,
    primary key (principal_id, message_id)
) strict, without rowid;
create index thread_mutes_message on thread_mutes (message_id);
