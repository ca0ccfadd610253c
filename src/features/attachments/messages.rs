//! Files of messages.

use std::collections::HashMap;

use stoa_db::{DbError, Tx};
use stoa_model::attachments::AttachmentView;
use stoa_model::permissions::Permission;
use stoa_model::{MessageId, PrincipalId};

use super::reading;
use super::store::{self, NewAttachment};
use crate::access::Actor;
use crate::error::{ErrorKind, HubError};

/// The files that a caller wants to send, each of which they have to be able to read.
pub fn find_attachable(tx: &mut Tx<'_>, actor: &Actor, sums: &[String]) -> Result<Vec<AttachmentView>, HubError> {
    let mut found = Vec::new();
    if sums.is_empty() {
        return Ok(found);
    }
    // Who may only upload can send what they have uploaded.
    if actor.require(Permission::AttachmentsWrite).is_err() {
        actor.require(Permission::AttachmentsRead)?;
    }
    for sha256 in sums {
        let readable = reading::find(tx, actor, sha256)?.ok_or_else(|| {
            let detail = format!("Attachment {sha256} not found.");
            HubError::new(ErrorKind::NotFound, "unknown_attachment", detail)
                .hint("Upload the file first: POST /api/attachments, or the tool upload_attachment.")
        })?;
        found.push(readable.details.attachment);
    }
    Ok(found)
}

/// Hangs files on a message of somebody's that was just stored.
pub fn attach(
    tx: &mut Tx<'_>,
    message: MessageId,
    author: PrincipalId,
    attachments: &[AttachmentView],
) -> Result<(), DbError> {
    for (position, attachment) in (0..).zip(attachments) {
        store::mark_sent(tx, author, &attachment.sha256)?;
        let row = NewAttachment {
            sha256: &attachment.sha256,
            filename: &attachment.filename,
            size: attachment.size,
            mime_type: &attachment.mime_type,
        };
        store::insert_attachment(tx, message, position, &row)?;
    }
    Ok(())
}

/// What each of the messages shows.
pub fn of(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<HashMap<MessageId, Vec<AttachmentView>>, DbError> {
    let mut found: HashMap<_, Vec<AttachmentView>> = HashMap::new();
    for (message, attachment) in store::list_attachments(tx, messages)? {
        found.entry(message).or_default().push(attachment.into());
    }
    Ok(found)
}

/// Takes the files off messages that are deleted.
pub fn release(tx: &mut Tx<'_>, messages: &[MessageId]) -> Result<(), DbError> {
    store::delete_attachments(tx, messages)
}
