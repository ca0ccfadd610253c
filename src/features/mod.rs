//! What the hub can do, one folder for each feature. Lower ones know nothing of higher ones.

pub mod acting;
pub mod agents;
pub mod api_keys;
pub mod attachments;
pub mod audit;
pub mod automation;
pub mod backup;
pub mod channels;
pub mod directory;
pub mod hooks;
pub mod housekeeping;
pub mod machines;
pub mod messages;
pub mod oauth;
pub mod principals;
pub mod reactions;
pub mod runs;
pub mod search;
pub mod secrets;
pub mod stars;
pub mod streams;
pub mod system;
pub mod traces;
pub mod users;
pub mod webhooks;
pub mod workflow;

use crate::feature::Features;

/// All features, in floor order: each calls only those before it, and is prepared and started after them.
pub fn all() -> Features {
    Features(vec![
        audit::feature(),
        traces::feature(),
        principals::feature(),
        acting::feature(),
        users::feature(),
        agents::feature(),
        secrets::feature(),
        oauth::feature(),
        channels::feature(),
        attachments::feature(),
        reactions::feature(),
        messages::feature(),
        stars::feature(),
        api_keys::feature(),
        workflow::feature(),
        webhooks::feature(),
        search::feature(),
        hooks::feature(),
        runs::feature(),
        directory::feature(),
        automation::feature(),
        machines::feature(),
        streams::feature(),
        housekeeping::feature(),
        system::feature(),
        backup::feature(),
    ])
}
