//! What a repeated request is answered: the messages as the caller sees them by then.

use stoa_db::Tx;
use stoa_model::messages::{DeliveryView, Items, MessageView, SentMessage, SettledMessage};
use stoa_model::{MessageId, Timestamp};

use super::store::{self, Bodies};
use super::view;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::idempotency::Replayed;

impl Replayed for MessageView {
    type Kept = (MessageId,);

    fn kept(&self) -> Self::Kept {
        (self.id,)
    }

    fn again(tx: &mut Tx<'_>, actor: &Actor, (id,): Self::Kept) -> Result<Self, HubError> {
        let row = view::find_visible(tx, actor, id)?;
        view::complete_one(tx, actor, row)
    }
}

impl Replayed for SentMessage {
    type Kept = (MessageId, Vec<DeliveryView>);

    fn kept(&self) -> Self::Kept {
        (self.message.id, self.delivery.clone())
    }

    fn again(tx: &mut Tx<'_>, actor: &Actor, (id, delivery): Self::Kept) -> Result<Self, HubError> {
        Ok(Self { message: MessageView::again(tx, actor, (id,))?, delivery })
    }
}

impl Replayed for SettledMessage {
    type Kept = (MessageId, Option<MessageId>);

    fn kept(&self) -> Self::Kept {
        (self.message.id, self.reply_id)
    }

    fn again(tx: &mut Tx<'_>, actor: &Actor, (id, reply_id): Self::Kept) -> Result<Self, HubError> {
        Ok(Self { message: MessageView::again(tx, actor, (id,))?, reply_id })
    }
}

impl Replayed for Items<MessageView> {
    type Kept = Vec<(MessageId, Option<Timestamp>)>;

    fn kept(&self) -> Self::Kept {
        self.items.iter().map(|message| (message.id, message.lease_until)).collect()
    }

    /// Those that the caller still sees and still has: another claim of the same inbox may have got them. Their texts may have grown since.
    fn again(tx: &mut Tx<'_>, actor: &Actor, kept: Self::Kept) -> Result<Self, HubError> {
        let ids: Vec<_> = kept.iter().map(|(id, _)| *id).collect();
        let mut seen = Vec::new();
        for row in store::find_messages(tx, &ids, Bodies::Beginning)? {
            if kept.contains(&(row.id, row.lease_until)) && view::is_visible(tx, actor, &row)? {
                seen.push(row.id);
            }
        }
        seen.sort_by_key(|seen| ids.iter().position(|id| id == seen));
        let rows = store::find_within_bytes(tx, &seen)?;
        Ok(Self { items: view::complete(tx, actor, rows)? })
    }
}
