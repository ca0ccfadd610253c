//! What the hub can do, one folder for each feature. Lower ones know nothing of higher ones.

pub mod agents;
pub mod api_keys;
pub mod attachments;
pub mod audit;
pub mod backup;
pub mod channels;
pub mod housekeeping;
pub mod machines;
pub mod messages;
pub mod oauth;
pub mod principals;
pub mod reactions;
pub mod search;
pub mod streams;
pub mod system;
pub mod traces;
pub mod users;
pub mod workflow;

use crate::hub::Extensions;
use crate::surfaces::admin::Methods;
use crate::surfaces::http::ApiRouter;
use crate::surfaces::mcp::Offer;

/// Every planner, listener, worker and tap.
pub fn extensions() -> Extensions {
    Extensions {
        planners: vec![api_keys::plan, oauth::plan, channels::plan, workflow::plan],
        listeners: vec![search::listener()],
        workers: vec![attachments::worker(), housekeeping::worker()],
        taps: vec![messages::tap(), streams::tap()],
        offers: vec![],
    }
}

/// Every REST route.
pub fn routes() -> ApiRouter {
    ApiRouter::new()
        .merge(users::routes())
        .merge(agents::routes())
        .merge(api_keys::routes())
        .merge(oauth::routes())
        .merge(principals::routes())
        .merge(channels::routes())
        .merge(attachments::routes())
        .merge(messages::routes())
        .merge(workflow::routes())
        .merge(search::routes())
        .merge(machines::routes())
        .merge(streams::routes())
        .merge(audit::routes())
        .merge(traces::routes())
        .merge(system::routes())
}

/// Every method of the admin socket.
pub fn admin_methods() -> Methods {
    let mut methods = Methods::default();
    users::add_methods(&mut methods);
    agents::add_methods(&mut methods);
    api_keys::add_methods(&mut methods);
    oauth::add_methods(&mut methods);
    channels::add_methods(&mut methods);
    attachments::add_methods(&mut methods);
    messages::add_methods(&mut methods);
    machines::add_methods(&mut methods);
    audit::add_methods(&mut methods);
    traces::add_methods(&mut methods);
    system::add_methods(&mut methods);
    backup::add_methods(&mut methods);
    methods
}

/// All that agents are offered over MCP.
pub fn offer() -> Offer {
    let mut offer = Offer::default();
    messages::add_tools(&mut offer.tools);
    messages::add_resources(&mut offer.resources);
    messages::add_prompts(&mut offer.prompts);
    search::add_tools(&mut offer.tools);
    channels::add_tools(&mut offer.tools);
    workflow::add_tools(&mut offer.tools);
    attachments::add_tools(&mut offer.tools);
    attachments::add_resources(&mut offer.resources);
    principals::add_tools(&mut offer.tools);
    offer
}
