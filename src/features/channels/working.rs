//! What somebody is working on, as a part of queries that a send makes anyway: on PostgreSQL a query of its own would be one
//! more round trip for each message.

/// SQL for the greatest depth among the messages that a principal has claimed and not yet settled; null if there is none.
/// `principal` and `now` are SQL for its id and the time in milliseconds.
pub fn depth_sql(principal: &str, now: &str) -> String {
    // In the order of the index `messages_claimed`, so the first claim that is still in force ends the search.
    format!(
        "(select claimed.depth from messages claimed
          where claimed.recipient_id = {principal} and claimed.status = 'processing' and claimed.lease_until > {now}
          order by claimed.depth desc limit 1)"
    )
}
